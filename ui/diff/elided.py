"""A label that gives way: text that does not fit is shortened, the whole stands in the tool tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy


class ElidedLabel(QLabel):
    """One line of plain text that never makes its window wider."""

    def __init__(self, role: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        """`role` is the style sheet's, `mode` says which end gives way."""
        super().__init__()
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)

    def setText(self, text: str) -> None:  # noqa: N802
        """Show another text (as QLabel does)."""
        super().setText(text)
        self.setToolTip(text)
        self.setAccessibleName(text)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """No width at all is enough (called by Qt)."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw what fits (called by Qt)."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        text = self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())
        painter.drawText(self.contentsRect(), self.alignment().value, text)
