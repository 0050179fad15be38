"""What every comparison has around its panes: title, summary, switches, steps from change to change, and their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QToolButton, QWidget

from ui.diff.columns import Columns
from ui.diff.pane_lines import Lines
from ui.style.controls import BAR, ElidedLabel, bind, button, column, copy_menu, embolden, label, row, switch
from ui.style.theme import SPACE

STEPS = (("next-change", "Next change", "Alt+Down"), ("previous-change", "Previous change", "Alt+Up"))
"""Name, words and key of each step from change to change."""

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
        self.previous = button("", "Previous change", lambda: self.step(-1), icon="previous")
        self.next = button("", "Next change", lambda: self.step(1), icon="next")
        for (name, words, keys), direction in zip(STEPS, (1, -1), strict=True):
            bind(self, keys, partial(self.step, direction), words, name)
        self.unified = switch("Unified", "All texts in one column")
        self.unified.toggled.connect(self._set_unified)
        self.wrap = switch("Wrap", "Wrap long lines, rows kept aligned")
        self.wrap.toggled.connect(self.columns.set_wrap)
        self.between = switch("Description", "Show the description beside the texts", described)
        self.between.toggled.connect(self._show_description)

    def _present(
        self, lines: Lines, path: str, title: str, summary: str, notes: Sequence[str], description: str
    ) -> None:
        """Show a comparison from its first change on."""
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
        """Changes to step through."""
        return self.columns.starts(skip_form=False)

    def _set_unified(self, on: bool) -> None:
        self.columns.set_unified(on)
        self.columns.go_to(next(iter(self._starts()), 0))
        self._follow()

    def _show_description(self) -> None:
        self.between.setEnabled(bool(self._description))
        self.columns.show_description(self._description, self.between.isChecked())

    def _around(self) -> tuple[list[int], list[int]]:
        """Changes before and after the current row."""
        here, starts = self.columns.active.row(), self._starts()
        return [start for start in starts if start < here], [start for start in starts if start > here]

    def _follow(self) -> None:
        """Enable the steps that lead somewhere."""
        before, after = self._around()
        self.previous.setEnabled(bool(before))
        self.next.setEnabled(bool(after))
