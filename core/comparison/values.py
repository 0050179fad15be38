"""What a comparison of two runs comes to: frozen values for the command line, the window and the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.store.rows import GROWING, ItemRow, RunRow
from core.types import Score

if TYPE_CHECKING:  # numpy comes with these, and the window opens without it
    from core.metrics.paired import McNemar, MeanDifference


UNLIKE, MOST_UNLIKE = 0.02, 0.1
"""A share of a file shown that differs by more is another excerpt; in how many of the items that is tolerated."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One item as both runs have it; judged in both. Made by `paired`.

    Attributes:
        difference: RTC of the second minus that of the first.
        lift_difference: the same of lift; None until both have one.
    """

    first: ItemRow
    second: ItemRow
    difference: float
    lift_difference: float | None


def paired(first: ItemRow, second: ItemRow) -> Pair:
    """Both must have an RTC. Thirds are rounded, so that equal differences are equal."""
    lifts = None if first.lift is None or second.lift is None else round(second.lift - first.lift, 9)
    return Pair(first, second, round((second.rtc or 0.0) - (first.rtc or 0.0), 9), lifts)


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean over the common items in both runs, and the second less the first.

    Attributes:
        items: that count here.
        score: the difference, with an interval that holds together with those of all pairs of the compared runs.
        judged: the same with its adjusted p, and what more items could settle; None without any item.
    """

    items: int
    first: Score
    second: Score
    score: Score
    judged: MeanDifference | None

    @property
    def decided(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.judged is not None and self.judged.decided


@dataclass(frozen=True, slots=True)
class FilePair:
    """The common items of one file: mean RTC in both runs."""

    path: str
    items: int
    first: float
    second: float

    @property
    def difference(self) -> float:
        """Second less first."""
        return self.second - self.first


@dataclass(frozen=True, slots=True)
class Leftover:
    """Admitted items that could not be paired.

    Attributes:
        only_first, only_second: that the other run has not, or dropped.
        changed: of the same place, but with another text.
        unjudged: in both, without a verdict in one of them.
    """

    only_first: int
    only_second: int
    changed: int
    unjudged: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """`first` is the reference: every difference is the second run less the first.

    Attributes:
        pairs: the largest difference first, as `ranked` has them.
        p_adjusted: McNemar's p, adjusted by Holm for all comparisons made together.
        runs: how many were compared together.
        settings: what the runs were made with where they differ: name, in the first, in the second.
    """

    first: RunRow
    second: RunRow
    pairs: tuple[Pair, ...]
    leftover: Leftover
    rtc: Difference
    lift: Difference
    mcnemar: McNemar
    p_adjusted: float
    runs: int
    files: tuple[FilePair, ...]
    settings: tuple[tuple[str, str, str], ...]

    @property
    def provisional(self) -> bool:
        """Whether a run still grows: who looks again and again finds a winner by chance, so none is named."""
        return any(run.status in GROWING for run in (self.first, self.second))

    @property
    def shown_differently(self) -> int:
        """Common items of which the prompts showed another share of the file in each run."""
        shares = [
            (pair.first.measures.get("shown", 1.0), pair.second.measures.get("shown", 1.0)) for pair in self.pairs
        ]
        return sum(abs(first - second) > UNLIKE for first, second in shares)

    @property
    def comparable(self) -> bool:
        """Whether both models saw the same of nearly all files: else a difference may be that of the excerpts."""
        return self.shown_differently <= len(self.pairs) * MOST_UNLIKE

    @property
    def left(self) -> int | None:
        """About how many more items both runs could have; None where one of them cannot say."""
        lefts = [run.left for run in (self.first, self.second)]
        return None if None in lefts else min(left for left in lefts if left is not None)

    @property
    def decided(self) -> bool:
        """Whether one run may be called better."""
        return self.rtc.decided and self.comparable and not self.provisional

    @property
    def lift_decided(self) -> bool:
        """Whether lift may be said to differ: asked only once RTC is decided, so that both together err in 5 %."""
        return self.decided and self.lift.decided

    @property
    def disagreements(self) -> tuple[Pair, ...]:
        """Items with another RTC, the largest difference first."""
        return tuple(pair for pair in self.pairs if pair.difference)


def ranked(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """By size of the difference, the second run's gains before its losses, then by place."""
    return tuple(sorted(pairs, key=lambda p: (-abs(p.difference), -p.difference, p.first.path, p.first.start)))
