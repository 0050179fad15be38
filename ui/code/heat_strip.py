"""The whole file at a glance, beside the scroll bar: every region in its colour, and what is in view."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui.code.gutter import ShownLines
from ui.style.region_state import RegionState, state_colour
from ui.style.theme import current_theme

WIDTH = 14
FULL = (RegionState.PASS, RegionState.PARTIAL, RegionState.FAIL, RegionState.RUNNING)


class HeatStrip(QWidget):
    """A click goes to the line: `line_chosen`, 0-based."""

    line_chosen = Signal(int)

    def __init__(self, owner: QWidget, lines: ShownLines) -> None:
        """Draw `lines` at the side of `owner`."""
        super().__init__(owner)
        self._lines = lines
        self.setFixedWidth(WIDTH)
        self.setAccessibleName("What the run sampled from the whole file")
        self.setToolTip("What the run sampled from the whole file; click to go there")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Qt: the visible part, then every block; failures are drawn wider than passes."""
        shown, painter = self._lines, QPainter(self)
        theme = current_theme()
        painter.fillRect(self.rect(), QColor(theme.gutter))
        scale = self._scale()
        visible = shown.visible_lines()
        view = QRectF(0, visible.start * scale, WIDTH, max(len(visible) * scale, 4))
        painter.fillRect(view, QColor(theme.raised))
        for block in shown.blocks:
            colour = QColor(state_colour(block.state))
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
        self.line_chosen.emit(min(int(event.position().y() / self._scale()), self._count() - 1))

    def _count(self) -> int:
        return self._lines.last_number - self._lines.first_number + 1

    def _scale(self) -> float:
        """Pixels of a line."""
        # A short file is not stretched over the whole strip: a line takes six pixels at most.
        return self.height() / max(self._count(), self.height() / 6, 1)
