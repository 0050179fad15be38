"""Summary against directive: do words find what tests find (Bhardwaj 2023, Sec. 4), and how much does chance explain?

Equal programs of a directive count once, but in the table that repeats the paper, where each of its draws counts.
Intervals resample directives: programs of one directive resemble each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from textwrap import shorten

from rtc_inspector.core import figures as fig
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
class JudgedProgram:
    """One program with the directive it was written for."""

    item: ItemRow
    program: Program

    @property
    def link(self) -> fig.Link:
        return fig.Link(self.item.run_id, self.item.id, self.program.rows[0].id)


@dataclass(frozen=True)
class Written:
    """The programs of one run. `summaries`: how many each has."""

    run: RunRow
    settings: DirectiveSettings
    summaries: int
    items: tuple[ItemRow, ...]
    every: tuple[JudgedProgram, ...]

    @property
    def embedder(self) -> str:
        return self.settings.embedder_name or "the embedding model"

    @property
    def judged_twice(self) -> list[tuple[JudgedProgram, bool, bool]]:
        """The programs of which both judges say something: whether each passes, and whether it means the directive."""
        judged = ((each, each.program.passes, each.program.similar(self.settings.threshold)) for each in self.every)
        return [
            (each, passes, similar) for each, passes, similar in judged if passes is not None and similar is not None
        ]

    def scored(self, value: Callable[[Program], float | None] = lambda program: program.cosine) -> list[list[Scored]]:
        """Return cosine and pass of each judged program that has both, one list a directive."""
        by_item: dict[int, list[Scored]] = {}
        for each in self.every:
            number, passes = value(each.program), each.program.passes
            if number is not None and passes is not None:
                by_item.setdefault(each.item.id, []).append((number, passes))
        return list(by_item.values())


def read(reader: Reader, run_id: int) -> Written:
    """Return what a run wrote, without what a person tried by hand."""
    settings = reader.settings(run_id)
    items = tuple(item for item in reader.items(run_id) if item.admitted and not item.extra)
    every = tuple(JudgedProgram(item, program) for item in items for program in programs(reader.samples(item.id)))
    return Written(reader.run(run_id), settings.directive, settings.forward_samples, items, every)


BINS = 20


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[fig.Figure]:
    """Yield figures of what tests and similarity say of each run; without tests of what similarity says only."""
    for run_id in run_ids:
        yield from fig.one_of(run_ids, run_id, _of_run(read(reader, run_id)))


def _of_run(written: Written) -> Iterator[fig.Figure]:
    yield summary(written)
    if written.judged_twice:
        yield tables(written)
        yield figures_of_table(written)
    yield by_temperature(written)
    yield spread(written)
    if written.judged_twice:
        yield roc(written)
        yield threshold(written)
        yield averaging(written)
        yield from to_read(written)
    yield by_directive(written)


def summary(written: Written) -> fig.Sentence:
    """Return what the run comes to in words, and what is missing or odd."""
    samples = sum(len(each.program.rows) for each in written.every)
    sentences = [
        f"{written.run.model_name} wrote {counted(samples, 'program')} for "
        f"{counted(len(written.items), noun(written.run.task))}, {len(written.every)} of them different; "
        f"{written.embedder} compared their summaries with the directives."
    ]
    mean = written.run.scores.get("cosine", NOTHING)
    if mean.value is not None and mean.low is not None and mean.high is not None:
        # The figure that the run has everywhere: a directive counts once, however many programs differ.
        sentences.append(f"The mean cosine over directives is {mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f}).")
    if both := written.judged_twice:
        table = TwoByTwo.of((passes, similar) for _, passes, similar in both)
        sentences.append(
            f"{table.first} of {table.n} pass their tests, {table.second} reach a cosine of "
            f"{written.settings.threshold:g}; both say the same of {table.both + table.neither}."
        )
    elif written.every:
        sentences.append("No program is judged by tests: only similarity can be told, not what it is worth.")
    sentences += _oddities(written)
    return fig.Sentence(fig.Head("summary", "Summary against directive"), text=" ".join(sentences))


def _oddities(written: Written) -> Iterator[str]:
    summaries = [row for each in written.every for row in each.program.summaries]
    empty = sum(not row.text.strip() for row in summaries)
    cut = sum("cosine_cut" in row.scores for row in summaries)
    codeless = sum(not each.program.rows[0].text.strip() for each in written.every)
    recited = sum(each.program.rows[0].scores.get("directive_recited", 0.0) > 0 for each in written.every)
    if empty:
        yield f"Of {len(summaries)} summaries {empty} said nothing: they have no cosine."
    if codeless:
        yield f"Of the programs {codeless} held no code: not similar."
    if cut:
        rest = "rest on the beginning of a text"
        yield f"Of {len(summaries)} comparisons {cut} {rest}: {written.embedder} reads no more."
    if recited:
        yield f"Of the programs {recited} repeat words of their directive in code, where a summary may find them."


def tables(written: Written) -> fig.Table:
    """Count two by two: each different program once, and each draw as in the paper."""
    rows = []
    for name, table in _both_ways(written):
        rows.append(fig.Row((f"pass, {name}", table.both, table.only_first)))
        rows.append(fig.Row((f"fail, {name}", table.only_second, table.neither)))
    return fig.Table(
        fig.Head("table", "Tests against similarity", "2 x 2"),
        note=f"Similar: a mean cosine of at least {written.settings.threshold:g} by {written.embedder}; what is enough "
        "for one model is not for another. As drawn: a program counts as often as it was drawn, one of temperature 0 "
        f"{written.settings.draws} times.",
        columns=fig.columns("Programs | Similar: count | Not similar: count"),
        rows=tuple(rows),
    )


def _both_ways(written: Written) -> list[tuple[str, TwoByTwo]]:
    once = [(passes, similar) for _, passes, similar in written.judged_twice]
    drawn = [
        (passes, similar)
        for each, passes, similar in written.judged_twice
        for row in each.program.rows
        for _ in range(1 if row.temperature else written.settings.draws)
    ]
    return [("each once", TwoByTwo.of(once)), ("as drawn", TwoByTwo.of(drawn))]


def figures_of_table(written: Written) -> fig.Table:
    """Return a table of how far the two judges agree, and what chance would give."""
    (_, once), (_, drawn) = _both_ways(written)
    clusters: dict[int, list[Scored]] = {}
    for each, passes, similar in written.judged_twice:
        clusters.setdefault(each.item.id, []).append((float(passes), similar))
    groups = list(clusters.values())

    def bounded(name: str) -> Estimate:
        value: float | None = getattr(once, name)
        bounds = by_cluster(groups, lambda scored: getattr(TwoByTwo.of((p > 0, s) for p, s in scored), name))
        low, high = bounds or (None, None)
        return Estimate(value, low, high, once.n if value is not None else 0)

    agreed = [float(passes == similar) for _, passes, similar in written.judged_twice]
    agreement = interval(agreed, clusters=[each.item.id for each, _, _ in written.judged_twice])
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
    return fig.Table(
        fig.Head("agreement", "How far tests and similarity agree", "Agreement"),
        note=f"Similarity by {written.embedder}. Intervals are over directives; p values take programs for "
        f"independent, which those of one directive are not.{one_sided}",
        columns=fig.columns("Figure | Each once: number | As drawn: number | Meaning"),
        rows=tuple(fig.Row(line) for line in lines if line[1] not in (None, Estimate())),
    )


def by_temperature(written: Written) -> fig.Lines:
    """Pass rate and mean cosine of the draws at each temperature."""
    passing: dict[float, list[tuple[float, int]]] = {}
    cosines: dict[float, list[tuple[float, int]]] = {}
    for each in written.every:
        for row in each.program.rows:
            if each.program.passes is not None:
                passing.setdefault(row.temperature, []).append((float(each.program.passes), each.item.id))
            if each.program.cosine is not None:
                cosines.setdefault(row.temperature, []).append((each.program.cosine, each.item.id))
    series = [
        fig.Series(title, _points(values, lowest))
        for title, values, lowest in (("mean cosine", cosines, -1.0), ("share that passes", passing, 0.0))
        if values
    ]
    return fig.Lines(
        fig.Head("temperature", "Programs by temperature", "Temperature"),
        note=f"Cosines by {written.embedder}. Bands are 95 % intervals over directives.",
        x=fig.Axis("temperature", 0),
        y=fig.Axis("cosine, share", None, 1, "up"),
        series=tuple(series),
    )


def _points(values: Mapping[float, Sequence[tuple[float, int]]], lowest: float) -> tuple[fig.Point, ...]:
    found = []
    for heat in sorted(values):
        numbers, items = zip(*values[heat], strict=True)
        bounds = interval(numbers, lowest, clusters=items, continuous=lowest < 0)
        found.append(fig.Point(Estimate(heat), Estimate(*bounds, len(numbers))))
    return tuple(found)


def spread(written: Written) -> fig.Histogram:
    """Draw cosines of passing and of failing programs, with both thresholds."""
    names = {True: "pass", False: "fail", None: "not judged"}
    values = [
        fig.Observation(each.program.cosine, names[each.program.passes], each.link)
        for each in written.every
        if each.program.cosine is not None
    ]
    guides = [fig.Guide("x", written.settings.threshold, f"{written.settings.threshold:g}")]
    clusters = written.scored()
    found = None if _too_few(clusters) else youden(_flat(clusters))
    if found is not None:
        guides.append(fig.Guide("x", found, f"found: {found:.2f}"))
    seen = {each.group for each in values}
    tones = {"pass": "good", "fail": "bad", "not judged": "muted"}
    return fig.Histogram(
        fig.Head("cosines", "Similarity of programs", "Cosines"),
        note=f"Mean cosine of a program's summaries with its directive, by {written.embedder}.",
        x=fig.Axis("cosine", min([0.0, *(each.value for each in values)]), 1, "up"),
        noun="programs",
        values=tuple(values),
        groups={name: tone for name, tone in tones.items() if name in seen},  # type: ignore[misc]
        guides=tuple(guides),
        most_bins=BINS,
    )


def to_read(written: Written) -> Iterator[fig.Table | fig.Sentence]:
    """Yield the programs of which tests and similarity say different things."""
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
        found = [each for each, did, similar in written.judged_twice if did is passes and similar is not did]
        found.sort(key=lambda each: each.program.cosine or 0.0, reverse=not passes)
        rows = []
        for each in found:
            row = each.program.rows[0]
            verdict = "" if row.verdict is None or passes else row.verdict.detail
            words = each.program.summaries[0].text if each.program.summaries else ""
            cells = (each.item.key, each.program.cosine, words, each.item.text, row.temperature, verdict)
            rows.append(fig.Row(cells, links=(each.link,)))
        if not rows:
            yield fig.Sentence(fig.Head(name, title, short), text="There is no such program.")
            continue
        yield fig.Table(
            fig.Head(name, title, short),
            note=f"{note} Cosine by {written.embedder}.",
            columns=fig.columns(
                "Directive | Cosine: number up | First summary | Words | Temperature: number | Verdict"
            ),
            rows=tuple(rows),
        )


def by_directive(written: Written) -> fig.Table:
    """Return a row for each directive: its programs, and the range of their cosines."""
    rows = []
    for item in written.items:
        own = [each.program for each in written.every if each.item.id == item.id]
        cosines = [value for each in own for value in each.cosines]
        span = Estimate(item.measures.get("cosine"), min(cosines), max(cosines), len(cosines)) if cosines else None
        words, drawn = shorten(item.text, 60, placeholder=" …"), sum(len(each.rows) for each in own)
        passing, agreement = item.measures.get("passing"), item.measures.get("agreement")
        cells = (item.key, words, drawn, len(own), passing, span, agreement)
        rows.append(fig.Row(cells, links=(fig.Link(item.run_id, item.id),)))
    return fig.Table(
        fig.Head("directives", "By directive", "Directives"),
        note=f"Cosines by {written.embedder}: the mean over different programs, and the range over all their "
        "summaries.",
        columns=fig.columns(
            "Directive | Words | Programs: count | Different: count | Passing: number up | "
            "Cosine: number up | Agreement: number up"
        ),
        rows=tuple(rows),
    )


# ---- ROC, threshold, averaging


FEWEST = 10  # failures, and passes, below which no threshold is chosen


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


def roc(written: Written) -> fig.Lines | fig.Sentence:
    """Draw passes caught against failures let through, for every threshold."""
    clusters = written.scored()
    area = _auc_estimate(clusters)
    if area.value is None:
        return fig.Sentence(
            fig.Head("roc", "Telling passing programs apart", "ROC"),
            text="All programs with a cosine pass, or none does: there is nothing to tell apart.",
        )
    points = tuple(
        fig.Point(Estimate(x), Estimate(y), name="" if at is None else f"cosine {at:.2f}")
        for x, y, at in curve(_flat(clusters))
    )
    bounds = "" if area.low is None else f" ({area.low:.2f} to {area.high:.2f}, resampling directives)"
    alone = "" if len(clusters) > 1 else " A single directive has no interval."
    ends = Estimate(0), Estimate(1)
    return fig.Lines(
        fig.Head("roc", "Telling passing programs apart by cosine", "ROC"),
        note=f"AUC {area.value:.2f}{bounds}: the chance that a passing program has the larger cosine by "
        f"{written.embedder}; 0.5 tells nothing.{alone}",
        x=fig.Axis("share of failing programs at or above the cosine", 0, 1),
        y=fig.Axis("share of passing programs", 0, 1, "up"),
        series=(
            fig.Series(f"cosine, AUC {area.value:.2f}", points),
            fig.Series("chance", tuple(fig.Point(at, at) for at in ends), tone="muted"),
        ),
    )


def _too_few(clusters: Sequence[Sequence[Scored]]) -> str:
    """Return why no threshold is chosen; empty where there are enough directives, and enough of either side."""
    passes = sum(passed for _, passed in _flat(clusters))
    fails = len(_flat(clusters)) - passes
    if min(passes, fails) < FEWEST:
        return f"Too few to choose a threshold: {passes} pass and {fails} fail, and it takes {FEWEST} of each."
    if len(clusters) < 2:
        return "A threshold is chosen on other directives than it is tried on: one directive is not enough."
    return ""


def threshold(written: Written) -> fig.Table | fig.Sentence:
    """Find the threshold that tells best, chosen for each directive by the others alone."""
    clusters = written.scored()
    scored, problem = _flat(clusters), _too_few(clusters)
    tried = []
    for place, each in enumerate(() if problem else clusters):
        # Without this directive's own programs, so that the threshold is tried on what it was not chosen by.
        at = youden(_flat([*clusters[:place], *clusters[place + 1 :]]))
        if at is not None:
            tried.append((at, each))
    if not tried:
        text = problem or "No threshold tells passing programs from failing ones better than none at all."
        return fig.Sentence(fig.Head("threshold", "Which threshold?", "Threshold"), text=text)
    overall = youden(scored)
    low, high = by_cluster(clusters, youden) or (None, None)
    others = [at for at, _ in tried]
    names = [number for number, (_, each) in enumerate(tried) for _ in each]

    def right(thresholds: Sequence[float]) -> Estimate:
        pairs = zip(thresholds, tried, strict=True)
        hits = [float((value >= at) == passed) for at, (_, each) in pairs for value, passed in each]
        return Estimate(*interval(hits, clusters=names), len(names))

    fixed, by_run = written.settings.threshold, "share told rightly by the threshold of the run"
    chosen = Estimate(fsum(others) / len(others), min(others), max(others))
    return fig.Table(
        fig.Head("threshold", "Which threshold?", "Threshold"),
        note=f"By Youden's J on cosines of {written.embedder}. For each directive the threshold is chosen on the "
        "others and tried on its own programs. Intervals are over directives.",
        columns=fig.columns("Figure | Value: number | Meaning"),
        rows=(
            fig.Row(("Threshold", Estimate(overall, low, high, len(scored)), "by all directives")),
            fig.Row(("Chosen on others", chosen, "mean, and smallest to largest")),
            fig.Row(("Right with it", right(others), "share of programs of other directives told rightly")),
            fig.Row((f"Right with {fixed:g}", right([fixed] * len(tried)), by_run)),
        ),
    )


def averaging(written: Written) -> fig.Lines:
    """Draw the AUC when the first S summaries of a program are averaged."""
    points = []
    for several in range(1, written.summaries + 1):

        def mean(program: Program, several: int = several) -> float | None:
            first = [row.scores["cosine"] for row in program.summaries[:several] if "cosine" in row.scores]
            return fsum(first) / len(first) if len(program.summaries) >= several and first else None

        area = _auc_estimate(written.scored(mean))
        if area.value is not None:
            points.append(fig.Point(Estimate(several), area))
    return fig.Lines(
        fig.Head("averaging", "What averaging summaries gains", "Averaging"),
        note=f"AUC of the mean cosine of a program's first summaries, by {written.embedder}; the first one is greedy. "
        "Bands are intervals over directives."
        + ("" if points else " There is none while all programs pass, or none does."),
        x=fig.Axis("summaries averaged", 1, form="count"),
        y=fig.Axis("AUC", 0, 1, "up"),
        series=(fig.Series("AUC", tuple(points)),) if points else (),
        guides=(fig.Guide("y", 0.5, "chance"),),
    )
