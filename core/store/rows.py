"""What views read from the store: frozen rows, one class a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """A mean with its 95 % interval, fractions (0..1, lift -1..1). All None when nothing was judged."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run as the run list and the status line show it. `status`: running, finished, incomplete, interrupted, failed."""

    id: int
    task: str
    status: str
    project_name: str
    project_root: str
    revision: str | None
    dirty: bool
    model_name: str
    backward_model_name: str
    sandbox: str
    seed: int
    app_version: str
    started_at: str
    ended_at: str | None
    regions_wanted: int
    items_admitted: int
    items_dropped: int
    items_complete: int
    samples: int
    rtc: Score
    lift: Score
    config_json: str
    model_json: str
    name: str
    notes: str


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One region (or edit) of a run with what became of it.

    Attributes:
        state: dropped, waiting, running or done.
        rtc: mean outcome of its judged backward samples, None before the first.
        baseline: mean outcome of its judged baseline samples.
        passes, judged: of backward samples.
        recitation: the largest among its forward samples.
    """

    id: int
    run_id: int
    key: str
    kind: str
    path: str
    start: int
    end: int
    start_line: int
    end_line: int
    text: str
    old_text: str | None
    tests: tuple[str, ...]
    admitted: bool
    reason: str
    state: str
    rtc: float | None
    baseline: float | None
    lift: float | None
    passes: int
    judged: int
    recitation: float | None


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The last verdict of a sample."""

    id: int
    outcome: str
    seconds: float
    detail: str
    output: str
    oracle: str
    tests_run: int
    tests_failed: int


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One sample of a trace, with its verdict and scores."""

    id: int
    item_id: int
    parent_id: int | None
    role: str
    index: int
    text: str
    raw_text: str
    extraction_steps: tuple[str, ...]
    prompt_hash: str
    seed: int
    temperature: float
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish_reason: str
    truncated: bool
    recitation: float | None
    error: str
    author: str
    verdict: VerdictRow | None
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TestRow:
    """One test of one verdict."""

    __test__ = False
    node_id: str
    outcome: str
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file's share of a run."""

    path: str
    items: int
    done: int
    rtc: float | None
    lift: float | None


@dataclass(frozen=True, slots=True)
class RunningPoint:
    """Scores after the first `items` complete regions, in the order they were completed."""

    items: int
    item_id: int
    rtc: Score
    lift: Score
