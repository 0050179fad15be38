"""Draws a score as a tinted chip with its number: colour and figure together."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ui.project.project_model import HEAT_ROLE
from ui.style.theme import current_theme


class HeatDelegate(QStyledItemDelegate):
    """For columns whose cells hold a score 0..1 under HEAT_ROLE."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt: the row's own background, then the chip."""
        self.initStyleOption(option, index)
        text, value = option.text, index.data(HEAT_ROLE)
        option.text = ""
        style = option.widget.style() if option.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        if value is not None and text:
            self._chip(painter, QRectF(option.rect), text, value)

    def _chip(self, painter: QPainter, cell: QRectF, text: str, value: float) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = painter.fontMetrics().horizontalAdvance("0.00") + 16
        chip = QRectF(cell.right() - width - 4, cell.center().y() - 9, width, 18)
        theme = current_theme()
        heat = theme.heat(value)
        painter.setPen(QColor(theme.tint(heat, 0.55)))
        painter.setBrush(QColor(theme.tint(heat, 0.22)))
        painter.drawRoundedRect(chip, 4, 4)
        painter.setPen(QColor(theme.text))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()
