"""Two judges who say yes or no of the same things: how far they agree, and what chance alone would give.

A 2 x 2 table that looks telling often is not: 5 and 5 failures among 25 programs that never meet are found by chance
alone in 29 of 100 such tables (summary against directive, CWE-20).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class TwoByTwo:
    """How many things both judges accept, only the first, only the second, and neither."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> TwoByTwo:
        """Count what the two said of each."""
        said = list(pairs)
        return cls(*(said.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def n(self) -> int:
        """Return the number of things that were judged."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def first(self) -> int:
        """Return how many the first judge accepts."""
        return self.both + self.only_first

    @property
    def second(self) -> int:
        """Return how many the second judge accepts."""
        return self.both + self.only_second

    @property
    def one_sided(self) -> bool:
        """Return whether a judge says the same of everything, so that nothing can be correlated."""
        return not all((self.first, self.second, self.n - self.first, self.n - self.second))

    @property
    def agreement(self) -> float | None:
        """The share of which both say the same; None for an empty table."""
        return (self.both + self.neither) / self.n if self.n else None

    @property
    def phi(self) -> float | None:
        """The correlation of the two; None where a judge says the same of everything."""
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
        """The chance of an overlap of rejections as far from the expected one, or farther, on the same side.

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
