"""The comparison of original and reconstruction, with its switches and keys."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from ui.diff.columns import Columns
from ui.diff.controls import BAR, bind, button, column, copy_menu, label, row, switch
from ui.diff.elided import ElidedLabel
from ui.diff.rows import Kind, TextDiff, compare
from ui.diff.unified import patch
from ui.icons import icon
from ui.theme import SPACE, Theme


class DiffView(QWidget):
    """Everything about one pair of texts; switches keep their state from pair to pair."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Empty until `show_pair`."""
        super().__init__(parent)
        self._pair, self._first_line = ("", ""), 1
        self._shown: tuple[object, ...] = ()
        self._diff: TextDiff | None = None
        self._description = ""
        self.columns = Columns(theme, self)
        self.title, self.summary = ElidedLabel(), ElidedLabel("muted")
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.title.setContentsMargins(0, 0, SPACE, 0)
        self.note = label(role="warn", wrap=True)
        self.note.setContentsMargins(SPACE, 0, SPACE, SPACE // 2)
        self._make_controls()
        self._lay_out()
        self.columns.moved.connect(self._follow)
        self.set_theme(theme)
        self.clear()

    def _make_controls(self) -> None:
        self.previous = button("", "Previous change (F7)", lambda: self.step(-1))
        self.next = button("", "Next change (F8)", lambda: self.step(1))
        bind(self, "F7", lambda: self.step(-1), "Previous change")
        bind(self, "F8", lambda: self.step(1), "Next change")
        self.form = switch("Dim form", "Grey changes that leave the syntax tree as it was", True)
        self.form.toggled.connect(self._set_dim)
        self.unified = switch("Unified", "Both texts in one column")
        self.unified.toggled.connect(self._set_unified)
        self.wrap = switch("Wrap", "Wrap long lines, rows kept aligned")
        self.wrap.toggled.connect(self.columns.set_wrap)
        self.between = switch("Description", "Show the description between the two texts")
        self.between.toggled.connect(self._show_description)
        self.copy = copy_menu(
            "Copy a text",
            [
                ("Original", lambda: self._pair[0]),
                ("Reconstruction", lambda: self._pair[1]),
                ("Difference", lambda: patch(self._diff) if self._diff else ""),
            ],
        )

    def _lay_out(self) -> None:
        switches = (self.form, self.unified, self.wrap, self.between, self.copy)
        steps = (self.previous, self.next)
        bar = row(self.title, self.summary, None, *switches, *steps, margins=BAR, spacing=SPACE // 2)
        column(bar, self.note, self.columns, owner=self)

    def clear(self) -> None:
        """Nothing to compare."""
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
        if shown == self._shown:
            return
        self._shown = shown
        python = not path or path.endswith((".py", ".pyi"))
        self._pair, self._description, self._first_line = (original, candidate), description, first_line
        self._diff = compare(original, candidate, python=python)
        self.title.setText(title)
        self.columns.show_diff(self._diff, path, (first_line, first_line))
        self._describe(self._diff)
        self._show_description()
        self.columns.go_to(next(iter(self._starts()), 0))
        self._follow()

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self.columns.set_theme(theme)
        self.previous.setIcon(icon("previous", theme.text, theme.border))
        self.next.setIcon(icon("next", theme.text, theme.border))

    def step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) change."""
        here, starts = self.columns.active.row(), self._starts()
        ahead = [start for start in starts if start > here]
        behind = [start for start in starts if start < here]
        if direction > 0 and ahead:
            self.columns.go_to(ahead[0])
        elif direction < 0 and behind:
            self.columns.go_to(behind[-1])

    def go_to_line(self, line: int) -> None:
        """Show a line of the reconstruction; its first line counts as `first_line`."""
        place = self.columns.row_of(1, line - self._first_line)
        if place is not None:
            self.columns.go_to(place)
            self.columns.active.setFocus()

    def _starts(self) -> list[int]:
        """Changes to step through: all, or those of substance while form is dimmed (if there are any)."""
        of_substance = self.columns.starts(skip_form=True) if self.form.isChecked() else []
        return of_substance or self.columns.starts(skip_form=False)

    def _set_dim(self, on: bool) -> None:
        self.columns.set_dim(on)
        self._follow()

    def _set_unified(self, on: bool) -> None:
        self.columns.set_unified(on)
        self.columns.go_to(next(iter(self._starts()), 0))
        self._follow()

    def _show_description(self) -> None:
        self.between.setEnabled(bool(self._description))
        self.columns.show_description(self._description, self.between.isChecked())

    def _follow(self) -> None:
        """Enable the steps that lead somewhere."""
        here, starts = self.columns.active.row(), self._starts()
        self.previous.setEnabled(any(start < here for start in starts))
        self.next.setEnabled(any(start > here for start in starts))

    def _describe(self, diff: TextDiff) -> None:
        """Say in words how the two texts differ."""
        self.summary.setText(_summary(diff) if any(self._pair) else "")
        self.note.setText(" ".join(diff.notes))
        self.note.setVisible(bool(diff.notes))


def _summary(diff: TextDiff) -> str:
    """One line."""
    if diff.equal:
        return "Identical"
    counts = [(diff.count(kind), kind.value) for kind in (Kind.CHANGED, Kind.DELETED, Kind.INSERTED)]
    lines = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    return f"Same syntax tree: {lines}" if diff.same_tree else f"{lines} lines"
