"""An OpenAI-compatible endpoint as a `Model`: llama-server, Ollama, LM Studio, vLLM. Used only when configured."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.errors import Cancelled, ModelError
from core.generation import Generation, ModelInfo, Prompt, Request
from core.models.chat_http import Answer, HttpFailure, post_chat

CHARACTERS_PER_TOKEN = 2.5
"""For source code, on the safe side: the endpoint does not count for us."""
TICK = 0.1


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask.

    Attributes:
        address: up to and including `/v1`.
        model: the name the server knows.
        key: from the user's environment; never stored.
        concurrency: requests in flight.
        attempts: tries of a request that fails in passing (429, 5xx, no connection).
        first_wait: seconds before the second try; doubled each time, or what the server asks for.
    """

    address: str
    model: str
    key: str = ""
    context_size: int = 4096
    concurrency: int = 4
    attempts: int = 5
    timeout: float = 300.0
    first_wait: float = 1.0


class RemoteModel:
    """Implements `core.generation.Model` over HTTP."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Nothing is sent yet. Raises ModelError when the address is none."""
        if not endpoint.address.startswith(("http://", "https://")):
            raise ModelError(
                f"{endpoint.address} is not an address of a server.", "Give one like http://127.0.0.1:8080/v1."
            )
        self._endpoint = endpoint
        self._stop = threading.Event()
        self.info = ModelInfo(
            name=endpoint.model,
            path=endpoint.address,
            sha256="",
            template_sha256="",
            architecture="unknown",
            quantization="unknown",
            parameters=0,
            context_size=endpoint.context_size,
            threads=0,
            prompt_style="chat",
            build="OpenAI-compatible endpoint; repeatable only as far as the server honours seeds",
        )

    def count_tokens(self, prompt: Prompt) -> int:
        """An estimate from the number of characters."""
        return int(sum(len(m.content) for m in prompt.messages) / CHARACTERS_PER_TOKEN) + 8 * len(prompt.messages)

    def generate(
        self,
        requests: Sequence[Request],
        on_text: Callable[[str, str], None] | None = None,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> Iterator[Generation]:
        """Yield each sample as it comes; one that fails for good is `failed`. Raises Cancelled."""
        stop = self._stop = threading.Event()
        waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()
        done: queue.Queue[Generation] = queue.Queue()
        for request in requests:
            waiting.put(request)
        for _ in range(min(self._endpoint.concurrency, len(requests))):
            # Daemons: a thread that waits for a slow server must not keep the program from ending.
            threading.Thread(target=self._work, args=(waiting, done, stop), name="endpoint", daemon=True).start()
        left = len(requests)
        try:
            while left:
                if stop.is_set():
                    raise Cancelled
                with contextlib.suppress(queue.Empty):
                    generation = done.get(timeout=TICK)
                    left -= 1
                    if on_text is not None and generation.text:
                        on_text(generation.id, generation.text)
                    yield generation
        finally:
            if left:
                stop.set()

    def cancel(self) -> None:
        """Stop waiting; what the server is still working on is ignored."""
        self._stop.set()

    def close(self) -> None:
        """Nothing stays open; idempotent."""
        self._stop.set()

    def _work(self, waiting: queue.SimpleQueue[Request], done: queue.Queue[Generation], stop: threading.Event) -> None:
        """Draw until nothing waits, or until the run was left."""
        with contextlib.suppress(queue.Empty):
            while not stop.is_set():
                done.put(self._draw(waiting.get_nowait(), stop))

    def _draw(self, request: Request, stop: threading.Event) -> Generation:
        """One sample, with retries; never raises."""
        start = time.monotonic()
        wait, error = self._endpoint.first_wait, ""
        for attempt in range(self._endpoint.attempts):
            if attempt and stop.wait(wait):
                break
            try:
                answer = post_chat(
                    self._endpoint.address, self._endpoint.key, self._body(request), self._endpoint.timeout
                )
            except HttpFailure as failure:
                error = failure.sentence
                wait = failure.wait or min(60.0, self._endpoint.first_wait * 2**attempt)
                if not failure.passing:
                    break
            else:
                return _generation(request, answer, time.monotonic() - start)
        return _generation(request, Answer("", 0, 0, "failed"), time.monotonic() - start, error or "Cancelled.")

    def _body(self, request: Request) -> dict[str, object]:
        return {
            "model": self._endpoint.model,
            "messages": [{"role": m.role, "content": m.content} for m in request.prompt.messages],
            "temperature": request.temperature,
            "top_p": 0.95,
            "seed": request.seed & 0x7FFFFFFF,
            "max_tokens": request.max_tokens,
            **({"stop": list(request.prompt.stop)} if request.prompt.stop and not request.prompt.prefill else {}),
        }


def _generation(request: Request, answer: Answer, seconds: float, error: str = "") -> Generation:
    """`rendered` is what we sent: the server's template is not ours to see."""
    text = _after_prefill(answer.text, request.prompt)
    turns = "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.prompt.messages)
    return Generation(
        id=request.id,
        text=text,
        rendered=turns,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        seconds=seconds,
        finish_reason=answer.finish_reason,
        error=error,
    )


def _after_prefill(text: str, prompt: Prompt) -> str:
    """What follows the prefill, which cannot be sent, where the answer has it; cut at a stop text."""
    start = prompt.prefill.strip()
    if not start or start not in text:
        return text
    rest = text.split(start, 1)[1].removeprefix("\n")
    ends = [at for stop in prompt.stop if (at := rest.find(stop)) >= 0]
    return rest[: min(ends)] if ends else rest
