"""A strip that shows where in the whole text the changes are; a click goes there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui.diff.pane_lines import PaneLine
from ui.diff.rows import Kind
from ui.style.theme import current_theme

LEAST = 3.0
"""Pixels a mark is high at least."""


class ChangeMap(QWidget):
    """Marks by row; `row_chosen` tells which row a click meant."""

    row_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `set_lines`."""
        super().__init__(parent)
        self._rows = 1
        self._marks: list[tuple[int, int, PaneLine]] = []
        self.setAccessibleName("Map of changes")
        self.setToolTip("Where the changes are: click to go there")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_lines(self, lines: Sequence[PaneLine]) -> None:
        """Take the changes from a line a row; neighbours of one kind become one mark."""
        self._rows = max(1, len(lines))
        self._marks = []
        for number, line in enumerate(lines):
            if line.kind is Kind.EQUAL:
                continue
            last = self._marks[-1] if self._marks else None
            if last and last[1] == number and last[2].kind is line.kind and last[2].form == line.form:
                self._marks[-1] = (last[0], number + 1, line)
            else:
                self._marks.append((number, number + 1, line))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """Narrow (called by Qt)."""
        return QSize(10, 0)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw every mark (called by Qt)."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(current_theme().gutter))
        scale = self.height() / self._rows
        for start, stop, line in self._marks:
            height = max(LEAST, (stop - start) * scale)
            painter.fillRect(QRectF(2, start * scale, self.width() - 4, height), QColor(self._colour(line)))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Say which row was meant (called by Qt)."""
        self.row_chosen.emit(int(event.position().y() / max(1, self.height()) * self._rows))

    def _colour(self, line: PaneLine) -> str:
        """By kind; mere form in grey."""
        if line.form:
            return current_theme().border
        return current_theme().role({Kind.INSERTED: "good", Kind.DELETED: "bad"}.get(line.kind, "warn"))
