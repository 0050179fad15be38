"""What a pane shows: one entry a visible row, whichever form the comparison takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ui.diff.intraline import Marks
from ui.diff.rows import Cell, Kind, Row, TextDiff
from ui.diff.unified import UnifiedLine, unified


@dataclass(frozen=True, slots=True)
class PaneLine:
    """One row of one pane.

    Attributes:
        text: what stands there; empty for a filler.
        side: which text, from the left, whose line `number` (from 0) this is; None for a filler.
        labels: line numbers as shown, one a column.
        sign: `-`, `+`, `~`, `≈` (same tree) or a space.
        form: the change leaves the syntax tree as it was.
        tone: 0 the colours of what is taken away, 1 those of what is put in; None goes by the side.
    """

    kind: Kind
    text: str
    side: int | None
    number: int
    labels: tuple[str, ...]
    sign: str
    marks: Marks = ()
    form: bool = False
    tone: int | None = None

    @property
    def colour(self) -> int:
        """The tone in force."""
        return (self.side or 0) if self.tone is None else self.tone


SAME_TREE_SIGN = "≈"


class Lines(Protocol):
    """A comparison as panes show it."""

    def columns(self) -> tuple[list[PaneLine], ...]:
        """One list a text, equally long."""

    def single(self) -> list[PaneLine]:
        """The same in one column."""

    def changes(self) -> list[PaneLine]:
        """A line a row of `columns`, whose kind says what the map of changes shows there."""


@dataclass(frozen=True, slots=True)
class PairLines:
    """Lines of the comparison of two texts. `first`: what the first line of either side is numbered."""

    diff: TextDiff
    first: tuple[int, int]

    def columns(self) -> tuple[list[PaneLine], ...]:
        """Original, reconstruction."""
        return side_by_side(self.diff, self.first)

    def single(self) -> list[PaneLine]:
        """Old lines of a hunk, then new ones."""
        return one_column(self.diff, self.first)

    def changes(self) -> list[PaneLine]:
        """The right side's lines, else the left one's."""
        left, right = self.columns()
        return [theirs if theirs.side is not None else ours for ours, theirs in zip(left, right, strict=True)]


def side_by_side(diff: TextDiff, first: tuple[int, int]) -> tuple[list[PaneLine], list[PaneLine]]:
    """Lines of both panes, equally many. `first`: what the first line of either side is numbered."""
    left = [_cell(row, row.left, 0, first[0]) for row in diff.rows]
    right = [_cell(row, row.right, 1, first[1]) for row in diff.rows]
    return left, right


def one_column(diff: TextDiff, first: tuple[int, int]) -> list[PaneLine]:
    """Lines of the unified form, with both line numbers."""
    return [_unified(line, first) for line in unified(diff)]


def change_starts(lines: Sequence[PaneLine], skip_form: bool) -> list[int]:
    """Where runs of changed lines start; `skip_form` passes over changes of mere form."""
    changed = [line.kind is not Kind.EQUAL and not (skip_form and line.form) for line in lines]
    return [i for i, now in enumerate(changed) if now and not (i and changed[i - 1])]


def _cell(row: Row, cell: Cell | None, side: int, first: int) -> PaneLine:
    """One side of a row."""
    if cell is None:
        return PaneLine(row.kind, "", None, 0, ("",), " ", (), row.same_tree)
    label = str(cell.number + first)
    return PaneLine(row.kind, cell.text, side, cell.number, (label,), _sign(row), cell.marks, row.same_tree)


def _sign(row: Row) -> str:
    """What says beside colour what became of a line."""
    signs = {Kind.EQUAL: " ", Kind.CHANGED: "~", Kind.INSERTED: "+", Kind.DELETED: "-"}
    return SAME_TREE_SIGN if row.same_tree else signs[row.kind]


def _unified(line: UnifiedLine, first: tuple[int, int]) -> PaneLine:
    """One line of the unified form."""
    labels = tuple(
        "" if number is None else str(number + start)
        for number, start in zip((line.left, line.right), first, strict=True)
    )
    number, side = (line.left, 0) if line.left is not None else (line.right or 0, 1)
    sign = {Kind.DELETED: "-", Kind.INSERTED: "+"}.get(line.kind, " ")
    return PaneLine(line.kind, line.text, side, number, labels, sign, line.marks, line.same_tree)
