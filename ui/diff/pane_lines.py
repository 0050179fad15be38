"""Comparisons as panes show them: one entry a visible row, side by side or in one column. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import OLD_LINE
from rtc_inspector.ui.diff.rows import Cell, DiffRow, EditRow, Kind, Marks, Prediction, TextDiff, compare_edit


@dataclass(frozen=True, slots=True)
class PaneLine:
    """One row of one pane.

    Attributes:
        text: what stands there; empty for a filler.
        side: which text, from the left, whose line `number` (from 0) this is; None for a filler.
        labels: line numbers as shown, one a column.
        sign: `-`, `+`, `~`, `≈` (same tree) or a space; of a prediction `✓` or `✗`.
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
        left = [_cell(row, row.left, 0, self.first[0]) for row in self.diff.rows]
        return left, [_cell(row, row.right, 1, self.first[1]) for row in self.diff.rows]

    def single(self) -> list[PaneLine]:
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

    def _alone(self, row: DiffRow, cell: Cell, side: int) -> PaneLine:
        """Return a line that only one text has; one that changed stands there twice, as deleted and as inserted."""
        labels = self._labels(None, cell) if side else self._labels(cell, None)
        kind, sign = (Kind.INSERTED, "+") if side else (Kind.DELETED, "-")
        return PaneLine(kind, cell.text, side, cell.number, labels, sign, cell.marks, row.same_tree)

    def _labels(self, left: Cell | None, right: Cell | None) -> tuple[str, str]:
        first, second = ("" if c is None else str(c.number + n) for c, n in zip((left, right), self.first, strict=True))
        return first, second

    def changes(self) -> list[PaneLine]:
        left, right = self.columns()
        return [theirs if theirs.side is not None else ours for ours, theirs in zip(left, right, strict=True)]


def patch(diff: TextDiff) -> str:
    """Return the lines with `+`, `-` and space in front, for the clipboard."""
    return "\n".join(line.sign + line.text for line in PairLines(diff, (1, 1)).single())


def change_starts(lines: Sequence[PaneLine], skip_form: bool) -> list[int]:
    """Return where runs of changed lines start; `skip_form` passes over changes of mere form."""
    changed = [line.kind is not Kind.EQUAL and not (skip_form and line.form) for line in lines]
    return [i for i, now in enumerate(changed) if now and not (i and changed[i - 1])]


def _cell(row: DiffRow, cell: Cell | None, side: int, first: int) -> PaneLine:
    if cell is None:
        return PaneLine(row.kind, "", None, 0, ("",), " ", (), row.same_tree)
    sign = {Kind.EQUAL: " ", Kind.CHANGED: "~", Kind.INSERTED: "+", Kind.DELETED: "-"}[row.kind]
    labels, sign = (str(cell.number + first),), "≈" if row.same_tree else sign
    return PaneLine(row.kind, cell.text, side, cell.number, labels, sign, cell.marks, row.same_tree)


# ---- edits

OLD, NEW, PREDICTED = 0, 1, 2
BAD, GOOD = 0, 1
"""Tones: the colours of what is taken away and of what is put in."""
SIGNS = {Prediction.SAME: " ", Prediction.DONE: "✓"}
"""Of predictions that are right; others have ✗."""


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
        old, new, predicted = [], [], []
        for row in self.diff.rows:
            old.append(self._pane(row.old, OLD, row.kind, BAD, "-" if row.new is None else "~"))
            new.append(self._pane(row.new, NEW, row.kind, GOOD, "+" if row.old is None else "~"))
            kind = Kind.EQUAL if row.prediction is Prediction.SAME else Kind.CHANGED
            tone = GOOD if row.prediction is Prediction.DONE else BAD
            predicted.append(self._pane(row.predicted, PREDICTED, kind, tone, SIGNS.get(row.prediction, "✗")))
        return old, new, predicted

    def single(self) -> list[PaneLine]:
        lines: list[PaneLine] = []
        for changed, group in groupby(self.diff.rows, _changed):
            rows = list(group)
            lines += self._changes(rows) if changed else [self._line(row.new, NEW, row, " ") for row in rows]
        return lines

    def changes(self) -> list[PaneLine]:
        kinds = {Prediction.SAME: Kind.EQUAL, Prediction.DONE: Kind.INSERTED}
        if not self._predicted:
            return [PaneLine(row.kind, "", NEW, 0, (), "") for row in self.diff.rows]
        return [PaneLine(kinds.get(row.prediction, Kind.DELETED), "", PREDICTED, 0, (), "") for row in self.diff.rows]

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
        if self._predicted and any(row.prediction not in (Prediction.SAME, Prediction.DONE) for row in rows):
            for row in rows:
                if row.predicted is not None:
                    good = row.prediction in (Prediction.SAME, Prediction.DONE)
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
    return row.kind is not Kind.EQUAL or row.prediction is not Prediction.SAME
