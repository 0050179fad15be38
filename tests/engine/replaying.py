"""A model that says what it was told to, behind the real Protocol; and a run around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rtc_inspector.core.generation import Generation, ModelInfo, Prompt, Request

INFO = ModelInfo("replay", "/replay", "0" * 64, "0" * 64, "none", "none", 0, 8192, 1, "chat")


class Replay:
    """Answers the n-th request for a description with the n-th description, and code requests by what they hold.

    `codes` maps a piece of the question to the code that is answered. Everything asked is kept in `asked`.
    """

    info = INFO

    def __init__(self, descriptions: Sequence[str], codes: Mapping[str, str]) -> None:
        self._descriptions = list(descriptions)
        self._codes = dict(codes)
        self.asked: list[Request] = []

    def count_tokens(self, prompt: Prompt) -> int:
        return sum(len(message.content.split()) for message in prompt.messages)

    def generate(
        self,
        requests: Sequence[Request],
        on_text: Callable[[str, str], None] | None = None,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> Iterator[Generation]:
        for request in requests:
            self.asked.append(request)
            question = request.prompt.messages[-1].content
            yield Generation(request.id, self._answer(request, question), question, 10, 5, 0.01, "stop")

    def _answer(self, request: Request, question: str) -> str:
        if not request.prompt.prefill:
            return self._descriptions[int(request.id.rsplit("/", 1)[1])]
        return next(code for words, code in self._codes.items() if words in question)

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass
