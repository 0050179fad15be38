"""Table cells with a tiny bar under their figure."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from ui.panels.tables import FRACTION, Index
from ui.theme import Theme

HEIGHT = 3
INSET = 8


class BarDelegate(QStyledItemDelegate):
    """Draws the cell as ever, then a bar as long as its fraction."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Bars in the theme's accent."""
        super().__init__(parent)
        self.theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell (called by Qt)."""
        super().paint(painter, option, index)
        fraction = index.data(FRACTION)
        if fraction is None:
            return
        room = QRectF(option.rect).adjusted(INSET, 0, -INSET, 0)
        bar = QRectF(room.left(), room.bottom() - HEIGHT - 1, room.width(), HEIGHT)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.raised))
        painter.drawRoundedRect(bar, 1.5, 1.5)
        bar.setWidth(room.width() * min(1.0, max(0.0, fraction)))
        painter.setBrush(QColor(self.theme.accent))
        painter.drawRoundedRect(bar, 1.5, 1.5)
        painter.restore()
