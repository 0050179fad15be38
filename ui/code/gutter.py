"""Line numbers, and the mark of each region beside its first line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from ui.code.blocks import Block
from ui.marks import draw_mark
from ui.region_state import state_colour

if TYPE_CHECKING:
    from ui.code.editor import CodeEditor

MARK_WIDTH = 20


class Gutter(QWidget):
    """Stands left of the editor's text and scrolls with it."""

    def __init__(self, editor: CodeEditor) -> None:
        """Belong to `editor`."""
        super().__init__(editor)
        self._editor = editor
        self.setAccessibleName("Line numbers")

    def sizeHint(self) -> QSize:  # noqa: N802
        """Qt: wide enough for the last line's number."""
        digits = max(3, len(str(self._editor.last_number)))
        return QSize(digits * self.fontMetrics().horizontalAdvance("9") + MARK_WIDTH + 14, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """Qt: scroll the editor."""
        self._editor.wheelEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Qt: draw the visible numbers and marks."""
        editor, painter = self._editor, QPainter(self)
        painter.fillRect(event.rect(), QColor(editor.theme.gutter))
        canvas = editor.canvas()
        numbers = self.width() - MARK_WIDTH - 4
        painter.setFont(self.font())
        painter.setPen(QColor(editor.theme.muted))
        for line in editor.visible_lines():
            box = QRectF(0, canvas.top + line * canvas.line_height, numbers, canvas.line_height)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, right, str(line + editor.first_number))
        for block in editor.visible_blocks():
            self._mark(painter, block)
        painter.end()

    def _mark(self, painter: QPainter, block: Block) -> None:
        canvas, theme = self._editor.canvas(), self._editor.theme
        top = canvas.top + block.first * canvas.line_height
        height = (block.last - block.first + 1) * canvas.line_height
        bar = QRectF(self.width() - 3, top + 1, 3, height - 2)
        painter.fillRect(bar, QColor(state_colour(theme, block.state)))
        centre = QPointF(self.width() - MARK_WIDTH / 2 - 3, top + canvas.line_height / 2)
        draw_mark(painter, centre, block.state, theme)
