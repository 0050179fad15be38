"""The frozen values every stage speaks in, and the Protocols between stages.

Positions are character offsets into the decoded text of a file, half open, newlines as they stand in the file.
Paths are POSIX strings relative to the project's root. Times are seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

# --------------------------------------------------------------------------- what there is to round-trip

Report = Callable[[str, int, int], None]
"""Hears how far long work is: its stage, how much is done, of how much; raising from it ends the work."""
Notify = Callable[[str], None]
"""Hears what a person should know: a sentence."""


class Form(StrEnum):
    """What a text is: code, which can be judged, or words."""

    CODE = "code"
    TEXT = "text"


class LabelKind(StrEnum):
    """Whose word a label is: one annotator's, or the decision between annotators."""

    LABEL = "label"
    ADJUDICATION = "adjudication"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def overlaps(self, other: Span) -> bool:
        """Return whether the two share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One readable source file of a project, newlines untouched (`\\r\\n` stays); tests are never sampled.

    `encoding`: a codec name that encodes `text` back to the file's very bytes.
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
    """A project as opened: its source files and where its history stands."""

    root: Path
    files: tuple[SourceFile, ...]
    skipped: tuple[SkippedFile, ...]
    revision: str | None = None
    dirty: bool = False

    def file(self, path: str) -> SourceFile:
        """Return the file at `path`. Raises KeyError."""
        for source in self.files:
            if source.path == path:
                return source
        raise KeyError(path)


@dataclass(frozen=True, slots=True)
class Region:
    """A candidate: one or more consecutive statements of one block (RTC paper, Sec. 4.2).

    Attributes:
        span: from the first statement's first character to the last one's last, without the leading indentation.
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
        kind: `region`, `edit`, `problem`, `cell` or `directive`.
        text: the reference x; for an edit the new snippet, and `old_text` the old one.
        facets: what scores are split by, e.g. `language` -> `Go`; few values each.
        origin: where it comes from, e.g. `commit`, `date`, `message`; for people to read.
        extra: a person chose it, nobody sampled it: shown with its run, never in the run's scores.
        directive: what a person asked for in words, e.g. a docstring; None where nobody did.
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
    form: str = Form.CODE
    directive: str | None = None

    @property
    def has_file(self) -> bool:
        """Return whether it stands in a file of the user's."""
        return bool(self.path) and self.kind not in WRITTEN and self.form != Form.TEXT


WRITTEN = frozenset({"problem", "cell"})
"""Kinds of items whose files were written for the run, for nobody to read: people know such an item by its key."""
SIGNATURE = "signature"
"""In `Item.origin`: what stands above the item's text so that both are a whole function; empty where it is one."""
OLD_LINE = "old line"
"""In `Item.origin` of an edit: the line of the old file, from 1, at which the old snippet begins."""


FEW = 20
"""Items below which a figure is said to rest on few."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval and the number of items behind it (0: not counted), as far as they are known.

    Raises ValueError for NaN and infinity: what is not defined is None.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0

    def __post_init__(self) -> None:
        for each in (self.value, self.low, self.high):
            if each is not None and not math.isfinite(each):
                raise ValueError(f"an estimate cannot be {each}: leave out what is not defined")

    @property
    def few(self) -> bool:
        """Return whether it rests on so few items that every view says so: the interval holds, but tells little."""
        return 0 < self.n < FEW


NOTHING = Estimate()
"""The score of nothing that was judged."""


# --------------------------------------------------------------------------- problems of a benchmark


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a benchmark: what a person asked for, a program that does it, and its tests.

    Attributes:
        key: the benchmark's own name for it, e.g. `HumanEval/7`; unique in its file, where it stands in `line`.
        entry: the function that is asked for.
        names: what the tests call that function; more than one where names are masked.
        words: what a person asked for: the docstring, or MBPP's text. Empty where there is none.
        program: the whole reference, without the docstring of `entry`; `body`: the x of a round trip in it.
        asked: the same program with `words` as its docstring; `asked_body` is the body there.
        setup: statements that the tests need before them.
        test: source that defines `check(candidate)`; empty where `asserts` or `inputs` hold the tests, one each.
        inputs: arguments as source: the reference says what is expected, to a `tolerance`.
    """

    key: str
    line: int
    entry: str
    names: tuple[str, ...]
    words: str
    program: str
    body: Span
    asked: str
    asked_body: Span
    setup: str = ""
    test: str = ""
    asserts: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    tolerance: float = 0.0

    @property
    def body_text(self) -> str:
        return self.program[self.body.start : self.body.end]

    def with_body(self, text: str) -> str:
        """Return the whole program with another body."""
        return self.program[: self.body.start] + text + self.program[self.body.end :]


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
        """Return whether this counts for or against the model."""
        return self is not Outcome.INFRASTRUCTURE


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test under one candidate.

    Attributes:
        outcome: passed, failed, error, skipped, timeout, missing.
        signature: what the tested code gave, where the test records it (`value ...`, `error ...`, `timeout` ...);
            programs that agree on it behave alike under this test. Empty for tests that record nothing.
    """

    __test__ = False
    node_id: str
    outcome: str
    message: str = ""
    seconds: float = 0.0
    signature: str = ""


NEAR_LIMIT = "near its time limit"
"""Flag of a verdict that took more than half of a limit, or ran out of time and would have ended below twice it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgement of one candidate text.

    Attributes:
        tests: in the order they ran; those after a first failure may be absent.
        detail: one sentence a person can read.
        output: what the candidate printed, capped, a cut said in it (the test output string of IdentityChain).
        oracle: which oracle judged, e.g. `tests/bubblewrap`.
        flags: NEAR_LIMIT where a slower or faster machine may say something else; changes no score.
        reused: the same code had been judged before, and this is what was said then; it took no seconds.
    """

    outcome: Outcome
    seconds: float
    tests: tuple[TestResult, ...] = ()
    detail: str = ""
    output: str = ""
    oracle: str = ""
    flags: tuple[str, ...] = ()
    reused: bool = False


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
        traced: False where nobody knows which lines run: any may, under each test.
    """

    tests: tuple[str, ...]
    lines: Mapping[str, Mapping[int, frozenset[int]]]
    import_lines: Mapping[str, frozenset[int]]
    traced: bool = True


def counted_tests(count: int) -> str:
    """Say how many tests."""
    return "1 test" if count == 1 else f"{count} tests"


def tests_not_asked(count: int) -> str:
    """Say how many tests that pass under plain pytest were not asked."""
    return f"{counted_tests(count)} of plain pytest {'was' if count == 1 else 'were'} not asked"


@dataclass(frozen=True, slots=True)
class Suite:
    """The project's own tests on its unmodified code.

    Attributes:
        tests: those that passed in every identity run, in collection order.
        own_order: those that pass again and again in the project's own order, and not in others; asked in that order.
        not_asked: of `excluded` those that plain pytest passes, as far as one run tells.
        excluded: node id -> why it is not trusted (fails, flaky, skipped).
        coverage: over all tests that pass in the project's own order, trusted or not.
        seconds: wall time of one plain whole-suite run.
    """

    tests: tuple[TestCase, ...]
    excluded: Mapping[str, str]
    coverage: CoverageMap
    seconds: float
    python: str
    cached: bool = False
    own_order: tuple[TestCase, ...] = ()
    not_asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One file with `span` replaced by `replacement` (literally, no re-indentation)."""

    file: SourceFile
    span: Span
    replacement: str

    @property
    def new_text(self) -> str:
        return self.file.text[: self.span.start] + self.replacement + self.file.text[self.span.end :]


@dataclass(frozen=True, slots=True)
class Candidate(Change):
    """What to judge: a change of one file and, at once, changes of `others`: a renamed function is named in many."""

    others: tuple[Change, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        return (self, *self.others)


class Oracle(Protocol):
    """Judges candidates by the project's own tests, inside a sandbox."""

    name: str
    """e.g. `tests/docker`, recorded with every verdict."""

    image_digest: str
    """Of the container image; empty where there is none."""

    def suite(self, progress: Report) -> Suite:
        """Check the target's environment, run its tests, trace coverage.

        `progress(stage, done, total)` is called as it goes; raising from it cancels.
        Raises ProjectError (no tests, none passing), TargetError, SandboxError.
        """

    def judge(
        self,
        candidate: Candidate,
        tests: Sequence[str],
        *,
        every_test: bool = False,
        again: bool = False,
        confirm: bool = True,
    ) -> Verdict:
        """Run `tests` (node ids) under the candidate; never raises for what the candidate does.

        `every_test`: go on after the first failure, for outcomes per test; those that did not run are `missing`. An
        empty `tests` is NOT_EXECUTED. Identical candidates are run once: `again` asks for a second run, which shows
        whether the first can be relied on.
        After a pass of covering tests the whole suite confirms it, unless `confirm` is false. Thread-safe.
        """

    def close(self) -> None:
        """Stop every process and container; idempotent."""


@runtime_checkable
class LearnsLater(Protocol):
    """An oracle that knows after one run of the tests what they cover, and learns the rest while models write."""

    def begin(self, progress: Report) -> Suite:
        """Return what one traced run tells, or what is kept. Raises as `Oracle.suite`."""

    def judge_cold(self, candidate: Candidate, progress: Report) -> Verdict | None:
        """Return the verdict on a candidate that likely tests fail and the untouched project passes, before `begin`.

        None where they do not decide, or what is kept decides sooner. Raises as `begin`.
        """

    def prepare(self) -> None:
        """Begin to learn in the background what verdicts need; they wait for it."""

    def judge_now(self, candidate: Candidate, tests: Sequence[str], *, every_test: bool = False) -> Verdict:
        """Judge a single candidate by what is known, as plain pytest does; see `Oracle.judge`."""

    def known(self) -> Suite | None:
        """Return the suite once all of it is learned."""
