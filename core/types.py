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
from typing import Any, Protocol, runtime_checkable

# --------------------------------------------------------------------------- what there is to round-trip

Report = Callable[[str, int, int], None]
"""Hears how far long work is: its stage, how much is done, of how much; raising from it ends the work."""
Notify = Callable[[str], None]  # hears what a person should know: a sentence


def plain(value: object, *names: str) -> dict[str, Any]:
    """Return attributes under their own names, as columns or fields of something else are called too."""
    return {name: getattr(value, name) for name in names}


class Form(StrEnum):
    """The form of a text: code, which can be judged, or words."""

    CODE = "code"
    TEXT = "text"


class LabelKind(StrEnum):
    """The author of a label: one annotator's, or the decision between annotators."""

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
    """A candidate: one or more consecutive statements of one block (RTC paper, Sec. 4.2)."""

    path: str
    span: Span  # from the first statement's first character to the last one's last, without the leading indentation
    start_line: int
    end_line: int
    text: str
    tests: tuple[str, ...] = ()  # node ids of the covering tests; empty until the coverage map was asked
    runs_at_import: bool = False  # some line runs while modules are imported, so any test may depend on it
    weight: float = 0.0  # sampling weight before normalising; 0.0 until weighed


@dataclass(frozen=True, slots=True)
class Item:
    """One x of a run: what is described and made again."""

    key: str  # stable within a run and over resumption (for a region: `path:start-end`)
    kind: str  # `region`, `edit`, `problem`, `cell` or `directive`
    path: str
    span: Span
    start_line: int
    end_line: int
    text: str  # the reference x; for an edit the new snippet, and `old_text` the old one
    tests: tuple[str, ...] = ()
    admitted: bool = True
    reason: str = ""
    old_text: str | None = None
    # what scores are split by, e.g. `language` -> `Go`; few values each
    facets: Mapping[str, str] = field(default_factory=dict, hash=False)
    # where it comes from, e.g. `commit`, `date`, `message`; for people to read
    origin: Mapping[str, str] = field(default_factory=dict, hash=False)
    extra: bool = False  # a person chose it, nobody sampled it: shown with its run, never in the run's scores
    form: str = Form.CODE
    directive: str | None = None  # what a person asked for in words, e.g. a docstring; None where nobody did

    @property
    def has_file(self) -> bool:
        """Return whether it stands in a file of the user's."""
        return bool(self.path) and self.kind not in WRITTEN and self.form != Form.TEXT

    @property
    def file(self) -> str:
        """Return the name of its file in lists: the path, or its key where the user has no such file."""
        return self.path if self.has_file else self.key

    @property
    def place(self) -> str:
        """Return `file:line`, or the key of what stands in no file of the user's."""
        return f"{self.path}:{self.start_line}" if self.has_file else self.key

    @property
    def lines(self) -> str:
        """Return `file:first-last`, or the key of what stands in no file of the user's."""
        return f"{self.place}-{self.end_line}" if self.has_file else self.key


WRITTEN = frozenset({"problem", "cell"})
"""Kinds of items whose files were written for the run, for nobody to read: people know such an item by its key."""
SIGNATURE = "signature"
"""In `Item.origin`: what stands above the item's text so that both are a whole function; empty where it is one."""
OLD_LINE = "old line"  # in `Item.origin` of an edit: the line of the old file, from 1, at which the old snippet begins


FEW = 20  # items below which a figure is said to rest on few


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


NOTHING = Estimate()  # the score of nothing that was judged


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a benchmark: what a person asked for, a program that does it, and its tests."""

    key: str  # the benchmark's own name for it, e.g. `HumanEval/7`; unique in its file, where it stands in `line`
    line: int
    entry: str  # the function that is asked for
    names: tuple[str, ...]  # what the tests call that function; more than one where names are masked
    words: str  # what a person asked for: the docstring, or MBPP's text. Empty where there is none
    program: str  # the whole reference, without the docstring of `entry`; `body`: the x of a round trip in it
    body: Span
    asked: str  # the same program with `words` as its docstring; `asked_body` is the body there
    asked_body: Span
    setup: str = ""  # statements that the tests need before them
    test: str = ""  # source that defines `check(candidate)`; empty where `asserts` or `inputs` hold the tests, one each
    asserts: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()  # arguments as source: the reference says what is expected, to a `tolerance`
    tolerance: float = 0.0

    @property
    def body_text(self) -> str:
        return self.program[self.body.start : self.body.end]

    def with_body(self, text: str) -> str:
        return self.program[: self.body.start] + text + self.program[self.body.end :]


# --------------------------------------------------------------------------- tests and verdicts


class Outcome(StrEnum):
    """The fate of a candidate when its covering tests ran."""

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
    """One test under one candidate."""

    __test__ = False
    node_id: str
    outcome: str  # passed, failed, error, skipped, timeout, missing
    message: str = ""
    seconds: float = 0.0
    # what the tested code gave, where the test records it (`value ...`, `error ...`, `timeout` ...); programs that
    # agree on it behave alike under this test. Empty for tests that record nothing
    signature: str = ""


NEAR_LIMIT = "near its time limit"
"""Flag of a verdict that took more than half of a limit, or ran out of time and would have ended below twice it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgement of one candidate text."""

    outcome: Outcome
    seconds: float
    tests: tuple[TestResult, ...] = ()  # in the order they ran; those after a first failure may be absent
    detail: str = ""  # one sentence a person can read
    output: str = ""  # what the candidate printed, capped, a cut said in it (the test output string of IdentityChain)
    oracle: str = ""  # which oracle judged, e.g. `tests/bubblewrap`
    flags: tuple[str, ...] = ()  # NEAR_LIMIT where a slower or faster machine may say something else; changes no score
    reused: bool = False  # the same code had been judged before, and this is what was said then; it took no seconds


@dataclass(frozen=True, slots=True)
class TestCase:
    """One trusted test of the unmodified project. `seconds`: the slowest of its identity runs."""

    __test__ = False
    node_id: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """The lines that each test runs."""

    tests: tuple[str, ...]  # node ids, the index space of `lines`
    lines: Mapping[str, Mapping[int, frozenset[int]]]  # path -> line (1-based) -> indices into `tests`
    import_lines: Mapping[str, frozenset[int]]  # path -> lines that run while modules are imported or tests collected
    traced: bool = True  # False where nobody knows which lines run: any may, under each test


def counted_tests(count: int) -> str:
    """Say how many tests."""
    return "1 test" if count == 1 else f"{count} tests"


def tests_not_asked(count: int) -> str:
    """Say how many tests that pass under plain pytest were not asked."""
    return f"{counted_tests(count)} of plain pytest {'was' if count == 1 else 'were'} not asked"


@dataclass(frozen=True, slots=True)
class Suite:
    """The project's own tests on its unmodified code."""

    tests: tuple[TestCase, ...]  # those that passed in every identity run, in collection order
    excluded: Mapping[str, str]  # node id -> why it is not trusted (fails, flaky, skipped)
    coverage: CoverageMap  # over all tests that pass in the project's own order, trusted or not
    seconds: float  # wall time of one plain whole-suite run
    python: str
    cached: bool = False
    # those that pass again and again in the project's own order, and not in others; asked in that order
    own_order: tuple[TestCase, ...] = ()
    not_asked: tuple[str, ...] = ()  # of `excluded` those that plain pytest passes, as far as one run tells


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

    name: str  # e.g. `tests/docker`, recorded with every verdict

    image_digest: str  # of the container image; empty where there is none

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
