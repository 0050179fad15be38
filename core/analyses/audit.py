"""The metric audit: which similarity can stand in for tests (Naik 2024, Sec. 5 and 6), on any judged code.

The figures come in the paper's order: bounds and shape of each metric, ties, agreement between metrics, power to tell
systems apart, correlation with passing and with editing effort. Beside them stands what the paper leaves out: intervals
that count problems, correlation inside problems, AUC, and the samples that mislead.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rtc_inspector.core import figures as fig
from rtc_inspector.core.figures.reading import in_words
from rtc_inspector.core.generation import Role
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.metrics import validity as stats
from rtc_inspector.core.metrics.codebleu import CRYSTAL, NAMES
from rtc_inspector.core.metrics.metric import FUNCTION, METRICS, PERTURBATIONS, Metric, metric
from rtc_inspector.core.metrics.paired import holm
from rtc_inspector.core.metrics.statistics import LEVEL, interval, numbered
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import CandidateRow, RunRow
from rtc_inspector.core.types import SIGNATURE, Estimate

Floats = NDArray[np.float64]
EFFORT = "edit_sim"  # the metric that stands for editing effort, which the others are held against
LISTED = 20  # samples behind one mark, and rows of the lists to read
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
        self.links = [fig.Link(each.run.id, row.item_id, row.sample_id) for each in systems for row in each.rows]
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
        found = np.ones(len(self.rows), dtype=bool)
        for name in names:
            found &= ~np.isnan(self.columns[name])
        return found

    @cached_property
    def aucs(self) -> dict[str, stats.Auc]:
        """Return the AUC of each metric for which it is defined, over the candidates that have the metric."""
        found = {}
        for name, values in self.columns.items():
            mask = self.known(name)
            clusters = numbered(self.clusters[mask].tolist())
            if len(set(values[mask])) > 1 and (area := stats.clustered_auc(values[mask], self.passed[mask], clusters)):
                found[name] = area
        return found

    def means(self, name: str) -> list[stats.Means]:
        return self._by_problem(self.columns[name])

    def passing(self) -> list[stats.Means]:
        return self._by_problem(self.passed.astype(float))

    def _by_problem(self, values: Floats) -> list[stats.Means]:
        found: list[dict[object, list[float]]] = [{} for _ in self.systems]
        for at, value in enumerate(values.tolist()):
            if value == value:
                found[self.system[at]].setdefault(self.problems[at], []).append(value)
        return [{problem: sum(each) / len(each) for problem, each in one.items()} for one in found]

    def ordered(self, places: NDArray[np.int64]) -> tuple[fig.Link, ...]:
        return tuple(self.links[at] for at in places[:LISTED].tolist())

    def misleading(self, name: str, *, high: bool) -> NDArray[np.int64]:
        """Return failing candidates from the highest value down, or passing ones from the lowest up."""
        values = self.columns[name]
        places = np.flatnonzero(self.known(name) & (self.passed != high))
        return places[np.argsort(-values[places] if high else values[places], kind="stable")]


def unscored(reader: Reader, run_ids: Sequence[int]) -> int:
    """Return how many candidates have no scores yet."""
    rows = (row for run_id in run_ids for row in reader.candidates(run_id))
    return sum(not is_scored(row) for row in rows)


def is_scored(row: CandidateRow) -> bool:
    """Return whether it has CrystalBLEU, which is defined for every pair and computed with all others."""
    return any(name.split(":")[0] == CRYSTAL for name in row.scores)


def read(reader: Reader, run_ids: Sequence[int], *, baselines: bool) -> Judged:
    """Read the code of these runs that was scored; with `baselines` also what was written without a description."""
    systems, unscored = [], 0
    for run_id in run_ids:
        run = reader.run(run_id)
        rows = [row for row in reader.candidates(run_id) if baselines or row.role != Role.BASELINE]
        scored = tuple(filter(is_scored, rows))
        unscored += len(rows) - len(scored)
        systems.append(System(run, run.label, scored))
    return Judged(systems, unscored)


def _plain_scores(row: CandidateRow) -> dict[str, float]:
    """Return the audit's scores of a candidate by metric, and by model where they need one; see `stored_name`."""
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


def axis_of(about: Metric) -> fig.Axis:
    """Return the axis of a metric's values: from 0, or from its lowest value where that is below 0."""
    return fig.Axis(about.short, min(0.0, about.lowest), 1.0, "up")


def p_text(value: float | None) -> str:
    """Write a p value in two digits; a dash where there is none."""
    return "–" if value is None else f"{value:.2g}" if value else "0"


def estimated(found: stats.Correlation | None) -> Estimate | None:
    """Return a correlation as a figure holds it."""
    return None if found is None else Estimate(found.value, found.low, found.high, found.n)


def area_of(found: stats.Auc) -> Estimate:
    """Return an AUC as a figure holds it."""
    return Estimate(found.value, found.low, found.high)


# ---- each metric by itself, and after changes that keep the meaning


TENTHS = 10


def shapes(judged: Judged, choice: fig.Choice) -> fig.Table:
    """Return bounds, centre and moments (the paper's Tables 3 and 4)."""
    rows = []
    for name, values in judged.columns.items():
        mask = judged.known(name)
        found, about = stats.shape(values[mask]), metric(name)
        places = np.flatnonzero(mask)[np.argsort(values[mask], kind="stable")]
        cells = (about.short, f"{about.lowest:g} to 1", *astuple(found), int(mask.sum()))
        rows.append(fig.Row(cells, links=judged.ordered(places[::-1])))
    return fig.Table(
        fig.Head("shape", "Bounds and distribution", "Shape"),
        note="Midhinge: (Q1 + Q3) / 2. Moments of the population; kurtosis in excess of the normal distribution's.",
        choices=(choice,),
        columns=fig.columns(
            "Metric | Can be | Lowest: number | Highest: number | Mean: number | Median: number | Midhinge: number | "
            "SD: number | Skewness: signed | Kurtosis: signed | Samples: count"
        ),
        rows=tuple(rows),
    )


def spreads(judged: Judged) -> fig.Grid:
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
                cells.append(fig.Cell(short(name), head, value, links=judged.ordered(here)))
    return fig.Grid(
        fig.Head("spreads", "Where the values of each metric lie", "Distributions"),
        note="Share of the samples from each value up to the next column's; values below 0 stand in the first.",
        rows=fig.Categories("metric", tuple(map(short, judged.columns))),
        columns=fig.Categories("value from", heads),
        scale=fig.Axis("share of samples", 0, 1),
        cells=tuple(cells),
    )


def distribution(judged: Judged, name: str, choice: fig.Choice) -> fig.Histogram:
    """Draw one metric by itself (Fig. 1)."""
    about = metric(name)
    return fig.Histogram(
        fig.Head("distribution", f"Distribution of {about.short}", "One distribution"),
        note=f"{about.title}: {about.meaning}",
        choices=(choice,),
        x=axis_of(about),
        noun="samples",
        values=tuple(
            fig.Observation(value, link=link)
            for value, link in zip(judged.columns[name].tolist(), judged.links, strict=True)
            if value == value
        ),
        most_bins=BINS,
    )


def perturbations(judged: Judged) -> fig.Table | None:
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
        for how, title in PERTURBATIONS.items():
            changed = values.get((name, how))
            if not changed:
                continue
            places = np.array(sorted(changed))
            before, after = judged.columns[name][places], np.array([changed[at] for at in sorted(changed)])
            clusters = judged.clusters[places].tolist()
            about, sides = metric(name), (after.tolist(), before.tolist())
            bounds = interval(sides[0], about.lowest, against=sides[1], clusters=clusters, continuous=about.continuous)
            most = places[np.argsort(-np.abs(after - before), kind="stable")]
            tau_b, rho = stats.tau(before, after), stats.rank_correlation(before, after, numbered(clusters))
            cells = (short(name), title, float(after.mean()), Estimate(*bounds, len(places)))
            left = len(judged.rows) - len(places)
            correlations = (estimated(tau_b), estimated(rho), len(places), left)
            rows.append(fig.Row((*cells, *correlations), links=judged.ordered(most)))
    if not rows:
        return None
    return fig.Table(
        fig.Head("perturbations", "After changes that keep the meaning", "Perturbed"),
        note="The mean, how much that is above the unchanged one's on the same samples, and how alike both rank the "
        "samples. Left out: a side does not parse, or there is no function whose name could change.",
        columns=fig.columns(
            "Metric | Change | Mean: number | Difference: signed | tau-b: signed | rho: signed | "
            "Samples: count | Left out: count"
        ),
        rows=tuple(rows),
    )


# ---- how well each metric tells what passes, and where it misleads


HIGH = 0.9  # a failing sample above it misleads


def best_metric(judged: Judged) -> str:
    """Return the metric with the largest AUC among those that every sample has."""
    whole = [name for name in judged.aucs if judged.known(name).all()]
    return max(whole, key=lambda name: (judged.aucs[name].value, name == EFFORT), default="")


def areas(judged: Judged) -> fig.Bars:
    """Return bars of how well each metric tells what passes, by its AUC."""
    names = sorted(judged.aucs, key=lambda name: -judged.aucs[name].value)
    return fig.Bars(
        fig.Head("auc", "Telling pass from fail (AUC)", "AUC"),
        note="The chance that a passing sample has the larger value than a failing one, with 95 % intervals that count "
        "problems. 0.5 tells nothing."
        if names
        else "All samples pass, or all fail, or no metric varies: there is no AUC.",
        categories=fig.Categories("metric", tuple(map(short, names))),
        y=fig.Axis("AUC", 0, 1, "up"),
        bars=tuple(
            fig.Bar(short(each), area_of(judged.aucs[each]), links=judged.ordered(judged.misleading(each, high=True)))
            for each in names
        ),
        guides=(fig.Guide("y", 0.5, "chance"),),
    )


def validity(judged: Judged) -> fig.Table:
    """Return the correlation with passing and with editing effort (Sec. 6.2)."""
    passing = judged.passed.astype(np.float64)
    rows = []
    for name, values in judged.columns.items():
        mask = judged.known(name, EFFORT)
        here, clusters = values[mask], numbered(judged.clusters[mask].tolist())
        with_pass = stats.correlation(here, passing[mask], clusters)
        inside = stats.within(here, judged.passed[mask], clusters)
        effort = judged.columns[EFFORT][mask]
        same = name == EFFORT
        tau_b, rho = (None, None) if same else (stats.tau(here, effort), stats.rank_correlation(here, effort, clusters))
        area = judged.aucs.get(name)
        cells = (short(name), area_of(area) if area else None, estimated(with_pass))
        p = p_text(with_pass.p if with_pass else None)
        others = (p, *map(estimated, (inside, tau_b, rho)), int(mask.sum()))
        rows.append(fig.Row((*cells, *others), links=judged.ordered(judged.misleading(name, high=True))))
    return fig.Table(
        fig.Head("validity", "Passing, and editing effort", "Validity"),
        note="r: point-biserial, and inside problems with each problem's mean taken off. Its p takes samples to be "
        "independent, as the paper does; the 95 % intervals count problems. tau-b and rho: with EDIT-SIM. "
        "A row leads to failing samples with high values.",
        columns=fig.columns(
            "Metric | AUC: number up | r with passing: signed up | p of r | r inside problems: signed up | "
            "tau-b with EDIT-SIM: signed | rho with EDIT-SIM: signed | Samples: count"
        ),
        rows=tuple(rows),
    )


def effort_differences(judged: Judged) -> list[tuple[str, float, float, float]]:
    """Return metric, AUC less that of EDIT-SIM on the same samples, p, and p by Holm over all metrics."""
    found = []
    for name in judged.columns:
        if name == EFFORT or name not in judged.aucs or EFFORT not in judged.aucs:
            continue
        # On the same samples, or the difference would be that of the samples.
        mask = judged.known(name, EFFORT)
        clusters = numbered(judged.clusters[mask].tolist())
        one, other = (
            stats.clustered_auc(judged.columns[each][mask], judged.passed[mask], clusters) for each in (name, EFFORT)
        )
        if one is not None and other is not None:
            found.append((name, one.value - other.value, stats.auc_difference_p(one, other)))
    adjusted = holm([p for *_, p in found])
    return [(*each, p) for each, p in zip(found, adjusted, strict=True)]


def against_effort(judged: Judged) -> fig.Table:
    """Return whether anything is better than counting edits."""
    found = effort_differences(judged)
    return fig.Table(
        fig.Head("effort", "Better than EDIT-SIM?", "Better?"),
        note="AUC less that of EDIT-SIM on the same samples; p counts problems."
        if found
        else "Without an AUC there is nothing to compare.",
        columns=fig.columns("Metric | AUC less EDIT-SIM's: signed up | p | p by Holm | p by Bonferroni"),
        rows=tuple(
            fig.Row(
                (short(name), apart, p_text(p), p_text(adjusted), p_text(min(1.0, p * len(found)))),
                links=judged.ordered(judged.misleading(name, high=True)),
            )
            for name, apart, p, adjusted in found
        ),
    )


def verdicts(judged: Judged, name: str, choice: fig.Choice) -> fig.Histogram:
    """Draw one metric of passing and of failing samples, back to back."""
    area, about = judged.aucs.get(name), metric(name)
    area_words = f"AUC {in_words(area_of(area))} · " if area else ""
    passing = int(judged.passed.sum())
    return fig.Histogram(
        fig.Head("verdicts", f"{about.short} of passing and failing samples", "Pass and fail"),
        note=f"{area_words}{passing:,} passed, {len(judged.rows) - passing:,} did not",
        choices=(choice,),
        x=axis_of(about),
        noun="samples",
        values=tuple(
            fig.Observation(value, "passed" if passed else "failed", link)
            for value, passed, link in zip(judged.columns[name].tolist(), judged.passed, judged.links, strict=True)
            if value == value
        ),
        groups={"passed": "good", "failed": "bad"},
        most_bins=BINS,
    )


def scatter(judged: Judged, name: str, choice: fig.Choice) -> fig.Scatter:
    """Draw one metric against passing: a point for the samples of one problem and outcome, at their mean value."""
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
        mean, links = Estimate(float(values[places].mean())), tuple(judged.links[each] for each in places[:LISTED])
        tone: fig.Tone = "good" if passed else "bad"
        points.append(fig.Point(mean, Estimate(share), tone=tone, count=len(places), links=links))
    return fig.Scatter(
        fig.Head("scatter", f"{about.short} against passing", "Scatter"),
        note="A point stands for the passing (green) or failing (red) samples of one problem: their mean value, and "
        "how much of the problem's code passes. Red on the right and green on the left mislead.",
        choices=(choice,),
        x=axis_of(about),
        y=fig.Axis("share of the problem's samples that pass", 0, 1, "up"),
        points=tuple(points),
        guides=(fig.Guide("x", HIGH, f"{HIGH}"),),
        noun="samples",
    )


def misleading(judged: Judged, name: str, choice: fig.Choice, *, high: bool) -> fig.Table:
    """List the corner to read: failing samples that look right, or passing ones that look wrong."""
    places = judged.misleading(name, high=high)
    what = "Failing, with a high" if high else "Passing, with a low"
    total = counted(len(places), f"{'failing' if high else 'passing'} sample")
    metrics = dict.fromkeys((name, EFFORT))
    rows = []
    for at in places[:LISTED].tolist():
        values = (float(judged.columns[each][at]) for each in metrics)
        row, run = judged.rows[at], judged.systems[judged.system[at]].name
        rows.append(fig.Row((*values, row.key, run, row.role), links=(judged.links[at],)))
    return fig.Table(
        fig.Head(
            "high-and-fail" if high else "low-and-pass",
            f"{what} {short(name)}",
            "High, fails" if high else "Low, passes",
        ),
        note=f"The {min(LISTED, len(places))} that mislead most, of {total}." if len(places) else "There is none.",
        choices=(choice,),
        columns=(*(fig.Column(short(each), "number") for each in metrics), *fig.columns("Problem | Run | Role")),
        rows=tuple(rows),
    )


SAMPLES = {"all": "all judged code", "described": "without baselines"}
_WAIT = "`rtc-inspector analyse` with the kind `audit` scores them; in the window, press Score."


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[fig.Figure]:
    """Yield the figures of all judged code of the runs together.

    `chosen["metric"]` is drawn by itself, `chosen["test"]` holds systems apart, `chosen["samples"]` says which code.
    """
    samples = chosen.get("samples") if chosen.get("samples") in SAMPLES else "all"
    judged = read(reader, run_ids, baselines=samples == "all")
    yield summary(judged)
    if not judged.rows:
        return
    yield from _notes(judged)
    best = best_metric(judged)
    shown = chosen.get("metric", "")
    shown = shown if shown in judged.columns else best or EFFORT
    choice = fig.Choice("metric", "Metric", {name: short(name) for name in judged.columns}, shown)
    which = fig.Choice("samples", "Samples", SAMPLES, samples or "all")
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


def summary(judged: Judged) -> fig.Sentence:
    """Return the finding, from the data."""
    title = "Which metric can stand in for tests?"
    count, passing = len(judged.rows), int(judged.passed.sum())
    if not count:
        waiting = f"{counted(judged.unscored, 'judged sample')} of these runs {'is' if judged.unscored == 1 else 'are'}"
        text = f"{waiting} not scored yet. {_WAIT}" if judged.unscored else "These runs hold no judged code to compare."
        return fig.Sentence(fig.Head("summary", title), text=text, tone="muted")
    best = best_metric(judged)
    if not best:
        why = "pass" if passing == count else "fail" if not passing else ""
        why_not = f"all {why}" if why else "have the same value of every metric"
        text = f"These {counted(count, 'sample')} {why_not}: no metric can be said to tell passing code from failing."
        return fig.Sentence(fig.Head("summary", title), text=text, tone="warn")
    area = judged.aucs[best]
    fooled = judged.misleading(best, high=True)
    above = int((judged.columns[best][fooled] > HIGH).sum())
    text = (
        f"On these {counted(count, 'sample')} {short(best)} tells pass from fail with AUC "
        f"{in_words(area_of(area))}; {_better(judged)}; "
        f"{above:,} failing {'sample scores' if above == 1 else 'samples score'} above {HIGH}."
    )
    return fig.Sentence(fig.Head("summary", title), text=text, links=judged.ordered(fooled))


def _better(judged: Judged) -> str:
    found = [name for name, apart, _, adjusted in effort_differences(judged) if apart > 0 and adjusted < 1 - LEVEL]
    if not found:
        return f"no metric is better than {short(EFFORT)} beyond chance"
    names = [short(name) for name in found]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} {'is' if len(found) == 1 else 'are'} better than {short(EFFORT)} beyond chance"


def _notes(judged: Judged) -> Iterator[fig.Sentence]:
    remarks = []
    if judged.unscored:
        remarks.append(f"{counted(judged.unscored, 'judged sample')} not scored yet: {_WAIT}")
    absent: dict[int, list[str]] = {}
    for name, values in judged.columns.items():
        defined = values[judged.known(name)]
        if len(set(defined)) == 1:
            remarks.append(f"{short(name)} is {defined[0]:.2f} for all: no correlation.")
        if len(defined) < len(values):
            absent.setdefault(len(values) - len(defined), []).append(short(name))
    remarks += [
        f"Not defined for {counted(missing, 'sample')}: {', '.join(names)}." for missing, names in absent.items()
    ]
    if len(judged.systems) < 2:
        remarks.append("One run only: ties and the power to tell systems apart need two.")
    remarks += [
        f"{each.name} leaves out {counted(each.run.items_dropped, 'item')}: nothing left out counts as 0."
        for each in judged.systems
        if each.run.items_dropped
    ]
    if remarks:
        yield fig.Sentence(fig.Head("notes", "To keep in mind", "Notes"), text="\n".join(remarks), tone="muted")


# ---- ties, agreement between metrics, and whether they tell systems apart


NEAR = 0.008  # where the paper cuts its figure of p values, to show what lies near the threshold
DRAWN = frozenset({"exact_match", "edit_sim", "chrf", "bleu", "codebleu", "crystalbleu", "token_f1", "text_f1"})
"""The metrics that the paper draws as lines; the tables have all."""
TESTS: Mapping[str, tuple[str, stats.Test]] = {
    "paired": ("t, paired by problem", stats.paired_t),
    "welch": ("t, unpaired (Welch)", stats.welch_t),
    "flips": ("random signs", stats.sign_flips),
}


def tied(judged: Judged) -> fig.Bars:
    """Return bars of how often two systems have the same value on a problem, by metric (Table 5)."""
    bars = []
    for name in judged.columns:
        means = judged.means(name)
        share = stats.ties(means)
        if share is not None:
            apart = {
                problem: abs(one[problem] - other[problem])
                for one, other in pairwise(means)
                for problem in one.keys() & other.keys()
            }
            # Samples of the problems on which neighbouring systems are nearest to each other, ties first.
            places = [at for at, problem in enumerate(judged.problems) if problem in apart]
            places.sort(key=lambda at: apart[judged.problems[at]])
            links = tuple(judged.links[at] for at in places[:LISTED])
            bars.append(fig.Bar(short(name), Estimate(share), links=links))
    return fig.Bars(
        fig.Head("ties", "Problems on which two systems tie", "Ties"),
        note="Of all problems and pairs of runs, the share whose values differ by no more than a millionth."
        if bars
        else "A tie needs two runs on the same problems.",
        categories=fig.Categories("metric", tuple(bar.category for bar in bars)),
        y=fig.Axis("share tied", 0, 1),
        bars=tuple(bars),
    )


def agreement(judged: Judged) -> fig.Grid:
    """Show Kendall's tau-b between metrics (Fig. 2); a cell leads to samples that both rank most differently."""
    names = tuple(judged.columns)
    cells = []
    for at, row in enumerate(names):
        for column in names[: at + 1]:
            mask = judged.known(row, column)
            one, other = judged.columns[row][mask], judged.columns[column][mask]
            found = stats.tau(one, other)
            if found is None:
                continue
            apart = np.abs(np.argsort(np.argsort(one)) - np.argsort(np.argsort(other)))
            links = judged.ordered(np.flatnonzero(mask)[np.argsort(-apart, kind="stable")])
            value = Estimate(found.value, n=found.n)
            cells.append(fig.Cell(short(row), short(column), value, links=links))
            if row != column:
                cells.append(fig.Cell(short(column), short(row), value, links=links))
    heads = tuple(map(short, names))
    return fig.Grid(
        fig.Head("agreement", "Agreement between metrics (Kendall's tau-b)", "Agreement"),
        note="Grey: a metric that does not vary. A cell leads to the samples that both rank most differently.",
        rows=fig.Categories("metric", heads),
        columns=fig.Categories("metric", heads),
        scale=fig.Axis("tau-b", -1, 1, form="signed"),
        cells=tuple(cells),
        centre=0,
    )


def separation(judged: Judged, test: str) -> Iterator[fig.Figure]:
    """Yield figures of which metric tells systems apart (Figs. 3 and 4), or nothing for a single system.

    p of every ordered pair, one-sided, is held against 0.05 / pairs.
    """
    if len(judged.systems) < 2:
        return
    test = test if test in TESTS else next(iter(TESTS))
    choice = fig.Choice("test", "Test", {name: title for name, (title, _) in TESTS.items()}, test)
    pairs = len(judged.systems) * (len(judged.systems) - 1)
    # As in the paper. Of a pair in both orders at most one can lie below it.
    alpha = (1 - LEVEL) / pairs
    found = {name: stats.power(judged.means(name), TESTS[test][1]) for name in judged.columns}
    for name, title, most in (
        ("separation", "Telling systems apart", 1.0),
        ("separation-near", f"Telling systems apart, p up to {NEAR}", NEAR),
    ):
        yield fig.Lines(
            fig.Head(name, title, "Apart" if most == 1 else "Apart, near"),
            note="p that the first of two runs has the lower mean, for each ordered pair, sorted. "
            f"Dashed: 0.05 / {pairs} = {alpha:.2g}. At most half of the ordered pairs can lie below it.",
            choices=(choice,),
            x=fig.Axis("ordered pairs of runs", 0, pairs, form="count"),
            y=fig.Axis("p", 0, most, "down"),
            series=tuple(
                fig.Series(
                    short(each),
                    tuple(
                        fig.Point(Estimate(at), Estimate(min(p, most)), links=_most_apart(judged, each, pair))
                        for at, (pair, p) in enumerate(sorted(ps.items(), key=lambda one: one[1]), start=1)
                    ),
                )
                for each, ps in found.items()
                if ps and each.split(":")[0] in DRAWN
            ),
            guides=(fig.Guide("y", alpha, f"{alpha:.2g}"),),
        )
    rows = []
    for name, ps in found.items():
        bonferroni = sum(p < alpha for p in ps.values())
        adjusted = sum(p < 1 - LEVEL for p in holm(list(ps.values())))
        lowest = min(ps, key=lambda pair: ps[pair], default=None)
        links = _most_apart(judged, name, lowest) if lowest else ()
        rows.append(fig.Row((short(name), bonferroni, adjusted, len(ps), pairs), links=links))
    yield fig.Table(
        fig.Head("separated", "Pairs of systems told apart", "Told apart"),
        note=f"Ordered pairs of which p lies below 0.05 / {pairs} (Bonferroni), or below 0.05 after Holm's adjustment. "
        "A pair on which all values are the same has no p.",
        choices=(choice,),
        columns=fig.columns("Metric | Told apart: count up | By Holm: count up | With a p: count | Pairs: count"),
        rows=tuple(rows),
    )


def _most_apart(judged: Judged, name: str, pair: tuple[int, int]) -> tuple[fig.Link, ...]:
    means = judged.means(name)
    one, other = (means[at] for at in pair)
    common = sorted((abs(one[p] - other[p]), str(p), p) for p in one if p in other)
    first = {problem for *_, problem in common[-LISTED // 4 :]}
    return tuple(
        link
        for link, problem, system in zip(judged.links, judged.problems, judged.system, strict=True)
        if problem in first and system in pair
    )[:LISTED]


def between(judged: Judged) -> Iterator[fig.Figure]:
    """Yield what each system comes to (Tables 1 and 2), and whether a metric ranks systems as passing does."""
    names = list(judged.columns)
    rows, cells, means = [], [], []
    for at, system in enumerate(judged.systems):
        inside = judged.system == at
        if not inside.any():
            continue
        passing, clusters = judged.passed[inside].astype(float).tolist(), judged.clusters[inside].tolist()
        passed = Estimate(*interval(passing, clusters=clusters), len(passing))
        counts = (len(passing), len(set(clusters)), system.run.items_dropped)
        rows.append(fig.Row((system.name, *counts, passed), links=(fig.Link(system.run.id),)))
        values = {}
        for name in names:
            places = np.flatnonzero(inside & judged.known(name))
            if len(places):
                values[name] = float(judged.columns[name][places].mean())
                links = judged.ordered(places[np.argsort(judged.columns[name][places], kind="stable")])
                cells.append(fig.Cell(short(name), system.name, Estimate(values[name], n=len(places)), links=links))
        means.append((float(np.mean(passing)), values))
    yield fig.Table(
        fig.Head("systems", "Systems", "Systems"),
        note="Items left out were not attempted, or could not be used; they never count as 0.",
        columns=fig.columns("System | Samples: count | Problems: count | Left out: count | Passing: number up"),
        rows=tuple(rows),
    )
    yield fig.Grid(
        fig.Head("means", "Mean of each metric by system", "Means"),
        note="Over samples; a cell leads to those with the lowest values.",
        rows=fig.Categories("metric", tuple(map(short, names))),
        columns=fig.Categories("system", tuple(dict.fromkeys(cell.column for cell in cells))),
        scale=fig.Axis("mean", 0, 1, "up"),
        cells=tuple(cells),
    )
    if len(means) >= stats.FEWEST:
        yield _ranking(judged, means)


def _told_apart(systems: Sequence[stats.Means]) -> int:
    """Return how many pairs of systems differ in their means by Student's t over problems, p adjusted by Holm."""
    return sum(p < 1 - LEVEL for p in holm(list(stats.power(systems, stats.paired_t).values())))


def _ranking(judged: Judged, means: Sequence[tuple[float, Mapping[str, float]]]) -> fig.Table | fig.Sentence:
    """Hold each metric's order of the systems against that by what passes, where there is such an order."""
    pairs, apart = math.comb(len(judged.systems), 2), _told_apart(judged.passing())
    how = "by Student's t paired by problem, p adjusted by Holm"
    if not apart:
        return fig.Sentence(
            fig.Head("ranking", "Ranking systems", "Ranking"),
            text=f"None of the {pairs} pairs of systems is told apart by what passes ({how}): systems that cannot be "
            "told apart have no order that a metric could be held against.",
            tone="muted",
        )
    ranked = []
    for name in judged.columns:
        points = [(values[name], share) for share, values in means if name in values]
        found = (
            stats.correlation(*(np.array(side) for side in zip(*points, strict=True)))
            if len(points) >= stats.FEWEST
            else None
        )
        low, high = (found and stats.fisher_interval(found.value, found.n)) or (None, None)
        separated = _told_apart(judged.means(name))
        r = Estimate(found.value, low, high, found.n) if found and separated else None
        ranked.append(
            fig.Row((short(name), r, separated), links=tuple(fig.Link(each.run.id) for each in judged.systems))
        )
    return fig.Table(
        fig.Head("ranking", "Ranking systems", "Ranking"),
        note=f"r of each metric's mean with the share that passes, over {len(means)} systems, of which what passes "
        f"tells {apart} of {pairs} pairs apart ({how}). A metric that tells none apart ranks none: no r. A metric "
        "can rank systems well and still say little of a single program.",
        columns=fig.columns("Metric | r over systems: signed up | Told apart: count up"),
        rows=tuple(ranked),
    )
