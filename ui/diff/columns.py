"""The panes of a comparison, side by side or as one column, with rows kept aligned."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSplitter, QStackedWidget, QWidget

from ui.diff.change_map import ChangeMap
from ui.diff.controls import FOCUS_RING, column, label, row
from ui.diff.pane import Pane
from ui.diff.pane_lines import PaneLine, change_starts, one_column, side_by_side
from ui.diff.rows import TextDiff
from ui.diff.scrolling import LinkedScrolling
from ui.diff.spans import Spans
from ui.theme import SPACE, Theme

REWRAP_AFTER = 40
"""Milliseconds of quiet before rows are aligned anew while a pane is resized."""


class Columns(QWidget):
    """Original, description and reconstruction as linked panes, or both texts in one column.

    `moved` says that the current row, and with it the next and previous change, is another.
    """

    moved = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Empty until `show_diff`."""
        super().__init__(parent)
        self._diff, self._first = TextDiff((), (), False), (1, 1)
        self._wrap = False
        self.spans = (Spans(self), Spans(self))
        self.left = Pane(theme, "Original", self.spans, self)
        self.right = Pane(theme, "Reconstruction", self.spans, self)
        self.single = Pane(theme, "Original and reconstruction in one column", self.spans, self)
        self.description = QPlainTextEdit(self)
        self.description.setReadOnly(True)
        self.description.setFrameShape(QFrame.Shape.NoFrame)
        self.description.setAccessibleName("Description")
        self.description.setStyleSheet(FOCUS_RING)
        self.description.document().setDocumentMargin(SPACE)
        self.description.setTabChangesFocus(True)
        self.map = ChangeMap(theme, self)
        LinkedScrolling(self.left, self.right)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REWRAP_AFTER)
        self._timer.timeout.connect(self._align)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self._middle = _titled("Description", self.description)
        self._middle.hide()
        self._sides = QSplitter(Qt.Orientation.Horizontal)
        self._sides.setChildrenCollapsible(False)
        for part in (_titled("Original", self.left), self._middle, _titled("Reconstruction", self.right)):
            self._sides.addWidget(part)
        self._sides.setSizes([400, 200, 400])
        self._stack = QStackedWidget()
        self._stack.addWidget(self._sides)
        self._stack.addWidget(_titled("Original and reconstruction", self.single))
        layout = row(self._stack, self.map, spacing=0, owner=self)
        layout.setStretch(0, 1)

    def _connect(self) -> None:
        self.left.resized.connect(self._rewrap)
        self.right.resized.connect(self._rewrap)
        self.map.row_chosen.connect(self.go_to)
        for pane in self.panes:
            pane.cursorPositionChanged.connect(self.moved)

    @property
    def panes(self) -> tuple[Pane, Pane, Pane]:
        """Original, reconstruction, one column."""
        return self.left, self.right, self.single

    @property
    def unified(self) -> bool:
        """Whether both texts stand in one column."""
        return self._stack.currentIndex() == 1

    @property
    def active(self) -> Pane:
        """The pane that keys act on."""
        if self.unified:
            return self.single
        return self.left if self.left.hasFocus() else self.right

    def show_diff(self, diff: TextDiff, path: str, first: tuple[int, int]) -> None:
        """Show a comparison; `first`: what the first line of either side is numbered."""
        self._diff, self._first = diff, first
        for side, name in enumerate(("left", "right")):
            cells = [cell for row in diff.rows if (cell := getattr(row, name)) is not None]
            self.spans[side].start([cell.text for cell in cells], path)
        self._fill()

    def show_description(self, text: str, shown: bool) -> None:
        """Put the description between the two, or take it away."""
        if text != self.description.toPlainText():
            self.description.setPlainText(text)
        self._middle.setVisible(shown and bool(text))

    def set_unified(self, on: bool) -> None:
        """One column, or side by side."""
        self._stack.setCurrentIndex(int(on))
        self._fill()

    def set_wrap(self, on: bool) -> None:
        """Wrap long lines in every pane, rows aligned."""
        self._wrap = on
        for pane in self.panes:
            pane.set_wrap(on)
        self._align()

    def set_dim(self, on: bool) -> None:
        """Grey changes of mere form."""
        for pane in self.panes:
            pane.set_dim(on)

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        for pane in self.panes:
            pane.set_theme(theme)
        self.map.set_theme(theme)

    def starts(self, skip_form: bool) -> list[int]:
        """Rows at which a change starts."""
        lines = self.single.lines if self.unified else self.left.lines
        return change_starts(lines, skip_form)

    def go_to(self, number: int) -> None:
        """Make a row current in every pane on show, in the middle of what is seen."""
        for pane in (self.single,) if self.unified else (self.left, self.right):
            pane.go_to(number, centre=True)

    def row_of(self, side: int, number: int) -> int | None:
        """The row that shows line `number` (from 0) of a side in the present form."""
        lines = self.single.lines if self.unified else (self.left.lines, self.right.lines)[side]
        places = (place for place, line in enumerate(lines) if (line.side, line.number) == (side, number))
        return next(places, None)

    def _fill(self) -> None:
        """Hand the panes on show their lines."""
        if self.unified:
            lines = one_column(self._diff, self._first)
            self.single.set_lines(lines)
            self.map.set_lines([lines])
            return
        left, right = side_by_side(self._diff, self._first)
        self.left.set_lines(left)
        self.right.set_lines(right)
        self.map.set_lines([left, right])
        self._align()

    def _rewrap(self) -> None:
        """A width has changed: align again once it is quiet."""
        if self._wrap:
            self._timer.start()

    def _align(self) -> None:
        """Give rows of both panes one height."""
        if self.unified or not self.left.lines:
            return
        left, right = self.left.lines, self.right.lines
        if not self._wrap:
            _pad(self.left, left, ())
            _pad(self.right, right, ())
            return
        heights = list(zip(self.left.heights(), self.right.heights(), strict=True))
        _pad(self.left, left, [max(0, b - a) for a, b in heights])
        _pad(self.right, right, [max(0, a - b) for a, b in heights])
        tall = [place for place, pair in enumerate(heights) if max(pair) > 1]
        self.left.lay_out(tall)
        self.right.lay_out(tall)


def _pad(pane: Pane, lines: Sequence[PaneLine], padding: Sequence[int]) -> None:
    """Lay the rows out again only if that changes anything."""
    if list(pane.padding or [0] * len(lines)) != list(padding or [0] * len(lines)):
        pane.set_lines(lines, padding)


def _titled(title: str, pane: QWidget) -> QWidget:
    """A pane under its heading."""
    holder = QWidget()
    holder.setProperty("role", "surface")
    heading = label(title, "heading")
    heading.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
    column(heading, pane, owner=holder)
    return holder
