"""What a comparison of two runs comes to, for the command line, the window and the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rtc_inspector.core.figures import Axis, Better, Link, Point, Scatter
from rtc_inspector.core.kinds import task
from rtc_inspector.core.store.rows import GROWING, ItemRow, RunRow
from rtc_inspector.core.types import Estimate

if TYPE_CHECKING:
    from rtc_inspector.core.metrics.paired import MeanDifference, TwoByTwo

UNLIKE, MOST_UNLIKE = 0.02, 0.1
"""A share of a file shown that differs by more is another excerpt; in how many of the items that is tolerated."""
TRUNCATION = frozenset({"generation top k", "generation top p"})
"""The settings that say what unlikely tokens sampling leaves out, as `differing_settings` names them."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One item as both runs have it, and the second less the first, also of the measure beside the headline."""

    first: ItemRow
    second: ItemRow
    difference: float
    secondary: float | None


def paired(first: ItemRow, second: ItemRow) -> Pair:
    """Pair two items that have a headline. Thirds are rounded, so that equal differences are equal."""
    before, after = first.secondary, second.secondary
    other = None if before is None or after is None else round(after - before, 9)
    return Pair(first, second, round((second.headline or 0.0) - (first.headline or 0.0), 9), other)


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean over the common items in both runs, and the second less the first."""

    items: int
    first: Estimate
    second: Estimate
    score: Estimate  # the difference, with an interval that holds together with those of all pairs of the compared runs
    # the same with its adjusted p, and what more items could settle; None without any item
    judged: MeanDifference | None

    @property
    def decided(self) -> bool:
        """Return whether the interval leaves 0 out."""
        return self.judged is not None and self.judged.decided


@dataclass(frozen=True, slots=True)
class FilePair:
    """The common items of one file: mean headline in both runs."""

    path: str
    items: int
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass(frozen=True, slots=True)
class Leftover:
    """Admitted items that could not be paired: the other run has them not, with another text, or without a verdict."""

    only_first: int
    only_second: int
    changed: int
    unjudged: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """`first` is the reference: every difference is the second run less the first."""

    first: RunRow
    second: RunRow
    pairs: tuple[Pair, ...]  # the largest difference first, as `ranked` has them
    leftover: Leftover
    headline: Difference  # of the measure that stands for a run, e.g. RTC; `secondary` of the one beside it, e.g. lift
    secondary: Difference
    mcnemar: TwoByTwo
    p_adjusted: float  # McNemar's p, adjusted by Holm for all `runs` that were compared together
    runs: int
    files: tuple[FilePair, ...]
    # what the runs were made with where they differ: name, in the first, in the second
    settings: tuple[tuple[str, str, str], ...]

    @property
    def title(self) -> str:
        kind = task(self.first.task)
        return kind.measure(kind.headline).title

    @property
    def secondary_title(self) -> str:
        """Return the title of the measure beside the headline, or an empty text where there is none."""
        other = task(self.first.task).difference
        return other.title if other else ""

    @property
    def subtracted(self) -> tuple[str, float, float] | None:
        """Return what the second figure is the difference to (lift: the baseline), or None where there is no such.

        That is its title, and its mean in both runs.
        """
        kind = task(self.first.task)
        pairs = [pair for pair in self.pairs if pair.secondary is not None]
        if kind.difference is None or kind.difference.less is None or not pairs:
            return None
        name = kind.difference.less[1]
        means = [
            sum(items) / len(items)
            for items in ([p.first.measures[name] for p in pairs], [p.second.measures[name] for p in pairs])
        ]
        return kind.measure(name).title, means[0], means[1]

    @property
    def figures(self) -> tuple[tuple[str, Difference, str], ...]:
        """The headline and what stands beside it: title, difference, and the sign that its values are written with."""
        both = ((self.title, self.headline, ""), (self.secondary_title, self.secondary, "+"))
        return tuple(each for each in both if each[0])

    @property
    def better(self) -> Literal[-1, 0, 1]:
        """Return which sign of a difference says that the second run is better, or 0 where neither does."""
        kind = task(self.first.task)
        wanted = kind.measure(kind.headline).higher_is_better
        return 0 if wanted is None else 1 if wanted else -1

    @property
    def provisional(self) -> bool:
        """Return whether a run still grows: who looks again and again finds a winner by chance, so none is named."""
        return any(run.status in GROWING for run in (self.first, self.second))

    @property
    def shown_differently(self) -> int:
        """Common items of which the prompts showed another share of the file in each run."""
        shares = [
            (pair.first.measures.get("shown", 1.0), pair.second.measures.get("shown", 1.0)) for pair in self.pairs
        ]
        return sum(abs(first - second) > UNLIKE for first, second in shares)

    @property
    def drawn_differently(self) -> tuple[tuple[str, str, str], ...]:
        """The settings that cut off unlikely tokens, where they differ."""
        return tuple(row for row in self.settings if row[0] in TRUNCATION)

    @property
    def comparable(self) -> bool:
        """Return whether both models drew alike and saw nearly the same, so that they differ by no such thing."""
        return not self.drawn_differently and self.shown_differently <= len(self.pairs) * MOST_UNLIKE

    @property
    def place(self) -> str:
        """Return what items are listed by: `file` where any stands in a file of the user's, else the task's noun."""
        return "file" if any(pair.first.has_file for pair in self.pairs) else task(self.first.task).noun

    @property
    def left(self) -> int | None:
        """About how many more items both runs could have; None where one of them cannot say."""
        lefts = [run.left for run in (self.first, self.second)]
        return None if None in lefts else min(left for left in lefts if left is not None)

    @property
    def decided(self) -> bool:
        """Return whether one run may be called better."""
        return self.headline.decided and self.comparable and not self.provisional

    @property
    def secondary_decided(self) -> bool:
        """Return whether it may be said to differ: asked only once the headline is decided, so that both err in 5 %."""
        return self.decided and self.secondary.decided

    @property
    def disagreements(self) -> tuple[Pair, ...]:
        """Items with another headline, the largest difference first."""
        return tuple(pair for pair in self.pairs if pair.difference)


def ranked(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Sort by size of the difference, the second run's gains before its losses, then by place."""
    return tuple(sorted(pairs, key=lambda p: (-abs(p.difference), -p.difference, p.first.path, p.first.start)))


def scatter(comparison: Comparison) -> Scatter:
    """Draw the headlines of common items in both runs; what lies together is one point, leading to the first run's."""
    at: dict[tuple[float, float], list[Pair]] = {}
    for pair in comparison.pairs:
        at.setdefault((round(pair.first.headline or 0.0, 6), round(pair.second.headline or 0.0, 6)), []).append(pair)
    first, second = comparison.first.id, comparison.second.id
    kind, sign = task(comparison.first.task), comparison.better
    measure = kind.measure(kind.headline)
    up: Better = "up" if sign > 0 else "down" if sign < 0 else ""
    better, worse = (
        sum(len(pairs) for (x, y), pairs in at.items() if (y - x) * (sign or 1) * side > 0) for side in (1, -1)
    )
    more = "better" if sign else "higher"
    return Scatter(
        name=f"compared-{first}-{second}",
        title=f"{measure.title} in runs {first} and {second}",
        note=f"{better} {more} in run {second}, {worse} in run {first}, {len(comparison.pairs) - better - worse} alike",
        x=Axis(f"{measure.title} in run {first}", measure.lowest, measure.highest, up),
        y=Axis(f"{measure.title} in run {second}", measure.lowest, measure.highest, up),
        points=tuple(
            Point(
                Estimate(x),
                Estimate(y),
                tone="good" if (y - x) * sign > 0 else "bad" if (y - x) * sign < 0 else "muted",
                count=len(pairs),
                links=tuple(Link(first, pair.first.id) for pair in pairs),
            )
            for (x, y), pairs in sorted(at.items())
        ),
        diagonal=True,
        noun=kind.nouns,
    )
