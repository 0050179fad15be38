"""What a new user sees: the page before a project is open, and a tour over the window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from rtc_inspector.ui.style.controls import PushButton, called, column, label, on_ground, push, row
from rtc_inspector.ui.style.fonts import grown
from rtc_inspector.ui.style.theme import SPACE, current_theme

TITLE = "How well does a local model understand your code?"
TEXT = (
    "Open a project that has tests. RTC Inspector takes regions that the tests can judge, has a model on this "
    "machine describe each one and write it again from that and the code around it, and runs the tests on the result."
)
RECENT = 5
LONGEST = 60  # characters of a recent project's folder
DROP = 72
WIDEST = 620  # pixels for text of the usual size; longer lines read badly


class Welcome(QWidget):
    """A page of what to begin with, as buttons; `project_chosen` for a recent one."""

    project_chosen = Signal(object)

    def __init__(self, recent: Sequence[Path]) -> None:
        super().__init__()
        on_ground(self, "surface")
        self.recent = column(spacing=SPACE // 2)
        for root in recent[:RECENT]:
            self.recent.addWidget(self._link(root))
        hint = label("…or drop a project folder, a GGUF file or a database of runs here", "drop")
        hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        hint.setMinimumHeight(DROP)
        names = "Open folder…", "Try the demo", "See a recorded run", "Open database…"
        self.folder, self.demo, self.recorded, self.database = (called(PushButton(each), each) for each in names)
        self.folder.setProperty("role", "primary")
        self.setFocusProxy(self.folder)
        title, text = label(TITLE, "title", wrap=True), label(TEXT, "muted", wrap=True)
        self._page = QWidget()
        inner = QVBoxLayout(self._page)
        inner.setSpacing(SPACE * 2)
        inner.addStretch(2)
        buttons = row(self.folder, self.demo, self.recorded, self.database, None)
        inner.addLayout(column(title, text, buttons, hint, self.recent, spacing=SPACE * 2))
        inner.addStretch(3)
        margins = SPACE * 4, SPACE * 2, SPACE * 4, SPACE * 2
        around = row(None, self._page, None, margins=margins, owner=self)
        around.setStretch(1, 100)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._page.setMaximumWidth(grown(self, WIDEST))

    def _link(self, root: Path) -> QPushButton:
        path = str(root.parent)
        path = path if len(path) <= LONGEST else f"…{path[-LONGEST:]}"
        link = called(PushButton(f"{root.name}   {path}"), f"Open project {root}", tip=str(root), role="flat")
        link.setStyleSheet("text-align: left;")
        link.clicked.connect(lambda: self.project_chosen.emit(root))
        return link


WIDTH = 340
MOST = 4
FRAME = 4  # pixels


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
        super().__init__(window, accessibleName="Tour")
        self.steps, self._room, self.at = steps[:MOST], window, 0
        self.card, self.title, self.text = QFrame(self), label(role="title", wrap=True), label(wrap=True)
        self.place = label(role="caption")
        self.skip = called(push("Skip", "", self.end), "Skip the tour (Escape)")
        self.next = called(push("Next", "", self.go_on), role="primary")
        self.card.setProperty("role", "popup")
        self.card.setFixedWidth(WIDTH)
        margins = SPACE * 2, SPACE * 2, SPACE * 2, SPACE + 4
        foot = row(self.place, None, self.skip, self.next)
        column(self.title, self.text, foot, margins=margins, spacing=SPACE, owner=self.card)
        # A child does not hear that its parent is resized.
        window.installEventFilter(self)

    def begin(self) -> None:
        self.at = 0
        self.setGeometry(self._room.rect())
        self.show()
        self.raise_()
        self._show_step()

    def go_on(self) -> None:
        self.at += 1
        if self.at < len(self.steps):
            self._show_step()
        else:
            self.end()

    def end(self) -> None:
        if self.isVisible():
            self.hide()
            self.ended.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self.setGeometry(self._room.rect())
            self._stand()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
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
