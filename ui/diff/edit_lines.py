"""What the panes show of an edit: old, new and predicted code in three columns, or in one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ui.diff.pane_lines import PaneLine
from ui.diff.rows import Cell, Kind
from ui.diff.threeway import EditDiff, EditRow, Made

OLD, NEW, PREDICTED = 0, 1, 2
BAD, GOOD = 0, 1
"""Tones: the colours of what is taken away and of what is put in."""
SIGNS = {Made.SAME: " ", Made.DONE: "✓", Made.KEPT: "✗", Made.OTHER: "✗", Made.MISSING: "✗"}


class EditLines:
    """Lines of three panes, equally many, and of the one column."""

    def __init__(self, diff: EditDiff, first: tuple[int | None, int, int], predicted: bool) -> None:
        """`first`: what the first line of each text is numbered, None for unknown. `predicted`: there is a third."""
        self._diff, self._first, self._predicted = diff, first, predicted

    def columns(self) -> tuple[list[PaneLine], ...]:
        """Old, new, predicted."""
        rows = self._diff.rows
        return [self._old(row) for row in rows], [self._new(row) for row in rows], [self._answer(row) for row in rows]

    def single(self) -> list[PaneLine]:
        """Old lines of each change, then new ones, then what was predicted where that is another."""
        lines: list[PaneLine] = []
        for changed, group in groupby(self._diff.rows, _changed):
            rows = list(group)
            lines += self._changes(rows) if changed else [self._line(row.new, NEW, row, " ") for row in rows]
        return lines

    def changes(self) -> list[PaneLine]:
        """By row, whether the edit was made there: for the map."""
        kinds = {Made.SAME: Kind.EQUAL, Made.DONE: Kind.INSERTED}
        if not self._predicted:
            return [PaneLine(row.kind, "", NEW, 0, (), "") for row in self._diff.rows]
        return [PaneLine(kinds.get(row.made, Kind.DELETED), "", PREDICTED, 0, (), "") for row in self._diff.rows]

    def _old(self, row: EditRow) -> PaneLine:
        sign = "-" if row.new is None else "~"
        return self._pane(row.old, OLD, row.kind, BAD, sign)

    def _new(self, row: EditRow) -> PaneLine:
        sign = "+" if row.old is None else "~"
        return self._pane(row.new, NEW, row.kind, GOOD, sign)

    def _answer(self, row: EditRow) -> PaneLine:
        kind = Kind.EQUAL if row.made is Made.SAME else Kind.CHANGED
        return self._pane(row.predicted, PREDICTED, kind, GOOD if row.made is Made.DONE else BAD, SIGNS[row.made])

    def _pane(self, cell: Cell | None, side: int, kind: Kind, tone: int, sign: str) -> PaneLine:
        if cell is None:
            return PaneLine(kind, "", None, 0, ("",), " ")
        label = _label(self._first[side], cell)
        return PaneLine(kind, cell.text, side, cell.number, (label,), _sign(kind, sign), cell.marks, tone=tone)

    def _changes(self, rows: list[EditRow]) -> Iterator[PaneLine]:
        for row in rows:
            if row.old is not None and row.kind is not Kind.EQUAL:
                yield self._line(row.old, OLD, row, "-", BAD)
        for row in rows:
            if row.new is not None:
                same = row.kind is Kind.EQUAL
                yield self._line(row.new, NEW, row, " " if same else "+", None if same else GOOD)
        if self._predicted and any(row.made not in (Made.SAME, Made.DONE) for row in rows):
            for row in rows:
                if row.predicted is not None:
                    good = row.made in (Made.SAME, Made.DONE)
                    yield self._line(row.predicted, PREDICTED, row, "✓" if good else "✗", GOOD if good else BAD)

    def _line(self, cell: Cell | None, side: int, row: EditRow, sign: str, tone: int | None = None) -> PaneLine:
        assert cell is not None
        cells = (row.old, row.new, row.predicted)
        same = tone is None
        labels = tuple(
            _label(self._first[at], each) if each is not None and (same or at == side) else ""
            for at, each in enumerate(cells)
        )
        kind = Kind.EQUAL if same else Kind.CHANGED
        return PaneLine(kind, cell.text, side, cell.number, labels, sign, cell.marks, tone=tone)


def _changed(row: EditRow) -> bool:
    return row.kind is not Kind.EQUAL or row.made is not Made.SAME


def _label(first: int | None, cell: Cell) -> str:
    return "" if first is None else str(cell.number + first)


def _sign(kind: Kind, sign: str) -> str:
    return " " if kind is Kind.EQUAL else sign
