"""Two runs over the same items: McNemar's exact test, and how many more items would settle an open question.

Standard library only: the exact test is a sum of whole numbers, and the normal quantiles are in `statistics`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from statistics import NormalDist, fmean, stdev

from core.metrics.statistics import LEVEL, critical_value

POWER = 0.8


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
    pairs = list(zip(first, second, strict=True))
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    both, neither = pairs.count((True, True)), pairs.count((False, False))
    return McNemar(both, only_first, only_second, neither, fair_coin(only_first, only_first + only_second))


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


def items_to_decide(differences: Sequence[float], reach: float = 1.0) -> int | None:
    """How many items in all would tell the mean of paired differences from 0, with a chance of `POWER`.

    Assumes that the true difference and the spread are those seen so far, and a normal mean:
    n = ((z_level + z_power) sd / mean)^2. Where all items differ by the same, so many such items make the interval
    exclude 0; `reach` is how far an item can differ. None where the mean is 0 (no number of items would tell) or below
    two items.
    """
    if len(differences) < 2 or math.isclose(mean := fmean(differences), 0.0, abs_tol=1e-12):
        return None
    spread = stdev(differences, mean)
    if spread < 1e-9:
        return _unanimous(abs(mean), reach)
    return math.ceil((_quantiles() * spread / mean) ** 2)


def detectable(differences: Sequence[float]) -> float | None:
    """The smallest mean difference that as many items would show with a chance of `POWER`; None where unknown."""
    if len(differences) < 2 or (spread := stdev(differences)) < 1e-9:
        return None
    return _quantiles() * spread / math.sqrt(len(differences))


def _quantiles() -> float:
    normal = NormalDist()
    return normal.inv_cdf((1 + LEVEL) / 2) + normal.inv_cdf(POWER)


def _unanimous(mean: float, reach: float) -> int:
    """The least n with n * mean > critical value * reach, where the bound of n equal differences passes 0."""
    return next(n for n in count(2) if n * mean > critical_value(LEVEL, n) * reach)
