"""The metric audit, metric by metric: all judged code side by side, the shape of each metric, and what it tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rtc_inspector.core.figures import (
    Axis,
    Bar,
    Bars,
    Categories,
    Cell,
    Choice,
    Column,
    Grid,
    Guide,
    Histogram,
    Link,
    Observation,
    Point,
    Row,
    Scatter,
    Table,
    columns,
)
from rtc_inspector.core.figures.reading import in_words
from rtc_inspector.core.generation import Role
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.metrics.codebleu import CRYSTAL, NAMES
from rtc_inspector.core.metrics.metric import FUNCTION, METRICS, PERTURBATIONS, Metric, metric
from rtc_inspector.core.metrics.paired import holm
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.metrics.validity import (
    Auc,
    Correlation,
    Means,
    auc_difference_p,
    clustered_auc,
    correlation,
    numbered,
    rank_correlation,
    shape,
    tau,
    within,
)
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import CandidateRow, RunRow
from rtc_inspector.core.types import SIGNATURE, Estimate

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
    """Judged and scored candidates side by side: one column of values a metric, NaN where it is not defined."""

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


# ---- each metric by itself, and after changes that keep the meaning


TENTHS = 10


def shapes(judged: Judged, choice: Choice) -> Table:
    """Bounds, centre and moments (the paper's Tables 3 and 4)."""
    rows = []
    for name, values in judged.columns.items():
        known = judged.known(name)
        found, about = shape(values[known]), metric(name)
        places = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
        cells = (found.lowest, found.highest, found.mean, found.median, found.midhinge, found.sd)
        theory = f"{about.lowest:g} to {about.highest:g}"
        moments = (found.skewness, found.kurtosis, int(known.sum()))
        rows.append(Row((about.short, theory, *cells, *moments), links=judged.ordered(places[::-1])))
    return Table(
        name="shape",
        title="Bounds and distribution",
        short="Shape",
        note="Midhinge: (Q1 + Q3) / 2. Moments of the population; kurtosis in excess of the normal distribution's.",
        choices=(choice,),
        columns=columns(
            "Metric | Can be | Lowest: number | Highest: number | Mean: number | Median: number | Midhinge: number | "
            "SD: number | Skewness: signed | Kurtosis: signed | Samples: count"
        ),
        rows=tuple(rows),
    )


def spreads(judged: Judged) -> Grid:
    """Return all distributions in one grid (Fig. 1): how much of a metric's values lies where."""
    heads = tuple(f"{at / TENTHS:.1f}" for at in range(TENTHS))
    cells = []
    for name, values in judged.columns.items():
        places = np.flatnonzero(judged.known(name))
        inside = np.clip(np.floor(values[places] * TENTHS + 1e-9), 0, TENTHS - 1).astype(int)
        for at, head in enumerate(heads):
            here = places[inside == at]
            if len(here):
                value = Estimate(len(here) / len(places), n=len(here))
                cells.append(Cell(short(name), head, value, links=judged.ordered(here)))
    return Grid(
        name="spreads",
        title="Where the values of each metric lie",
        short="Distributions",
        note="Share of the samples from each value up to the next column's; values below 0 stand in the first.",
        rows=Categories("metric", tuple(map(short, judged.columns))),
        columns=Categories("value from", heads),
        scale=Axis("share of samples", 0, 1),
        cells=tuple(cells),
    )


def distribution(judged: Judged, name: str, choice: Choice) -> Histogram:
    """One metric by itself (Fig. 1)."""
    about = metric(name)
    return Histogram(
        name="distribution",
        title=f"Distribution of {about.short}",
        short="One distribution",
        note=f"{about.title}: {about.meaning}",
        choices=(choice,),
        x=axis_of(about),
        noun="samples",
        values=tuple(
            Observation(value, link=link)
            for value, link in zip(judged.columns[name].tolist(), judged.links, strict=True)
            if value == value
        ),
        most_bins=BINS,
    )


def perturbations(judged: Judged) -> Table | None:
    """Return what changes that keep the meaning do to each metric (Table 6), or None where none was scored."""
    values: dict[tuple[str, str], dict[int, float]] = {}
    for at, row in enumerate(judged.rows):
        for name, value in row.scores.items():
            base, sign, how = name.split(":")[0].partition("@")
            if sign:
                model = f":{name.split(':')[1]}" if METRICS[base].needs == "model" else ""
                values.setdefault((base + model, how), {})[at] = value
    rows = []
    for name in judged.columns:
        for how, said in PERTURBATIONS.items():
            changed = values.get((name, how))
            if not changed:
                continue
            places = np.array(sorted(changed))
            before, after = judged.columns[name][places], np.array([changed[at] for at in sorted(changed)])
            clusters = judged.clusters[places].tolist()
            about, sides = metric(name), (after.tolist(), before.tolist())
            bounds = interval(sides[0], about.lowest, against=sides[1], clusters=clusters, continuous=about.continuous)
            most = places[np.argsort(-np.abs(after - before), kind="stable")]
            tau_b, rho = tau(before, after), rank_correlation(before, after, numbered(clusters))
            cells = (short(name), said, float(after.mean()), Estimate(*bounds, len(places)))
            left = len(judged.rows) - len(places)
            correlations = (estimated(tau_b), estimated(rho), len(places), left)
            rows.append(Row((*cells, *correlations), links=judged.ordered(most)))
    if not rows:
        return None
    return Table(
        name="perturbations",
        title="After changes that keep the meaning",
        short="Perturbed",
        note="The mean, how much that is above the unchanged one's on the same samples, and how alike both rank the "
        "samples. Left out: a side does not parse, or there is no function whose name could change.",
        columns=columns(
            "Metric | Change | Mean: number | Difference: signed | tau-b: signed | rho: signed | "
            "Samples: count | Left out: count"
        ),
        rows=tuple(rows),
    )


# ---- how well each metric tells what passes, and where it misleads


HIGH = 0.9
"""A failing sample above it misleads."""


def best_metric(judged: Judged) -> str:
    """The metric with the largest AUC among those that every sample has."""
    whole = [name for name in judged.aucs if judged.known(name).all()]
    return max(whole, key=lambda name: (judged.aucs[name].value, name == EFFORT), default="")


def areas(judged: Judged) -> Bars:
    """Return bars of how well each metric tells what passes, by its AUC."""
    names = sorted(judged.aucs, key=lambda name: -judged.aucs[name].value)
    return Bars(
        name="auc",
        title="Telling pass from fail (AUC)",
        short="AUC",
        note="The chance that a passing sample has the larger value than a failing one, with 95 % intervals that count "
        "problems. 0.5 tells nothing."
        if names
        else "All samples pass, or all fail, or no metric varies: there is no AUC.",
        categories=Categories("metric", tuple(map(short, names))),
        y=Axis("AUC", 0, 1, "up"),
        bars=tuple(
            Bar(
                short(name),
                area_of(judged.aucs[name]),
                links=judged.ordered(judged.misleading(name, high=True)),
            )
            for name in names
        ),
        guides=(Guide("y", 0.5, "chance"),),
    )


def validity(judged: Judged) -> Table:
    """Correlation with passing and with editing effort (Sec. 6.2)."""
    passing = judged.passed.astype(np.float64)
    rows = []
    for name, values in judged.columns.items():
        known = judged.known(name, EFFORT)
        here, clusters = values[known], numbered(judged.clusters[known].tolist())
        with_pass = correlation(here, passing[known], clusters)
        inside = within(here, judged.passed[known], clusters)
        effort = judged.columns[EFFORT][known]
        same = name == EFFORT
        tau_b, rho = (None, None) if same else (tau(here, effort), rank_correlation(here, effort, clusters))
        area = judged.aucs.get(name)
        rows.append(
            Row(
                (
                    short(name),
                    area_of(area) if area else None,
                    estimated(with_pass),
                    p_text(with_pass.p if with_pass else None),
                    estimated(inside),
                    estimated(tau_b),
                    estimated(rho),
                    int(known.sum()),
                ),
                links=judged.ordered(judged.misleading(name, high=True)),
            )
        )
    return Table(
        name="validity",
        title="Passing, and editing effort",
        short="Validity",
        note="r: point-biserial, and inside problems with each problem's mean taken off. Its p takes samples to be "
        "independent, as the paper does; the 95 % intervals count problems. tau-b and rho: with EDIT-SIM. "
        "A row leads to failing samples with high values.",
        columns=columns(
            "Metric | AUC: number up | r with passing: signed up | p of r | r inside problems: signed up | "
            "tau-b with EDIT-SIM: signed | rho with EDIT-SIM: signed | Samples: count"
        ),
        rows=tuple(rows),
    )


def effort_differences(judged: Judged) -> list[tuple[str, float, float, float]]:
    """Metric, AUC less that of EDIT-SIM on the same samples, p, and p by Holm over all metrics."""
    found = []
    for name in judged.columns:
        if name == EFFORT or name not in judged.aucs or EFFORT not in judged.aucs:
            continue
        # On the same samples, or the difference would be that of the samples.
        known = judged.known(name, EFFORT)
        clusters = numbered(judged.clusters[known].tolist())
        one, other = (
            clustered_auc(judged.columns[each][known], judged.passed[known], clusters) for each in (name, EFFORT)
        )
        if one is not None and other is not None:
            found.append((name, one.value - other.value, auc_difference_p(one, other)))
    adjusted = holm([p for *_, p in found])
    return [(*each, p) for each, p in zip(found, adjusted, strict=True)]


def against_effort(judged: Judged) -> Table:
    """Return whether anything is better than counting edits."""
    found = effort_differences(judged)
    return Table(
        name="effort",
        title="Better than EDIT-SIM?",
        short="Better?",
        note="AUC less that of EDIT-SIM on the same samples; p counts problems."
        if found
        else "Without an AUC there is nothing to compare.",
        columns=columns("Metric | AUC less EDIT-SIM's: signed up | p | p by Holm | p by Bonferroni"),
        rows=tuple(
            Row(
                (short(name), apart, p_text(p), p_text(adjusted), p_text(min(1.0, p * len(found)))),
                links=judged.ordered(judged.misleading(name, high=True)),
            )
            for name, apart, p, adjusted in found
        ),
    )


def verdicts(judged: Judged, name: str, choice: Choice) -> Histogram:
    """One metric of passing and of failing samples, back to back."""
    area, about = judged.aucs.get(name), metric(name)
    said = f"AUC {in_words(area_of(area))} · " if area else ""
    passing = int(judged.passed.sum())
    return Histogram(
        name="verdicts",
        title=f"{about.short} of passing and failing samples",
        short="Pass and fail",
        note=f"{said}{passing:,} passed, {len(judged.rows) - passing:,} did not",
        choices=(choice,),
        x=axis_of(about),
        noun="samples",
        values=tuple(
            Observation(value, "passed" if passed else "failed", link)
            for value, passed, link in zip(judged.columns[name].tolist(), judged.passed, judged.links, strict=True)
            if value == value
        ),
        groups={"passed": "good", "failed": "bad"},
        most_bins=BINS,
    )


def scatter(judged: Judged, name: str, choice: Choice) -> Scatter:
    """One metric against passing: a point for the samples of one problem and outcome, at their mean value."""
    about = metric(name)
    rates: dict[int, list[bool]] = {}
    for cluster, passed in zip(judged.clusters.tolist(), judged.passed.tolist(), strict=True):
        rates.setdefault(cluster, []).append(passed)
    groups: dict[tuple[int, bool], list[int]] = {}
    for at in np.flatnonzero(judged.known(name)).tolist():
        groups.setdefault((int(judged.clusters[at]), bool(judged.passed[at])), []).append(at)
    values = judged.columns[name]
    points = []
    for (cluster, passed), places in groups.items():
        share = sum(rates[cluster]) / len(rates[cluster])
        points.append(
            Point(
                Estimate(float(values[places].mean())),
                Estimate(share),
                tone="good" if passed else "bad",
                count=len(places),
                links=tuple(judged.links[at] for at in places[:LISTED]),
            )
        )
    return Scatter(
        name="scatter",
        title=f"{about.short} against passing",
        short="Scatter",
        note="A point stands for the passing (green) or failing (red) samples of one problem: their mean value, and "
        "how much of the problem's code passes. Red on the right and green on the left mislead.",
        choices=(choice,),
        x=axis_of(about),
        y=Axis("share of the problem's samples that pass", 0, 1, "up"),
        points=tuple(points),
        guides=(Guide("x", HIGH, f"{HIGH}"),),
        noun="samples",
    )


def misleading(judged: Judged, name: str, choice: Choice, *, high: bool) -> Table:
    """The corner to read: failing samples that look right, or passing ones that look wrong."""
    places = judged.misleading(name, high=high)
    what = "Failing, with a high" if high else "Passing, with a low"
    total = counted(len(places), f"{'failing' if high else 'passing'} sample")
    return Table(
        name="high-and-fail" if high else "low-and-pass",
        title=f"{what} {short(name)}",
        short="High, fails" if high else "Low, passes",
        note=f"The {min(LISTED, len(places))} that mislead most, of {total}." if len(places) else "There is none.",
        choices=(choice,),
        columns=(
            Column(short(name), "number"),
            *(() if name == EFFORT else (Column(short(EFFORT), "number"),)),
            Column("Problem"),
            Column("Run"),
            Column("Role"),
        ),
        rows=tuple(
            Row(
                (
                    float(judged.columns[name][at]),
                    *(() if name == EFFORT else (float(judged.columns[EFFORT][at]),)),
                    judged.rows[at].key,
                    judged.systems[judged.system[at]].name,
                    judged.rows[at].role,
                ),
                links=(judged.links[at],),
            )
            for at in places[:LISTED].tolist()
        ),
    )
