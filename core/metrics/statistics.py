"""Intervals of means, pass@k, and correlations. Everything is deterministic: the same input gives the same bounds.

The interval of a mean is a score interval without a model of the distribution. A mean is plausible when the data,
reweighted as little as possible so that they have that mean, do not contradict it by Student's t:

    (observed mean - mean)^2 <= t^2 V(mean) / (n - 1)

V(mean) is the variance of the reweighted data. Weights are those of the empirical likelihood, and both ends of the
scale take part even where no item reached them. So twenty failures in a row do not prove a rate of 0, which is where a
bootstrap claims certainty; for outcomes of 0 and 1 the interval is Wilson's with a t quantile.

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
_HALVINGS = 40
"""Of a bracket no longer than 2: a bound to eleven digits."""


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
    return data.mean, *data.bounds(critical_value(level, data.groups))


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

    ends = -20.0, 14.0
    if beyond(ends[1]) > 0:  # past every level that a float can tell from 1
        return 0.0
    square = math.exp(brentq(beyond, *ends, xtol=1e-9)) * (data.groups - 1) / data.groups
    return min(1.0, 2 * float(stdtr(data.groups - 1, -math.sqrt(square))))


def critical_value(level: float, groups: int) -> float:
    """The square of Student's t for `groups` items (or clusters), times n / (n - 1); infinite for a single one."""
    from scipy.special import stdtrit  # scipy takes a third of a second, and a window opens without any figure

    return math.inf if groups <= 1 else float(stdtrit(groups - 1, (1 + level) / 2)) ** 2 * groups / (groups - 1)


def mean_bounds(
    support: Floats, shares: Floats, size: float, critical: float, halvings: int = _HALVINGS
) -> tuple[Floats, Floats]:
    """Where means stop being plausible, below and above, for many data sets at once: found by halving.

    `support` (K) holds every value from the lowest to the highest of the scale, `shares` (data sets, K) how often each
    occurs, `size` the number of items.
    """
    both = np.concatenate([shares, shares])  # the lower bounds in the first half, the upper ones in the second
    inside = both @ support
    ends = np.repeat(support[[0, -1]], len(shares))
    outside = ends
    if math.isinf(critical):
        inside = ends
    else:
        for _ in range(halvings):
            middle = (inside + outside) / 2
            holds = _plausible(support, both, size, middle, critical)
            inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
    low, high = np.split(np.where(np.abs(inside - ends) < 1e-11, ends, inside), 2)
    return low, high


def _plausible(support: Floats, shares: Floats, size: float, means: Floats, critical: float) -> NDArray[np.bool_]:
    """Whether a mean lies inside the interval, one mean a data set.

    The weights of the empirical likelihood are shares / (1 + slope * (value - mean)), and the variance of what they
    weigh is (observed mean - mean) / slope. So the slope at which a mean is just plausible is known beforehand. The
    data allow the mean if their weighted deviations from it have not changed sign at that slope yet.
    """
    gap = means - shares @ support
    deviations = support - means[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = -critical / (size * gap)
        # Where the slope would give an end of the scale a negative weight, that end takes the rest of the mass.
        beyond = np.where(gap > 0, slope * deviations[:, -1] <= -1, slope * deviations[:, 0] <= -1)
        pull = (shares * deviations / (1 + slope[:, None] * deviations)).sum(axis=1)
    found: NDArray[np.bool_] = (np.abs(gap) < 1e-12) | beyond | (pull * np.sign(gap) >= 0)
    return found


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
    """Values on a scale as counts, and how many independent items they are worth."""

    def __init__(
        self, values: Sequence[float], lowest: float, highest: float, clusters: NDArray[np.int64] | None
    ) -> None:
        sample = np.asarray(values, dtype=np.float64)
        self.mean = math.fsum(values) / len(values)
        self.deviations: Floats = sample - self.mean
        distinct, counts = np.unique(sample, return_counts=True)
        self._support = np.union1d(distinct, [min(lowest, distinct[0]), max(highest, distinct[-1])])
        self._shares = np.zeros((1, self._support.size))
        self._shares[0, np.searchsorted(self._support, distinct)] = counts / sample.size
        self._size = float(sample.size)
        if clusters is not None:
            self._size = _worth(self.deviations, clusters)
            self.deviations = _sums(self.deviations, clusters)

    def bounds(self, critical: float) -> tuple[float, float]:
        low, high = mean_bounds(self._support, self._shares, self._size, critical)
        return float(low[0]), float(high[0])


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
