"""What a comparison of two runs comes to, for the command line, the window and the report."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TextIO

from rtc_inspector.core.figures import Axis, Better, Head, Link, Point, Scatter
from rtc_inspector.core.figures.reading import in_words
from rtc_inspector.core.kinds import counted, few, task
from rtc_inspector.core.store.rows import GROWING, NOTHING, ItemRow, RunRow
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
        Head(f"compared-{first}-{second}", f"{measure.title} in runs {first} and {second}"),
        note=f"{better} {more} in run {second}, {worse} in run {first}, {len(comparison.pairs) - better - worse} alike",
        x=Axis(f"{measure.title} in run {first}", measure.lowest, 1.0, up),
        y=Axis(f"{measure.title} in run {second}", measure.lowest, 1.0, up),
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


# ---- in sentences, and in rows for programs


SMALL = 0.05  # a p below it is said to decide
MOST = 100_000  # further items beyond which a number says nothing
NOTES = """\
Differences are the later run less the first, over the items judged in both. Intervals of differences are so wide that
those of all pairs of the compared runs hold together in 95 of 100 cases. Lift is judged only once RTC is decided, as is
any second figure. McNemar's test calls an item solved when its headline is more than halfway to the best (for RTC: more
than half of its reconstructions pass; for similarity: at 0.75 or above); several runs are adjusted by Holm.
What would decide is meant with a chance of 80 %, for true differences between those that the data allow."""


def run_words(run: RunRow) -> str:
    """Return `run 7 “name”`, or with its model where it has no name."""
    return f"run {run.id} “{run.name}”" if run.name else f"run {run.id} ({run.model_name})"


def verdict(comparison: Comparison) -> str:
    """Say in a sentence which run is better, or how far it is from being known."""
    headline, noun, title = comparison.headline, task(comparison.first.task).noun, comparison.title
    first, second = comparison.first, comparison.second
    over = counted(headline.items, noun)
    between = f"{title} of run {second.id} minus that of run {first.id} is {bounded(headline.score)}"
    if comparison.provisional:
        return f"Provisional: over {over} {between}. No run is called better while one of them still grows."
    if drawn := comparison.drawn_differently:
        cut = ", ".join(f"{name.removeprefix('generation ')} {before} and {after}" for name, before, after in drawn)
        return (
            f"Not comparable: the models drew from what was cut off differently ({cut}); over {over} {between}. "
            f"Give both runs the same --top-k and --top-p."
        )
    if not comparison.comparable:
        styles = any(name.endswith((" prompt style", " backward style")) for name, *_ in comparison.settings)
        return (
            f"Not comparable: of {comparison.shown_differently} of {over} the models saw different parts of the file; "
            f"over all {between}. "
            f"Give both runs the same {'--prompt-style' if styles else '--context, one that holds the files'}."
        )
    if not comparison.decided or headline.score.value is None:
        return f"Undecided: over {over} {between}; {wanting(headline, noun, comparison.left)}."
    if not comparison.better:
        return f"They differ: over {over} {between}."
    better, worse = (second, first) if headline.score.value * comparison.better > 0 else (first, second)
    by = bounded(headline.score if headline.score.value > 0 else turned(headline.score), sign="")
    high = "higher" if comparison.better > 0 else "lower"
    return f"R{run_words(better)[1:]} is better than {run_words(worse)}: over {over} its {title} is {high} by {by}."


def secondary_verdict(comparison: Comparison) -> str:
    """Say the same of the figure beside the headline, shorter; empty where there is none."""
    difference, title = comparison.secondary, capital(comparison.secondary_title)
    if not title:
        return ""
    if less := comparison.subtracted:
        first, second = (run.id for run in (comparison.first, comparison.second))
        title += f" (over a {less[0]} of {less[1]:.2f} in run {first}, {less[2]:.2f} in run {second})"
    if difference.score.value is None:
        return f"{title}: not known of any item in both runs."
    if comparison.secondary_decided:
        return f"{title} differs by {bounded(difference.score)}."
    open_why = "not comparable" if not comparison.comparable else f"open while {comparison.title} is"
    why = "undecided" if not difference.decided else "provisional" if comparison.provisional else open_why
    return f"{title} differs by {bounded(difference.score)}: {why}."


def capital(words: str) -> str:
    """Write with a large first letter, the rest as it is."""
    return words[:1].upper() + words[1:]


def mcnemar_words(comparison: Comparison) -> str:
    """Return in words who alone solved how many, and the p of that."""
    test = comparison.mcnemar
    first, second = comparison.first.id, comparison.second.id
    adjusted = f" ({p_words(comparison.p_adjusted)} adjusted)" if comparison.p_adjusted != test.mcnemar_p else ""
    words = (
        f"McNemar's exact test: {p_words(test.mcnemar_p)}{adjusted}; both solved {test.both}, only run {first} "
        f"{test.only_first}, only run {second} {test.only_second}, neither {test.neither}."
    )
    return f"{words} {_no_contradiction(comparison)}".rstrip()


def _no_contradiction(comparison: Comparison) -> str:
    """Say why the interval and the test may seem to contradict each other, where they do; else empty."""
    kind, title, small = task(comparison.first.task), comparison.title, comparison.p_adjusted < SMALL
    noun, least = kind.noun, kind.measure(kind.headline).solved
    solved = f"more than halfway to the best {title}" if least is None else f"with a {title} of {least:g} or more"
    if small == comparison.headline.decided:
        return ""
    if small:
        return (
            f"That is no contradiction to “undecided”: the test counts which {noun}s were solved, {solved}, "
            f"while {title} is a mean over all of them."
        )
    return (
        f"That is no contradiction to the difference in {title}, a mean over all {noun}s: the test counts only which "
        f"of them were solved, {solved}."
    )


def p_words(p: float) -> str:
    """Return `p = 0.03`, never 0."""
    return f"p = {p:.2g}" if p >= 0.0001 else "p < 0.0001"


def wanting(difference: Difference, noun: str, left: int | None) -> str:
    """Return a clause on what so many items can show, and how many more could decide; `left`: see `Comparison.left`."""
    judged = difference.judged
    if judged is None or difference.items < 2:
        return f"one {noun} tells nothing"
    seen = f"{counted(difference.items, noun)} can show a difference of about {judged.detectable:.2f}"
    more = further(difference, left)
    if left is not None and judged.further is not None and judged.further[0] > left:
        return (
            f"{seen}; the {left:,} or so that are left would probably not decide" if left else f"{seen}; none is left"
        )
    return f"{seen}; {more} more could decide" if more else seen


def further(difference: Difference, left: int | None) -> str:
    """Return `about 40 to 300`, `about 40 or many`, `over 250`; empty where nothing is open.

    No number is named beyond what is `left` to draw: `over 250` says that all of it would probably not decide.
    """
    if difference.judged is None or difference.judged.further is None:
        return ""
    least, most = difference.judged.further
    if left is not None and least > left:
        return f"over {left:,}"
    if left is not None and (most is None or most > left):
        return f"about {min(rounded(least), left):,} to all {left:,} left"
    if least > MOST:
        return f"over {MOST:,}"
    if most is None or most > MOST:
        return f"about {rounded(least):,} or many"
    return f"about {rounded(least):,} to {rounded(most):,}"


def rounded(number: int) -> int:
    """Round up to two leading digits: an estimate is no better than that."""
    step = int(10 ** max(0, len(str(number)) - 2))
    return -(-number // step) * step


def bounded(score: Estimate, sign: str = "+") -> str:
    """Return `+0.12 (+0.04 to +0.20)`."""
    return "-" if score.value is None else in_words(score, "signed" if sign else "number")


def turned(score: Estimate) -> Estimate:
    """Return the same difference seen from the other run."""
    value, low, high = (None if each is None else -each for each in (score.value, score.high, score.low))
    return Estimate(value, low, high)


def leftovers(comparison: Comparison) -> str:
    """Return a sentence on which items do not count and why, or an empty text where all do."""
    left, noun = comparison.leftover, task(comparison.first.task).noun
    parts = (
        (left.only_first, f"only in run {comparison.first.id}"),
        (left.only_second, f"only in run {comparison.second.id}"),
        (left.changed, "with another text"),
        (left.unjudged, "not judged in both"),
    )
    reasons = ", ".join(f"{count:,} {words}" for count, words in parts if count)
    return f"Not compared: {noun}s {reasons}." if reasons else ""


def cautions(comparison: Comparison) -> str:
    """Return what to keep in mind: unfinished runs, other files, cut prompts or descriptions, few items; or nothing."""
    first, second = comparison.first, comparison.second
    kind = task(first.task).noun
    sentences = [
        f"Run {run.id} ({run.status}) has {run.items_complete} of {run.items_expected} {kind}s complete."
        for run in (first, second)
        if run.status != "finished" or run.items_complete < run.items_expected
    ]
    if first.fingerprint != second.fingerprint:
        sentences.append("The project's files differ between the runs.")
    for name in ("cut", "limited"):
        shares = [run.scores.get(name, NOTHING).value or 0.0 for run in (first, second)]
        if any(shares):
            title = task(first.task).measure(name).title.capitalize()
            sentences.append(f"{title}: {shares[0]:.2f} in run {first.id}, {shares[1]:.2f} in run {second.id}.")
    sentences.append(few(comparison.headline.items, kind, " in common"))
    return " ".join(filter(None, sentences))


def caveats(comparison: Comparison) -> list[str]:
    """Return `leftovers` and `cautions`, those there are."""
    return [sentence for sentence in (leftovers(comparison), cautions(comparison)) if sentence]


# ---- rows for programs


Row = dict[str, Any]


def summary_row(comparison: Comparison) -> Row:
    """Return everything but the single items, for programs."""
    kind, test = task(comparison.first.task), comparison.mcnemar
    return {
        "reference": comparison.first.id,
        "run": comparison.second.id,
        "task": comparison.first.task,
        "verdict": verdict(comparison),
        "runs_compared": comparison.runs,
        "provisional": comparison.provisional,
        "items_left": comparison.left,
        kind.headline: _difference_row(comparison.headline),
        **({kind.secondary: _difference_row(comparison.secondary)} if kind.secondary else {}),
        "mcnemar": dataclasses.asdict(test) | {"p": test.mcnemar_p, "p_adjusted": comparison.p_adjusted},
        "not_compared": dataclasses.asdict(comparison.leftover),
        "disagreements": len(comparison.disagreements),
        "settings": [dict(zip(("name", "reference", "run"), row, strict=True)) for row in comparison.settings],
        "files": [dataclasses.asdict(file) | {"difference": file.difference} for file in comparison.files],
    }


def pair_row(comparison: Comparison, pair: Pair) -> Row:
    """Return one common item, for programs; `first` is in the reference."""
    first, second = pair.first, pair.second
    kind = task(first.task)
    row = {
        "reference": comparison.first.id,
        "run": comparison.second.id,
        "key": first.key,
        "path": first.path,
        "start_line": first.start_line,
        "end_line": first.end_line,
        "reference_item": first.id,
        "run_item": second.id,
    }
    sides = (("reference", first), ("run", second))
    row |= {f"{side}_{name}": int(item.measures.get(name, 0)) for side, item in sides for name in kind.tally or ()}
    row |= {f"{side}_{kind.headline}": item.headline for side, item in sides} | {"difference": pair.difference}
    if kind.secondary:
        row |= {f"{side}_{kind.secondary}": item.secondary for side, item in sides}
        row[f"{kind.secondary}_difference"] = pair.secondary
    return row


def write_pairs_csv(comparisons: Iterable[Comparison], stream: TextIO) -> int:
    """Write a header and one record a common item of each comparison, in a stream opened with `newline=""`.

    Return the number of records. Raises OSError.
    """
    rows = [pair_row(each, pair) for each in comparisons for pair in each.pairs]
    writer = csv.DictWriter(stream, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return len(rows)


def _difference_row(difference: Difference) -> Row:
    judged = difference.judged
    least, most = (judged.further if judged else None) or (None, None)
    return {
        "items": difference.items,
        "few": difference.score.few,
        "reference": difference.first.value,
        "run": difference.second.value,
        "difference": difference.score.value,
        "ci_low": difference.score.low,
        "ci_high": difference.score.high,
        "p_adjusted": judged.p if judged else None,
        "decided": difference.decided,
        "detectable": judged.detectable if judged else None,
        "more_items_least": least,
        "more_items_most": most,
    }
