"""The figures that every method has: its measures as items come and over all of them, by file and by kind of item.

Nothing here knows a method: a kind says which measures its items have, which one is the headline, and which way is
better. Beside them stand the metrics on pairs of texts, held against the verdicts of the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rtc_inspector.core.analyses import costs
from rtc_inspector.core.comparison.compare import compare_runs
from rtc_inspector.core.comparison.comparison import scatter
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.figures import (
    Axis,
    Better,
    Choice,
    Column,
    Figure,
    Form,
    Histogram,
    Lines,
    Link,
    Observation,
    Point,
    Row,
    Sentence,
    Series,
    Table,
    columns,
    one_of,
)
from rtc_inspector.core.kinds import Kind, Measure, article, counted, few, task
from rtc_inspector.core.metrics.metric import Metric, metric
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.metrics.validity import auc, point_biserial
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import GROWING, Answers, ItemRow, RunningPoint, RunRow
from rtc_inspector.core.store.scores import Bounds
from rtc_inspector.core.types import Estimate

METRIC_BINS = 20
FIRST_METRIC = "edit_sim"
"""Shown until another one is chosen."""


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[Figure]:
    """The figures of one run, or of several of one kind side by side.

    `chosen["measure"]` is the one whose spread is drawn, `chosen["metric"]` the one held against the verdict.
    """
    runs = [reader.run(run_id) for run_id in run_ids]
    kind = task(runs[0].task)
    growing = any(run.status in GROWING for run in runs)
    points = {run.id: reader.running(run.id) for run in runs}
    # Of several runs each measure has a drawing of its own: two bands of each run would hide one another.
    alone = [each.name for each in kind.averaged if each.name in _running_names(points)] if len(runs) > 1 else []
    yield from (running(kind, points, growing, only) for only in alone or [""])
    for run in runs:
        yield from one_of(run_ids, run.id, _of_run(reader, run, chosen))
    if len(runs) > 1:
        yield from _comparisons(reader, run_ids)


def _of_run(reader: Reader, run: RunRow, chosen: Mapping[str, str]) -> Iterator[Figure]:
    items = [item for item in reader.items(run.id) if not item.extra]
    yield spread(items, run, chosen.get("measure", ""))
    if reader.metrics(run.id):
        yield _metric(reader, run, chosen.get("metric", ""))
    yield scores(run)
    yield from costs.table(reader, [run])
    yield from files(items, run)
    yield from by_facet(reader, run, items)
    yield from _metrics(reader, run)


def form_of(measure: Measure) -> Form:
    """Return the form in which a measure is written: with its sign where it can lie on both sides of 0."""
    return "signed" if measure.lowest < 0 else "number"


def better_of(measure: Measure | Metric) -> Better:
    """The direction of better values."""
    return "" if measure.higher_is_better is None else "up" if measure.higher_is_better else "down"


def running(kind: Kind, by_run: Mapping[int, Sequence[RunningPoint]], growing: bool = False, only: str = "") -> Lines:
    """Draw the headline, and what can lie on both sides of 0, after each item; a point leads to the item it came with.

    `growing`: whether more items may come; `only`: this measure alone.
    """
    series, shown = [], []
    for measure in kind.averaged:
        if measure.name not in _running_names(by_run) or only not in ("", measure.name):
            continue
        shown.append(measure.title)
        for run_id, points in by_run.items():
            of = "" if len(by_run) == 1 else f", run {run_id}"
            dots = (
                Point(Estimate(each.items), each.scores[measure.name], links=(Link(run_id, each.item_id),))
                for each in points
                if measure.name in each.scores
            )
            dashed = measure.name != kind.headline
            series.append(Series(measure.title + of, tuple(dots), dashed=dashed, form=form_of(measure)))
    seen = max((points[-1].items for points in by_run.values() if points), default=0)
    said = (few(seen, kind.noun), "Provisional until the run is done." if growing else "", _order(kind))
    beside = f"-{only}" if only not in ("", kind.headline) else ""
    title = " and ".join(shown) or kind.measure(kind.headline).title
    return Lines(
        name=f"running{beside}",
        title=f"{title} as {kind.nouns} are completed",
        short=f"Running {shown[0]}" if beside else "Running",
        note=f"{' '.join(filter(None, said))} the bands are their 95 % intervals.",
        x=Axis(f"{kind.nouns} completed", 0, form="count"),
        y=Axis(f"mean over {kind.nouns}", better=better_of(kind.measure(only or kind.headline))),
        series=tuple(series),
    )


def _running_names(by_run: Mapping[int, Sequence[RunningPoint]]) -> set[str]:
    return {name for points in by_run.values() for point in points for name in point.scores}


def _order(kind: Kind) -> str:
    """For whom the means of a running chart speak."""
    if kind.source.by_file:
        return f"{kind.nouns.capitalize()} come file by file: means are over the files seen so far,"
    return f"Means are over the {kind.nouns} seen so far,"


def spread(items: Sequence[ItemRow], run: RunRow, wanted: str = "") -> Histogram:
    """Return a histogram of a measure over the items that have it."""
    kind = task(run.task)
    known = [each for each in kind.averaged if any(each.name in item.measures for item in items)]
    measure = next((each for each in known if each.name == wanted), kind.measure(kind.headline))
    values = [(item.measures[measure.name], item.id) for item in items if measure.name in item.measures]
    called = f"judged {kind.noun}" if measure.name == kind.headline else kind.noun
    options = {each.name: each.title for each in known}
    return Histogram(
        name="spread",
        title=f"{kind.nouns.capitalize()} by {measure.title}",
        short="Spread",
        note=f"{counted(len(values), called)} by {measure.title}",
        choices=(Choice("measure", "Measure", options, measure.name),) if len(known) > 1 else (),
        x=Axis(
            f"{measure.title} of {article(kind.noun)}",
            measure.lowest,
            measure.highest,
            better_of(measure),
            form_of(measure),
        ),
        noun=kind.nouns,
        values=tuple(Observation(value, link=Link(run.id, item_id)) for value, item_id in values),
    )


def scores(run: RunRow) -> Table:
    """Every measure of the run with its interval."""
    kind = task(run.task)
    return Table(
        name="scores",
        title="Scores of the run",
        short="Scores",
        note=" ".join(f"{remark[:1].upper()}{remark[1:]}." for remark in run.remarks),
        columns=columns(f"Measure | Mean: number | {kind.nouns.capitalize()}: count | Means"),
        rows=tuple(
            Row((measure.title, score, score.n, measure.tip))
            for measure in kind.averaged
            if (score := run.scores.get(measure.name)) is not None and score.value is not None
        )
        + tuple(_answers(run.answers)),
    )


def _answers(answers: Answers) -> Iterator[Row]:
    """The shares of answers that could not be read, which say how far the other figures can be believed."""
    told = {
        "empty": ("answers empty", "Share of all answers of which nothing was left to read"),
        "cut": ("answers cut", "Share of all answers that hit their limit"),
        "without_code": ("without code", "Share of answers that were to be code and are words alone"),
        "unparsable": ("unparsable", "Share of answers that were to be code and do not parse at their place"),
    }
    for name, share in answers.shares.items():
        of = answers.made if name in ("empty", "cut") else answers.code
        title, tip = told[name]
        yield Row((title, Estimate(share, None, None, of), of, tip))


def files(items: Sequence[ItemRow], run: RunRow) -> Iterator[Table]:
    """Measures by file; a row leads to the file's items, the worst first. Nothing where items have no file.

    Items whose files were written for the run stand in it by themselves.
    """
    kind, filed = task(run.task), any(item.has_file for item in items)
    place = "file" if filed else kind.noun
    counts = [Column(kind.nouns.capitalize(), "count", tip="Completed"), Column("Admitted", "count")] if filed else []
    by_path: dict[str, list[ItemRow]] = {}
    for item in items:
        if filed or item.admitted:
            by_path.setdefault(item.file, []).append(item)
    if not any(item.path for item in items):
        return
    shown = _worth_columns(kind, {name for item in items for name in item.measures})
    places = sorted(by_path, key=lambda place: (by_path[place][0].path, place))  # problems as in their benchmark
    yield Table(
        name="files",
        title=f"By {place}",
        short=f"{place.capitalize()}s",
        columns=(
            Column(place.capitalize(), tip=f"Opens the {kind.nouns} of a file one after the other"),
            *counts,
            *_columns(kind, shown),
        ),
        rows=tuple(_file_row(kind, path, by_path[path], shown, filed) for path in places),
    )


def _worth_columns(kind: Kind, stored: set[str]) -> list[Measure]:
    """The headline, and what is better one way."""
    return [
        each
        for each in kind.averaged
        if each.name == kind.headline or (each.name in stored and each.higher_is_better is not None)
    ]


def _columns(kind: Kind, shown: Sequence[Measure]) -> list[Column]:
    return [
        Column(
            each.title[:1].upper() + each.title[1:],
            form_of(each),
            better_of(each),
            each.tip,
            bar=each.name == kind.headline and (each.lowest, each.highest) == (0, 1),
        )
        for each in shown
    ]


def _file_row(kind: Kind, path: str, items: Sequence[ItemRow], shown: Sequence[Measure], counts_too: bool) -> Row:
    """Return the row of a file: its counts if wanted, and the mean of each measure shown.

    What can lie on both sides of 0 comes with its interval: of few items its sign alone tells nothing.
    """
    counts = (sum(item.state == "done" for item in items), sum(item.admitted for item in items)) if counts_too else ()
    bounds = Bounds(interval)
    means = [bounds.measure(measure, [item.measures for item in items]) for measure in shown]
    cells = [mean if each.lowest < 0 else mean.value for each, mean in zip(shown, means, strict=True)]
    return Row((path, *counts, *cells), links=worst_first(kind, items))


def worst_first(kind: Kind, items: Sequence[ItemRow]) -> tuple[Link, ...]:
    """Links to the items that have the headline, the worst first, else by place."""
    sign = -1 if kind.measure(kind.headline).higher_is_better is False else 1
    judged = [(sign * item.headline, item.start, item) for item in items if item.headline is not None]
    return tuple(Link(item.run_id, item.id) for *_, item in sorted(judged, key=lambda each: each[:2]))


def by_facet(reader: Reader, run: RunRow, items: Sequence[ItemRow]) -> Iterator[Table]:
    """Measures by what the items are."""
    kind, facets = task(run.task), reader.facets(run.id)
    if not facets:
        return
    shown = _worth_columns(kind, {name for row in facets for name, score in row.scores.items() if score.n})
    rows = []
    for row in facets:
        inside = [item for item in items if item.admitted and item.facets.get(row.facet) == row.value]
        cells = [row.scores.get(each.name) for each in shown]
        rows.append(Row((row.facet, row.value, row.items, *cells), links=worst_first(kind, inside)))
    yield Table(
        name="facets",
        title="By kind",
        short="Kinds",
        note=f"Scores of the run by what its {kind.nouns} are.",
        columns=(
            Column("Facet"),
            Column("Value"),
            Column(kind.nouns.capitalize(), "count", tip="Admitted"),
            *_columns(kind, shown),
        ),
        rows=tuple(rows),
    )


def _metric(reader: Reader, run: RunRow, wanted: str) -> Histogram:
    """One metric of every judged sample, passing ones against failing ones."""
    known = reader.metrics(run.id)
    shown = metric(next(name for name in (wanted, FIRST_METRIC, *known) if name in known))
    rows = reader.scored(run.id, shown.name)
    return Histogram(
        name="metric",
        title=f"{shown.title} against the verdict",
        short="Metrics",
        note=verdict_words([row.value for row in rows], [row.passed for row in rows]),
        choices=(Choice("metric", "Metric", {name: metric(name).title for name in known}, shown.name),),
        x=Axis(shown.title, shown.lowest, shown.highest, better_of(shown)),
        noun="reconstructions",
        values=tuple(
            Observation(row.value, "passed" if row.passed else "failed", Link(run.id, row.item_id, row.sample_id))
            for row in rows
        ),
        groups={"passed": "good", "failed": "bad"},
        most_bins=METRIC_BINS,
    )


def verdict_words(values: Sequence[float], passed: Sequence[bool]) -> str:
    """Return in words how well a metric tells passing code from failing code."""
    if not values:
        return "No judged reconstruction has a metric yet"
    said = f"{sum(passed):,} passed, {len(passed) - sum(passed):,} did not"
    area, correlation = auc(values, passed), point_biserial(values, passed)
    if area is None:
        return said
    return f"AUC {area:.2f} · {'no correlation' if correlation is None else f'r {correlation:+.2f}'} · {said}"


def _metrics(reader: Reader, run: RunRow) -> Iterator[Table]:
    """Each metric in place of the verdict, and how well it tells what passes."""
    rows = []
    for name in reader.metrics(run.id):
        scored = reader.scored(run.id, name)
        if scored:
            values, passed = [row.value for row in scored], [row.passed for row in scored]
            made, lift = reader.score(run.id, name, continuous=metric(name).continuous)
            cells = (metric(name).title, made, lift, auc(values, passed))
            rows.append(Row((*cells, point_biserial(values, passed))))
    if rows:
        yield Table(
            name="metrics",
            title="Metrics in place of the tests",
            short="Metrics",
            note="AUC: the chance that a passing reconstruction has the larger value; 0.5 tells nothing.",
            columns=columns(
                "Metric | Mean: number up | Lift: signed up | Tells passing apart (AUC): number up | "
                "Correlation with passing (r): signed up"
            ),
            rows=tuple(rows),
        )


def _comparisons(reader: Reader, run_ids: Sequence[int]) -> Iterator[Figure]:
    """Each further run against the first; runs that cannot be compared are said to be so."""
    try:
        yield from (scatter(each) for each in compare_runs(reader, run_ids))
    except UserError as error:
        yield Sentence(name="compared", title="Not compared", text=f"{error.problem} {error.remedy}")
