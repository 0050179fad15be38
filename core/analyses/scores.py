"""The figures that every method has: its measures as items come and over all of them, by file and by kind of item.

Nothing here knows a method: a kind says which measures its items have, which one is the headline, and which way is
better. Beside them stand the metrics on pairs of texts, held against the verdicts of the code.
"""

from collections.abc import Iterator, Mapping, Sequence

from rtc_inspector.core import figures as fig
from rtc_inspector.core.analyses import costs
from rtc_inspector.core.comparison.compare import compare_runs
from rtc_inspector.core.comparison.comparison import scatter
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import Kind, Measure, article, counted, few, task
from rtc_inspector.core.metrics.metric import Metric, metric
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.metrics.validity import auc, pearson
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import GROWING, Answers, ItemRow, RunningPoint, RunRow
from rtc_inspector.core.store.scores import Bounds
from rtc_inspector.core.types import Estimate

METRIC_BINS = 20
FIRST_METRIC = "edit_sim"  # shown until another one is chosen


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[fig.Figure]:
    """Yield the figures of one run, or of several of one kind side by side.

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
        yield from fig.one_of(run_ids, run.id, _of_run(reader, run, chosen))
    if len(runs) > 1:
        try:
            yield from (scatter(each) for each in compare_runs(reader, run_ids))
        except UserError as error:
            yield fig.Sentence(fig.Head("compared", "Not compared"), text=f"{error.problem} {error.remedy}")


def _of_run(reader: Reader, run: RunRow, chosen: Mapping[str, str]) -> Iterator[fig.Figure]:
    items = [item for item in reader.items(run.id) if not item.extra]
    yield spread(items, run, chosen.get("measure", ""))
    if reader.metrics(run.id):
        yield _metric(reader, run, chosen.get("metric", ""))
    yield scores(run)
    yield from costs.table(reader, [run])
    yield from files(items, run)
    yield from by_facet(reader, run, items)
    yield from _metrics(reader, run)


def form_of(measure: Measure) -> fig.Form:
    """Return the form in which a measure is written: with its sign where it can lie on both sides of 0."""
    return "signed" if measure.lowest < 0 else "number"


def better_of(measure: Measure | Metric) -> fig.Better:
    """Return the direction of better values."""
    return "" if measure.higher_is_better is None else "up" if measure.higher_is_better else "down"


def running(
    kind: Kind, by_run: Mapping[int, Sequence[RunningPoint]], growing: bool = False, only: str = ""
) -> fig.Lines:
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
                fig.Point(Estimate(each.items), each.scores[measure.name], links=(fig.Link(run_id, each.item_id),))
                for each in points
                if measure.name in each.scores
            )
            series.append(fig.Series(measure.title + of, tuple(dots), form=form_of(measure)))
    seen = max((points[-1].items for points in by_run.values() if points), default=0)
    order = f"{kind.nouns.capitalize()} come file by file: means are over the files seen so far,"
    if not kind.source.by_file:
        order = f"Means are over the {kind.nouns} seen so far,"
    remarks = (few(seen, kind.noun), "Provisional until the run is done." if growing else "", order)
    beside = f"-{only}" if only not in ("", kind.headline) else ""
    title = " and ".join(shown) or kind.measure(kind.headline).title
    return fig.Lines(
        fig.Head(
            f"running{beside}", f"{title} as {kind.nouns} are completed", f"Running {shown[0]}" if beside else "Running"
        ),
        note=f"{' '.join(filter(None, remarks))} the bands are their 95 % intervals.",
        x=fig.Axis(f"{kind.nouns} completed", 0, form="count"),
        y=fig.Axis(f"mean over {kind.nouns}", better=better_of(kind.measure(only or kind.headline))),
        series=tuple(series),
    )


def _running_names(by_run: Mapping[int, Sequence[RunningPoint]]) -> set[str]:
    return {name for points in by_run.values() for point in points for name in point.scores}


def spread(items: Sequence[ItemRow], run: RunRow, wanted: str = "") -> fig.Histogram:
    """Return a histogram of a measure over the items that have it."""
    kind = task(run.task)
    measured = [each for each in kind.averaged if any(each.name in item.measures for item in items)]
    measure = next((each for each in measured if each.name == wanted), kind.measure(kind.headline))
    values = [(item.measures[measure.name], item.id) for item in items if measure.name in item.measures]
    called = f"judged {kind.noun}" if measure.name == kind.headline else kind.noun
    options = {each.name: each.title for each in measured}
    return fig.Histogram(
        fig.Head("spread", f"{kind.nouns.capitalize()} by {measure.title}", "Spread"),
        note=f"{counted(len(values), called)} by {measure.title}",
        choices=(fig.Choice("measure", "Measure", options, measure.name),) if len(measured) > 1 else (),
        x=fig.Axis(
            f"{measure.title} of {article(kind.noun)}",
            measure.lowest,
            1.0,
            better_of(measure),
            form_of(measure),
        ),
        noun=kind.nouns,
        values=tuple(fig.Observation(value, link=fig.Link(run.id, item_id)) for value, item_id in values),
    )


def scores(run: RunRow) -> fig.Table:
    """Return every measure of the run with its interval."""
    kind = task(run.task)
    return fig.Table(
        fig.Head("scores", "Scores of the run", "Scores"),
        note=" ".join(
            f"{remark[:1].upper()}{remark[1:]}{'' if remark.endswith('?') else '.'}" for remark in run.remarks
        ),
        columns=fig.columns(f"Measure | Mean: number | {kind.nouns.capitalize()}: count | Means"),
        rows=tuple(
            fig.Row((measure.title, score, score.n, measure.tip), form=form_of(measure))
            for measure in kind.averaged
            if (score := run.scores.get(measure.name)) is not None and score.value is not None
        )
        + tuple(_answers(run.answers)),
    )


def _answers(answers: Answers) -> Iterator[fig.Row]:
    """Yield the shares of answers that could not be read, which say how far the other figures can be believed."""
    titles = {
        "empty": ("answers empty", "Share of all answers of which nothing was left to read"),
        "cut": ("answers cut", "Share of all answers that hit their limit"),
        "without_code": ("without code", "Share of answers that were to be code and are words alone"),
        "unparsable": ("unparsable", "Share of answers that were to be code and do not parse at their place"),
    }
    for name, share in answers.shares.items():
        of = answers.made if name in ("empty", "cut") else answers.code
        title, tip = titles[name]
        yield fig.Row((title, Estimate(share, None, None, of), of, tip))


def files(items: Sequence[ItemRow], run: RunRow) -> Iterator[fig.Table]:
    """Yield measures by file; a row leads to its items, the worst first. Nothing where items have no file.

    Items whose files were written for the run stand in it by themselves.
    """
    kind, filed = task(run.task), any(item.has_file for item in items)
    place = "file" if filed else kind.noun
    counts = (
        [fig.Column(kind.nouns.capitalize(), "count", tip="Completed"), fig.Column("Admitted", "count")]
        if filed
        else []
    )
    by_path: dict[str, list[ItemRow]] = {}
    for item in items:
        if filed or item.admitted:
            by_path.setdefault(item.file, []).append(item)
    if not any(item.path for item in items):
        return
    shown = _worth_columns(kind, {name for item in items for name in item.measures})
    bounds, rows = Bounds(interval), []
    # Problems as in their benchmark.
    for path, inside in sorted(by_path.items(), key=lambda each: (each[1][0].path, each[0])):
        means = [bounds.measure(measure, [item.measures for item in inside]) for measure in shown]
        # What can lie on both sides of 0 comes with its interval: of few items its sign alone tells nothing.
        cells = [mean if each.lowest < 0 else mean.value for each, mean in zip(shown, means, strict=True)]
        done, admitted = sum(item.state == "done" for item in inside), sum(item.admitted for item in inside)
        rows.append(fig.Row((path, *((done, admitted) if filed else ()), *cells), links=worst_first(kind, inside)))
    yield fig.Table(
        fig.Head("files", f"By {place}", f"{place.capitalize()}s"),
        columns=(
            fig.Column(place.capitalize(), tip=f"Opens the {kind.nouns} of a file one after the other"),
            *counts,
            *_columns(kind, shown),
        ),
        rows=tuple(rows),
    )


def _worth_columns(kind: Kind, stored: set[str]) -> list[Measure]:
    return [
        each
        for each in kind.averaged
        if each.name == kind.headline or (each.name in stored and each.higher_is_better is not None)
    ]


def _columns(kind: Kind, shown: Sequence[Measure]) -> list[fig.Column]:
    return [
        fig.Column(
            each.title[:1].upper() + each.title[1:],
            form_of(each),
            better_of(each),
            each.tip,
            bar=each.name == kind.headline and each.lowest == 0,
        )
        for each in shown
    ]


def worst_first(kind: Kind, items: Sequence[ItemRow]) -> tuple[fig.Link, ...]:
    """Return links to the items that have the headline, the worst first, else by place."""
    sign = -1 if kind.measure(kind.headline).higher_is_better is False else 1
    judged = [(sign * item.headline, item.start, item) for item in items if item.headline is not None]
    return tuple(fig.Link(item.run_id, item.id) for *_, item in sorted(judged, key=lambda each: each[:2]))


def by_facet(reader: Reader, run: RunRow, items: Sequence[ItemRow]) -> Iterator[fig.Table]:
    """Yield measures by what the items are."""
    kind, facets = task(run.task), reader.facets(run.id)
    if not facets:
        return
    shown = _worth_columns(kind, {name for row in facets for name, score in row.scores.items() if score.n})
    rows = []
    for row in facets:
        inside = [item for item in items if item.admitted and item.facets.get(row.facet) == row.value]
        cells = [row.scores.get(each.name) for each in shown]
        rows.append(fig.Row((row.facet, row.value, row.items, *cells), links=worst_first(kind, inside)))
    yield fig.Table(
        fig.Head("facets", "By kind", "Kinds"),
        note=f"Scores of the run by what its {kind.nouns} are.",
        columns=(
            fig.Column("Facet"),
            fig.Column("Value"),
            fig.Column(kind.nouns.capitalize(), "count", tip="Admitted"),
            *_columns(kind, shown),
        ),
        rows=tuple(rows),
    )


def _metric(reader: Reader, run: RunRow, wanted: str) -> fig.Histogram:
    names = reader.metrics(run.id)
    shown = metric(next(name for name in (wanted, FIRST_METRIC, *names) if name in names))
    rows = reader.scored(run.id, shown.name)
    return fig.Histogram(
        fig.Head("metric", f"{shown.title} against the verdict", "Metrics"),
        note=verdict_words([row.value for row in rows], [row.passed for row in rows]),
        choices=(fig.Choice("metric", "Metric", {name: metric(name).title for name in names}, shown.name),),
        x=fig.Axis(shown.title, shown.lowest, 1.0, better_of(shown)),
        noun="reconstructions",
        values=tuple(
            fig.Observation(
                row.value, "passed" if row.passed else "failed", fig.Link(run.id, row.item_id, row.sample_id)
            )
            for row in rows
        ),
        groups={"passed": "good", "failed": "bad"},
        most_bins=METRIC_BINS,
    )


def verdict_words(values: Sequence[float], passed: Sequence[bool]) -> str:
    """Return in words how well a metric tells passing code from failing code."""
    if not values:
        return "No judged reconstruction has a metric yet"
    counts = f"{sum(passed):,} passed, {len(passed) - sum(passed):,} did not"
    area, correlation = auc(values, passed), pearson(values, passed)
    if area is None:
        return counts
    return f"AUC {area:.2f} · {'no correlation' if correlation is None else f'r {correlation:+.2f}'} · {counts}"


def _metrics(reader: Reader, run: RunRow) -> Iterator[fig.Table]:
    rows = []
    for name in reader.metrics(run.id):
        scored = reader.scored(run.id, name)
        if scored:
            values, passed = [row.value for row in scored], [row.passed for row in scored]
            mean, lift = reader.score(run.id, name, continuous=metric(name).continuous)
            cells = (metric(name).title, mean, lift, auc(values, passed))
            rows.append(fig.Row((*cells, pearson(values, passed))))
    if rows:
        yield fig.Table(
            fig.Head("metrics", "Metrics in place of the tests", "Metrics"),
            note="AUC: the chance that a passing reconstruction has the larger value; 0.5 tells nothing.",
            columns=fig.columns(
                "Metric | Mean: number up | Lift: signed up | Tells passing apart (AUC): number up | "
                "Correlation with passing (r): signed up"
            ),
            rows=tuple(rows),
        )
