"""What is asked of a model, what it answers, and the Protocols of models.

Times are seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.types import Report

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


class Role:
    """Names that several methods give their samples by how they came to be; a method may have others (`core.kinds`).

    FORWARD: text that describes code. BACKWARD: code from a model's text. BASELINE: code from the uninformative
    utterance. SOLVE: code from a person's words. TRANSFORM: code from code, without a model. COMPLETE: a filled gap.
    """

    FORWARD = "forward"
    BACKWARD = "backward"
    BASELINE = "baseline"
    SOLVE = "solve"
    TRANSFORM = "transform"
    COMPLETE = "complete"


PLAIN = "plain"  # the role of a text that the model simply goes on writing, without any template


@dataclass(frozen=True, slots=True)
class Message:
    """One chat turn. `role`: system, user or assistant; or PLAIN, for a whole prompt that is no conversation."""

    role: str
    content: str


def conversation(system: str, examples: Iterable[tuple[str, str]], question: str) -> tuple[Message, ...]:
    """Return the turns of a conversation: the system's text, worked examples as question and answer, the question."""
    turns = [Message("system", system)]
    for asked, answered in examples:
        turns += [Message("user", asked), Message("assistant", answered)]
    return (*turns, Message("user", question))


def is_plain(messages: Sequence[Message]) -> bool:
    """Return whether a prompt is one text that the model goes on writing."""
    return len(messages) == 1 and messages[0].role == PLAIN


@dataclass(frozen=True, slots=True)
class Block:
    """The end of an answer that is written straight into a file: before the first line that is not part of it."""

    indentation: str  # white space that every line has at least; blank lines have none
    comment: str = ""  # what every line begins with where all are comments, as in a description; else empty
    quotes: str | None = None  # marks of strings of several lines, in a language of braces; None in Python


INFILL = "fill-in-the-middle"


@dataclass(frozen=True, slots=True)
class Infill:
    """A text with a gap to fill."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages that a model is asked, before its chat template."""

    messages: tuple[Message, ...]  # few-shot turns and the question; empty where a gap is to be filled
    truncated: bool = False  # whole statements of the file were left out to fit the context window
    prefill: str = ""  # what the assistant's turn already starts with (e.g. an opening fence)
    stop: tuple[str, ...] = ()  # texts that end the answer; not part of it
    infill: Infill | None = None  # the gap; only for models whose `backward_style` is fill-in-the-middle
    block: Block | None = None  # the lines of a file that the answer is; None when it is a turn of a conversation
    most_characters: int = 0  # an answer that is longer is cut, since nothing so long can be right; 0 for no such limit
    shown: float = 1.0  # share of the file outside the item that the prompt shows, 0..1


Fits = Callable[[Prompt], bool]  # whether a prompt leaves room for its answer in the context window


@dataclass(frozen=True, slots=True)
class Request:
    """One sample to draw. `id` comes back with its tokens and its Generation."""

    id: str
    prompt: Prompt
    temperature: float
    seed: int
    max_tokens: int = 512

    def failed(self, error: str, reason: str = "failed", seconds: float = 0.0) -> Generation:
        """Return an empty sample that stands for this one, which could not be made."""
        return Generation(self.id, "", "", 0, 0, seconds, reason, error)


@dataclass(frozen=True, slots=True)
class Generation:
    """One finished sample, raw."""

    id: str
    # exactly what the model wrote, byte for byte, thoughts in it included; of a file's model what follows the prefill,
    # stop text excluded
    text: str
    rendered: str  # the exact prompt text after the chat template. It ends in the prefill where that was sent
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    # `stop`, `length`, `loop` (the same tokens over and over), `context` (window full) or `failed` (the engine died
    # twice; `error` says how)
    finish_reason: str
    error: str = ""
    cut: bool = False  # the server read less of the prompt than it was sent, and did not say so
    thought_tokens: int = 0  # of `completion_tokens`, as far as the server says; 0 where it does not
    thoughts: str = ""  # what a server sent apart from the answer as the model's thoughts


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The record of a model in a run: enough to know it again."""

    name: str
    path: str = ""  # the file, or the address of an endpoint
    sha256: str = ""  # of the file; empty for an endpoint
    template_sha256: str = ""
    architecture: str = "unknown"
    quantization: str = "unknown"
    parameters: int = 0
    context_size: int = 0
    threads: int = 0
    # `chat` (the file's own template), `completion` (turns as plain text) or `code` (a file that is written on);
    # `embedding` for vectors
    prompt_style: str = ""
    build: str = ""  # engine and version, with its devices
    served: str = ""  # what a server says of the model behind its name; empty for a file
    backward_style: str = ""  # how code is asked for: as in `prompt_style`, or by fill-in-the-middle
    prompt_layout: str = "shared"  # where the description stands in what is asked: `shared` or `paper`
    # what choosing the style rests on, e.g. `code 8/12, chat 1/12`; empty where it was told or guessed
    calibration: str = ""
    # `top_k`, `top_p`: what sampling is cut to; 0 and 1.0 where it is not
    top_k: int = 0
    top_p: float = 1.0
    conditions: str = ""  # what a server does not take of what it is asked, and the room that its thoughts were given


OnText = Callable[[str, str], None]
"""Hears of new text of a sample that is being written: its request's id, and the text."""


class Model(Protocol):
    """Draws samples. One caller thread at a time, but `cancel` may come from any."""

    info: ModelInfo

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt after its template."""

    def generate(
        self, requests: Sequence[Request], on_text: OnText | None = None, on_progress: Report | None = None
    ) -> Iterator[Generation]:
        """Yield each sample as it finishes, in any order.

        `on_text` hears of new text; `on_progress(request id, done, total)` counts prompt tokens.
        A worker that dies is started again and its samples retried once, then yielded as `failed`.
        Raises Cancelled after `cancel`, ModelError when the model cannot be loaded at all.
        """

    def cancel(self) -> None:
        """Stop within a second; what is in flight is lost."""

    def close(self) -> None:
        """End the worker; idempotent."""


More = Callable[[int], Sequence[Request]]
"""Gives at most so many further requests; none where there are none before others have been answered."""


@runtime_checkable
class Fed(Protocol):
    """A model that may be given further requests while it answers others, so that none of its places stands empty."""

    def draw(self, more: More, on_text: OnText | None = None) -> Iterator[Generation]:
        """Yield each sample as it finishes, until `more` gives nothing and all have come; raises as `generate`."""


class Window:
    """A model's context window; called, it says whether a prompt leaves `room` tokens for its answer."""

    def __init__(self, model: Model, room: int) -> None:
        self._model, self._room = model, room
        self._broken = False

    def __call__(self, prompt: Prompt) -> bool:
        """Count the prompt's tokens. Raises ModelError when the model cannot."""
        # A prompt builder raises ModelError where nothing fits, and so does a model that is away while tokens are
        # counted: the flag tells `prompt` which of the two it was, since only the second ends the run.
        self._broken = True
        tokens = self._model.count_tokens(prompt)
        self._broken = False
        return tokens + self._room <= self._model.info.context_size

    def prompt(self, ask: Callable[[Fits], Prompt]) -> tuple[Prompt, str]:
        """Return the prompt that `ask` makes and an empty text, or an empty prompt and why not even the shortest fits.

        The empty prompt is marked as truncated.
        Raises ModelError when it is the model that fails: that is not about one prompt.
        """
        try:
            return ask(self), ""
        except ModelError as error:
            if self._broken:
                raise
            return Prompt((), truncated=True), error.problem


@dataclass(frozen=True, slots=True)
class SentenceVector:
    """The meaning of a text, as one vector."""

    values: NDArray[float32]  # of length 1, shape (n,)
    truncated: bool = False  # the text was longer than the model's window, and cut


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The meaning of each token of a text in its place, as vectors."""

    tokens: tuple[str, ...]  # their texts; the model's own marks at both ends are left out
    values: NDArray[float32]  # as the model gives them, shape (tokens, n)
    truncated: bool = False  # as above


class Embedder(Protocol):
    """Turns texts into vectors, for metrics by meaning. The same text always gives the same vectors."""

    info: ModelInfo

    def sentences(self, texts: Sequence[str]) -> Sequence[SentenceVector]:
        """Return one pooled vector of length 1 for each text."""

    def tokens(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """Return one vector for each token of each text."""

    def close(self) -> None:
        """End the worker; idempotent."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The text taken from a raw answer, and the steps to it."""

    text: str  # for code, indented to stand at the item's span as it is
    steps: tuple[str, ...] = ()  # what was done, e.g. `fence`, `reindented`, `function-body`, `first-paragraph`


@dataclass(frozen=True, slots=True)
class Sample:
    """One artefact ready to be stored: what came, as in `Generation`, and what the extraction took from it, and how."""

    role: str  # as the method calls it (`core.kinds`), which also says whether that is code or text
    index: int  # among its siblings of that role
    prompt_text: str
    seed: int
    temperature: float
    raw_text: str
    extraction: Extraction
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish_reason: str
    truncated: bool = False
    recitation: float | None = None  # share of x's characters the description repeats verbatim, 0..1; None for code
    error: str = ""
    author: str = "model"
    step: int = 0  # rounds since the item, e.g. 2 for the second reconstruction of a chain
    # whether it counts in the run's scores, as far as it depends on itself; what hangs below a sample that does not
    # count never does
    counted: bool = True
    shown: float | None = 1.0  # share of the file outside the item that the prompt showed, 0..1
    thoughts: str = ""
    thought_tokens: int = 0
    # which of the run's models made it, `forward` or `backward`; empty for a person's or a transformation's
    model: str = ""

    @property
    def text(self) -> str:
        return self.extraction.text

    @property
    def extraction_steps(self) -> tuple[str, ...]:
        return self.extraction.steps
