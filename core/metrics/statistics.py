"""Intervals of means, pass@k, and correlations. Everything is deterministic: the same input gives the same bounds.

The interval of a mean of shares is Wilson's score interval with Student's t and a design effect. A mean m of n items,
on a scale from 0 to 1, is plausible when

    (observed mean - m)^2 <= t^2 D m (1 - m) / (n - 1)

m (1 - m) is the largest variance that values with that mean can have: that of zeros and ones. D says how much of it
the values have, from 0 to 1. So twenty failures in a row do not prove a rate of 0, where a bootstrap claims certainty;
for outcomes of 0 and 1 the interval is Wilson's with a t quantile.

A difference of two means over the same items has its bounds from those of both means and their correlation, as
Newcombe (1998) and Zou and Donner (2008) combine them. docs/statistics.md has the coverage of both.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.95
UNSEEN, UNSEEN_FILES = 0.05, 1.0
"""Items' worth (with clusters: clusters' worth) of zeros and ones that count as seen when D is estimated: a few rare
passes tell little of how outcomes cluster. About the least with which these are covered (benchmarks/intervals.py)."""


def interval(
    values: Sequence[float],
    lowest: float = 0.0,
    highest: float = 1.0,
    *,
    against: Sequence[float] | None = None,
    level: float = LEVEL,
    clusters: Sequence[Hashable] | None = None,
) -> tuple[float, float, float]:
    """Mean of `values` and the bounds of its interval.

    `values` holds one number an item, each between `lowest` and `highest`. `against` holds another one for each item,
    on the same scale: then it is the mean of the differences that is bounded (lift: scores against baselines).

    Items count as drawn one by one from what the interval speaks for: the project's regions. With `clusters`, one an
    item (its file), items of one cluster count as drawn together, so that the interval speaks for other files like
    these; it is wider where such items resemble each other. Raises ValueError when empty or of unequal lengths.
    """
    data = _Data(values, lowest, highest, against, clusters)
    return data.mean, *data.bounds(critical_value(level, data.groups, paired=against is not None))


def p_value(
    values: Sequence[float],
    lowest: float = 0.0,
    highest: float = 1.0,
    *,
    mean: float = 0.0,
    against: Sequence[float] | None = None,
    clusters: Sequence[Hashable] | None = None,
) -> float:
    """Two-sided p of the mean (of the differences) being `mean`: `interval` at the level 1 - p just reaches it.

    Raises ValueError as `interval`.
    """
    from scipy.optimize import brentq
    from scipy.special import stdtr

    data = _Data(values, lowest, highest, against, clusters)
    if data.groups <= 1 or math.isclose(mean, data.mean, abs_tol=1e-12):
        return 1.0

    def beyond(log_critical: float) -> float:
        low, high = data.bounds(math.exp(log_critical))
        return mean - high if mean > data.mean else low - mean

    # Logarithms of the squared critical value: from no interval at all to about a thousand standard errors.
    ends = -20.0, 14.0
    if beyond(ends[1]) > 0:  # past every level that a float can tell from 1
        return 0.0
    square = math.exp(brentq(beyond, *ends, xtol=1e-9))
    # Takes off the factor that `critical_value` puts on for a single mean.
    square *= 1.0 if against is not None else (data.groups - 1) / data.groups
    return min(1.0, 2 * float(stdtr(data.groups - 1, -math.sqrt(square))))


def critical_value(level: float, groups: int, *, paired: bool = False) -> float:
    """The square of Student's t for `groups` items (or clusters); infinite for a single one.

    Of a single mean times n / (n - 1), without which five items cover a rare pass too seldom. `paired`: of a
    difference, whose bounds are wide enough without.
    """
    from scipy.special import stdtrit  # scipy takes a third of a second, and a window opens without any figure

    if groups <= 1:
        return math.inf
    return float(stdtrit(groups - 1, (1 + level) / 2)) ** 2 * (1.0 if paired else groups / (groups - 1))


def mean_bounds(mean: Any, variance: Any, size: Any, critical: float, unseen: float = UNSEEN) -> tuple[Any, Any]:
    """Where means stop being plausible, below and above: floats or arrays, on a scale from 0 to 1.

    `variance` is that of the values, `size` the number of items they are worth; `unseen` see `UNSEEN`.
    """
    if math.isinf(critical):  # a single item
        return 0.0, 1.0
    largest, added = mean * (1 - mean), unseen / size
    share = critical / size * np.minimum(1.0, (variance + added) / (largest + added))
    middle = (mean + share / 2) / (1 + share)
    half = np.sqrt(share * largest + share**2 / 4) / (1 + share)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def difference_bounds(
    first: tuple[Any, Any, Any], second: tuple[Any, Any, Any], correlation: Any, groups: int
) -> tuple[Any, Any]:
    """Bounds of second - first, each (mean, low, high), floats or arrays, and the correlation over `groups` items.

    A bound of the difference recovers the variances from the bounds of the means on the side where it lies. The
    correlation is estimated from the same few items, and taken too high it would narrow the interval: so it is shrunk.
    """
    shrunk = correlation * max(0, groups - 2) / groups
    down, up = second[0] - second[1], second[2] - second[0]
    other_down, other_up = first[0] - first[1], first[2] - first[0]
    mean = second[0] - first[0]
    below = down**2 + other_up**2 - 2 * shrunk * down * other_up
    above = up**2 + other_down**2 - 2 * shrunk * up * other_down
    return mean - np.sqrt(np.maximum(below, 0.0)), mean + np.sqrt(np.maximum(above, 0.0))


class _Data:
    """Values of items, with or without others to subtract; `groups` counts what is drawn independently."""

    def __init__(
        self,
        values: Sequence[float],
        lowest: float,
        highest: float,
        against: Sequence[float] | None,
        clusters: Sequence[Hashable] | None,
    ) -> None:
        if not len(values):
            raise ValueError("an interval needs at least one value")
        names = {name: place for place, name in enumerate(dict.fromkeys(clusters or ()))}
        self._places = None if clusters is None else np.array([names[name] for name in clusters])
        self.groups = len(values) if clusters is None else len(names)
        self._means = [_Mean(each, lowest, highest, self._places) for each in (values, against) if each is not None]
        self.mean = self._means[0].mean
        self._correlation = 0.0
        if against is not None:
            differences = [a - b for a, b in zip(values, against, strict=True)]
            self.mean = math.fsum(differences) / len(differences)
            self._correlation = _correlation(*(mean.deviations for mean in self._means))

    def bounds(self, critical: float) -> tuple[float, float]:
        """Of the mean, or of the mean of the differences."""
        found = [(mean.mean, *mean.bounds(critical)) for mean in self._means]
        low, high = found[0][1:]
        if len(found) == 2:
            low, high = difference_bounds(found[1], found[0], self._correlation, self.groups)
            if math.isinf(critical):  # a single item tells nothing about either side
                low, high = found[0][1] - found[1][2], found[0][2] - found[1][1]
        return min(float(low), self.mean), max(float(high), self.mean)


class _Mean:
    """Values on a scale, and how many independent items they are worth."""

    def __init__(
        self, values: Sequence[float], lowest: float, highest: float, clusters: NDArray[np.int64] | None
    ) -> None:
        sample = np.asarray(values, dtype=np.float64)
        self.mean = math.fsum(values) / len(values)
        self.deviations: Floats = sample - self.mean
        self._lowest = min(lowest, float(sample.min()))
        self._range = max(highest, float(sample.max())) - self._lowest
        self._variance = float(self.deviations @ self.deviations) / max(1, sample.size - 1) / self._range**2
        self._size, self._unseen = float(sample.size), UNSEEN
        if clusters is not None:
            self._unseen = UNSEEN_FILES
            self._size = _worth(self.deviations, clusters)
            self.deviations = _sums(self.deviations, clusters)

    def bounds(self, critical: float) -> tuple[float, float]:
        place = (self.mean - self._lowest) / self._range
        low, high = mean_bounds(place, self._variance, self._size, critical, self._unseen)
        return self._lowest + float(low) * self._range, self._lowest + float(high) * self._range


def _worth(deviations: Floats, clusters: NDArray[np.int64]) -> float:
    """How many independent items as many clustered ones are worth: at most as many as there are items.

    By the ratio of the two variances of the mean (the design effect): of independent clusters, and of independent
    items. Where all items agree nothing can be estimated, and a cluster counts as one item.
    """
    groups, size = int(clusters.max()) + 1, deviations.size
    alone = float(deviations @ deviations) / (size - 1) if size > 1 else 0.0
    if alone < 1e-12 or groups < 2:
        return float(groups)
    sums = _sums(deviations, clusters)
    together = float(sums @ sums) / size * groups / (groups - 1)
    return size / max(1.0, together / alone)


def _sums(values: Floats, clusters: NDArray[np.int64]) -> Floats:
    return np.bincount(clusters, weights=values).astype(np.float64)


def _correlation(first: Floats, second: Floats) -> float:
    """Of deviations from their means; 0 where one side does not vary."""
    spread = math.sqrt(float(first @ first) * float(second @ second))
    return 0.0 if spread < 1e-12 else float(first @ second) / spread


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Chance that one of `k` drawn samples passes, unbiased: 1 - C(n - c, k) / C(n, k) (metric audit, pass@k).

    Raises ValueError unless 1 <= k <= samples and 0 <= correct <= samples.
    """
    if not (1 <= k <= samples and 0 <= correct <= samples):
        raise ValueError(f"pass@{k} of {correct} correct in {samples} samples is undefined")
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Linear correlation; None for fewer than two pairs or where one side does not vary.

    Raises ValueError for unequal lengths.
    """
    if len(first) != len(second):
        raise ValueError("a correlation needs pairs")
    if len(first) < 2:
        return None
    x, y = (np.asarray(side, dtype=np.float64) - np.mean(side) for side in (first, second))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return None if spread == 0 else max(-1.0, min(1.0, float(x @ y) / spread))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation, ties sharing their mean rank; None as in `pearson`."""
    return pearson(_ranks(first), _ranks(second))


def auc(values: Sequence[float], passed: Sequence[bool]) -> float | None:
    """Chance that a passing candidate has a larger value than a failing one, ties counting half (area under the ROC).

    0.5 tells nothing. None where all pass or all fail. Raises ValueError for unequal lengths.
    """
    ranks = [rank for rank, did in zip(_ranks(values), passed, strict=True) if did]
    won, lost = len(ranks), len(passed) - len(ranks)
    return (math.fsum(ranks) - won * (won + 1) / 2) / (won * lost) if won and lost else None


def point_biserial(values: Sequence[float], passed: Sequence[bool]) -> float | None:
    """Correlation of a metric with passing (metric audit: CodeBERTScore 0.162, EDIT-SIM 0.186); None as `pearson`."""
    return pearson(values, [float(did) for did in passed])


def _ranks(values: Sequence[float]) -> list[float]:
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_rank = last - (counts - 1) / 2
    return [float(rank) for rank in mean_rank[place]]
