"""The metric audit: which similarity can stand in for tests (Naik 2024, Sec. 5 and 6), on any judged code.

The figures come in the paper's order: bounds and shape of each metric, ties, agreement between metrics, power to tell
systems apart, correlation with passing and with editing effort. Beside them stands what the paper leaves out: intervals
that count problems, correlation inside problems, AUC, and the samples that mislead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.figures import (
    Axis,
    Bar,
    Bars,
    Categories,
    Cell,
    Choice,
    Column,
    Estimate,
    Figure,
    Grid,
    Guide,
    Histogram,
    Lines,
    Link,
    Observation,
    Point,
    Row,
    Scatter,
    Sentence,
    Series,
    Table,
    columns,
)
from core.generation import Role
from core.kinds import counted
from core.metrics.paired import holm
from core.metrics.pairs import CRYSTAL, NAMES
from core.metrics.ranking import FEWEST, fisher_interval
from core.metrics.registry import FUNCTION, METRICS, PERTURBATIONS, Metric, metric
from core.metrics.statistics import LEVEL, interval
from core.metrics.validity import (
    Auc,
    Correlation,
    Means,
    Test,
    auc_difference_p,
    clustered_auc,
    correlation,
    numbered,
    paired_t,
    power,
    rank_correlation,
    shape,
    sign_flips,
    tau,
    ties,
    welch_t,
    within,
)
from core.store.reader import Reader
from core.store.rows import CandidateRow, RunRow
from core.types import SIGNATURE

Floats = NDArray[np.float64]

EFFORT = "edit_sim"
"""The metric that stands for editing effort, which the others are held against."""
HIGH = 0.9
"""A failing sample above it misleads."""
LISTED = 20
"""Samples behind one mark, and rows of the lists to read."""
BINS = 20
TENTHS = 10
NEAR = 0.008
"""Where the paper cuts its figure of p values, to show what lies near the threshold."""
DRAWN = frozenset({"exact_match", "edit_sim", "chrf", "bleu", "codebleu", "crystalbleu", "token_f1", "text_f1"})
"""The metrics that the paper draws as lines; the tables have all."""
TESTS: Mapping[str, tuple[str, Test]] = {
    "paired": ("t, paired by problem", paired_t),
    "welch": ("t, unpaired (Welch)", welch_t),
    "flips": ("random signs", sign_flips),
}
SAMPLES = {"all": "all judged code", "described": "without baselines"}
_WAIT = "`rtc-inspector analyse RUN... --kind audit` scores them; in the window, press Score."


@dataclass(frozen=True)
class System:
    """Whose code it is: a run."""

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
        order = {name: at for at, name in enumerate(METRICS)}
        self.columns = {name: values[name] for name in sorted(values, key=lambda each: order[each.split(":")[0]])}

    def known(self, *names: str) -> NDArray[np.bool_]:
        """Which candidates have all these metrics."""
        found = np.ones(len(self.rows), dtype=bool)
        for name in names:
            found &= ~np.isnan(self.columns[name])
        return found

    @cached_property
    def aucs(self) -> dict[str, Auc]:
        """Of each metric for which it is defined, over the candidates that have the metric."""
        found = {}
        for name, values in self.columns.items():
            known = self.known(name)
            clusters = numbered(self.clusters[known].tolist())
            if len(set(values[known])) > 1 and (area := clustered_auc(values[known], self.passed[known], clusters)):
                found[name] = area
        return found

    def means(self, name: str) -> list[Means]:
        """Of each system, its mean on each problem."""
        found: list[dict[object, list[float]]] = [{} for _ in self.systems]
        values = self.columns[name]
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


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[Figure]:
    """Of all judged code of the runs together.

    `chosen["metric"]` is drawn by itself, `chosen["test"]` holds systems apart, `chosen["samples"]` says which code.
    """
    samples = chosen.get("samples") if chosen.get("samples") in SAMPLES else "all"
    judged = _read(reader, run_ids, baselines=samples == "all")
    yield summary(judged)
    if not judged.rows:
        return
    yield from _notes(judged)
    best = _best(judged)
    shown = chosen.get("metric", "")
    shown = shown if shown in judged.columns else best or EFFORT
    choice = Choice("metric", "Metric", {name: short(name) for name in judged.columns}, shown)
    which = Choice("samples", "Samples", SAMPLES, samples or "all")
    yield shapes(judged, which)
    yield spreads(judged)
    yield distribution(judged, shown, choice)
    yield tied(judged)
    yield agreement(judged)
    yield from separation(judged, chosen.get("test", ""))
    yield areas(judged)
    yield validity(judged)
    yield against_effort(judged)
    yield verdicts(judged, shown, choice)
    yield scatter(judged, shown, choice)
    yield misleading(judged, shown, choice, high=True)
    yield misleading(judged, shown, choice, high=False)
    if (table := perturbations(judged)) is not None:
        yield table
    yield from between(judged)


def unscored(reader: Reader, run_ids: Sequence[int]) -> int:
    """How many candidates have no scores yet."""
    rows = (row for run_id in run_ids for row in reader.candidates(run_id))
    return sum(not _is_scored(row) for row in rows)


def perturbations(judged: Judged) -> Table | None:
    """What changes that keep the meaning do to each metric (Table 6); None where nobody asked for them."""
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
            bounds = interval(after.tolist(), metric(name).lowest, against=before.tolist(), clusters=clusters)
            most = places[np.argsort(-np.abs(after - before), kind="stable")]
            tau_b, rho = tau(before, after), rank_correlation(before, after, numbered(clusters))
            cells = (short(name), said, float(after.mean()), Estimate(*bounds, len(places)))
            left = len(judged.rows) - len(places)
            correlations = (_correlated(tau_b), _correlated(rho), len(places), left)
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


def _is_scored(row: CandidateRow) -> bool:
    """CrystalBLEU is defined for every pair, and computed with all others."""
    return any(name.split(":")[0] == CRYSTAL for name in row.scores)


def _read(reader: Reader, run_ids: Sequence[int], *, baselines: bool) -> Judged:
    systems, unscored = [], 0
    for run_id in run_ids:
        run = reader.run(run_id)
        rows = [row for row in reader.candidates(run_id) if baselines or row.role != Role.BASELINE]
        scored = tuple(filter(_is_scored, rows))
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
    """What a metric is called where there is little room."""
    return metric(name).short


def _best(judged: Judged) -> str:
    """The metric with the largest AUC among those that every sample has."""
    whole = [name for name in judged.aucs if judged.known(name).all()]
    return max(whole, key=lambda name: (judged.aucs[name].value, name == EFFORT), default="")


def _bounded(value: float, low: float | None, high: float | None) -> str:
    return f"{value:.2f}" if low is None or high is None else f"{value:.2f} ({low:.2f} to {high:.2f})"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}" if value else "0"


def _correlated(found: Correlation | None) -> Estimate | None:
    return None if found is None else Estimate(found.value, found.low, found.high, found.n)


# --------------------------------------------------------------------------- in words


def summary(judged: Judged) -> Sentence:
    """The finding, from the data."""
    title = "Which metric can stand in for tests?"
    count, passing = len(judged.rows), int(judged.passed.sum())
    if not count:
        waiting = f"{counted(judged.unscored, 'judged sample')} of these runs {'is' if judged.unscored == 1 else 'are'}"
        text = f"{waiting} not scored yet. {_WAIT}" if judged.unscored else "These runs hold no judged code to compare."
        return Sentence(name="summary", title=title, text=text, tone="muted")
    best = _best(judged)
    if not best:
        why = "pass" if passing == count else "fail" if not passing else ""
        said = f"all {why}" if why else "have the same value of every metric"
        text = f"These {counted(count, 'sample')} {said}: no metric can be said to tell passing code from failing."
        return Sentence(name="summary", title=title, text=text, tone="warn")
    area = judged.aucs[best]
    fooled = judged.misleading(best, high=True)
    above = int((judged.columns[best][fooled] > HIGH).sum())
    text = (
        f"On these {counted(count, 'sample')} {short(best)} tells pass from fail with AUC "
        f"{_bounded(area.value, area.low, area.high)}; {_better(judged)}; "
        f"{above:,} failing {'sample scores' if above == 1 else 'samples score'} above {HIGH}."
    )
    return Sentence(name="summary", title=title, text=text, links=judged.ordered(fooled))


def _better(judged: Judged) -> str:
    found = [name for name, apart, _, adjusted in _against_effort(judged) if apart > 0 and adjusted < 1 - LEVEL]
    if not found:
        return f"no metric is better than {short(EFFORT)} beyond chance"
    names = [short(name) for name in found]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} {'is' if len(found) == 1 else 'are'} better than {short(EFFORT)} beyond chance"


def _notes(judged: Judged) -> Iterator[Sentence]:
    """What was left out, and what cannot be told of these samples."""
    said = []
    if judged.unscored:
        said.append(f"{counted(judged.unscored, 'judged sample')} not scored yet: {_WAIT}")
    absent: dict[int, list[str]] = {}
    for name, values in judged.columns.items():
        known = values[judged.known(name)]
        if len(set(known)) == 1:
            said.append(f"{short(name)} is {known[0]:.2f} for all: no correlation.")
        if len(known) < len(values):
            absent.setdefault(len(values) - len(known), []).append(short(name))
    said += [f"Not defined for {counted(missing, 'sample')}: {', '.join(names)}." for missing, names in absent.items()]
    if len(judged.systems) < 2:
        said.append("One run only: ties and the power to tell systems apart need two.")
    said += [
        f"{each.name} leaves out {counted(each.run.items_dropped, 'item')}: nothing left out counts as 0."
        for each in judged.systems
        if each.run.items_dropped
    ]
    if said:
        yield Sentence(name="notes", title="To keep in mind", short="Notes", text="\n".join(said), tone="muted")


# --------------------------------------------------------------------------- one metric


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
        columns=(
            Column("Metric"),
            Column("Can be"),
            *(Column(label, "number") for label in ("Lowest", "Highest", "Mean", "Median", "Midhinge", "SD")),
            Column("Skewness", "signed"),
            Column("Kurtosis", "signed"),
            Column("Samples", "count"),
        ),
        rows=tuple(rows),
    )


def spreads(judged: Judged) -> Grid:
    """All distributions in one drawing (Fig. 1): how much of a metric's values lies where."""
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
        scale=Axis("share of samples", 0, 1, form="share"),
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
        x=Axis(about.short, min(0.0, about.lowest), about.highest, "up"),
        noun="samples",
        values=tuple(
            Observation(value, link=link)
            for value, link in zip(judged.columns[name].tolist(), judged.links, strict=True)
            if value == value
        ),
        most_bins=BINS,
    )


# --------------------------------------------------------------------------- between systems and metrics


def tied(judged: Judged) -> Bars:
    """How often two systems have the same value on a problem (Table 5)."""
    bars = []
    for name in judged.columns:
        means = judged.means(name)
        share = ties(means)
        if share is not None:
            bars.append(Bar(short(name), Estimate(share), links=_tied_samples(judged, means)))
    return Bars(
        name="ties",
        title="Problems on which two systems tie",
        short="Ties",
        note="Of all problems and pairs of runs, the share whose values differ by no more than a millionth."
        if bars
        else "A tie needs two runs on the same problems.",
        categories=Categories("metric", tuple(bar.category for bar in bars)),
        y=Axis("share tied", 0, 1, form="share"),
        bars=tuple(bars),
    )


def _tied_samples(judged: Judged, means: Sequence[Means]) -> tuple[Link, ...]:
    """Samples of the problems on which neighbouring systems are nearest to each other, ties first."""
    apart = {
        problem: abs(one[problem] - other[problem])
        for one, other in pairwise(means)
        for problem in one.keys() & other.keys()
    }
    places = [at for at, problem in enumerate(judged.problems) if problem in apart]
    return tuple(judged.links[at] for at in sorted(places, key=lambda at: apart[judged.problems[at]])[:LISTED])


def agreement(judged: Judged) -> Grid:
    """Kendall's tau-b between metrics (Fig. 2); a cell leads to the samples that the two rank most differently."""
    names = tuple(judged.columns)
    cells = []
    for at, row in enumerate(names):
        for column in names[: at + 1]:
            known = judged.known(row, column)
            one, other = judged.columns[row][known], judged.columns[column][known]
            found = tau(one, other)
            if found is None:
                continue
            apart = np.abs(np.argsort(np.argsort(one)) - np.argsort(np.argsort(other)))
            links = judged.ordered(np.flatnonzero(known)[np.argsort(-apart, kind="stable")])
            value = Estimate(found.value, n=found.n)
            cells.append(Cell(short(row), short(column), value, links=links))
            if row != column:
                cells.append(Cell(short(column), short(row), value, links=links))
    heads = tuple(map(short, names))
    return Grid(
        name="agreement",
        title="Agreement between metrics (Kendall's tau-b)",
        short="Agreement",
        note="Grey: a metric that does not vary. A cell leads to the samples that both rank most differently.",
        rows=Categories("metric", heads),
        columns=Categories("metric", heads),
        scale=Axis("tau-b", -1, 1, form="signed"),
        cells=tuple(cells),
        centre=0,
    )


def separation(judged: Judged, test: str) -> Iterator[Figure]:
    """Which metric tells systems apart (Figs. 3 and 4): p of every ordered pair, one-sided, against 0.05 / pairs."""
    if len(judged.systems) < 2:
        return
    test = test if test in TESTS else next(iter(TESTS))
    choice = Choice("test", "Test", {name: title for name, (title, _) in TESTS.items()}, test)
    pairs = len(judged.systems) * (len(judged.systems) - 1)
    alpha = (1 - LEVEL) / pairs
    found = {name: power(judged.means(name), TESTS[test][1]) for name in judged.columns}
    for name, title, most in (
        ("separation", "Telling systems apart", 1.0),
        ("separation-near", f"Telling systems apart, p up to {NEAR}", NEAR),
    ):
        yield Lines(
            name=name,
            title=title,
            short="Apart" if most == 1 else "Apart, near",
            note="p that the first of two runs has the lower mean, for each ordered pair, sorted. "
            f"Dashed: 0.05 / {pairs} = {alpha:.2g}. At most half of the ordered pairs can lie below it.",
            choices=(choice,),
            x=Axis("ordered pairs of runs", 0, pairs, form="count"),
            y=Axis("p", 0, most, "down"),
            series=tuple(
                Series(
                    short(each),
                    tuple(
                        Point(Estimate(at), Estimate(min(p, most)), links=_apart(judged, each, pair))
                        for at, (pair, p) in enumerate(sorted(ps.items(), key=lambda one: one[1]), start=1)
                    ),
                )
                for each, ps in found.items()
                if ps and each.split(":")[0] in DRAWN
            ),
            guides=(Guide("y", alpha, f"{alpha:.2g}"),),
        )
    rows = []
    for name, ps in found.items():
        bonferroni = sum(p < alpha for p in ps.values())
        adjusted = sum(p < 1 - LEVEL for p in holm(list(ps.values())))
        lowest = min(ps, key=lambda pair: ps[pair], default=None)
        links = _apart(judged, name, lowest) if lowest else ()
        rows.append(Row((short(name), bonferroni, adjusted, len(ps), pairs), links=links))
    yield Table(
        name="separated",
        title="Pairs of systems told apart",
        short="Told apart",
        note=f"Ordered pairs of which p lies below 0.05 / {pairs} (Bonferroni), or below 0.05 after Holm's adjustment. "
        "A pair on which all values are the same has no p.",
        choices=(choice,),
        columns=columns("Metric | Told apart: count up | By Holm: count up | With a p: count | Pairs: count"),
        rows=tuple(rows),
    )


def _apart(judged: Judged, name: str, pair: tuple[int, int]) -> tuple[Link, ...]:
    """Samples of the problems on which two systems differ most."""
    means = judged.means(name)
    one, other = (means[at] for at in pair)
    common = sorted((abs(one[p] - other[p]), str(p), p) for p in one if p in other)
    first = {problem for *_, problem in common[-LISTED // 4 :]}
    return tuple(
        link
        for link, problem, system in zip(judged.links, judged.problems, judged.system, strict=True)
        if problem in first and system in pair
    )[:LISTED]


# --------------------------------------------------------------------------- passing


def areas(judged: Judged) -> Bars:
    """How well each metric tells what passes."""
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
                Estimate(judged.aucs[name].value, judged.aucs[name].low, judged.aucs[name].high),
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
                    Estimate(area.value, area.low, area.high) if area else None,
                    _correlated(with_pass),
                    _p(with_pass.p if with_pass else None),
                    _correlated(inside),
                    _correlated(tau_b),
                    _correlated(rho),
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


def _against_effort(judged: Judged) -> list[tuple[str, float, float, float]]:
    """Metric, AUC less that of EDIT-SIM on the same samples, p, and p by Holm over all metrics."""
    found = []
    for name in judged.columns:
        if name == EFFORT or name not in judged.aucs or EFFORT not in judged.aucs:
            continue
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
    """Whether anything is better than counting edits."""
    found = _against_effort(judged)
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
                (short(name), apart, _p(p), _p(adjusted), _p(min(1.0, p * len(found)))),
                links=judged.ordered(judged.misleading(name, high=True)),
            )
            for name, apart, p, adjusted in found
        ),
    )


def verdicts(judged: Judged, name: str, choice: Choice) -> Histogram:
    """One metric of passing and of failing samples, back to back."""
    area, about = judged.aucs.get(name), metric(name)
    said = f"AUC {_bounded(area.value, area.low, area.high)} · " if area else ""
    passing = int(judged.passed.sum())
    return Histogram(
        name="verdicts",
        title=f"{about.short} of passing and failing samples",
        short="Pass and fail",
        note=f"{said}{passing:,} passed, {len(judged.rows) - passing:,} did not",
        choices=(choice,),
        x=Axis(about.short, min(0.0, about.lowest), about.highest, "up"),
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
                name="",
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
        x=Axis(about.short, min(0.0, about.lowest), about.highest, "up"),
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


def between(judged: Judged) -> Iterator[Figure]:
    """What each system comes to (Tables 1 and 2), and whether a metric ranks systems as passing does."""
    names = list(judged.columns)
    rows, cells, means = [], [], []
    for at, system in enumerate(judged.systems):
        inside = judged.system == at
        if not inside.any():
            continue
        passing, clusters = judged.passed[inside].astype(float).tolist(), judged.clusters[inside].tolist()
        passed = Estimate(*interval(passing, clusters=clusters), len(passing))
        counts = (len(passing), len(set(clusters)), system.run.items_dropped)
        rows.append(Row((system.name, *counts, passed), links=(Link(system.run.id),)))
        values = {}
        for name in names:
            places = np.flatnonzero(inside & judged.known(name))
            if len(places):
                values[name] = float(judged.columns[name][places].mean())
                links = judged.ordered(places[np.argsort(judged.columns[name][places], kind="stable")])
                cells.append(Cell(short(name), system.name, Estimate(values[name], n=len(places)), links=links))
        means.append((float(np.mean(passing)), values))
    yield Table(
        name="systems",
        title="Systems",
        short="Systems",
        note="Items left out were not attempted, or could not be used; they never count as 0.",
        columns=columns("System | Samples: count | Problems: count | Left out: count | Passing: number up"),
        rows=tuple(rows),
    )
    yield Grid(
        name="means",
        title="Mean of each metric by system",
        short="Means",
        note="Over samples; a cell leads to those with the lowest values.",
        rows=Categories("metric", tuple(map(short, names))),
        columns=Categories("system", tuple(dict.fromkeys(cell.column for cell in cells))),
        scale=Axis("mean", 0, 1, "up"),
        cells=tuple(cells),
    )
    if len(means) < FEWEST:
        return
    ranked = []
    for name in names:
        known = [(values[name], share) for share, values in means if name in values]
        found = correlation(*(np.array(side) for side in zip(*known, strict=True))) if len(known) >= FEWEST else None
        low, high = (found and fisher_interval(found.value, found.n)) or (None, None)
        r = Estimate(found.value, low, high, found.n) if found else None
        ranked.append(Row((short(name), r), links=tuple(Link(each.run.id) for each in judged.systems)))
    yield Table(
        name="ranking",
        title="Ranking systems",
        short="Ranking",
        note=f"r of each metric's mean with the share that passes, over {len(means)} systems. A metric can rank "
        "systems well and still say little of a single program.",
        columns=columns("Metric | r over systems: signed up"),
        rows=tuple(ranked),
    )
