"""The whole file at a glance, beside the scroll bar: every region in its colour, and what is in view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui.region_state import RegionState, state_colour

if TYPE_CHECKING:
    from ui.code.editor import CodeEditor

WIDTH = 14
FULL = (RegionState.PASS, RegionState.PARTIAL, RegionState.FAIL, RegionState.RUNNING)


class HeatStrip(QWidget):
    """A click goes to the line: `line_chosen`, 0-based."""

    line_chosen = Signal(int)

    def __init__(self, editor: CodeEditor) -> None:
        """Belong to `editor`."""
        super().__init__(editor)
        self._editor = editor
        self.setFixedWidth(WIDTH)
        self.setAccessibleName("What the run sampled from the whole file")
        self.setToolTip("What the run sampled from the whole file; click to go there")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Qt: the visible part, then every block; failures are drawn wider than passes."""
        editor, painter = self._editor, QPainter(self)
        theme = editor.theme
        painter.fillRect(self.rect(), QColor(theme.gutter))
        scale = self.height() / max(editor.blockCount(), self.height() / 6, 1)
        visible = editor.visible_lines()
        view = QRectF(0, visible.start * scale, WIDTH, max(len(visible) * scale, 4))
        painter.fillRect(view, QColor(theme.raised))
        for block in editor.blocks:
            colour = QColor(state_colour(theme, block.state))
            inset = 2 if block.state.failing else 4
            height = max((block.last - block.first + 1) * scale, 3)
            mark = QRectF(inset, block.first * scale, WIDTH - 2 * inset, height)
            if block.state in FULL:
                painter.fillRect(mark, colour)
            else:
                painter.setPen(colour)
                painter.drawRect(mark.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Qt: say which line was clicked."""
        scale = self.height() / max(self._editor.blockCount(), self.height() / 6, 1)
        line = min(int(event.position().y() / scale), self._editor.blockCount() - 1)
        self.line_chosen.emit(line)
