"""A button with its key drawn on it, a name and an explanation."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QEnterEvent, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from core.taxonomy import ErrorMode
from ui.style.fonts import bold
from ui.style.text_size import grown
from ui.style.theme import SPACE, current_theme

CAP = 18
"""Side of the drawn key."""


class ModeButton(QAbstractButton):
    """One error mode; down while it is the sample's label."""

    def __init__(self, mode: ErrorMode) -> None:
        """Not chosen yet."""
        super().__init__()
        self.mode = mode
        self.setCheckable(True)
        self.setText(mode.name)
        self.setToolTip(mode.about)
        self._key = ""
        self.set_key("")
        self.setAccessibleDescription(mode.about)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_key(self, key: str) -> None:
        """Show the key that chooses it; empty when there is none."""
        self._key = key
        self.setAccessibleName(f"{self.mode.name}, key {key}" if key else self.mode.name)
        self.update()

    def nextCheckState(self) -> None:  # noqa: N802
        """A click asks; only what is stored puts the button down (called by Qt)."""

    def sizeHint(self) -> QSize:  # noqa: N802
        """One line of text (called by Qt)."""
        return QSize(220, self.fontMetrics().lineSpacing() + SPACE)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """The explanation gives way (called by Qt)."""
        return QSize(160, self.sizeHint().height())

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802
        """Show that it can be clicked (called by Qt)."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        """Draw it as before (called by Qt)."""
        super().leaveEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Frame, key, name, explanation (called by Qt)."""
        theme, painter = current_theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused, hot = self.hasFocus(), self.underMouse() and self.isEnabled()
        painter.setPen(QPen(QColor(theme.focus if focused else theme.border), 2 if focused else 1))
        ground = theme.selection if self.isChecked() else theme.raised if hot else theme.surface
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        self._draw_key(painter)
        self._draw_text(painter)

    def _strong(self) -> QFont:
        return bold(self.font())

    def _draw_key(self, painter: QPainter) -> None:
        theme, chosen = current_theme(), self.isChecked()
        high = grown(self, CAP)
        cap = QRectF(SPACE, (self.height() - high) / 2, self._cap(), high)
        painter.setPen(QPen(QColor(theme.accent if chosen else theme.border), 1))
        painter.setBrush(QColor(theme.accent if chosen else theme.gutter))
        painter.drawRoundedRect(cap, 4, 4)
        painter.setPen(QColor(theme.accent_text if chosen else theme.text))
        painter.setFont(self._strong())
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, "✓" if chosen else self._key)

    def _cap(self) -> int:
        """Width of the drawn key: longer words than a letter or digit need more."""
        words = QFontMetrics(self._strong()).horizontalAdvance(self._key) if len(self._key) > 1 else 0
        return max(grown(self, CAP), words + SPACE)

    def _draw_text(self, painter: QPainter) -> None:
        theme, left = current_theme(), SPACE * 2 + self._cap()
        name = QFontMetrics(self._strong()).horizontalAdvance(self.text()) + SPACE
        room = self.width() - left - SPACE
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(theme.text if self.isEnabled() else theme.muted))
        painter.drawText(QRectF(left, 0, room, self.height()), middle, self.text())
        painter.setFont(self.font())
        painter.setPen(QColor(theme.muted))
        about = self.fontMetrics().elidedText(self.mode.about, Qt.TextElideMode.ElideRight, int(room - name))
        painter.drawText(QRectF(left + name, 0, room - name, self.height()), middle, about)
