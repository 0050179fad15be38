"""How well a number tells passing from failing: the ROC curve, the threshold it suggests, and intervals by cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rtc_inspector.core.metrics.statistics import LEVEL

Scored = tuple[float, bool]
"""A value, and whether what it belongs to passed."""
RESAMPLES = 1000


def curve(scored: Sequence[Scored]) -> list[tuple[float, float, float | None]]:
    """Share of failures and of passes at or above each value, from the largest down, and that value.

    Begins at (0, 0) and ends at (1, 1). Empty where all pass or all fail.
    """
    won = sum(passed for _, passed in scored)
    lost = len(scored) - won
    if not won or not lost:
        return []
    points: list[tuple[float, float, float | None]] = [(0.0, 0.0, None)]
    hits = misses = 0
    ordered = sorted(scored, reverse=True)
    for place, (value, passed) in enumerate(ordered):
        hits, misses = hits + passed, misses + (not passed)
        if place + 1 == len(ordered) or ordered[place + 1][0] != value:  # equal values lie on one side together
            points.append((misses / lost, hits / won, value))
    return points


def youden(scored: Sequence[Scored]) -> float | None:
    """The threshold with the most passes less failures, in shares, at or above it (Youden's J).

    It lies halfway between the two values that it parts; of equally good ones it is the lowest. None where all pass or
    all fail, and where no threshold does better than none at all.
    """
    points = curve(scored)
    values = sorted({value for value, _ in scored})
    best, found = 1e-12, None
    for misses, hits, value in points:
        if value is not None and hits - misses >= best:
            best, found = hits - misses, value
    if found is None:
        return None
    place = values.index(found)
    return found if place == 0 else (values[place - 1] + found) / 2


def by_cluster(
    clusters: Sequence[Sequence[Scored]], statistic: Callable[[Sequence[Scored]], float | None]
) -> tuple[float, float] | None:
    """Percentile bootstrap of a statistic when other clusters (directives) had been drawn, each with all it holds.

    Draws in which the statistic is not defined are left out. None for a single cluster, where too few draws define it,
    and where resampling changes nothing: that is no certainty.
    """
    if len(clusters) < 2:
        return None
    draws = np.random.default_rng(0).integers(0, len(clusters), (RESAMPLES, len(clusters)))
    found = [statistic([each for place in draw for each in clusters[place]]) for draw in draws.tolist()]
    known = [value for value in found if value is not None]
    if len(known) < RESAMPLES / 2:
        return None
    tail = (1 - LEVEL) / 2
    low, high = (float(bound) for bound in np.quantile(known, [tail, 1 - tail]))
    return (low, high) if high - low > 1e-12 else None
