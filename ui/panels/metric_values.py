"""A metric beside the verdict: what is read for its chart, and how it is put into bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from core.store.rows import ScoredRow

if TYPE_CHECKING:
    from core.store.reader import Reader

BINS = 20
FIRST_SHOWN = "edit_sim"


@dataclass(frozen=True)
class MetricValues:
    """One metric of one run. `known`: the metrics the run has; `metric` is empty where it has none."""

    run_id: int
    metric: str
    known: tuple[str, ...]
    rows: tuple[ScoredRow, ...]

    @cached_property
    def said(self) -> str:
        """How well the metric tells passing code from failing code."""
        from core.metrics.statistics import auc, point_biserial  # in the background: the window opens sooner

        passed = [row.passed for row in self.rows]
        values = [row.value for row in self.rows]
        counted = f"{sum(passed):,} passed, {len(passed) - sum(passed):,} did not"
        area, correlation = auc(values, passed), point_biserial(values, passed)
        if area is None:
            return counted
        told = "no correlation" if correlation is None else f"r {correlation:+.2f}"
        return f"AUC {area:.2f} · {told} · {counted}"


@dataclass(frozen=True, slots=True)
class MetricBin:
    """Reconstructions with a value in `low..high` (the last bin holds its upper end) and one verdict.

    `share` is of all those with that verdict.
    """

    low: float
    high: float
    passed: bool
    rows: tuple[ScoredRow, ...]
    share: float


def read_metric(run_id: int, wanted: str, reader: Reader) -> MetricValues:
    """The values of the wanted metric, or of the first there is."""
    known = tuple(reader.metrics(run_id))
    metric = next((name for name in (wanted, FIRST_SHOWN, *known) if name in known), "")
    rows = tuple(reader.scored(run_id, metric)) if metric else ()
    values = MetricValues(run_id, metric, known, rows)
    _ = values.said  # computed here, in the background
    return values


def metric_bins(rows: Sequence[ScoredRow]) -> list[MetricBin]:
    """Bins of one width for those that passed, then for those that did not; empty ones left out."""
    found = []
    for passed in (True, False):
        placed: list[list[ScoredRow]] = [[] for _ in range(BINS)]
        for row in rows:
            if row.passed == passed:
                placed[min(BINS - 1, max(0, int(row.value * BINS)))].append(row)
        total = sum(map(len, placed))
        for at, part in enumerate(placed):
            if part:
                found.append(MetricBin(at / BINS, (at + 1) / BINS, passed, tuple(part), len(part) / total))
    return found
