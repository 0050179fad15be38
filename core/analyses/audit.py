"""The metric audit: which similarity can stand in for tests (Naik 2024, Sec. 5 and 6), on any judged code.

The figures come in the paper's order: bounds and shape of each metric, ties, agreement between metrics, power to tell
systems apart, correlation with passing and with editing effort. Beside them stands what the paper leaves out: intervals
that count problems, correlation inside problems, AUC, and the samples that mislead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from rtc_inspector.core.analyses.judged import (
    EFFORT,
    HIGH,
    LISTED,
    Judged,
    against_effort,
    area_of,
    areas,
    best_metric,
    distribution,
    effort_differences,
    misleading,
    perturbations,
    read,
    scatter,
    shapes,
    short,
    spreads,
    validity,
    verdicts,
)
from rtc_inspector.core.figures import (
    Axis,
    Bar,
    Bars,
    Categories,
    Cell,
    Choice,
    Figure,
    Grid,
    Guide,
    Lines,
    Link,
    Point,
    Row,
    Sentence,
    Series,
    Table,
    columns,
)
from rtc_inspector.core.figures.reading import in_words
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.metrics.paired import holm
from rtc_inspector.core.metrics.statistics import LEVEL, interval
from rtc_inspector.core.metrics.validity import (
    FEWEST,
    Means,
    Test,
    correlation,
    fisher_interval,
    paired_t,
    power,
    sign_flips,
    tau,
    ties,
    welch_t,
)
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.types import Estimate

SAMPLES = {"all": "all judged code", "described": "without baselines"}
_WAIT = "`rtc-inspector analyse` with the kind `audit` scores them; in the window, press Score."


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[Figure]:
    """The figures of all judged code of the runs together.

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


def summary(judged: Judged) -> Sentence:
    """The finding, from the data."""
    title = "Which metric can stand in for tests?"
    count, passing = len(judged.rows), int(judged.passed.sum())
    if not count:
        waiting = f"{counted(judged.unscored, 'judged sample')} of these runs {'is' if judged.unscored == 1 else 'are'}"
        text = f"{waiting} not scored yet. {_WAIT}" if judged.unscored else "These runs hold no judged code to compare."
        return Sentence(name="summary", title=title, text=text, tone="muted")
    best = best_metric(judged)
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
        f"{in_words(area_of(area))}; {_better(judged)}; "
        f"{above:,} failing {'sample scores' if above == 1 else 'samples score'} above {HIGH}."
    )
    return Sentence(name="summary", title=title, text=text, links=judged.ordered(fooled))


def _better(judged: Judged) -> str:
    found = [name for name, apart, _, adjusted in effort_differences(judged) if apart > 0 and adjusted < 1 - LEVEL]
    if not found:
        return f"no metric is better than {short(EFFORT)} beyond chance"
    names = [short(name) for name in found]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} {'is' if len(found) == 1 else 'are'} better than {short(EFFORT)} beyond chance"


def _notes(judged: Judged) -> Iterator[Sentence]:
    """Yield a note on what was left out, and on what cannot be told of these samples, if there is anything to note."""
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


# ---- ties, agreement between metrics, and whether they tell systems apart


NEAR = 0.008
"""Where the paper cuts its figure of p values, to show what lies near the threshold."""
DRAWN = frozenset({"exact_match", "edit_sim", "chrf", "bleu", "codebleu", "crystalbleu", "token_f1", "text_f1"})
"""The metrics that the paper draws as lines; the tables have all."""
TESTS: Mapping[str, tuple[str, Test]] = {
    "paired": ("t, paired by problem", paired_t),
    "welch": ("t, unpaired (Welch)", welch_t),
    "flips": ("random signs", sign_flips),
}


def tied(judged: Judged) -> Bars:
    """Return bars of how often two systems have the same value on a problem, by metric (Table 5)."""
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
        y=Axis("share tied", 0, 1),
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
    """Yield figures of which metric tells systems apart (Figs. 3 and 4), or nothing for a single system.

    p of every ordered pair, one-sided, is held against 0.05 / pairs.
    """
    if len(judged.systems) < 2:
        return
    test = test if test in TESTS else next(iter(TESTS))
    choice = Choice("test", "Test", {name: title for name, (title, _) in TESTS.items()}, test)
    pairs = len(judged.systems) * (len(judged.systems) - 1)
    # As in the paper. Of a pair in both orders at most one can lie below it.
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
                        Point(Estimate(at), Estimate(min(p, most)), links=_most_apart(judged, each, pair))
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
        links = _most_apart(judged, name, lowest) if lowest else ()
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


def _most_apart(judged: Judged, name: str, pair: tuple[int, int]) -> tuple[Link, ...]:
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


def between(judged: Judged) -> Iterator[Figure]:
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
    if len(means) >= FEWEST:
        yield _ranking(judged, means)


def _told_apart(systems: Sequence[Means]) -> int:
    """Return how many pairs of systems differ in their means by Student's t over problems, p adjusted by Holm."""
    return sum(p < 1 - LEVEL for p in holm(list(power(systems, paired_t).values())))


def _ranking(judged: Judged, means: Sequence[tuple[float, Mapping[str, float]]]) -> Table | Sentence:
    """Hold each metric's order of the systems against that by what passes, where there is such an order."""
    pairs, apart = math.comb(len(judged.systems), 2), _told_apart(judged.passing())
    how = "by Student's t paired by problem, p adjusted by Holm"
    if not apart:
        return Sentence(
            name="ranking",
            title="Ranking systems",
            short="Ranking",
            text=f"None of the {pairs} pairs of systems is told apart by what passes ({how}): systems that cannot be "
            "told apart have no order that a metric could be held against.",
            tone="muted",
        )
    ranked = []
    for name in judged.columns:
        known = [(values[name], share) for share, values in means if name in values]
        found = correlation(*(np.array(side) for side in zip(*known, strict=True))) if len(known) >= FEWEST else None
        low, high = (found and fisher_interval(found.value, found.n)) or (None, None)
        told = _told_apart(judged.means(name))
        r = Estimate(found.value, low, high, found.n) if found and told else None
        ranked.append(Row((short(name), r, told), links=tuple(Link(each.run.id) for each in judged.systems)))
    return Table(
        name="ranking",
        title="Ranking systems",
        short="Ranking",
        note=f"r of each metric's mean with the share that passes, over {len(means)} systems, of which what passes "
        f"tells {apart} of {pairs} pairs apart ({how}). A metric that tells none apart ranks none: no r. A metric "
        "can rank systems well and still say little of a single program.",
        columns=columns("Metric | r over systems: signed up | Told apart: count up"),
        rows=tuple(ranked),
    )
