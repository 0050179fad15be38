"""Runs over the same items: McNemar's exact test, intervals that hold for all pairs of runs together, and what more
items could settle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from core.metrics.statistics import LEVEL, critical_value, interval, p_value
from core.metrics.two_by_two import TwoByTwo

POWER = 0.8
"""The chance with which a difference is to be seen, wherever numbers of items are named."""
RANGE = 0.8
"""The level of the interval of differences from which the range of further items comes."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """Items by who solved them, and the two-sided exact p of no difference."""

    both: int
    only_first: int
    only_second: int
    neither: int
    p: float


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """McNemar's exact test on paired outcomes: of the items that one side alone solved, half would be each side's.

    Raises ValueError for unequal lengths.
    """
    found = TwoByTwo.of(zip(first, second, strict=True))
    p = fair_coin(found.only_first, found.only_first + found.only_second)
    return McNemar(found.both, found.only_first, found.only_second, found.neither, p)


def fair_coin(heads: int, tosses: int) -> float:
    """Two-sided exact p of that many heads from a fair coin; whole numbers up to the one division.

    Raises ValueError unless 0 <= heads <= tosses.
    """
    if not 0 <= heads <= tosses:
        raise ValueError(f"{heads} heads of {tosses} tosses")
    way = tail = 1
    for head in range(min(heads, tosses - heads)):
        way = way * (tosses - head) // (head + 1)
        tail += way
    return min(1.0, 2 * tail / (1 << tosses))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjustment of several p values, in the order given: with it all of them together err as often as one."""
    adjusted, worst = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        worst = max(worst, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = worst
    return adjusted


def joint_level(runs: int) -> float:
    """The level at which the intervals of all pairs of so many runs hold together (Bonferroni).

    All pairs, not only those with a reference: any run can be made the reference once the figures are known.
    """
    return 1 - (1 - LEVEL) / math.comb(runs, 2)


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of paired differences, judged together with those of other pairs of runs.

    Attributes:
        low, high: of the interval that holds at the level asked for.
        p: two-sided, adjusted by Bonferroni: below 0.05 exactly where the interval leaves out 0.
        detectable: the smallest true difference that as many items show with a chance of `POWER`.
        further: from how many to how many further items would probably decide; the second is None where the
            difference may be too small for any number. None where the interval leaves out 0 already.
    """

    value: float
    low: float
    high: float
    p: float
    detectable: float
    further: tuple[int, int | None] | None

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def mean_difference(
    first: Sequence[float],
    second: Sequence[float],
    lowest: float = 0.0,
    highest: float = 1.0,
    *,
    runs: int = 2,
    continuous: bool = False,
) -> MeanDifference:
    """Judge the mean of second - first, one number an item on a scale, as one of all pairs of `runs`.

    An interval's half width stands for t times the standard error, so that what agreement of few items hides counts
    here too. n items detect (t + z) standard errors, z being the normal quantile of `POWER`. A smaller difference d
    needs n (detectable / d)^2 items; d ranges over the interval at the level `RANGE`. Raises ValueError when empty or
    of unequal lengths.
    """
    level, size = joint_level(runs), len(first)
    value, low, high = interval(second, lowest, highest, against=first, level=level, continuous=continuous)
    quantile = math.sqrt(critical_value(level, size, paired=True))
    more = 1.0 if math.isinf(quantile) else 1 + NormalDist().inv_cdf(POWER) / quantile
    detectable = min(highest - lowest, more * (high - low) / 2)
    p = min(1.0, p_value(second, lowest, highest, against=first, continuous=continuous) * math.comb(runs, 2))
    made = MeanDifference(value, low, high, p, detectable, None)
    if made.decided:
        return made
    _, near, far = interval(second, lowest, highest, against=first, level=RANGE, continuous=continuous)
    least = _items(size, detectable, max(abs(near), abs(far)))
    most = None if near <= 0 <= far else _items(size, detectable, min(abs(near), abs(far)))
    return replace(made, further=(least, most))


def _items(size: int, detectable: float, difference: float) -> int:
    """Further items after which `difference` would be detected."""
    return max(1, math.ceil(size * (detectable / difference) ** 2) - size)
