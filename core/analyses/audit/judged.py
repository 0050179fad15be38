"""All judged and scored code of the audited runs side by side, and how it is read from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rtc_inspector.core.figures import Axis, Estimate, Link
from rtc_inspector.core.generation import Role
from rtc_inspector.core.metrics.pairs import CRYSTAL, NAMES
from rtc_inspector.core.metrics.registry import FUNCTION, METRICS, Metric, metric
from rtc_inspector.core.metrics.validity import Auc, Correlation, Means, clustered_auc, numbered
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import CandidateRow, RunRow
from rtc_inspector.core.types import SIGNATURE

Floats = NDArray[np.float64]
EFFORT = "edit_sim"
"""The metric that stands for editing effort, which the others are held against."""
LISTED = 20
"""Samples behind one mark, and rows of the lists to read."""
BINS = 20


@dataclass(frozen=True)
class System:
    """A run whose code is audited."""

    run: RunRow
    name: str
    rows: tuple[CandidateRow, ...]


class Judged:
    """All judged and scored candidates side by side: one column of values a metric, NaN where it is not defined."""

    def __init__(self, systems: Sequence[System], unscored: int) -> None:
        """`unscored`: candidates left out, since nothing was computed for them yet."""
        self.systems = systems
        self.unscored = unscored
        self.rows = [row for system in systems for row in system.rows]
        self.system = np.array([at for at, each in enumerate(systems) for _ in each.rows], dtype=np.int64)
        self.links = [Link(each.run.id, row.item_id, row.sample_id) for each in systems for row in each.rows]
        self.problems = [(each.run.project_root, row.key) for each in systems for row in each.rows]
        self.clusters = numbered(self.problems)
        self.passed = np.array([row.passed for row in self.rows], dtype=bool)
        values: dict[str, Floats] = {}
        for at, row in enumerate(self.rows):
            for name, value in _plain_scores(row).items():
                values.setdefault(name, np.full(len(self.rows), np.nan))[at] = value
        # The registry's order. A name may carry its model behind a colon.
        order = {name: at for at, name in enumerate(METRICS)}
        self.columns = {name: values[name] for name in sorted(values, key=lambda each: order[each.split(":")[0]])}

    def known(self, *names: str) -> NDArray[np.bool_]:
        """Return a mask of the candidates that have all these metrics."""
        found = np.ones(len(self.rows), dtype=bool)
        for name in names:
            found &= ~np.isnan(self.columns[name])
        return found

    @cached_property
    def aucs(self) -> dict[str, Auc]:
        """Return the AUC of each metric for which it is defined, over the candidates that have the metric."""
        found = {}
        for name, values in self.columns.items():
            known = self.known(name)
            clusters = numbered(self.clusters[known].tolist())
            if len(set(values[known])) > 1 and (area := clustered_auc(values[known], self.passed[known], clusters)):
                found[name] = area
        return found

    def means(self, name: str) -> list[Means]:
        """Return for each system the metric's mean on each problem."""
        return self._by_problem(self.columns[name])

    def passing(self) -> list[Means]:
        """Return for each system the share that passes of each problem."""
        return self._by_problem(self.passed.astype(float))

    def _by_problem(self, values: Floats) -> list[Means]:
        found: list[dict[object, list[float]]] = [{} for _ in self.systems]
        for at, value in enumerate(values.tolist()):
            if value == value:
                found[self.system[at]].setdefault(self.problems[at], []).append(value)
        return [{problem: sum(each) / len(each) for problem, each in one.items()} for one in found]

    def ordered(self, places: NDArray[np.int64]) -> tuple[Link, ...]:
        """The first few samples of an order."""
        return tuple(self.links[at] for at in places[:LISTED].tolist())

    def misleading(self, name: str, *, high: bool) -> NDArray[np.int64]:
        """Failing candidates from the highest value down, or passing ones from the lowest up."""
        values = self.columns[name]
        places = np.flatnonzero(self.known(name) & (self.passed != high))
        return places[np.argsort(-values[places] if high else values[places], kind="stable")]


def unscored(reader: Reader, run_ids: Sequence[int]) -> int:
    """Return how many candidates have no scores yet."""
    rows = (row for run_id in run_ids for row in reader.candidates(run_id))
    return sum(not is_scored(row) for row in rows)


def is_scored(row: CandidateRow) -> bool:
    """CrystalBLEU is defined for every pair, and computed with all others."""
    return any(name.split(":")[0] == CRYSTAL for name in row.scores)


def read(reader: Reader, run_ids: Sequence[int], *, baselines: bool) -> Judged:
    """The code of these runs that was scored; with `baselines` also what was written without a description."""
    systems, unscored = [], 0
    for run_id in run_ids:
        run = reader.run(run_id)
        rows = [row for row in reader.candidates(run_id) if baselines or row.role != Role.BASELINE]
        scored = tuple(filter(is_scored, rows))
        unscored += len(rows) - len(scored)
        systems.append(System(run, f"{run.model_name}, run {run.id}", scored))
    return Judged(systems, unscored)


def _plain_scores(row: CandidateRow) -> dict[str, float]:
    """The audit's scores of a candidate by metric, and by model where they need one; see `stored_name`."""
    function = SIGNATURE in row.origin
    found = {}
    for name, value in row.scores.items():
        base, *behind = name.split(":")
        if (base in NAMES or METRICS.get(base, _NO_METRIC).needs) and (behind[-1:] == [FUNCTION]) is function:
            found[f"{base}:{behind[0]}" if METRICS[base].needs == "model" else base] = value
    return found


_NO_METRIC = Metric("", "", "", "")


def short(name: str) -> str:
    """Return the name of a metric for where there is little room."""
    return metric(name).short


def axis_of(about: Metric) -> Axis:
    """Return the axis of a metric's values: from 0, or from its lowest value where that is below 0."""
    return Axis(about.short, min(0.0, about.lowest), about.highest, "up")


def p_text(value: float | None) -> str:
    """A p value in two digits; a dash where there is none."""
    return "–" if value is None else f"{value:.2g}" if value else "0"


def estimated(found: Correlation | None) -> Estimate | None:
    """A correlation as a figure holds it."""
    return None if found is None else Estimate(found.value, found.low, found.high, found.n)


def area_of(found: Auc) -> Estimate:
    """An AUC as a figure holds it."""
    return Estimate(found.value, found.low, found.high)
