"""A small rounded label: outcome, warning or figure."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rtc_inspector.ui.style.fonts import bold
from rtc_inspector.ui.style.theme import current_theme

PAD = 6
SIZE = 8 / 9
"""Of its text, against the text around it."""


class Badge(QWidget):
    """Text on a tint of its own colour. `text`: what it says."""

    def __init__(self, text: str = "", role: str = "", tip: str = "") -> None:
        """`role`: of its colour in the theme; empty for a neutral one."""
        super().__init__()
        self.text, self._role = "", ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_text(text, role, tip)

    def show_text(self, text: str, role: str = "", tip: str = "") -> None:
        """Say something else; hidden while there is nothing to say."""
        if (text, role) != (self.text, self._role):
            self.text, self._role = text, role
            # A layout asks for a size once; it must be told that there is another.
            self.updateGeometry()
            self.update()
        self.setToolTip(tip)
        self.setAccessibleName(f"{text}. {tip}" if tip else text)
        self.setVisible(bool(text))

    def _font(self) -> QFont:
        font = bold(self.font())
        font.setPointSizeF(font.pointSizeF() * SIZE)
        return font

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(self._font())
        return QSize(metrics.horizontalAdvance(self.text) + 2 * PAD + 1, metrics.height() + PAD)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        theme = current_theme()
        colour = theme.role(self._role or "neutral")
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.tint(colour, 0.14)))
        painter.drawRoundedRect(QRectF(self.rect()), 5, 5)
        painter.setPen(QColor(colour))
        painter.setFont(self._font())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text)
