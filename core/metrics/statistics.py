"""Intervals of means, pass@k, and correlations. Everything is deterministic: the same input gives the same bounds.

The interval is a score interval without a model of the distribution. A mean is plausible when the data, reweighted as
little as possible so that they have that mean, do not contradict it by Student's t:

    (observed mean - mean)^2 <= t^2 V(mean) / (n - 1)

V(mean) is the variance of the reweighted data. Weights are those of the empirical likelihood, and both ends of the
scale take part even where no item reached them. So twenty failures in a row do not prove a rate of 0, which is where a
bootstrap claims certainty; for outcomes of 0 and 1 the interval is Wilson's with a t quantile, and for differences in
-1, 0 and 1 it is Tango's. docs/statistics.md has its coverage.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.95
FEW = 20
"""Items below which every view says that few were seen: intervals hold there, but a figure says little."""
_HALVINGS = 44
"""Of a bracket: a bound to the last digit a float has."""


def interval(
    values: Sequence[float],
    lowest: float = 0.0,
    highest: float = 1.0,
    *,
    level: float = LEVEL,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 0,
) -> tuple[float, float, float]:
    """Mean of `values` and the bounds of its interval.

    `values` holds one number an item, each between `lowest` and `highest`: shares between 0 and 1, differences of
    shares between -1 and 1. Items count as drawn one by one from what the interval speaks for: the project's regions.
    With `clusters`, one an item (its file), items of one cluster count as drawn together, so that the interval speaks
    for other files like these; it is wider where such items resemble each other. `resamples` is not used: nothing is
    resampled any more. Raises ValueError when empty.
    """
    data = _Data(values, lowest, highest, clusters)
    return data.mean, *data.bounds(data.critical(level))


def p_value(
    values: Sequence[float],
    lowest: float = -1.0,
    highest: float = 1.0,
    *,
    mean: float = 0.0,
    clusters: Sequence[Hashable] | None = None,
) -> float:
    """Two-sided p of the mean being `mean`: the level at which `interval` just begins to leave it out is 1 - p.

    Raises ValueError when empty.
    """
    return _Data(values, lowest, highest, clusters).p_value(mean)


def plausible(support: Floats, shares: Floats, size: Floats | float, mean: Floats | float, critical: float) -> Any:
    """Whether a mean lies inside the interval, for many data sets at once; booleans, one a data set.

    `support` (K) holds every value from the lowest to the highest of the scale, `shares` (data sets, K) how often each
    occurs, `size` the number of items, `critical` what `critical_value` gives.

    The weights of the empirical likelihood are shares / (1 + slope * (value - mean)), and the variance of what they
    weigh is (observed mean - mean) / slope. So the slope at which a mean is just plausible is known, and the data
    allow it if the weighted deviations from the mean at that slope have not changed sign yet.
    """
    gap = np.asarray(mean - shares @ support)
    deviations = support - np.asarray(mean)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = -critical / (size * gap)
        # Where the slope would give an end of the scale a negative weight, that end takes the mass itself.
        beyond = np.where(gap > 0, slope * deviations[..., -1] <= -1, slope * deviations[..., 0] <= -1)
        pull = (shares * deviations / (1 + slope[..., None] * deviations)).sum(axis=-1)
    return (np.abs(gap) < 1e-12) | beyond | (pull * np.sign(gap) >= 0)


def critical_value(level: float, groups: float) -> float:
    """The square of Student's t for `groups` items (or clusters), by which `plausible` judges; infinite for one."""
    from scipy.special import stdtrit  # scipy takes a third of a second, and a window opens without any figure

    return math.inf if groups <= 1 else float(stdtrit(groups - 1, (1 + level) / 2)) ** 2 * groups / (groups - 1)


class _Data:
    """Values of items as counts, with the number of independent items that they are worth."""

    def __init__(
        self, values: Sequence[float], lowest: float, highest: float, clusters: Sequence[Hashable] | None
    ) -> None:
        if not len(values):
            raise ValueError("an interval needs at least one value")
        sample = np.asarray(values, dtype=np.float64)
        self.mean = math.fsum(values) / len(values)
        distinct, counts = np.unique(sample, return_counts=True)
        ends = np.array([min(lowest, distinct[0]), max(highest, distinct[-1])])
        self._support = np.union1d(distinct, ends)
        self._shares = np.zeros(self._support.size)
        self._shares[np.searchsorted(self._support, distinct)] = counts / sample.size
        self._groups = float(sample.size)
        self._size = float(sample.size)
        if clusters is not None:
            self._groups = float(len(set(clusters)))
            self._size = _worth(sample - self.mean, clusters)

    def critical(self, level: float) -> float:
        return critical_value(level, self._groups)

    def bounds(self, critical: float) -> tuple[float, float]:
        """The interval ends where means stop being plausible, by halving on either side."""
        ends = float(self._support[0]), float(self._support[-1])
        if math.isinf(critical):
            return ends
        inside, outside = np.full(2, self.mean), np.array(ends)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            holds = self._plausible(middle, critical)
            inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
        # An end of the scale that is plausible itself is approached, never reached: say it.
        close = np.abs(inside - np.array(ends)) < 1e-12
        low, high = np.where(close, np.array(ends), inside)
        return min(float(low), self.mean), max(float(high), self.mean)

    def p_value(self, mean: float) -> float:
        """By halving the critical value at which `mean` is just plausible."""
        from scipy.special import stdtr

        if self._groups <= 1 or math.isclose(mean, self.mean, abs_tol=1e-12):
            return 1.0
        low, high = 0.0, 1.0
        while high < 1e12 and not self._plausible(np.array([mean]), high)[0]:
            low, high = high, high * 4
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._plausible(np.array([mean]), middle)[0] else (middle, high)
        return min(1.0, 2 * float(stdtr(self._groups - 1, -math.sqrt(high * (self._groups - 1) / self._groups))))

    def _plausible(self, means: Floats, critical: float) -> Any:
        return plausible(self._support, self._shares, self._size, means, critical)


def _worth(deviations: Floats, clusters: Sequence[Hashable]) -> float:
    """How many independent items as many clustered ones are worth: at most as many as there are items.

    By the ratio of the two variances of the mean (the design effect): of independent clusters, and of independent
    items. Where all items agree nothing can be estimated, and a cluster counts as one item.
    """
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    groups, size = len(names), deviations.size
    alone = float(deviations @ deviations) / (size - 1) if size > 1 else 0.0
    if alone < 1e-12 or groups < 2:
        return float(groups)
    sums = np.bincount([names[name] for name in clusters], weights=deviations)
    together = float(sums @ sums) / size * groups / (groups - 1)
    return size / max(1.0, together / alone)


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
