"""Regions as the code view draws them: which lines, in what state, with what tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import SourceFile
from rtc_inspector.ui.code.source_text import SourceText
from rtc_inspector.ui.presenters import presenter
from rtc_inspector.ui.style.region_state import RegionState, number, region_state


def anchors(items: Sequence[ItemRow], text: str) -> dict[int, int]:
    """Return the regions' offsets by item id; a region whose text is gone, or could be several places, is left out."""
    # The file may have changed since the run. Regions that stand where they stood are certain; each round then moves
    # as many others as possible by one common distance, e.g. by the lines of a comment that was written above them.
    found = {item.id: item.start for item in items if item.text and text.startswith(item.text, item.start)}
    while True:
        possible = {item: _possible(item, items, found, text) for item in items if item.id not in found}
        distance = _distance(possible)
        if distance is None:
            return found
        found |= {
            item.id: item.start + distance for item, starts in possible.items() if item.start + distance in starts
        }


def _distance(possible: Mapping[ItemRow, Sequence[int]]) -> int | None:
    """Return the distance that brings most regions to their text; None when what is left would be a guess."""
    votes = Counter(start - item.start for item, starts in possible.items() for start in starts)
    if not votes:
        return None
    best = min(votes, key=lambda distance: (-votes[distance], abs(distance)))
    # A text that stands in one place only tells its distance alone; of several places one would be a guess.
    sure = {starts[0] - item.start for item, starts in possible.items() if len(starts) == 1}
    if votes[best] >= 2 or best in sure:
        return best
    return min(sure, key=abs, default=None)


def _possible(item: ItemRow, items: Sequence[ItemRow], found: Mapping[int, int], text: str) -> list[int]:
    """Return the offsets where the text could stand without overtaking a region that was found."""
    lowest, highest = 0, len(text)
    for other in items:
        if other.id not in found:
            continue
        if other.end <= item.start:
            lowest = max(lowest, found[other.id] + len(other.text))
        elif other.start >= item.end:
            highest = min(highest, found[other.id])
    return list(_occurrences(item.text, text, lowest, highest))


def _occurrences(wanted: str, text: str, lowest: int, highest: int) -> Iterator[int]:
    start = text.find(wanted, lowest, highest) if wanted else -1
    while start >= 0:
        yield start
        start = text.find(wanted, start + 1, highest)


TAB = 4
"""Columns of a tab stop."""


class OpenFile(NamedTuple):
    """What the code view shows: a file, None where the project has none, its text, and the run's regions in it."""

    file: SourceFile | None
    text: SourceText
    items: Sequence[ItemRow]


@dataclass(frozen=True, slots=True)
class Block:
    """One region in an open file.

    Attributes:
        first, last: 0-based lines, both inside.
        indent: columns before its first statement, or before the line of an edit that is furthest left.
        tag: a few characters at its right end, e.g. `2/3`.
        moved: it stands elsewhere than in the run, because the file changed since.
    """

    item: ItemRow
    first: int
    last: int
    indent: int
    state: RegionState
    tag: str
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """The blocks of a file by line, and the regions whose text is no longer there."""

    blocks: tuple[Block, ...]
    gone: tuple[ItemRow, ...]

    @property
    def noun(self) -> str:
        """Return what one of the regions here is called, by the kind of the first."""
        return next((item.kind for item in self._items()), "region")

    @property
    def past(self) -> bool:
        """Return whether they are the old code of edits."""
        return any(presenter(item).past for item in self._items())

    def _items(self) -> tuple[ItemRow, ...]:
        return (*(block.item for block in self.blocks), *self.gone)

    @property
    def moved(self) -> bool:
        """Return whether the file changed since the run."""
        return bool(self.gone) or any(block.moved for block in self.blocks)


def place(items: Iterable[ItemRow], source: SourceText) -> Placed:
    """Find each region in the file as it is now."""
    known = list(items)
    found = anchors(known, source.text)
    blocks = [_block(item, found[item.id], source) for item in known if item.id in found]
    blocks.sort(key=lambda block: (block.first, -block.last))
    return Placed(tuple(blocks), tuple(item for item in known if item.id not in found))


def _block(item: ItemRow, at: int, source: SourceText) -> Block:
    start, end = source.place(at), source.place(at + max(len(item.text) - 1, 0))
    last = end.line if presenter(item).past else start.line  # an edit may begin deeper than it goes on
    lines = [line for number in range(start.line, last + 1) if (line := source.line(number)).strip()]
    indent = min(map(indent_of, lines), default=0)
    return Block(item, start.line, end.line, indent, region_state(item), _tag(item), at != item.start)


def indent_of(line: str) -> int:
    """Return the number of columns before the first character of a line."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(TAB))


def _tag(item: ItemRow) -> str:
    figure = "" if item.headline is None else number(item.headline)
    said = item.tally or figure or item.state.replace("waiting", "")
    return f"by hand {said}".rstrip() if item.extra else said


def at_line(blocks: Sequence[Block], line: int) -> Block | None:
    """Return the innermost block over a line."""
    over = [block for block in blocks if block.first <= line <= block.last]
    return min(over, key=lambda block: block.last - block.first, default=None)


def neighbour(blocks: Sequence[Block], line: int, step: int, failing: bool = False) -> Block | None:
    """Return the next block after `line` (`step` 1) or the last before it (-1); only failing ones if asked."""
    wanted = [block for block in blocks if not failing or block.state.failing]
    if step > 0:
        return next((block for block in wanted if block.first > line), None)
    return next((block for block in reversed(wanted) if block.first < line), None)
