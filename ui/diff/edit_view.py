"""The comparison of an edit with what was predicted: old, new, predicted, and the description above them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from PySide6.QtWidgets import QWidget

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import OLD_LINE
from rtc_inspector.ui.diff.pane_lines import PaneLine, patch
from rtc_inspector.ui.diff.rows import Cell, Kind, compare
from rtc_inspector.ui.diff.threeway import EditDiff, EditRow, Made, compare_edit
from rtc_inspector.ui.diff.view import DiffFrame

TITLES = ("Old", "New", "Predicted")
OLD, NEW, PREDICTED = 0, 1, 2
BAD, GOOD = 0, 1
"""Tones: the colours of what is taken away and of what is put in."""
SIGNS = {Made.SAME: " ", Made.DONE: "✓", Made.KEPT: "✗", Made.OTHER: "✗", Made.MISSING: "✗"}


@dataclass(frozen=True, slots=True)
class ShownEdit:
    """What is compared.

    Attributes:
        predicted: None while nothing was.
        first_line: the file's line at which the new code starts; `old_line` the old one's, None for unknown.
    """

    old: str
    new: str
    predicted: str | None
    title: str
    path: str
    first_line: int = 1
    old_line: int | None = None
    description: str = ""


def shown_edit(item: ItemRow, predicted: str | None, title: str = "", description: str = "") -> ShownEdit:
    """Return a stored edit and what was predicted of it."""
    line = item.origin.get(OLD_LINE, "")
    old_line = int(line) if line.isdecimal() else None
    old = item.old_text or ""
    return ShownEdit(old, item.text, predicted, title, item.path, item.start_line, old_line, description)


class EditLines:
    """An edit as panes show it: lines of three panes, equally many, and of the one column."""

    def __init__(self, edit: ShownEdit) -> None:
        """Compare its texts; while nothing was predicted, the new code stands in for it."""
        self._predicted = edit.predicted is not None
        self._first = edit.old_line, edit.first_line, edit.first_line
        self.diff = compare_edit(edit.old, edit.new, edit.new if edit.predicted is None else edit.predicted)

    def columns(self) -> tuple[list[PaneLine], ...]:
        """Return the old, the new and the predicted code."""
        old, new, predicted = [], [], []
        for row in self.diff.rows:
            old.append(self._pane(row.old, OLD, row.kind, BAD, "-" if row.new is None else "~"))
            new.append(self._pane(row.new, NEW, row.kind, GOOD, "+" if row.old is None else "~"))
            kind = Kind.EQUAL if row.made is Made.SAME else Kind.CHANGED
            tone = GOOD if row.made is Made.DONE else BAD
            predicted.append(self._pane(row.predicted, PREDICTED, kind, tone, SIGNS[row.made]))
        return old, new, predicted

    def single(self) -> list[PaneLine]:
        """Return old lines of each change, then new ones, then what was predicted where that is another."""
        lines: list[PaneLine] = []
        for changed, group in groupby(self.diff.rows, _changed):
            rows = list(group)
            lines += self._changes(rows) if changed else [self._line(row.new, NEW, row, " ") for row in rows]
        return lines

    def changes(self) -> list[PaneLine]:
        """Return for each row whether the edit was made there, for the map."""
        kinds = {Made.SAME: Kind.EQUAL, Made.DONE: Kind.INSERTED}
        if not self._predicted:
            return [PaneLine(row.kind, "", NEW, 0, (), "") for row in self.diff.rows]
        return [PaneLine(kinds.get(row.made, Kind.DELETED), "", PREDICTED, 0, (), "") for row in self.diff.rows]

    def _pane(self, cell: Cell | None, side: int, kind: Kind, tone: int, sign: str) -> PaneLine:
        if cell is None:
            return PaneLine(kind, "", None, 0, ("",), " ")
        labels, sign = (self._label(side, cell),), " " if kind is Kind.EQUAL else sign
        return PaneLine(kind, cell.text, side, cell.number, labels, sign, cell.marks, tone=tone)

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
        same = tone is None
        labels = tuple(
            self._label(at, each) if each is not None and (same or at == side) else ""
            for at, each in enumerate((row.old, row.new, row.predicted))
        )
        kind = Kind.EQUAL if same else Kind.CHANGED
        return PaneLine(kind, cell.text, side, cell.number, labels, sign, cell.marks, tone=tone)

    def _label(self, side: int, cell: Cell) -> str:
        first = self._first[side]
        return "" if first is None else str(cell.number + first)


def _changed(row: EditRow) -> bool:
    return row.kind is not Kind.EQUAL or row.made is not Made.SAME


class EditView(DiffFrame):
    """Everything about one edit and one prediction of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_edit`."""
        self._shown: ShownEdit | None = None
        copies = (
            ("Old", lambda: self._text("old")),
            ("New", lambda: self._text("new")),
            ("Predicted", lambda: self._text("predicted")),
            ("The edit", lambda: patch(compare(self._text("old"), self._text("new"), python=False))),
        )
        super().__init__(TITLES, copies, described=True, parent=parent)
        self.wrap.setChecked(True)

    def show_edit(self, edit: ShownEdit) -> None:
        """Compare; the same texts again stay as they are, with their scroll position."""
        if edit == self._shown:
            return
        self._shown, self._first_line = edit, edit.first_line
        there = edit.predicted is not None
        lines = EditLines(edit)
        summary = _summary(lines.diff, edit) if there else "not predicted yet"
        self.columns.show_last(there)
        self._present(lines, edit.path, edit.title, summary, lines.diff.notes, edit.description)

    def _text(self, name: str) -> str:
        return getattr(self._shown, name, "") or ""


def _summary(diff: EditDiff, edit: ShownEdit) -> str:
    """Return in one line how the prediction compares with the old and the new code."""
    if edit.predicted == edit.new:
        return "As the new code"
    if edit.predicted == edit.old:
        return "The old code, unchanged"
    words = {
        Made.DONE: "as in the new code",
        Made.KEPT: "as in the old",
        Made.OTHER: "as in neither",
        Made.MISSING: "missing",
    }
    if diff.count(Made.DONE) + diff.count(Made.SAME) == len(diff.rows):
        return "As the new code but for white space at line ends"
    counts = [f"{diff.count(made):,} {said}" for made, said in words.items() if diff.count(made)]
    return f"Lines: {', '.join(counts)}"
