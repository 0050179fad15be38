"""What a pane shows: one entry a visible row, whichever form the comparison takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rtc_inspector.ui.diff.changes import Marks
from rtc_inspector.ui.diff.rows import Cell, Kind, Row, TextDiff


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
        """Return the tone in force."""
        return (self.side or 0) if self.tone is None else self.tone


SAME_TREE_SIGN = "≈"


class Lines(Protocol):
    """A comparison as panes show it."""

    def columns(self) -> tuple[list[PaneLine], ...]:
        """Return one list for each text, all equally long."""

    def single(self) -> list[PaneLine]:
        """Return the lines of all texts in one column."""

    def changes(self) -> list[PaneLine]:
        """Return a line for each row of `columns`, whose kind says what the map of changes shows there."""


@dataclass(frozen=True, slots=True)
class PairLines:
    """Lines of the comparison of two texts. `first`: what the first line of either side is numbered."""

    diff: TextDiff
    first: tuple[int, int]

    def columns(self) -> tuple[list[PaneLine], ...]:
        """Return the original and the reconstruction."""
        left = [_cell(row, row.left, 0, self.first[0]) for row in self.diff.rows]
        return left, [_cell(row, row.right, 1, self.first[1]) for row in self.diff.rows]

    def single(self) -> list[PaneLine]:
        """Return old lines of a hunk, then new ones, with both line numbers."""
        lines: list[PaneLine] = []
        done = 0
        for hunk in self.diff.hunks:
            rows = self.diff.rows[hunk.start : hunk.end]
            lines += self._equal(done, hunk.start)
            lines += [self._alone(row, row.left, 0) for row in rows if row.left]
            lines += [self._alone(row, row.right, 1) for row in rows if row.right]
            done = hunk.end
        return lines + self._equal(done, len(self.diff.rows))

    def _equal(self, start: int, end: int) -> list[PaneLine]:
        return [
            PaneLine(Kind.EQUAL, row.left.text, 0, row.left.number, self._labels(row.left, row.right), " ")
            for row in self.diff.rows[start:end]
            if row.left and row.right
        ]

    def _alone(self, row: Row, cell: Cell, side: int) -> PaneLine:
        """Return a line that only one text has; one that changed stands there twice, as deleted and as inserted."""
        labels = self._labels(None, cell) if side else self._labels(cell, None)
        kind, sign = (Kind.INSERTED, "+") if side else (Kind.DELETED, "-")
        return PaneLine(kind, cell.text, side, cell.number, labels, sign, cell.marks, row.same_tree)

    def _labels(self, left: Cell | None, right: Cell | None) -> tuple[str, str]:
        first, second = ("" if c is None else str(c.number + n) for c, n in zip((left, right), self.first, strict=True))
        return first, second

    def changes(self) -> list[PaneLine]:
        """Return the right side's lines, else the left one's."""
        left, right = self.columns()
        return [theirs if theirs.side is not None else ours for ours, theirs in zip(left, right, strict=True)]


def patch(diff: TextDiff) -> str:
    """Return the lines with `+`, `-` and space in front, for the clipboard."""
    return "\n".join(line.sign + line.text for line in PairLines(diff, (1, 1)).single())


def change_starts(lines: Sequence[PaneLine], skip_form: bool) -> list[int]:
    """Return where runs of changed lines start; `skip_form` passes over changes of mere form."""
    # Changed lines that follow one another are one step.
    changed = [line.kind is not Kind.EQUAL and not (skip_form and line.form) for line in lines]
    return [i for i, now in enumerate(changed) if now and not (i and changed[i - 1])]


def _cell(row: Row, cell: Cell | None, side: int, first: int) -> PaneLine:
    """Return one side of a row."""
    if cell is None:
        return PaneLine(row.kind, "", None, 0, ("",), " ", (), row.same_tree)
    label = str(cell.number + first)
    return PaneLine(row.kind, cell.text, side, cell.number, (label,), _sign(row), cell.marks, row.same_tree)


def _sign(row: Row) -> str:
    """Return the sign that says, beside colour, what became of a line."""
    signs = {Kind.EQUAL: " ", Kind.CHANGED: "~", Kind.INSERTED: "+", Kind.DELETED: "-"}
    return SAME_TREE_SIGN if row.same_tree else signs[row.kind]
