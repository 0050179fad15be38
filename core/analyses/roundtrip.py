"""The figures of round trips: scores as they come, their spread, metrics against the verdict, files and kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.analyses.compared import scatter
from core.comparison.compare import compare_runs
from core.errors import UserError
from core.figures import (
    Axis,
    Choice,
    Column,
    Estimate,
    Figure,
    Histogram,
    Lines,
    Link,
    Observation,
    Point,
    Row,
    Sentence,
    Series,
    Table,
)
from core.kinds import article, counted, noun
from core.metrics.statistics import auc, interval, point_biserial
from core.store.reader import Reader
from core.store.rows import ItemRow, RunningPoint, RunRow
from core.types import Score

METRIC_BINS = 20
FIRST_METRIC = "edit_sim"
"""Shown until another one is chosen."""
TITLES: Mapping[str, str] = {
    "exact_match": "Exact match",
    "exact_match_strict": "Exact match, white space too",
    "same_ast": "Same syntax tree",
    "edit_sim": "Likeness by character edits (EDIT-SIM)",
    "bleu": "Likeness by token runs (BLEU)",
    "chrf": "Likeness by character runs (chrF)",
    "unchanged": "Old code unchanged",
}


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[Figure]:
    """Of one run, or of several side by side. `chosen["metric"]`: the metric held against the verdict."""
    runs = [reader.run(run_id) for run_id in run_ids]
    yield running({run.id: reader.running(run.id) for run in runs}, noun(runs[0].task))
    for run in runs:
        end = "" if len(runs) == 1 else f"-{run.id}"
        of = "" if len(runs) == 1 else f", run {run.id}"
        items = [item for item in reader.items(run.id) if not item.extra]
        yield spread(items, run, end, of)
        yield _metric(reader, run, chosen.get("metric", ""), end, of)
        yield _metrics(reader, run, end, of)
        yield files(items, run, end, of)
        yield from _kinds(reader, run, items, end, of)
    if len(runs) > 1:
        yield from _comparisons(reader, run_ids)


def estimate(score: Score, n: int | None = None) -> Estimate:
    """A stored score as a figure holds it."""
    return Estimate(score.value, score.low, score.high, score.n if n is None else n)


def running(by_run: Mapping[int, Sequence[RunningPoint]], called: str) -> Lines:
    """RTC and lift after each completed item; a point leads to the item that completed it."""

    def points(run_id: int, lift: bool) -> tuple[Point, ...]:
        return tuple(
            Point(
                Estimate(each.items),
                estimate(each.lift if lift else each.rtc, each.items),
                links=(Link(run_id, each.item_id),),
            )
            for each in by_run[run_id]
        )

    series = []
    for run_id in by_run:
        of = "" if len(by_run) == 1 else f", run {run_id}"
        series.append(Series(f"RTC{of}", points(run_id, False)))
        series.append(Series(f"lift{of}", points(run_id, True), "good" if len(by_run) == 1 else "", True, "signed"))
    return Lines(
        name="running",
        title=f"RTC and lift as {called}s are completed",
        short="Running",
        note=f"Until the run is done provisional: {called}s come file by file, a band is that of files seen so far.",
        x=Axis(f"{called}s completed", 0, form="count"),
        y=Axis(f"mean over {called}s", better="up"),
        series=tuple(series),
    )


def spread(items: Sequence[ItemRow], run: RunRow, end: str = "", of: str = "") -> Histogram:
    """How RTC is spread over judged items."""
    called = noun(run.task)
    judged = [item for item in items if item.rtc is not None]
    return Histogram(
        name=f"spread{end}",
        title=f"{called}s".capitalize() + f" by RTC{of}",
        short="Spread",
        note=f"{counted(len(judged), f'judged {called}')} by RTC",
        x=Axis(f"RTC of {article(called)}", 0, 1, "up"),
        noun=f"{called}s",
        values=tuple(Observation(item.rtc or 0.0, link=Link(run.id, item.id)) for item in judged),
    )


def _metric(reader: Reader, run: RunRow, wanted: str, end: str, of: str) -> Histogram:
    """One metric of every judged reconstruction, passing ones against failing ones."""
    known = reader.metrics(run.id)
    metric = next((name for name in (wanted, FIRST_METRIC, *known) if name in known), "")
    rows = reader.scored(run.id, metric) if metric else []
    return Histogram(
        name=f"metric{end}",
        title=f"{metric_title(metric) or 'Metrics'} against the verdict{of}",
        short="Metrics",
        note=told([row.value for row in rows], [row.passed for row in rows]),
        choices=(Choice("metric", "Metric", {name: metric_title(name) for name in known}, metric),) if known else (),
        x=Axis(metric_title(metric) or "no metric stored", 0, 1, "up"),
        noun="reconstructions",
        values=tuple(
            Observation(row.value, "passed" if row.passed else "failed", Link(run.id, row.item_id, row.sample_id))
            for row in rows
        ),
        groups={"passed": "good", "failed": "bad"},
        most_bins=METRIC_BINS,
    )


def metric_title(name: str) -> str:
    """What a metric of the store is called where people read it."""
    return TITLES.get(name, name.replace("_", " "))


def told(values: Sequence[float], passed: Sequence[bool]) -> str:
    """How well a metric tells passing code from failing code."""
    if not values:
        return "No judged reconstruction has a metric yet"
    said = f"{sum(passed):,} passed, {len(passed) - sum(passed):,} did not"
    area, correlation = auc(values, passed), point_biserial(values, passed)
    if area is None:
        return said
    return f"AUC {area:.2f} · {'no correlation' if correlation is None else f'r {correlation:+.2f}'} · {said}"


def _metrics(reader: Reader, run: RunRow, end: str, of: str) -> Table:
    """Each metric in place of the tests, and how well it tells what passes them."""
    rows = []
    for name in reader.metrics(run.id):
        scored = reader.scored(run.id, name)
        if scored:
            values, passed = [row.value for row in scored], [row.passed for row in scored]
            rtc, lift = reader.score(run.id, name)
            cells = (metric_title(name), estimate(rtc), estimate(lift), auc(values, passed))
            rows.append(Row((*cells, point_biserial(values, passed))))
    return Table(
        name=f"metrics{end}",
        title=f"Metrics in place of the tests{of}",
        short="Metrics",
        note="The metric in place of the tests. AUC: the chance that a passing reconstruction has the larger value; "
        "0.5 tells nothing.",
        columns=(
            Column("Metric"),
            Column("Mean", "number", "up"),
            Column("Lift", "signed", "up"),
            Column("Tells passing apart (AUC)", "number", "up"),
            Column("Correlation with passing (r)", "signed", "up"),
        ),
        rows=tuple(rows),
    )


def files(items: Sequence[ItemRow], run: RunRow, end: str = "", of: str = "") -> Table:
    """Scores by file; a row leads to the file's items, the worst first."""
    by_path: dict[str, list[ItemRow]] = {}
    for item in items:
        by_path.setdefault(item.path, []).append(item)
    called = noun(run.task)
    return Table(
        name=f"files{end}",
        title=f"By file{of}",
        short="Files",
        columns=(
            Column("File", tip=f"Opens the {called}s of a file one after the other"),
            Column(f"{called}s".capitalize(), "count", tip="Completed"),
            Column("Admitted", "count"),
            Column("RTC", "number", "up", f"Mean over its {called}s", bar=True),
            Column("Lift", "signed", "up", "Against the baseline without a description"),
        ),
        rows=tuple(_file_row(path, by_path[path]) for path in sorted(by_path)),
    )


def _file_row(path: str, items: Sequence[ItemRow]) -> Row:
    judged = sorted((item for item in items if item.rtc is not None), key=lambda item: (item.rtc or 0.0, item.start))
    done, admitted = sum(item.state == "done" for item in items), sum(item.admitted for item in items)
    rtc = mean([item.rtc for item in judged if item.rtc is not None])
    lifting = [(a, b) for item in items if (a := item.rtc) is not None and (b := item.baseline) is not None]
    lift = Estimate(None)
    if lifting:
        lift = Estimate(*interval([a for a, _ in lifting], against=[b for _, b in lifting]), len(lifting))
    return Row((path, done, admitted, rtc, lift), links=tuple(Link(item.run_id, item.id) for item in judged))


def mean(values: Sequence[float]) -> float | None:
    """None of no values."""
    return sum(values) / len(values) if values else None


def _kinds(reader: Reader, run: RunRow, items: Sequence[ItemRow], end: str, of: str) -> Iterator[Figure]:
    """Scores by facet, and what words of people make possible."""
    called, facets = noun(run.task), reader.facets(run.id)
    if facets:
        yield Table(
            name=f"facets{end}",
            title=f"By kind{of}",
            short="Kinds",
            note=f"Scores of the run by what its {called}s are.",
            columns=(
                Column("Facet"),
                Column("Value"),
                Column(f"{called}s".capitalize(), "count", tip="Admitted"),
                Column("RTC", "number", "up", f"Mean over its {called}s, with its 95 % interval", bar=True),
                Column("Lift", "signed", "up", "Against the baseline without a description"),
            ),
            rows=tuple(
                Row(
                    (row.facet, row.value, row.items, estimate(row.rtc), estimate(row.lift)),
                    links=tuple(
                        Link(run.id, i.id) for i in items if i.admitted and i.facets.get(row.facet) == row.value
                    ),
                )
                for row in facets
            ),
        )
    supervised = reader.supervised(run.id)
    if supervised is not None:
        back = supervised.from_reference.value
        text = (
            ""
            if back is None
            else f"From the words that came with the {called}s {back:.2f} of {supervised.items:,} come back. "
        )
        bleu = supervised.description_bleu.value
        text += "" if bleu is None else f"BLEU of the descriptions against those words: {bleu:.2f}. "
        yield Sentence(
            name=f"supervised{end}", title=f"Against people's words{of}", text=f"{text}Neither counts for RTC."
        )


def _comparisons(reader: Reader, run_ids: Sequence[int]) -> Iterator[Figure]:
    """Each further run against the first; runs that cannot be compared are said to be so."""
    try:
        yield from (scatter(each) for each in compare_runs(reader, run_ids))
    except UserError as error:
        yield Sentence(name="compared", title="Not compared", text=f"{error.problem} {error.remedy}")
