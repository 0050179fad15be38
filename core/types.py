"""The frozen values every stage speaks in, and the Protocols between stages.

Positions are character offsets into the decoded text of a file, half open, newlines as they stand in the file.
Paths are POSIX strings relative to the project's root. Times are seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

# --------------------------------------------------------------------------- what there is to round-trip


class Task(StrEnum):
    """A kind of round trip (RTC paper, Sec. 3)."""

    SYNTHESIS = "synthesis"
    EDITING = "editing"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets."""

    start: int
    end: int

    def __len__(self) -> int:
        """Characters inside."""
        return self.end - self.start

    def overlaps(self, other: Span) -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One readable Python file of a project.

    Attributes:
        path: relative to the project's root.
        text: decoded, newlines untouched (`\\r\\n` stays).
        encoding: a codec name that encodes `text` back to the file's very bytes.
        is_test: whether the project's tests live here (never sampled).
    """

    path: str
    text: str
    encoding: str
    is_test: bool


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was found but left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Codebase:
    """A project as opened: its Python files and where its history stands."""

    root: Path
    files: tuple[SourceFile, ...]
    skipped: tuple[SkippedFile, ...]
    revision: str | None = None
    dirty: bool = False

    def file(self, path: str) -> SourceFile:
        """The file at `path`. Raises KeyError."""
        for source in self.files:
            if source.path == path:
                return source
        raise KeyError(path)


@dataclass(frozen=True, slots=True)
class Region:
    """A candidate: one or more consecutive statements of one block (RTC paper, Sec. 4.2).

    Attributes:
        span: from the first statement's first character to the last one's last, without the leading indentation.
        start_line: 1-based; `end_line` is the last line touched.
        text: `file.text[span.start:span.end]`.
        tests: node ids of the covering tests; empty until the coverage map was asked.
        runs_at_import: some line runs while modules are imported, so any test may depend on it.
        weight: sampling weight before normalising; 0.0 until weighed.
    """

    path: str
    span: Span
    start_line: int
    end_line: int
    text: str
    tests: tuple[str, ...] = ()
    runs_at_import: bool = False
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Item:
    """One x of a run: what is described and made again.

    Attributes:
        key: stable within a run and over resumption (for a region: `path:start-end`).
        kind: `region`, `edit`, `problem` or `cell`.
        text: the reference x; for an edit the new snippet.
        old_text: for an edit the old snippet; else None.
        admitted: False when dropped; `reason` then says why.
        facets: what scores are split by, e.g. `language` -> `Go`; few values each.
        origin: where it comes from, e.g. `commit`, `date`, `message`; for people to read.
        extra: a person chose it, nobody sampled it: shown with its run, never in the run's scores.
    """

    key: str
    kind: str
    path: str
    span: Span
    start_line: int
    end_line: int
    text: str
    tests: tuple[str, ...] = ()
    admitted: bool = True
    reason: str = ""
    old_text: str | None = None
    facets: Mapping[str, str] = field(default_factory=dict, hash=False)
    origin: Mapping[str, str] = field(default_factory=dict, hash=False)
    extra: bool = False


# --------------------------------------------------------------------------- tests and verdicts


class Outcome(StrEnum):
    """What became of a candidate when its covering tests ran."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    CRASH = "crash"
    SYNTAX_ERROR = "syntax-error"
    IMPORT_ERROR = "import-error"
    TAMPERED = "tampered"
    NOT_EXECUTED = "not-executed"
    INFRASTRUCTURE = "infrastructure"

    @property
    def judged(self) -> bool:
        """Whether this counts for or against the model."""
        return self is not Outcome.INFRASTRUCTURE


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test under one candidate. `outcome`: passed, failed, error, skipped, timeout, missing."""

    __test__ = False
    node_id: str
    outcome: str
    message: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgement of one candidate text.

    Attributes:
        outcome: the closed set above.
        seconds: wall time of the judgement.
        tests: in the order they ran; those after a first failure may be absent.
        detail: one sentence a person can read.
        output: what the candidate printed, capped, a cut said in it (the test output string of IdentityChain).
        oracle: which oracle judged, e.g. `tests/bubblewrap`.
    """

    outcome: Outcome
    seconds: float
    tests: tuple[TestResult, ...] = ()
    detail: str = ""
    output: str = ""
    oracle: str = ""


@dataclass(frozen=True, slots=True)
class TestCase:
    """One trusted test of the unmodified project. `seconds`: the slowest of its identity runs."""

    __test__ = False
    node_id: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """Which test runs which line.

    Attributes:
        tests: node ids, the index space of `lines`.
        lines: path -> line (1-based) -> indices into `tests`.
        import_lines: path -> lines that run while modules are imported or tests collected.
    """

    tests: tuple[str, ...]
    lines: Mapping[str, Mapping[int, frozenset[int]]]
    import_lines: Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Suite:
    """The project's own tests on its unmodified code.

    Attributes:
        tests: those that passed in every identity run, in collection order.
        excluded: node id -> why it is not trusted (fails, flaky, skipped, order-dependent).
        coverage: over `tests`.
        seconds: wall time of one plain whole-suite run.
        python: version of the target's interpreter.
        cached: whether this came from the cache.
    """

    tests: tuple[TestCase, ...]
    excluded: Mapping[str, str]
    coverage: CoverageMap
    seconds: float
    python: str
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text to judge: `file` with `span` replaced by `replacement` (literally, no re-indentation)."""

    file: SourceFile
    span: Span
    replacement: str

    @property
    def new_text(self) -> str:
        """The whole file as the tests will see it."""
        return self.file.text[: self.span.start] + self.replacement + self.file.text[self.span.end :]


class Oracle(Protocol):
    """Judges candidates by the project's own tests, inside a sandbox."""

    name: str
    """e.g. `tests/docker`, recorded with every verdict."""

    image_digest: str
    """Of the container image; empty where there is none."""

    def suite(self, progress: Callable[[str, int, int], None]) -> Suite:
        """Check the target's environment, run its tests, trace coverage.

        `progress(stage, done, total)` is called as it goes; raising from it cancels.
        Raises ProjectError (no tests, none passing), TargetError, SandboxError.
        """

    def judge(self, candidate: Candidate, tests: Sequence[str], *, every_test: bool = False) -> Verdict:
        """Run `tests` (node ids) under the candidate; never raises for what the candidate does.

        `every_test`: go on after the first failure, for outcomes per test. An empty `tests` is NOT_EXECUTED.
        After a pass of covering tests the whole suite confirms it. Thread-safe.
        """

    def close(self) -> None:
        """Stop every process and container; idempotent."""


# --------------------------------------------------------------------------- model passes


class Role(StrEnum):
    """What a sample is in its trip."""

    FORWARD = "forward"
    BACKWARD = "backward"
    BASELINE = "baseline"
    TRANSFORM = "transform"


@dataclass(frozen=True, slots=True)
class Message:
    """One chat turn. `role`: system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked, before its chat template.

    Attributes:
        messages: few-shot turns and the question.
        truncated: whole statements of the file were left out to fit the context window.
        prefill: what the assistant's turn already starts with (e.g. an opening fence).
        stop: texts that end the answer; not part of it.
    """

    messages: tuple[Message, ...]
    truncated: bool = False
    prefill: str = ""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One sample to draw. `id` comes back with its tokens and its Generation."""

    id: str
    prompt: Prompt
    temperature: float
    seed: int
    max_tokens: int = 512


@dataclass(frozen=True, slots=True)
class Generation:
    """One finished sample, raw.

    Attributes:
        text: exactly what the model wrote after the prefill, stop text excluded.
        rendered: the exact prompt text after the chat template.
        finish_reason: `stop`, `length`, `context` (window full) or `failed` (the engine died twice; `error` says how).
    """

    id: str
    text: str
    rendered: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish_reason: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a run records of a model: enough to know it again.

    Attributes:
        path: the file, or the address of an endpoint.
        prompt_style: `chat` (the file's own template) or `completion` (a base model).
        build: engine and version, with its devices.
    """

    name: str
    path: str
    sha256: str
    template_sha256: str
    architecture: str
    quantization: str
    parameters: int
    context_size: int
    threads: int
    prompt_style: str
    build: str = ""


class Model(Protocol):
    """Draws samples. One caller thread at a time, but `cancel` may come from any."""

    info: ModelInfo

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt after its template."""

    def generate(
        self,
        requests: Sequence[Request],
        on_text: Callable[[str, str], None] | None = None,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> Iterator[Generation]:
        """Yield each sample as it finishes, in any order.

        `on_text(request id, new text)` streams; `on_progress(request id, done, total)` counts prompt tokens.
        A worker that dies is started again and its samples retried once, then yielded as `failed`.
        Raises Cancelled after `cancel`, ModelError when the model cannot be loaded at all.
        """

    def cancel(self) -> None:
        """Stop within a second; what is in flight is lost."""

    def close(self) -> None:
        """End the worker; idempotent."""


class Embedder(Protocol):
    """Turns texts into vectors, for metrics by meaning."""

    def sentences(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One pooled, normalised vector a text."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was taken from a raw answer, and how.

    Attributes:
        text: for code, indented to stand at the item's span as it is.
        steps: what was done, e.g. `fence`, `reindented`, `function-body`, `first-paragraph`.
    """

    text: str
    steps: tuple[str, ...] = ()


# --------------------------------------------------------------------------- samples and events


@dataclass(frozen=True, slots=True)
class Sample:
    """One artefact made, ready to be stored.

    Attributes:
        index: of the forward sample, or of the backward sample under its parent.
        recitation: share of x's characters the description repeats verbatim, 0..1; None for code.
    """

    role: Role
    index: int
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
    recitation: float | None = None
    error: str = ""
    author: str = "model"


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began, or was taken up again."""

    run_id: int
    resumed: bool
    task: str
    project: str
    model: str
    sandbox: str
    regions: int
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemReady:
    """An item was stored: admitted, or dropped with its reason."""

    run_id: int
    item_id: int
    item: Item


@dataclass(frozen=True, slots=True)
class SampleReady:
    """A sample was stored."""

    run_id: int
    item_id: int
    sample_id: int
    parent_id: int | None
    sample: Sample


@dataclass(frozen=True, slots=True)
class VerdictReady:
    """A verdict was stored."""

    run_id: int
    item_id: int
    sample_id: int
    verdict_id: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ScoresReady:
    """Scores of one sample were stored."""

    run_id: int
    item_id: int
    sample_id: int
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands; `stage` is short and readable; `eta` in seconds when known.

    `detail`: what is going on inside a step, e.g. how much of a long prompt is read.
    """

    stage: str
    done: int
    total: int
    eta: float | None = None
    tokens_per_second: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """New text of a sample still being written. `parent`: index of the description it is made from, if any."""

    item_id: int
    role: Role
    index: int
    text: str
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know; the run goes on."""

    text: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The end of a run.

    Attributes:
        status: `finished`, `incomplete` (not everything could be evaluated), `interrupted` or `failed`.
        rtc_pass: mean over regions, 0..1; None when nothing was judged. Bounds are the 95 % interval.
        problems: what could not be evaluated, a sentence each.
    """

    run_id: int
    status: str
    rtc_pass: float | None
    lift: float | None
    ci_low: float | None
    ci_high: float | None
    items: int
    samples: int
    problems: tuple[str, ...] = field(default=())


Event = (
    RunStarted | ItemReady | SampleReady | VerdictReady | ScoresReady | Progress | TextStreamed | Notice | RunFinished
)
