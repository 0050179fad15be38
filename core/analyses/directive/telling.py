"""How well the similarity of words tells passing programs from failing ones: ROC, threshold, averaging."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from rtc_inspector.core.analyses.directive.written import Written
from rtc_inspector.core.figures import Axis, Estimate, Guide, Lines, Point, Row, Sentence, Series, Table, columns
from rtc_inspector.core.metrics.roc import Scored, by_cluster, curve, youden
from rtc_inspector.core.metrics.statistics import auc, interval
from rtc_inspector.core.trips.programs import Program

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
