"""Intervals of means, and pass@k. Everything is deterministic: the same input gives the same bounds.

An interval holds every mean m that the data do not contradict: a score interval, with Student's t for the quantile,

    (observed mean - m)^2 <= t^2 V(m) / n

V(m) is what the variance of one item would be if m were the mean (`Shares`, `Differences`). Two kinds of values have
intervals of their own: plain outcomes of 0 and 1 Blaker's (2000), which is exact, and continuous figures (likenesses,
cosines) Student's t. docs/statistics.md explains all of them and has their coverage.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.95
DOUBT, DOUBT_FILES = 1.0, 4.0
"""How many items (of clusters) that carry all passes are half believed about how outcomes cluster; the square of it."""
UNSEEN, UNSEEN_FILES = 0.05, 1.0
"""Items' worth (with clusters: clusters' worth) of whole gains and losses that count as seen when their design effects
are estimated: few rare losses tell little of how large a loss is. All four are about the least with which means and
differences are covered (benchmarks/intervals.py)."""
FARTHEST = 1.5
"""Items' worth (clusters' worth) that count as seen as far out as the farthest continuous value: the least, too."""


def interval(
    values: Sequence[float],
    lowest: float = 0.0,
    *,
    against: Sequence[float] | None = None,
    level: float = LEVEL,
    clusters: Sequence[Hashable] | None = None,
    continuous: bool = False,
) -> tuple[float, float, float]:
    """Return the mean of `values` and the bounds of its interval.

    `values` holds one number an item, each from `lowest` to 1. `against` holds another one for each item,
    on the same scale: then it is the mean of the differences that is bounded (lift: scores against baselines).

    Items count as drawn one by one. With `clusters`, one an item (its file), items of one cluster count as drawn
    together, so that the interval speaks for other files like these. `continuous` says that values are no shares of
    outcomes: where they can lie on both sides of 0 a gain or loss that was not seen then counts as large as the largest
    deviation that was, not as whole. Raises ValueError when empty or of unequal lengths.
    """
    data = _Data(values, lowest, against, clusters, continuous)
    return data.mean, *data.bounds(level)


def p_value(
    values: Sequence[float],
    lowest: float = 0.0,
    *,
    mean: float = 0.0,
    against: Sequence[float] | None = None,
    continuous: bool = False,
) -> float:
    """Return the two-sided p of a mean (of differences) of `mean`: `interval` at the level 1 - p just reaches it."""
    return _Data(values, lowest, against, None, continuous).p(mean)


def critical_value(level: float, groups: int, *, paired: bool = False) -> float:
    """Return the square of Student's t for `groups` items or clusters, infinite for one; `paired`: see `_widened`."""
    from scipy.special import stdtrit  # scipy takes a third of a second, and a window opens without any figure

    if groups <= 1:
        return math.inf
    return float(stdtrit(groups - 1, (1 + level) / 2)) ** 2 * _widened(groups, paired)


def _widened(groups: int, paired: bool) -> float:
    """Return the factor that widens the interval of a mean, for the square of the quantile; 1 for a difference.

    Without it one pass of five would contradict a rate of 0.02, which gives one in a tenth of cases.
    `paired`: whether it is a difference, whose intervals cover enough without.
    """
    return 1.0 if paired else groups / (groups - 0.5)


@dataclass(frozen=True, slots=True)
class Shares:
    """The basis of the interval of a mean of shares: floats, or arrays of one number a sample."""

    mean: Any
    effect: Any

    @classmethod
    def of(cls, values: Floats, sums: Floats | None = None) -> Shares:
        """Take one number an item along the last axis, 0 to 1. `sums`: of each cluster's values, and cluster sizes.

        How far outcomes cluster is told by the items that carry the passes or, where these are fewer, the failures:
        k of them, counted by (sum)^2 / sum of squares, so that one item with all passes is 1. What is seen of few is
        not trusted: D is drawn towards 1, its largest, by 1 / (1 + k^2); of clusters by 4 / (4 + k^2).
        """
        mean = values.mean(axis=-1)
        largest, variance = mean * (1 - mean), values.var(axis=-1, ddof=1 if values.shape[-1] > 1 else 0)
        seen = np.minimum(1.0, np.divide(variance, largest, out=np.ones_like(mean), where=largest > 1e-12))
        passed, failed = (values, 1 - values) if sums is None else (sums[0], sums[1] - sums[0])
        carry = np.minimum(_carriers(passed), _carriers(failed))
        doubt = DOUBT if sums is None else DOUBT_FILES
        return cls(mean, seen + (1 - seen) * doubt / (doubt + carry**2))

    def variance(self, mean: Any) -> Any:
        return self.effect * mean * (1 - mean)

    def bounds(self, square: float) -> tuple[float, float]:
        """Return where means stop being plausible; `square`: that of the quantile, over the number of items."""
        share = square * self.effect
        middle = (self.mean + share / 2) / (1 + share)
        half = math.sqrt(share * self.mean * (1 - self.mean) + share**2 / 4) / (1 + share)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Differences:
    """The basis of the interval of a mean of differences: floats, or arrays of one number a sample."""

    # `gain`, `loss`: the mean of what is above 0, and of what is below; `gain` - `loss` is the mean
    gain: Any
    loss: Any
    # `gain_effect`, `loss_effect`: design effects: the mean square of gains (of losses) over their mean
    gain_effect: Any
    loss_effect: Any

    @classmethod
    def of(cls, values: Floats, added: Any) -> Differences:
        """Take one number an item along the last axis, -1 to 1. `added`: whole gains and losses an item, see `UNSEEN`.

        The two design effects are estimated so that the variance at the observed mean is the observed one. The lesser
        side has its own, and the other what is left: where every item gains a third, and one were to lose, gains
        vary little, but that loss would count in full. Were both sides held to be as even as what was seen of one,
        lift of many alike scores over rare passes of the baseline would be covered in 72 %.
        """
        mean = values.mean(axis=-1)
        above, below = np.maximum(values, 0.0), np.maximum(-values, 0.0)
        gain, loss = above.mean(axis=-1), below.mean(axis=-1)
        gained, lost = gain + added, loss + added
        variance = values.var(axis=-1, ddof=1 if values.shape[-1] > 1 else 0)
        whole = np.minimum(1.0, (variance + added) / (gain + loss - mean**2 + added)) * (gained + lost)
        gain_squares, loss_squares = (above**2).mean(axis=-1) + added, (below**2).mean(axis=-1) + added
        more = gain >= loss
        return cls(
            gain,
            loss,
            np.clip(np.where(more, whole - loss_squares, gain_squares) / gained, 1e-9, 1.0),
            np.clip(np.where(more, loss_squares, whole - gain_squares) / lost, 1e-9, 1.0),
        )

    @property
    def mean(self) -> Any:
        return self.gain - self.loss

    def variance(self, mean: Any) -> Any:
        """Return the variance of one item, if `mean` were the mean.

        Gains and losses are then the likeliest ones that differ by it: likeliest for counts (Poisson) of whole gains,
        each worth its design effect, which is a quadratic equation for the loss.
        """
        gains, losses = self.gain / self.gain_effect, self.loss / self.loss_effect
        both = 1 / self.gain_effect + 1 / self.loss_effect
        root = ((gains - losses - both * mean) ** 2 + 4 * gains * losses) ** 0.5
        loss = (gains + losses - both * mean + root) / (2 * both)
        gain = loss + mean
        return (self.gain_effect * gain + self.loss_effect * loss) * (1 - mean**2 / (gain + loss + 1e-12))

    def bounds(self, square: float) -> tuple[float, float]:
        from scipy.optimize import brentq

        def beyond(mean: float) -> float:
            return float((mean - self.mean) ** 2 - square * self.variance(mean))

        found = []
        for end in (-1.0, 1.0):
            # Not from the mean itself: where all items agree on 0 the variance there is 0, and grows from there.
            near = self.mean + 1e-9 * (end - self.mean)
            if beyond(near) >= 0:
                found.append(float(self.mean))
            elif beyond(end) <= 0:  # two or three items contradict nothing at all
                found.append(end)
            else:
                found.append(float(brentq(beyond, near, end, xtol=1e-10)))
        return found[0], found[1]


class _Data:
    """Values of items, with or without others to subtract; `groups` counts what is drawn independently."""

    def __init__(
        self,
        values: Sequence[float],
        lowest: float,
        against: Sequence[float] | None,
        clusters: Sequence[Hashable] | None,
        continuous: bool,
    ) -> None:
        if not len(values):
            raise ValueError("an interval needs at least one value")
        columns = [np.asarray(each, dtype=np.float64) for each in (values, against) if each is not None]
        lowest = min(lowest, *(float(side.min()) for side in columns))
        self._range = max(1.0, *(float(side.max()) for side in columns)) - lowest
        self._zero = lowest if against is None else 0.0
        exact = list(values) if against is None else [a - b for a, b in zip(values, against, strict=True)]
        self.mean = math.fsum(exact) / len(exact)
        sample = (np.asarray(exact) - self._zero) / self._range
        self._lowest = 0.0 if against is None else -1.0
        self._paired = against is not None
        self.groups, self._size, sums, places = sample.size, float(sample.size), None, np.arange(sample.size)
        if clusters is not None:
            places = numbered(clusters)
            self.groups, self._size = int(places.max()) + 1, _independent_items(sample - sample.mean(), places)
            sums = np.array([np.bincount(places, weights=sample), np.bincount(places)])
        self._error = _error(sample, places) if continuous and (lowest < 0 or self._paired) else 0.0
        plain = clusters is None and not self._paired and bool(np.isin(sample, (0.0, 1.0)).all())
        self._passes = round(float(sample.sum())) if plain else None
        unseen = UNSEEN if clusters is None else UNSEEN_FILES
        spread = Shares.of(sample, sums) if against is None else Differences.of(sample, unseen / self._size)
        # Plain floats: arithmetic on numpy's takes four times as long.
        self._spread = type(spread)(*map(float, astuple(spread)))

    def p(self, mean: float) -> float:
        from scipy.special import stdtr

        place = (mean - self._zero) / self._range
        if self._passes is not None:
            return exact_p(self._passes, self.groups, place)
        if self.groups <= 1 or math.isclose(mean, self.mean, abs_tol=1e-12):
            return 1.0
        variance = self._error**2
        if not variance and self._lowest < place < 1:
            variance = self._spread.variance(place) * (_widened(self.groups, self._paired) / self._size)
        off = abs((self.mean - mean) / self._range)
        return min(1.0, 2 * float(stdtr(self.groups - 1, -off / math.sqrt(variance)))) if variance > 0 else 0.0

    def bounds(self, level: float) -> tuple[float, float]:
        critical = critical_value(level, self.groups, paired=self._paired)
        if self._passes is not None:
            failed = self.groups - self._passes
            places = _exact_low(self._passes, self.groups, level), 1.0 - _exact_low(failed, self.groups, level)
        elif math.isinf(critical):
            places = self._lowest, 1.0
        elif self._error:
            middle, half = (self.mean - self._zero) / self._range, math.sqrt(critical) * self._error
            places = max(self._lowest, middle - half), min(1.0, middle + half)
        else:
            places = self._spread.bounds(critical / self._size)
        low, high = (self._zero + self._range * place for place in places)
        return min(low, self.mean), max(high, self.mean)


def numbered(names: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return each name as a number, from 0, in order of first appearance."""
    places: dict[Hashable, int] = {}
    return np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)


def _error(values: Floats, clusters: NDArray[np.int64]) -> float:
    """Return the standard error of a mean, counting clusters; as if `FARTHEST` more lay as far out as the farthest one.

    0 where all values agree: then nothing says how far out one could lie.
    """
    sums = np.bincount(clusters, weights=values - values.mean())
    squares, groups = sums**2, len(sums)
    if groups < 2 or np.ptp(values) < 1e-12:
        return 0.0
    return math.sqrt(groups / (groups - 1) * float(squares.sum()) + FARTHEST * float(squares.max())) / values.size


def _exact_low(passes: int, size: int, level: float) -> float:
    """Return the lowest rate with an `exact_p` of 1 - level: a bound of Blaker's (2000), inside Clopper-Pearson's."""
    from scipy.optimize import brentq
    from scipy.special import bdtr, bdtrc, betaincinv

    if not passes:
        return 0.0

    def over(rate: float, few: int) -> float:
        return float(bdtrc(passes - 1, size, rate) + (bdtr(few, size, rate) if few >= 0 else 0.0)) - 1 + level

    def jump(rate: float, few: int) -> float:
        return float(bdtr(few, size, rate) - bdtrc(passes - 1, size, rate))

    low, high = (float(each) for each in betaincinv(passes, size - passes + 1, [(1 - level) / 2, 1 - level]))
    few = _as_few(passes, size, low)
    # p grows with the rate from jump to jump, or falls and grows: where it jumps one outcome more is as unlikely.
    while over(low, few) < 0:
        end = min(high, float(brentq(jump, low, 1 - 1e-9, args=(few + 1,), xtol=1e-13)))
        if over(end, few) >= 0:
            return float(brentq(over, low, end, args=(few,), xtol=1e-13)) - 1e-9
        low, few = end, few + 1
    return low - 1e-9


def exact_p(passes: int, size: int, rate: float) -> float:
    """Return the two-sided p of a rate: the chance of passes whose tail, on either side, is as unlikely as theirs."""
    from scipy.special import bdtr, bdtrc

    if not 0 < rate < 1:
        return float(passes == size * rate)
    above = bdtrc(passes - 1, size, rate) if passes else 1.0
    if bdtr(passes, size, rate) < above:
        return exact_p(size - passes, size, 1 - rate)
    few = _as_few(passes, size, rate)
    return min(1.0, float(above + (bdtr(few, size, rate) if few >= 0 else 0.0)))


def _as_few(passes: int, size: int, rate: float) -> int:
    """Return the most passes whose chance, or that of fewer, is no larger than of `passes` or more; -1 for none."""
    from scipy.special import bdtr, bdtrc

    above = bdtrc(passes - 1, size, rate) if passes else 1.0
    return int((bdtr(np.arange(size), size, rate) <= above * (1 + 1e-9)).sum()) - 1


def _carriers(values: Floats) -> Any:
    """Return how many items (or clusters) carry a sum: all, where each has as much; 0, where it is 0."""
    squares, total = (values**2).sum(axis=-1), values.sum(axis=-1)
    return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 1e-12)


def _independent_items(deviations: Floats, clusters: NDArray[np.int64]) -> float:
    """Return how many independent items the clustered ones are worth: at most as many as there are items.

    By the ratio of the two variances of the mean (the design effect): of independent clusters, and of independent
    items. Where all items agree nothing can be estimated, and a cluster counts as one item.
    """
    groups, size = int(clusters.max()) + 1, deviations.size
    alone = float(deviations @ deviations) / (size - 1) if size > 1 else 0.0
    if alone < 1e-12 or groups < 2:
        return float(groups)
    sums = np.bincount(clusters, weights=deviations)
    together = float(sums @ sums) / size * groups / (groups - 1)
    return size / max(1.0, together / alone)


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Return the chance that one of `k` drawn samples passes, unbiased: 1 - C(n - c, k) / C(n, k) (metric audit).

    Raises ValueError unless 1 <= k <= samples and 0 <= correct <= samples.
    """
    if not (1 <= k <= samples and 0 <= correct <= samples):
        raise ValueError(f"pass@{k} of {correct} correct in {samples} samples is undefined")
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)
