"""A card that can be chosen by mouse or key."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from rtc_inspector.ui.style.theme import current_theme

RADIUS = 7.0


class Card(QFrame):
    """A rounded frame; `chosen` is emitted when it is clicked. `marked`: whether it is the chosen one."""

    chosen = Signal()

    def __init__(self, inset: int = 0) -> None:
        """`inset`: pixels left free at the left, with an elbow that leads to the card above."""
        super().__init__()
        self.inset = inset
        self.marked = False
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mark(self, marked: bool) -> None:
        """Show it as chosen; only the chosen card is in the Tab order, arrow keys reach the others."""
        self.marked = marked
        # Tab through thirty cards would never come to what stands after them.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if marked else Qt.FocusPolicy.ClickFocus)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.chosen.emit()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw the frame: tinted when the card is chosen, with a ring when it has the focus."""
        theme, painter = current_theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = self.hasFocus()
        if self.inset:
            self._draw_elbow(painter)
        colour = theme.focus if focused else theme.accent if self.marked else theme.border
        painter.setPen(QPen(QColor(colour), 2 if focused else 1))
        painter.setBrush(QColor(theme.tint(theme.accent, 0.07) if self.marked else theme.surface))
        edge = 1.0 if focused else 0.5
        frame = QRectF(self.rect()).adjusted(self.inset + edge, edge, -edge, -edge)
        painter.drawRoundedRect(frame, RADIUS, RADIUS)

    def _draw_elbow(self, painter: QPainter) -> None:
        """Draw a line from the card above to this one."""
        x, y = self.inset * 0.45, 18.0
        painter.setPen(QPen(QColor(current_theme().border), 1.5))
        painter.drawPolyline(QPolygonF([QPointF(x, 0), QPointF(x, y), QPointF(self.inset, y)]))


class CardScroll(QScrollArea):
    """Scrolls a column of cards; arrow keys are left to whoever moves between the cards."""

    def __init__(self, cards: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(cards)
        self.setMinimumHeight(1)  # what stands above it must fit into a low window

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Scroll by the page keys alone."""
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            super().keyPressEvent(event)
        else:
            event.ignore()
