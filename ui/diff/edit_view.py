"""The comparison of an edit with what was predicted: old, new, predicted, and the description above them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from core.store.rows import ItemRow
from core.types import OLD_LINE
from ui.diff.edit_lines import EditLines
from ui.diff.frame import DiffFrame
from ui.diff.pane_lines import patch
from ui.diff.rows import compare
from ui.diff.threeway import EditDiff, Made, compare_edit

TITLES = ("Old", "New", "Predicted")


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
    """A stored edit and what was predicted of it."""
    line = item.origin.get(OLD_LINE, "")
    old_line = int(line) if line.isdecimal() else None
    old = item.old_text or ""
    return ShownEdit(old, item.text, predicted, title, item.path, item.start_line, old_line, description)


def edit_lines(edit: ShownEdit) -> tuple[EditLines, EditDiff]:
    """The edit as panes show it."""
    there = edit.predicted is not None
    diff = compare_edit(edit.old, edit.new, edit.new if edit.predicted is None else edit.predicted)
    return EditLines(diff, (edit.old_line, edit.first_line, edit.first_line), there), diff


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
        lines, diff = edit_lines(edit)
        summary = _summary(diff, edit) if there else "not predicted yet"
        self.columns.show_last(there)
        self._present(lines, edit.path, edit.title, summary, diff.notes, edit.description)

    def _text(self, name: str) -> str:
        return getattr(self._shown, name, "") or ""


def _summary(diff: EditDiff, edit: ShownEdit) -> str:
    """What the prediction is, in one line."""
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
