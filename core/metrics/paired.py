"""Paired outcomes: two judges of the same things, two runs over the same items, and what more items could settle.

A 2 x 2 table that looks telling often is not: 5 and 5 failures among 25 programs that never meet are found by chance
alone in 29 of 100 such tables (summary against directive, CWE-20).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rtc_inspector.core.metrics.statistics import LEVEL, critical_value, interval, p_value


@dataclass(frozen=True, slots=True)
class TwoByTwo:
    """Counts of what both judges accept, only the first, only the second, and neither."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> TwoByTwo:
        counts = Counter(pairs)
        return cls(*(counts[pair] for pair in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def n(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def first(self) -> int:
        return self.both + self.only_first

    @property
    def second(self) -> int:
        return self.both + self.only_second

    @property
    def one_sided(self) -> bool:
        """Return whether a judge says the same of everything, so that nothing can be correlated."""
        return not all((self.first, self.second, self.n - self.first, self.n - self.second))

    @property
    def agreement(self) -> float | None:
        """Return the share of which both say the same; None for an empty table."""
        return (self.both + self.neither) / self.n if self.n else None

    @property
    def phi(self) -> float | None:
        """Return the correlation of the two; None where a judge says the same of everything."""
        if self.one_sided:
            return None
        margins = self.first * (self.n - self.first) * self.second * (self.n - self.second)
        return (self.both * self.neither - self.only_first * self.only_second) / sqrt(margins)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement beyond chance; None where a judge says the same of everything."""
        if self.one_sided or self.agreement is None:
            return None
        chance = (self.first * self.second + (self.n - self.first) * (self.n - self.second)) / self.n**2
        return (self.agreement - chance) / (1 - chance)

    @property
    def expected_overlap(self) -> float | None:
        """Return how many both would reject by chance, or None for an empty table."""
        return (self.n - self.first) * (self.n - self.second) / self.n if self.n else None

    @property
    def overlap_p(self) -> float | None:
        """Return the chance of an overlap of rejections as far from the expected one, or farther, on the same side.

        Hypergeometric: the one's rejections drawn blindly from all. None for an empty table.
        """
        from scipy.stats import hypergeom  # takes a third of a second to load

        expected = self.expected_overlap
        if expected is None:
            return None
        chance = hypergeom(self.n, self.n - self.first, self.n - self.second)
        return float(chance.cdf(self.neither) if self.neither <= expected else chance.sf(self.neither - 1))

    @property
    def fisher_p(self) -> float | None:
        """Fisher's exact test, two-sided, of no connection; None where a judge says the same of everything."""
        from scipy.stats import fisher_exact

        if self.one_sided:
            return None
        return float(fisher_exact([[self.both, self.only_first], [self.only_second, self.neither]]).pvalue)

    @property
    def mcnemar_p(self) -> float:
        """McNemar's exact test, two-sided: of what one judge alone accepts, half would be each one's by chance."""
        return fair_coin(self.only_first, self.only_first + self.only_second)


# ---- runs over the same items


POWER = 0.8  # the chance with which a difference is to be seen, wherever numbers of items are named
RANGE = 0.8  # the level of the interval of differences from which the range of further items comes


def fair_coin(heads: int, tosses: int) -> float:
    """Return the two-sided exact p of that many heads from a fair coin; whole numbers up to the one division.

    Raises ValueError unless 0 <= heads <= tosses.
    """
    if not 0 <= heads <= tosses:
        raise ValueError(f"{heads} heads of {tosses} tosses")
    way = tail = 1
    for head in range(min(heads, tosses - heads)):
        way = way * (tosses - head) // (head + 1)
        tail += way
    return min(1.0, 2 * tail / (1 << tosses))


EXACT_FLIPS = 20  # differences, those of 0 aside, up to which every way of turning their signs is counted


def exact_flips(differences: Sequence[float]) -> float:
    """Return in what share of all ways to turn the signs of differences their sum is as low as it is, or lower."""

    def sums(part: Sequence[float]) -> NDArray[np.float64]:
        found = np.zeros(1)
        for each in part:
            found = np.concatenate([found - each, found + each])
        return found

    half = len(differences) // 2
    first, second = sums(differences[:half]), np.sort(sums(differences[half:]))
    total = math.fsum(differences) + 1e-9
    return int(np.searchsorted(second, total - first, side="right").sum()) / (1 << len(differences))


def no_change_p(differences: Sequence[float]) -> float | None:
    """Return the two-sided p of a mean of 0; None for fewer than two differences.

    Without an effect a difference is as likely the other way round: counted exactly for as many as `EXACT_FLIPS` that
    are not 0, by Student's t beyond.
    """
    from scipy.special import stdtr

    moved, size = [each for each in differences if abs(each) > 1e-12], len(differences)
    if size < 2:
        return None
    if len(moved) <= EXACT_FLIPS:
        return min(1.0, 2 * min(exact_flips(moved), exact_flips([-each for each in moved])))
    values = np.asarray(differences, dtype=np.float64)
    error = float(values.std(ddof=1)) / math.sqrt(size)
    return 2 * float(stdtr(size - 1, -abs(float(values.mean())) / error)) if error > 1e-12 else 2.0 ** (1 - size)


def fewest_to_show(level: float) -> int:
    """Return the fewest differences that can have a `no_change_p` below `level`, all of them on one side."""
    return 2 + math.floor(math.log2(1 / level))


def detectable(low: float, high: float, level: float, size: int) -> float:
    """Return the smallest true difference that `size` items show with a chance of `POWER`, by their interval.

    An interval's half width stands for t times the standard error, so that what agreement of few items hides counts
    here too. n items detect (t + z) standard errors, z being the normal quantile of `POWER`.
    """
    quantile = math.sqrt(critical_value(level, size, paired=True))
    more = 1.0 if math.isinf(quantile) else 1 + NormalDist().inv_cdf(POWER) / quantile
    return more * (high - low) / 2


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust several p values by Holm, in the order given: all of them together then err as often as one."""
    adjusted, worst = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        worst = max(worst, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = worst
    return adjusted


def joint_level(runs: int) -> float:
    """Return the level at which the intervals of all pairs of so many runs hold together (Bonferroni).

    All pairs, not only those with a reference: any run can be made the reference once the figures are known.
    """
    return 1 - (1 - LEVEL) / math.comb(runs, 2)


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of paired differences, judged together with those of other pairs of runs."""

    value: float
    # `low`, `high`: of the interval that holds at the level asked for
    low: float
    high: float
    p: float  # two-sided, adjusted by Bonferroni: below 0.05 exactly where the interval leaves out 0
    detectable: float  # the smallest true difference that as many items show with a chance of `POWER`
    # from how many to how many further items would probably decide; the second is None where the difference may be too
    # small for any number. None where the interval leaves out 0 already
    further: tuple[int, int | None] | None

    @property
    def decided(self) -> bool:
        return self.low > 0 or self.high < 0


def mean_difference(
    first: Sequence[float],
    second: Sequence[float],
    lowest: float = 0.0,
    *,
    runs: int = 2,
    continuous: bool = False,
) -> MeanDifference:
    """Judge the mean of second - first, one number an item from `lowest` to 1, as one of all pairs of `runs`.

    A difference d that is smaller than what the items detect needs n (detectable / d)^2 of them; d ranges over the
    interval at the level `RANGE`. Raises ValueError when empty or of unequal lengths.
    """
    level, size = joint_level(runs), len(first)
    value, low, high = interval(second, lowest, against=first, level=level, continuous=continuous)
    seen = min(1.0 - lowest, detectable(low, high, level, size))
    p = min(1.0, p_value(second, lowest, against=first, continuous=continuous) * math.comb(runs, 2))
    if low > 0 or high < 0:
        return MeanDifference(value, low, high, p, seen, None)
    _, near, far = interval(second, lowest, against=first, level=RANGE, continuous=continuous)
    least = _items(size, seen, max(abs(near), abs(far)))
    most = None if near <= 0 <= far else _items(size, seen, min(abs(near), abs(far)))
    return MeanDifference(value, low, high, p, seen, (least, most))


def _items(size: int, seen: float, difference: float) -> int:
    """Return after how many further items `difference` would be detected, where `size` of them detect `seen`."""
    return max(1, math.ceil(size * (seen / difference) ** 2) - size)
