"""Summary against directive: do words find what tests find (Bhardwaj 2023, Sec. 4), and how much does chance explain?

Equal programs of a directive count once, but in the table that repeats the paper, where each of its draws counts.
Intervals resample directives: programs of one directive resemble each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from textwrap import shorten

from rtc_inspector.core.figures import (
    Axis,
    Figure,
    Guide,
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
from rtc_inspector.core.kinds import counted, noun
from rtc_inspector.core.metrics.paired import TwoByTwo
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.metrics.validity import Scored, auc, by_cluster, curve, youden
from rtc_inspector.core.settings import DirectiveSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import NOTHING, ItemRow, RunRow
from rtc_inspector.core.trips.trees import Program, programs
from rtc_inspector.core.types import Estimate


@dataclass(frozen=True)
class Made:
    """One program with the directive it was written for."""

    item: ItemRow
    program: Program

    @property
    def link(self) -> Link:
        """Leads to the first of the equal programs."""
        return Link(self.item.run_id, self.item.id, self.program.rows[0].id)


@dataclass(frozen=True)
class Written:
    """The programs of one run. `summaries`: how many each has."""

    run: RunRow
    settings: DirectiveSettings
    summaries: int
    items: tuple[ItemRow, ...]
    every: tuple[Made, ...]

    @property
    def embedder(self) -> str:
        """The name of the model whose cosines these are."""
        return self.settings.embedder_name or "the embedding model"

    @property
    def judged_twice(self) -> list[tuple[Made, bool, bool]]:
        """The programs of which both judges say something: whether each passes, and whether it means the directive."""
        said = ((made, made.program.passes, made.program.similar(self.settings.threshold)) for made in self.every)
        return [(made, passes, similar) for made, passes, similar in said if passes is not None and similar is not None]

    def scored(self, value: Callable[[Program], float | None] = lambda program: program.cosine) -> list[list[Scored]]:
        """Cosine and pass of each judged program that has both, one list a directive."""
        by_item: dict[int, list[Scored]] = {}
        for made in self.every:
            number, passes = value(made.program), made.program.passes
            if number is not None and passes is not None:
                by_item.setdefault(made.item.id, []).append((number, passes))
        return list(by_item.values())


def read(reader: Reader, run_id: int) -> Written:
    """Return what a run wrote, without what a person tried by hand."""
    settings = reader.settings(run_id)
    items = tuple(item for item in reader.items(run_id) if item.admitted and not item.extra)
    every = tuple(Made(item, program) for item in items for program in programs(reader.samples(item.id)))
    return Written(reader.run(run_id), settings.directive, settings.forward_samples, items, every)


BINS = 20


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[Figure]:
    """Yield figures of what tests and similarity say of each run; without tests of what similarity says only."""
    for run_id in run_ids:
        yield from one_of(run_ids, run_id, _of_run(read(reader, run_id)))


def _of_run(made: Written) -> Iterator[Figure]:
    yield summary(made)
    if made.judged_twice:
        yield tables(made)
        yield figures_of_table(made)
    yield by_temperature(made)
    yield spread(made)
    if made.judged_twice:
        yield roc(made)
        yield threshold(made)
        yield averaging(made)
        yield from to_read(made)
    yield by_directive(made)


def summary(made: Written) -> Sentence:
    """Return what the run comes to in words, and what is missing or odd."""
    samples = sum(len(each.program.rows) for each in made.every)
    said = [
        f"{made.run.model_name} wrote {counted(samples, 'program')} for "
        f"{counted(len(made.items), noun(made.run.task))}, {len(made.every)} of them different; {made.embedder} "
        "compared their summaries with the directives."
    ]
    mean = made.run.scores.get("cosine", NOTHING)
    if mean.value is not None and mean.low is not None and mean.high is not None:
        # The figure that the run has everywhere: a directive counts once, however many programs differ.
        said.append(f"The mean cosine over directives is {mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f}).")
    if both := made.judged_twice:
        table = TwoByTwo.of((passes, similar) for _, passes, similar in both)
        said.append(
            f"{table.first} of {table.n} pass their tests, {table.second} reach a cosine of "
            f"{made.settings.threshold:g}; both say the same of {table.both + table.neither}."
        )
    elif made.every:
        said.append("No program is judged by tests: only similarity can be told, not what it is worth.")
    said += _oddities(made)
    return Sentence(name="summary", title="Summary against directive", text=" ".join(said))


def _oddities(made: Written) -> Iterator[str]:
    """Yield sentences on what to keep in mind of how the figures came about."""
    summaries = [row for each in made.every for row in each.program.summaries]
    empty = sum(not row.text.strip() for row in summaries)
    cut = sum("cosine_cut" in row.scores for row in summaries)
    codeless = sum(not each.program.rows[0].text.strip() for each in made.every)
    recited = sum(each.program.rows[0].scores.get("directive_recited", 0.0) > 0 for each in made.every)
    if empty:
        yield f"Of {len(summaries)} summaries {empty} said nothing: they have no cosine."
    if codeless:
        yield f"Of the programs {codeless} held no code: not similar."
    if cut:
        yield f"Of {len(summaries)} comparisons {cut} rest on the beginning of a text: {made.embedder} reads no more."
    if recited:
        yield f"Of the programs {recited} repeat words of their directive in code, where a summary may find them."


def tables(made: Written) -> Table:
    """Two by two: each different program once, and each draw as in the paper."""
    rows = []
    for name, table in _both_ways(made):
        rows.append(Row((f"pass, {name}", table.both, table.only_first)))
        rows.append(Row((f"fail, {name}", table.only_second, table.neither)))
    return Table(
        name="table",
        title="Tests against similarity",
        short="2 x 2",
        note=f"Similar: a mean cosine of at least {made.settings.threshold:g} by {made.embedder}; what is enough "
        "for one model is not for another. As drawn: a program counts as often as it was drawn, one of temperature 0 "
        f"{made.settings.draws} times.",
        columns=columns("Programs | Similar: count | Not similar: count"),
        rows=tuple(rows),
    )


def _both_ways(made: Written) -> list[tuple[str, TwoByTwo]]:
    once = [(passes, similar) for _, passes, similar in made.judged_twice]
    drawn = [
        (passes, similar)
        for each, passes, similar in made.judged_twice
        for row in each.program.rows
        for _ in range(1 if row.temperature else made.settings.draws)
    ]
    return [("each once", TwoByTwo.of(once)), ("as drawn", TwoByTwo.of(drawn))]


def figures_of_table(made: Written) -> Table:
    """Return a table of how far the two judges agree, and what chance would give."""
    (_, once), (_, drawn) = _both_ways(made)
    clusters: dict[int, list[Scored]] = {}
    for each, passes, similar in made.judged_twice:
        clusters.setdefault(each.item.id, []).append((float(passes), similar))
    groups = list(clusters.values())

    def bounded(name: str) -> Estimate:
        value: float | None = getattr(once, name)
        bounds = by_cluster(groups, lambda scored: getattr(TwoByTwo.of((p > 0, s) for p, s in scored), name))
        low, high = bounds or (None, None)
        return Estimate(value, low, high, once.n if value is not None else 0)

    agreed = [float(passes == similar) for _, passes, similar in made.judged_twice]
    agreement = interval(agreed, clusters=[each.item.id for each, _, _ in made.judged_twice])
    lines: list[tuple[str, Estimate | float | None, float | None, str]] = [
        ("Agreement", Estimate(*agreement, once.n), drawn.agreement, "share of which both say the same"),
        ("Phi", bounded("phi"), drawn.phi, "correlation of the two: 0 is none"),
        ("Cohen's kappa", bounded("kappa"), drawn.kappa, "agreement beyond chance"),
        ("Failures in common", float(once.neither), float(drawn.neither), "fail, and are not similar"),
        ("Expected by chance", once.expected_overlap, drawn.expected_overlap, "of the failures in common"),
        ("Chance of that overlap", once.overlap_p, drawn.overlap_p, "of one as far off, or farther (hypergeometric)"),
        ("Fisher's exact p", once.fisher_p, drawn.fisher_p, "two-sided, of no connection"),
    ]
    one_sided = " Left out where one judge says the same of every program." if once.one_sided else ""
    return Table(
        name="agreement",
        title="How far tests and similarity agree",
        short="Agreement",
        note=f"Similarity by {made.embedder}. Intervals are over directives; p values take programs for independent, "
        f"which those of one directive are not.{one_sided}",
        columns=columns("Figure | Each once: number | As drawn: number | Meaning"),
        rows=tuple(Row(line) for line in lines if line[1] is not None and not _blank(line[1])),
    )


def _blank(value: Estimate | float) -> bool:
    return isinstance(value, Estimate) and value.value is None


def by_temperature(made: Written) -> Lines:
    """Pass rate and mean cosine of the draws at each temperature."""
    passing: dict[float, list[tuple[float, int]]] = {}
    cosines: dict[float, list[tuple[float, int]]] = {}
    for each in made.every:
        for row in each.program.rows:
            if each.program.passes is not None:
                passing.setdefault(row.temperature, []).append((float(each.program.passes), each.item.id))
            if each.program.cosine is not None:
                cosines.setdefault(row.temperature, []).append((each.program.cosine, each.item.id))
    series = [
        Series(title, _points(values, lowest), dashed=dashed)
        for title, values, lowest, dashed in (
            ("mean cosine", cosines, -1.0, False),
            ("share that passes", passing, 0.0, True),
        )
        if values
    ]
    return Lines(
        name="temperature",
        title="Programs by temperature",
        short="Temperature",
        note=f"Cosines by {made.embedder}. Bands are 95 % intervals over directives.",
        x=Axis("temperature", 0),
        y=Axis("cosine, share", None, 1, "up"),
        series=tuple(series),
    )


def _points(values: Mapping[float, Sequence[tuple[float, int]]], lowest: float) -> tuple[Point, ...]:
    found = []
    for heat in sorted(values):
        numbers, items = zip(*values[heat], strict=True)
        bounds = interval(numbers, lowest, clusters=items, continuous=lowest < 0)
        found.append(Point(Estimate(heat), Estimate(*bounds, len(numbers))))
    return tuple(found)


def spread(made: Written) -> Histogram:
    """Cosines of passing and of failing programs, with both thresholds."""
    names = {True: "pass", False: "fail", None: "not judged"}
    values = [
        Observation(each.program.cosine, names[each.program.passes], each.link)
        for each in made.every
        if each.program.cosine is not None
    ]
    guides = [Guide("x", made.settings.threshold, f"{made.settings.threshold:g}")]
    found = found_threshold(made)
    if found is not None:
        guides.append(Guide("x", found, f"found: {found:.2f}"))
    seen = {each.group for each in values}
    tones = {"pass": "good", "fail": "bad", "not judged": "muted"}
    return Histogram(
        name="cosines",
        title="Similarity of programs",
        short="Cosines",
        note=f"Mean cosine of a program's summaries with its directive, by {made.embedder}.",
        x=Axis("cosine", min([0.0, *(each.value for each in values)]), 1, "up"),
        noun="programs",
        values=tuple(values),
        groups={name: tone for name, tone in tones.items() if name in seen},  # type: ignore[misc]
        guides=tuple(guides),
        most_bins=BINS,
    )


def to_read(made: Written) -> Iterator[Table | Sentence]:
    """The programs of which tests and similarity say different things."""
    for name, short, passes, title, note in (
        ("similar-failing", "Similar, fail", False, "Similar, but failing", "Tests catch here what words hide."),
        (
            "passing-dissimilar",
            "Pass, not similar",
            True,
            "Passing, but not similar",
            "Words miss here what the program does, or tests miss what it does not.",
        ),
    ):
        found = [each for each, did, similar in made.judged_twice if did is passes and similar is not did]
        found.sort(key=lambda each: each.program.cosine or 0.0, reverse=not passes)
        rows = []
        for each in found:
            row = each.program.rows[0]
            verdict = "" if row.verdict is None or passes else row.verdict.detail
            words = each.program.summaries[0].text if each.program.summaries else ""
            cells = (each.item.key, each.program.cosine, words, each.item.text, row.temperature, verdict)
            rows.append(Row(cells, links=(each.link,)))
        if not rows:
            yield Sentence(name=name, title=title, short=short, text="There is no such program.")
            continue
        yield Table(
            name=name,
            title=title,
            short=short,
            note=f"{note} Cosine by {made.embedder}.",
            columns=columns("Directive | Cosine: number up | First summary | Words | Temperature: number | Verdict"),
            rows=tuple(rows),
        )


def by_directive(made: Written) -> Table:
    """One row a directive: its programs, and the range of their cosines."""
    rows = []
    for item in made.items:
        own = [each.program for each in made.every if each.item.id == item.id]
        cosines = [value for each in own for value in each.cosines]
        span = Estimate(item.measures.get("cosine"), min(cosines), max(cosines), len(cosines)) if cosines else None
        words, drawn = shorten(item.text, 60, placeholder=" …"), sum(len(each.rows) for each in own)
        passing, agreement = item.measures.get("passing"), item.measures.get("agreement")
        cells = (item.key, words, drawn, len(own), passing, span, agreement)
        rows.append(Row(cells, links=(Link(item.run_id, item.id),)))
    return Table(
        name="directives",
        title="By directive",
        short="Directives",
        note=f"Cosines by {made.embedder}: the mean over different programs, and the range over all their summaries.",
        columns=columns(
            "Directive | Words | Programs: count | Different: count | Passing: number up | "
            "Cosine: number up | Agreement: number up"
        ),
        rows=tuple(rows),
    )


# ---- ROC, threshold, averaging


FEWEST = 10
"""Failures, and passes, below which no threshold is chosen."""


def _flat(clusters: Sequence[Sequence[Scored]]) -> list[Scored]:
    return [each for cluster in clusters for each in cluster]


def _auc(scored: Sequence[Scored]) -> float | None:
    return auc([value for value, _ in scored], [passed for _, passed in scored])


def _auc_estimate(clusters: Sequence[Sequence[Scored]]) -> Estimate:
    scored = _flat(clusters)
    value = _auc(scored)
    if value is None:
        return Estimate()
    low, high = by_cluster(clusters, _auc) or (None, None)
    return Estimate(value, low, high, len(scored))


def roc(made: Written) -> Lines | Sentence:
    """Passes caught against failures let through, for every threshold."""
    clusters = made.scored()
    area = _auc_estimate(clusters)
    if area.value is None:
        return Sentence(
            name="roc",
            title="Telling passing programs apart",
            short="ROC",
            text="All programs with a cosine pass, or none does: there is nothing to tell apart.",
        )
    points = tuple(
        Point(Estimate(x), Estimate(y), name="" if at is None else f"cosine {at:.2f}")
        for x, y, at in curve(_flat(clusters))
    )
    bounds = "" if area.low is None else f" ({area.low:.2f} to {area.high:.2f}, resampling directives)"
    alone = "" if len(clusters) > 1 else " A single directive has no interval."
    return Lines(
        name="roc",
        title="Telling passing programs apart by cosine",
        short="ROC",
        note=f"AUC {area.value:.2f}{bounds}: the chance that a passing program has the larger cosine by "
        f"{made.embedder}; 0.5 tells nothing.{alone}",
        x=Axis("share of failing programs at or above the cosine", 0, 1),
        y=Axis("share of passing programs", 0, 1, "up"),
        series=(
            Series(f"cosine, AUC {area.value:.2f}", points),
            Series("chance", (_corner(0), _corner(1)), tone="muted", dashed=True),
        ),
    )


def _corner(at: float) -> Point:
    return Point(Estimate(at), Estimate(at))


def found_threshold(made: Written) -> float | None:
    """By all directives; None where there are too few of them, or of either side, to choose one."""
    clusters = made.scored()
    scored = _flat(clusters)
    passes = sum(passed for _, passed in scored)
    return youden(scored) if len(clusters) > 1 and min(passes, len(scored) - passes) >= FEWEST else None


def threshold(made: Written) -> Table | Sentence:
    """The threshold that tells best, chosen for each directive by the others alone."""
    clusters = made.scored()
    scored = _flat(clusters)
    passes = sum(passed for _, passed in scored)
    fails = len(scored) - passes
    problem = ""
    if min(passes, fails) < FEWEST:
        problem = f"Too few to choose a threshold: {passes} pass and {fails} fail, and it takes {FEWEST} of each."
    elif len(clusters) < 2:
        problem = "A threshold is chosen on other directives than it is tried on: one directive is not enough."
    tried = []
    for place, each in enumerate(() if problem else clusters):
        # Without this directive's own programs, so that the threshold is tried on what it was not chosen by.
        at = youden(_flat([*clusters[:place], *clusters[place + 1 :]]))
        if at is not None:
            tried.append((at, each))
    if not tried:
        text = problem or "No threshold tells passing programs from failing ones better than none at all."
        return Sentence(name="threshold", title="Which threshold?", short="Threshold", text=text)
    overall = youden(scored)
    low, high = by_cluster(clusters, youden) or (None, None)
    others = [at for at, _ in tried]
    right = [[float((value >= at) == passed) for value, passed in each] for at, each in tried]
    told = [float((value >= made.settings.threshold) == passed) for _, each in tried for value, passed in each]
    names = [number for number, each in enumerate(right) for _ in each]
    found = Estimate(*interval([one for each in right for one in each], clusters=names), len(names))
    fixed = Estimate(*interval(told, clusters=names), len(names))
    mean = fsum(others) / len(others)
    return Table(
        name="threshold",
        title="Which threshold?",
        short="Threshold",
        note=f"By Youden's J on cosines of {made.embedder}. For each directive the threshold is chosen on the others "
        "and tried on its own programs. Intervals are over directives.",
        columns=columns("Figure | Value: number | Meaning"),
        rows=(
            Row(("Threshold", Estimate(overall, low, high, len(scored)), "by all directives")),
            Row(("Chosen on others", Estimate(mean, min(others), max(others)), "mean, and smallest to largest")),
            Row(("Right with it", found, "share of programs of other directives told rightly")),
            Row((f"Right with {made.settings.threshold:g}", fixed, "share told rightly by the threshold of the run")),
        ),
    )


def averaging(made: Written) -> Lines:
    """AUC when the first S summaries of a program are averaged."""
    points = []
    for several in range(1, made.summaries + 1):

        def mean(program: Program, several: int = several) -> float | None:
            first = [row.scores["cosine"] for row in program.summaries[:several] if "cosine" in row.scores]
            return fsum(first) / len(first) if len(program.summaries) >= several and first else None

        area = _auc_estimate(made.scored(mean))
        if area.value is not None:
            points.append(Point(Estimate(several), area))
    return Lines(
        name="averaging",
        title="What averaging summaries gains",
        short="Averaging",
        note=f"AUC of the mean cosine of a program's first summaries, by {made.embedder}; the first one is greedy. "
        "Bands are intervals over directives."
        + ("" if points else " There is none while all programs pass, or none does."),
        x=Axis("summaries averaged", 1, form="count"),
        y=Axis("AUC", 0, 1, "up"),
        series=(Series("AUC", tuple(points)),) if points else (),
        guides=(Guide("y", 0.5, "chance"),),
    )
