"""Line numbers, and the mark of each region beside its first line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from ui.code.block_painter import Canvas
from ui.code.blocks import Block
from ui.style.marks import draw_mark
from ui.style.region_state import state_colour
from ui.style.theme import current_theme

MARK_WIDTH = 20


class ShownLines(Protocol):
    """What a gutter and a strip draw: lines with regions, and which of both are in view."""

    blocks: Sequence[Block]
    first_number: int

    @property
    def last_number(self) -> int:
        """The number of the last line."""

    def canvas(self) -> Canvas:
        """Where lines stand at the moment."""

    def visible_lines(self) -> range:
        """0-based lines in view."""

    def visible_blocks(self) -> list[Block]:
        """Regions in view."""


class Gutter(QWidget):
    """Stands left of a text and scrolls with it."""

    def __init__(self, owner: QAbstractScrollArea, lines: ShownLines) -> None:
        """Draw `lines` at the side of `owner`, which is scrolled."""
        super().__init__(owner)
        self._owner, self._lines = owner, lines
        self.setAccessibleName("Line numbers")

    def sizeHint(self) -> QSize:  # noqa: N802
        """Qt: wide enough for the last line's number."""
        digits = max(3, len(str(self._lines.last_number)))
        return QSize(digits * self.fontMetrics().horizontalAdvance("9") + MARK_WIDTH + 14, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """Qt: scroll the text."""
        QApplication.sendEvent(self._owner.viewport(), event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Qt: draw the visible numbers and marks."""
        shown, painter = self._lines, QPainter(self)
        painter.fillRect(event.rect(), QColor(current_theme().gutter))
        canvas = shown.canvas()
        numbers = self.width() - MARK_WIDTH - 4
        painter.setFont(self.font())
        painter.setPen(QColor(current_theme().muted))
        for line in shown.visible_lines():
            box = QRectF(0, canvas.top + line * canvas.line_height, numbers, canvas.line_height)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, right, str(line + shown.first_number))
        for block in shown.visible_blocks():
            self._mark(painter, block)
        painter.end()

    def _mark(self, painter: QPainter, block: Block) -> None:
        canvas = self._lines.canvas()
        top = canvas.top + block.first * canvas.line_height
        height = (block.last - block.first + 1) * canvas.line_height
        bar = QRectF(self.width() - 3, top + 1, 3, height - 2)
        painter.fillRect(bar, QColor(state_colour(block.state)))
        centre = QPointF(self.width() - MARK_WIDTH / 2 - 3, top + canvas.line_height / 2)
        draw_mark(painter, centre, block.state)
