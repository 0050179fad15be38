"""Comparisons with what surrounds their panes: of original and reconstruction, of an edit and its prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QToolButton, QWidget

from rtc_inspector.ui.diff.columns import Columns
from rtc_inspector.ui.diff.lines import PAIR, Sides
from rtc_inspector.ui.diff.pane_lines import EditLines, Lines, PairLines, ShownEdit, patch
from rtc_inspector.ui.diff.rows import EditDiff, Kind, Prediction, TextDiff, compare
from rtc_inspector.ui.style.controls import (
    BAR,
    ElidedLabel,
    bind,
    button,
    column,
    copy_menu,
    embolden,
    label,
    row,
    switch,
)
from rtc_inspector.ui.style.theme import SPACE

STEPS = (("Next change", "Alt+Down"), ("Previous change", "Alt+Up"))
"""Words and key of each step from change to change."""

EDIT_TITLES = ("Old", "New", "Predicted")

Copies = Sequence[tuple[str, Callable[[], str]]]


class DiffFrame(QWidget):
    """Texts beside one another; switches keep their state from one comparison to the next."""

    def __init__(
        self,
        titles: Sequence[str],
        copies: Copies,
        switches: Sequence[QToolButton] = (),
        described: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """`copies`: what can be put on the clipboard. `described`: whether the description is shown at first."""
        super().__init__(parent)
        self._description = ""
        self._first_line = 1
        self.columns = Columns(self, titles)
        self.title, self.summary = ElidedLabel(), ElidedLabel("muted")
        embolden(self.title)
        self.title.setContentsMargins(0, 0, SPACE, 0)
        self.note = label(role="warn", wrap=True)
        self._make_controls(described)
        self.copy = copy_menu("Copy a text", copies)
        controls = (*switches, self.unified, self.wrap, self.between, self.copy, self.previous, self.next)
        bar = row(self.title, self.summary, None, *controls, margins=BAR, spacing=SPACE // 2)
        note = row(self.note, margins=(SPACE, 0, SPACE, 0))
        column(bar, note, self.columns, owner=self)
        self.columns.moved.connect(self._follow)

    def _make_controls(self, described: bool) -> None:
        self.previous = button("", "Previous change (Alt+Up)", lambda: self.step(-1), icon="previous")
        self.next = button("", "Next change (Alt+Down)", lambda: self.step(1), icon="next")
        for (words, keys), direction in zip(STEPS, (1, -1), strict=True):
            bind(self, keys, partial(self.step, direction), words)
        self.unified = switch("Unified", "All texts in one column")
        self.unified.toggled.connect(self._set_unified)
        self.wrap = switch("Wrap", "Wrap long lines, rows kept aligned")
        self.wrap.toggled.connect(self.columns.set_wrap)
        self.between = switch("Description", "Show the description beside the texts", described)
        self.between.toggled.connect(self._show_description)

    def _present(
        self, lines: Lines, path: str, title: str, summary: str, notes: Sequence[str], description: str
    ) -> None:
        self._description = description
        self.title.setText(title)
        self.summary.setText(summary)
        self.note.setText(" ".join(notes))
        self.note.setVisible(bool(notes))
        self.columns.show_lines(lines, path)
        self._show_description()
        # The first change is rarely on the first screen of a long text.
        self.columns.go_to(next(iter(self._starts()), 0))
        self._follow()

    def step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) change."""
        before, after = self._around()
        if direction > 0 and after:
            self.columns.go_to(after[0])
        elif direction < 0 and before:
            self.columns.go_to(before[-1])

    def go_to_line(self, line: int) -> None:
        """Show a line of the last text; its first line counts as `first_line`."""
        place = self.columns.row_of(len(self.columns.sides) - 1, line - self._first_line)
        if place is not None:
            self.columns.go_to(place)
            self.columns.active.setFocus()

    def _starts(self) -> list[int]:
        return self.columns.starts(skip_form=False)

    def _set_unified(self, on: bool) -> None:
        self.columns.set_unified(on)
        self.columns.go_to(next(iter(self._starts()), 0))
        self._follow()

    def _show_description(self) -> None:
        self.between.setEnabled(bool(self._description))
        self.columns.show_description(self._description, self.between.isChecked())

    def _around(self) -> tuple[list[int], list[int]]:
        here, starts = self.columns.active.row(), self._starts()
        return [start for start in starts if start < here], [start for start in starts if start > here]

    def _follow(self) -> None:
        before, after = self._around()
        self.previous.setEnabled(bool(before))
        self.next.setEnabled(bool(after))


class DiffView(DiffFrame):
    """Everything about one pair of texts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._pair = ("", "")
        self._shown: tuple[object, ...] = ()
        self._diff: TextDiff | None = None
        self.form = switch("Dim form", "Grey changes that leave the syntax tree as it was", True)
        copies = (
            ("", lambda: self._pair[0]),
            ("", lambda: self._pair[1]),
            ("Difference", lambda: patch(self._diff) if self._diff else ""),
        )
        super().__init__(PAIR, copies, (self.form,), parent=parent)
        self.form.toggled.connect(self._set_dim)
        self.name_sides(PAIR)
        self.clear()

    def name_sides(self, titles: Sides) -> None:
        self.columns.name_sides(titles)
        for action, title in zip(self.copy.menu().actions(), titles, strict=False):
            action.setText(title[:1].upper() + title[1:])

    def clear(self) -> None:
        self.show_pair("", "", "", "")

    def show_pair(
        self,
        original: str,
        candidate: str,
        title: str,
        path: str,
        first_line: int = 1,
        description: str = "",
    ) -> None:
        """Compare two texts; the same ones again stay as they are, with their scroll position.

        `first_line`: the file's line at which the original starts.
        """
        shown = original, candidate, title, path, first_line, description
        # A run that goes on shows the same pair a few times a second: the place that somebody reads must stay.
        if shown == self._shown:
            return
        self._shown = shown
        python = not path or path.endswith((".py", ".pyi"))
        self._pair, self._first_line = (original, candidate), first_line
        self._diff = diff = compare(original, candidate, python=python)
        summary = _summary(diff) if any(self._pair) else ""
        self._present(PairLines(diff, (first_line, first_line)), path, title, summary, diff.notes, description)

    def _starts(self) -> list[int]:
        """Return where all changes start, or those of substance while form is dimmed (if there are any)."""
        of_substance = self.columns.starts(skip_form=True) if self.form.isChecked() else []
        return of_substance or super()._starts()

    def _set_dim(self, on: bool) -> None:
        self.columns.set_dim(on)
        self._follow()


def _summary(diff: TextDiff) -> str:
    if diff.equal:
        return "Identical"
    counts = [(diff.count(kind), kind.value) for kind in (Kind.CHANGED, Kind.DELETED, Kind.INSERTED)]
    said = [f"{count:,} {word}" for count, word in counts if count]
    lines = ", ".join(said).replace(" ", " line " if said[:1] and said[0].startswith("1 ") else " lines ", 1)
    return f"Same syntax tree: {lines}" if diff.same_tree else lines


class EditView(DiffFrame):
    """Everything about one edit and one prediction of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._shown: ShownEdit | None = None
        copies = (
            ("Old", lambda: self._text("old")),
            ("New", lambda: self._text("new")),
            ("Predicted", lambda: self._text("predicted")),
            ("The edit", lambda: patch(compare(self._text("old"), self._text("new"), python=False))),
        )
        super().__init__(EDIT_TITLES, copies, described=True, parent=parent)
        self.wrap.setChecked(True)

    def show_edit(self, edit: ShownEdit) -> None:
        if edit == self._shown:
            return
        self._shown, self._first_line = edit, edit.first_line
        there = edit.predicted is not None
        lines = EditLines(edit)
        summary = _edit_summary(lines.diff, edit) if there else "not predicted yet"
        self.columns.show_last(there)
        self._present(lines, edit.path, edit.title, summary, lines.diff.notes, edit.description)

    def _text(self, name: str) -> str:
        return getattr(self._shown, name, "") or ""


def _edit_summary(diff: EditDiff, edit: ShownEdit) -> str:
    if edit.predicted == edit.new:
        return "As the new code"
    if edit.predicted == edit.old:
        return "The old code, unchanged"
    words = {
        Prediction.DONE: "as in the new code",
        Prediction.KEPT: "as in the old",
        Prediction.OTHER: "as in neither",
        Prediction.MISSING: "missing",
    }
    if diff.count(Prediction.DONE) + diff.count(Prediction.SAME) == len(diff.rows):
        return "As the new code but for white space at line ends"
    counts = [f"{diff.count(made):,} {said}" for made, said in words.items() if diff.count(made)]
    return f"Lines: {', '.join(counts)}"
