"""Describing a sample of numbers by a few."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the sample lies.

    Between two values of the sample it is found on the straight line that
    joins them; shares 0 and 1 give the least and the greatest.
    """
    if not values:
        raise ValueError("a sample needs at least one value")
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, not {share}")
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = math.ceil(position)
    rise = ordered[above] - ordered[below]
    return ordered[below] + rise * (position - below)


def outliers(values: Sequence[float], reach: float = 1.5) -> list[float]:
    """Return values far outside the middle half, in the order given.

    Far is more than `reach` times the width of that half away from it.
    """
    low, high = quantile(values, 0.25), quantile(values, 0.75)
    margin = reach * (high - low)
    return [value for value in values if not low - margin <= value <= high + margin]


def modes(values: Sequence[float]) -> list[float]:
    """Return the most frequent values in rising order, none if all are unique."""
    counts = Counter(values)
    most = max(counts.values(), default=0)
    if most < 2:
        return []
    return sorted(value for value, count in counts.items() if count == most)


def trimmed_mean(values: Sequence[float], share: float) -> float:
    """Return the mean without that share of values at either end, rounded down."""
    drop = int(len(values) * share)
    kept = sorted(values)[drop : len(values) - drop]
    if not kept:
        raise ValueError("nothing is left to average")
    return math.fsum(kept) / len(kept)


def ranks(values: Sequence[float]) -> list[float]:
    """Return every value's place from 1 for the least; equals share their mean."""
    counts = Counter(values)
    place = {}
    before = 0
    for value in sorted(counts):
        place[value] = before + (counts[value] + 1) / 2
        before += counts[value]
    return [place[value] for value in values]


def correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Return how closely two samples follow a straight line, from -1 to 1."""
    if len(left) != len(right) or len(left) < 2:
        raise ValueError("two samples of one length, at least 2, are needed")
    a, b = Moments.of(left), Moments.of(right)
    spread = math.sqrt(a.squares * b.squares)
    if spread == 0:
        return 0.0
    pairs = zip(left, right, strict=True)
    return math.fsum((x - a.mean) * (y - b.mean) for x, y in pairs) / spread


def histogram(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    """Count the values between neighbouring edges.

    A value on an edge belongs to the bin above, on the last edge to the bin
    below. Values outside are not counted.
    """
    counts = [0] * (len(edges) - 1)
    for value in values:
        inside = [i for i in range(len(counts)) if edges[i] <= value < edges[i + 1]]
        if value == edges[-1]:
            inside = [len(counts) - 1]
        for i in inside:
            counts[i] += 1
    return counts


@dataclass
class Moments:
    """Count, mean and spread of values that come one at a time."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> "Moments":
        """Return the moments of a whole sample."""
        moments = cls()
        for value in values:
            moments.add(value)
        return moments

    @property
    def variance(self) -> float:
        """Variance of the population the sample comes from; 0 if it is unknown."""
        return self.squares / (self.count - 1) if self.count > 1 else 0.0

    def add(self, value: float) -> None:
        """Take one more value into account."""
        self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self.squares += step * (value - self.mean)

    def join(self, other: "Moments") -> "Moments":
        """Return the moments of two samples put together."""
        count = self.count + other.count
        if count == 0:
            return Moments()
        step = other.mean - self.mean
        mean = self.mean + step * other.count / count
        between = step * step * self.count * other.count / count
        return Moments(count, mean, self.squares + other.squares + between)
