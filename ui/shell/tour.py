"""A tour of at most four steps over the window: of what it is made of, or of what a run holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from rtc_inspector.ui.style.controls import column, label, row
from rtc_inspector.ui.style.theme import SPACE, current_theme

WIDTH = 340
MOST = 4
FRAME = 4
"""Pixels."""


@dataclass(frozen=True, slots=True)
class Step:
    """`about` is what the words are about; `point` shows there what they name, when their turn comes."""

    about: QWidget
    title: str
    text: str
    point: Callable[[], object] | None = None


class Tour(QWidget):
    """Lies over the whole window. `ended` however it ended."""

    ended = Signal()

    def __init__(self, steps: Sequence[Step], window: QWidget) -> None:
        """At most four steps, whose widgets are in `window`."""
        super().__init__(window)
        self.steps, self._room, self.at = steps[:MOST], window, 0
        self.setAccessibleName("Tour")
        self.card, self.title, self.text = QFrame(self), label(role="title", wrap=True), label(wrap=True)
        self.place = label(role="caption")
        self.skip, self.next = QPushButton("Skip"), QPushButton("Next")
        self._build()
        # A child does not hear that its parent is resized.
        window.installEventFilter(self)

    def _build(self) -> None:
        self.card.setProperty("role", "popup")
        self.card.setFixedWidth(WIDTH)
        self.next.setProperty("role", "primary")
        self.skip.setAccessibleName("Skip the tour (Escape)")
        self.skip.clicked.connect(self.end)
        self.next.clicked.connect(self.go_on)
        margins = SPACE * 2, SPACE * 2, SPACE * 2, SPACE + 4
        foot = row(self.place, None, self.skip, self.next)
        column(self.title, self.text, foot, margins=margins, spacing=SPACE, owner=self.card)

    def begin(self) -> None:
        """Show the first step."""
        self.at = 0
        self.setGeometry(self._room.rect())
        self.show()
        self.raise_()
        self._show_step()

    def go_on(self) -> None:
        """Show the next step, or end after the last."""
        self.at += 1
        if self.at < len(self.steps):
            self._show_step()
        else:
            self.end()

    def end(self) -> None:
        """Take it away."""
        if self.isVisible():
            self.hide()
            self.ended.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Follow the window's size."""
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self.setGeometry(self._room.rect())
            self._stand()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """End the tour by Escape; go on by Enter and the arrow (Space presses the button that has the focus)."""
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Right):
            self.go_on()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Frame what the step is about; all else stays readable, for a run may be writing."""
        painter = QPainter(self)
        painter.setPen(QPen(QColor(current_theme().accent), FRAME))
        painter.drawRect(self._about().adjusted(FRAME // 2, FRAME // 2, -FRAME // 2, -FRAME // 2))
        painter.end()

    def _about(self) -> QRect:
        widget = self.steps[min(self.at, len(self.steps) - 1)].about
        return QRect(widget.mapTo(self._room, QPoint(0, 0)), widget.size()).intersected(self.rect())

    def _show_step(self) -> None:
        step, last = self.steps[self.at], self.at == len(self.steps) - 1
        if step.point is not None:
            step.point()
        self.title.setText(step.title)
        self.text.setText(step.text)
        self.place.setText(f"{self.at + 1} of {len(self.steps)}")
        self.next.setText("Done" if last else "Next")
        self.next.setAccessibleName(f"{step.title}. {step.text} {self.next.text()}")
        self.skip.setVisible(not last)
        self._stand()
        # So that Enter goes on, and a screen reader says the step.
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def _stand(self) -> None:
        """Put the card beside what the step is about, wherever there is room; inside it where there is none."""
        height = self.card.layout().heightForWidth(WIDTH)  # type: ignore[union-attr]
        self.card.setFixedHeight(height + SPACE // 2)  # the frame is not in it
        about, room, size = self._about(), self.rect(), self.card.size()
        if about.right() + SPACE + size.width() < room.right():
            corner = QPoint(about.right() + SPACE, about.top() + SPACE)
        elif about.left() - SPACE - size.width() > 0:
            corner = QPoint(about.left() - SPACE - size.width(), about.top() + SPACE)
        else:
            corner = QPoint(about.center().x() - size.width() // 2, about.bottom() + SPACE)
        left = min(max(corner.x(), SPACE), room.right() - size.width() - SPACE)
        top = min(max(corner.y(), SPACE), room.bottom() - size.height() - SPACE)
        self.card.move(left, top)
        self.update()
