"""An OpenAI-compatible endpoint as a `Model`: llama-server, Ollama, LM Studio, vLLM. Used only when configured."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from core.errors import Cancelled, ModelError
from core.generation import Generation, ModelInfo, OnText, Prompt, Request
from core.models.chat_http import LONGEST_WAIT, Answer, HttpFailure, complete
from core.models.gguf import file_label
from core.models.served import Served
from core.models.template import COMPLETION_STOP, completion, is_plain
from core.models.textstream import Ending, TextStream
from core.settings import DEFAULT_CONTEXT, EndpointSettings, ModelSettings
from core.types import Report
from core.waiting import next_of

CHARACTERS_PER_TOKEN = 2.5
"""For source code, on the safe side: the endpoint does not count for us."""
TOO_MANY = 429
REFUSING = (401, 402, 403, 404)
"""What a server answers that will not serve this key or this model: it would say the same of every other sample."""
BEYOND_OPENAI = ("top_k", "min_p")
"""Fields that a server which speaks strictly as OpenAI's does refuses, naming them."""
FIRST_WAIT = 1.0
MOST_CHARACTERS, LONGEST_TOKEN = 1 << 16, 64
"""An answer of more characters, whatever its tokens, is none: to read and to compare it would take minutes."""


class RemoteModel:
    """Implements `core.generation.Model` over HTTP."""

    def __init__(
        self,
        server: EndpointSettings,
        generation: ModelSettings,
        served: Served,
        key: str = "",
        first_wait: float = FIRST_WAIT,
    ) -> None:
        """Nothing is sent yet.

        Args:
            served: the model, as the server describes it.
            key: from the user's environment; never stored.
            first_wait: seconds before the second try; doubled each time, or what the server asks for.
        """
        self._server, self._generation, self._name = server, generation, served.name
        self._key, self._first_wait = key, first_wait
        self._style = "chat" if generation.prompt_style == "auto" else generation.prompt_style
        self._stop = threading.Event()
        self._gone = False
        self._plain_sampling = False
        self._answers_as = ""
        window = generation.context_size or DEFAULT_CONTEXT
        self.info = ModelInfo(
            name=_label(served.name),
            path=server.address,
            sha256="",
            template_sha256="",
            architecture="unknown",
            quantization="unknown",
            parameters=served.parameters,
            context_size=min(window, served.window or window),
            threads=0,
            prompt_style=self._style,
            build="OpenAI-compatible endpoint; repeatable only as far as the server honours seeds",
            served=served.said,
            backward_style=self._style,
            prompt_layout=generation.prompt_layout,
            top_k=generation.top_k,
            top_p=generation.top_p,
        )

    def count_tokens(self, prompt: Prompt) -> int:
        """An estimate from the number of characters."""
        return int(sum(len(m.content) for m in prompt.messages) / CHARACTERS_PER_TOKEN) + 8 * len(prompt.messages)

    def generate(
        self, requests: Sequence[Request], on_text: OnText | None = None, on_progress: Report | None = None
    ) -> Iterator[Generation]:
        """Yield each sample as it comes; one that fails for good is `failed`.

        Raises Cancelled, and ModelError once the server refuses whatever it is asked.
        """
        self._stop = threading.Event()  # here and not in the generator: a cancel between call and first sample counts
        return self._generate(requests, on_text, self._stop)

    def _generate(
        self, requests: Sequence[Request], on_text: OnText | None, stop: threading.Event
    ) -> Iterator[Generation]:
        waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()
        done: queue.Queue[Generation | ModelError] = queue.Queue()
        for request in requests:
            waiting.put(request)
        for _ in range(min(self._server.concurrency, len(requests))):
            # Daemons: a thread that waits for a slow server must not keep the program from ending.
            threading.Thread(target=self._work, args=(waiting, done, stop), name="endpoint", daemon=True).start()
        left = len(requests)

        def heed() -> None:
            if stop.is_set():
                raise Cancelled

        try:
            while left:
                heed()
                generation = next_of(done, heed)
                if isinstance(generation, ModelError):
                    raise generation
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

    def _work(
        self, waiting: queue.SimpleQueue[Request], done: queue.Queue[Generation | ModelError], stop: threading.Event
    ) -> None:
        """Draw until nothing waits, or until the run was left."""
        with contextlib.suppress(queue.Empty):
            while not stop.is_set():
                done.put(self._draw(waiting.get_nowait(), stop))

    def _draw(self, request: Request, stop: threading.Event) -> Generation | ModelError:
        """One sample, with retries; never raises, since a sample that is lost would be waited for."""
        start = time.monotonic()
        try:
            answer = self._answer(request, stop)
        except HttpFailure as failure:
            if failure.status in REFUSING:
                return ModelError(failure.sentence, "Check the key and the name of the model, then resume.")
            return request.failed(failure.sentence, seconds=time.monotonic() - start)
        except Exception as error:
            said = f"The server's answer makes no sense: {type(error).__name__}: {error}"
            return request.failed(said, seconds=time.monotonic() - start)
        return Generation(
            id=request.id,
            text=_ended(_after_prefill(answer.text, request.prompt), request.prompt),
            rendered=self._sent(request.prompt),
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            seconds=time.monotonic() - start,
            finish_reason=answer.finish_reason,
        )

    def _answer(self, request: Request, stop: threading.Event) -> Answer:
        """Ask until an answer comes. Raises HttpFailure.

        Once a server gave nothing whatever was tried, the samples after it are tried once each, until one comes out:
        a run against a dead server ends soon.
        """
        wait, attempt = self._first_wait, 0
        while True:
            attempt += 1
            try:
                answer = self._post(request)
            except HttpFailure as failure:
                dead = failure.passing and failure.status != TOO_MANY
                if not failure.passing or attempt >= self._server.attempts or (self._gone and dead):
                    self._gone = self._gone or dead
                    raise
                if stop.wait(failure.wait or min(LONGEST_WAIT, wait)):
                    raise
                wait *= 2
            else:
                self._gone = False
                return answer

    def _post(self, request: Request) -> Answer:
        """Ask once. Raises HttpFailure, also when another model answers than before."""
        try:
            answer = complete(self._server.address, self._key, self._body(request), self._server.timeout)
        except HttpFailure as failure:
            # Ollama and llama-server draw from the likeliest tokens only unless told otherwise, so top_k and min_p are
            # sent; a server that knows OpenAI's own fields alone refuses them by name.
            if self._plain_sampling or not any(name in failure.sentence for name in BEYOND_OPENAI):
                raise
            self._plain_sampling = True
            return self._post(request)
        most = max(MOST_CHARACTERS, LONGEST_TOKEN * request.max_tokens)
        if len(answer.text) > most:
            said = f"{len(answer.text):,} characters, for {request.max_tokens} tokens at most"
            raise HttpFailure(f"The server's answer has {said}.", passing=False, status=200)
        first = self._answers_as = self._answers_as or answer.model
        if answer.model and answer.model != first:
            said = f"with the model {answer.model}, where {first} had answered before"
            raise HttpFailure(f"The server answered {said}.", passing=False, status=200)
        return answer

    def _sent(self, prompt: Prompt) -> str:
        """What the server is given of a prompt, for the record: its own template is not ours to see."""
        if is_plain(prompt.messages):
            return prompt.messages[0].content + prompt.prefill
        if self._style == "completion":
            return completion(prompt.messages) + prompt.prefill
        return "\n\n".join(f"[{m.role}]\n{m.content}" for m in prompt.messages)

    def _body(self, request: Request) -> dict[str, object]:
        prompt = request.prompt
        if is_plain(prompt.messages):
            asked: dict[str, object] = {"prompt": self._sent(prompt), "stop": [*prompt.stop, *_outside(prompt)]}
        elif self._style == "completion":
            asked = {"prompt": self._sent(prompt), "stop": [*prompt.stop, COMPLETION_STOP]}
        else:
            asked = {"messages": [{"role": m.role, "content": m.content} for m in prompt.messages]}
            # A prefill cannot be sent. The answer repeats it, e.g. an opening fence, at which such a stop text would
            # end it.
            if prompt.stop and not prompt.prefill:
                asked["stop"] = list(prompt.stop)
        return asked | {
            "model": self._name,
            "temperature": request.temperature,
            "top_p": self._generation.top_p,
            **({} if self._plain_sampling else {"top_k": self._generation.top_k, "min_p": 0.0}),
            # Some servers read it as a signed number of 32 bits, and refuse a larger one.
            "seed": request.seed & 0x7FFFFFFF,
            "max_tokens": request.max_tokens,
        }


def _label(name: str) -> str:
    """What people call a model; llama-server calls it by the path of its file."""
    return file_label(PurePath(name).name) if name.endswith(".gguf") else name


def _after_prefill(text: str, prompt: Prompt) -> str:
    """What follows the prefill, which cannot be sent, where the answer has it; cut at a stop text."""
    start = prompt.prefill.strip()
    if not start or start not in text:
        return text
    rest = text.split(start, 1)[1].removeprefix("\n")
    ends = [at for stop in prompt.stop if (at := rest.find(stop)) >= 0]
    return rest[: min(ends)] if ends else rest


def _ended(text: str, prompt: Prompt) -> str:
    """An answer written into a file, cut where it leaves its block: servers know stop texts only."""
    if not is_plain(prompt.messages):
        return text
    answer = TextStream(Ending(prompt.stop, prompt.block, prompt.most_characters))
    answer.push(text.encode())
    answer.finish()
    return answer.text


def _outside(prompt: Prompt) -> tuple[str, ...]:
    """Stop texts that only a line outside the answer's block can begin with."""
    return ("\ndef ", "\nclass ") if prompt.block is not None and prompt.block.indentation else ()
