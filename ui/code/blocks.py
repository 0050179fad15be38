"""Regions as the code view draws them, and a file's text between the store's characters and the editor's columns.

The store counts Unicode characters of the text as it stands in the file; Qt counts UTF-16 units and knows one line end.
Lines and columns here are 0-based, columns in UTF-16 units.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.syntax import NEWLINE
from rtc_inspector.core.types import SourceFile
from rtc_inspector.ui.diff.lines import units
from rtc_inspector.ui.presenters import presenter
from rtc_inspector.ui.style.region_state import RegionState, number, region_state

_BREAKS_FOR_QT = str.maketrans(dict.fromkeys("\u2028\u2029\ufdd0\ufdd1\x00", "\ufffd"))
"""Characters that Qt would turn into line breaks or keeps for itself."""


class SourceText:
    """One file's text with its line table."""

    def __init__(self, text: str) -> None:
        self.text = text
        ends = [(match.start(), match.end()) for match in NEWLINE.finditer(text)]
        self._starts = [0, *(end for _, end in ends)]
        self._ends = [*(start for start, _ in ends), len(text)]

    def line(self, number: int) -> str:
        return self.text[self._starts[number] : self._ends[number]]

    def shown(self) -> str:
        return NEWLINE.sub("\n", self.text).translate(_BREAKS_FOR_QT)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of a character of the text."""
        # The last line that starts at or before the offset.
        line = bisect_right(self._starts, min(max(offset, 0), len(self.text))) - 1
        return line, units(self.text[self._starts[line] : min(offset, self._ends[line])])

    def offset(self, number: int, column: int) -> int:
        line = self.line(number)
        if line.isascii():
            return self._starts[number] + min(column, len(line))
        kept = line.encode("utf-16-le", "surrogatepass")[: column * 2]
        return self._starts[number] + len(kept.decode("utf-16-le", "ignore"))


def anchors(items: Sequence[ItemRow], text: str) -> dict[int, int]:
    """Return the regions' offsets by item id; a region whose text is gone, or could be several places, is left out."""
    # The file may have changed since the run. Regions that stand where they stood, or whose text is there once, are
    # certain; one of several places is right where a neighbour moved as far.
    found = {item.id: item.start for item in items if item.text and text.startswith(item.text, item.start)}
    moved = [item for item in items if item.text and item.id not in found]
    found |= {item.id: text.index(item.text) for item in moved if text.count(item.text) == 1}
    certain = sorted((item.start, found[item.id] - item.start) for item in items if item.id in found)
    for item in moved:
        after = bisect_right(certain, (item.start, 0))
        for _, distance in certain[max(after - 1, 0) : after + 1]:
            at = item.start + distance
            if at >= 0 and text.startswith(item.text, at):
                found.setdefault(item.id, at)
    return found


TAB = 4  # columns of a tab stop


OpenFile = tuple[SourceFile | None, SourceText, Sequence[ItemRow]]
"""The content of the code view: a file, None where the project has none, its text, and the run's regions in it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One region in an open file."""

    item: ItemRow
    first: int  # first, last: 0-based lines, both inside
    last: int
    indent: int  # columns before its first statement, or before the line of an edit that is furthest left
    state: RegionState
    tag: str  # a few characters at its right end, e.g. `2/3`.
    moved: bool = False  # it stands elsewhere than in the run, because the file changed since


@dataclass(frozen=True, slots=True)
class PlacedBlocks:
    """The blocks of a file by line, and the regions whose text is no longer there."""

    blocks: tuple[Block, ...]
    gone: tuple[ItemRow, ...]

    @property
    def items(self) -> tuple[ItemRow, ...]:
        return (*(block.item for block in self.blocks), *self.gone)


def place(items: Iterable[ItemRow], source: SourceText) -> PlacedBlocks:
    """Find each region in the file as it is now."""
    listed = list(items)
    found = anchors(listed, source.text)
    blocks = [_block(item, found[item.id], source) for item in listed if item.id in found]
    blocks.sort(key=lambda block: (block.first, -block.last))
    return PlacedBlocks(tuple(blocks), tuple(item for item in listed if item.id not in found))


def _block(item: ItemRow, at: int, source: SourceText) -> Block:
    (start, _), (end, _) = source.position(at), source.position(at + max(len(item.text) - 1, 0))
    last = end if presenter(item).past else start  # an edit may begin deeper than it goes on
    lines = [line for number in range(start, last + 1) if (line := source.line(number)).strip()]
    indent = min(map(indent_of, lines), default=0)
    figure = "" if item.headline is None else number(item.headline)
    tag = item.tally or figure or item.state.replace("waiting", "")
    tag = f"by hand {tag}".rstrip() if item.extra else tag
    return Block(item, start, end, indent, region_state(item), tag, at != item.start)


def indent_of(line: str) -> int:
    """Return the number of columns before the first character of a line."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(TAB))


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
