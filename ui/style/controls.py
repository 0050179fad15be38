"""Labels, buttons and layouts, made the same way everywhere."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from rtc_inspector.ui.style import icons
from rtc_inspector.ui.style.fonts import bold
from rtc_inspector.ui.style.theme import SPACE

Margins = tuple[int, int, int, int]  # left, top, right, bottom

BAR: Margins = (SPACE, SPACE // 2, SPACE, SPACE // 2)  # around a row of controls

DIALOG: Margins = (SPACE * 3, SPACE * 2, SPACE * 3, SPACE * 2)  # around what a dialog asks

PAGE: Margins = (SPACE * 2, SPACE * 2, SPACE * 2, SPACE * 2)  # around lists and tables in a dialog

NONE: Margins = (0, 0, 0, 0)

SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
"""How texts that cannot be changed are selected."""

FOCUS_RING = (
    "QPlainTextEdit { border: 1px solid transparent; } QPlainTextEdit:focus { border: 1px solid palette(link); }"
)
"""Style of read-only texts; the link colour is the theme's accent."""

TYPING_PAUSE = 120  # milliseconds without a key until words are looked for: each key by itself would search a long list

LONGEST_WORD = 40  # characters; paths are broken at their slashes anyhow
MARK = "\u200b"  # a space of no width, at which Qt may break a line
_ENDLESS = re.compile(rf"([^\s/\\-]{{{LONGEST_WORD}}})(?=\w)")


def breakable(text: str) -> str:
    """Return a label's text in which words longer than any line may be broken: one of them widens the whole panel."""
    return _ENDLESS.sub(rf"\1{MARK}", text)


def label(text: str = "", role: str = "", *, wrap: bool = False, selectable: bool = False) -> QLabel:
    """Return a plain-text label of a style sheet role."""
    line = called(QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=wrap), role=role)
    if selectable:
        line.setTextInteractionFlags(SELECTABLE)
    return line


def give_role(widget: QWidget, role: str) -> None:
    """Let a widget that may be on show already look as the style sheet says of another role."""
    widget.setProperty("role", role)
    # A style sheet reads the property only when a widget is polished.
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def embolden(widget: QWidget) -> None:
    """Write a label or the like in bold."""
    widget.setFont(bold(widget.font()))


class ElidedLabel(QLabel):
    """One line of plain text that never makes its window wider."""

    def __init__(self, role: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)

    def setText(self, text: str) -> None:  # noqa: N802
        super().setText(text)
        self.setToolTip(text)
        self.setAccessibleName(text)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        # Shortened when it is drawn, so that the label itself still has all of it for copying and screen readers.
        text = self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())
        if text == self.text():
            super().paintEvent(event)
        else:
            QPainter(self).drawText(self.contentsRect(), self.alignment().value, text)


Widget = TypeVar("Widget", bound=QWidget)


def called(widget: Widget, name: str = "", *, tip: str = "", role: str = "") -> Widget:
    """Return the widget with a name for screen readers, a tip and a role of the style sheet, as far as given."""
    if name:
        widget.setAccessibleName(name)
    if tip:
        widget.setToolTip(tip)
    if role:
        widget.setProperty("role", role)
    return widget


def field(name: str, hint: str = "", text: str = "") -> QLineEdit:
    """Return a line to type in; `name` is for screen readers, `hint` stands there while it is empty."""
    return called(QLineEdit(text, placeholderText=hint), name)


class FilterField(QLineEdit):
    """Words that something is filtered by. `settled(words)` when typing pauses, at once when none is left."""

    settled = Signal(str)

    def __init__(self, hint: str, name: str = "") -> None:
        super().__init__(placeholderText=hint, clearButtonEnabled=True)
        self.setAccessibleName(name or hint)
        self._pause = QTimer(self, singleShot=True, interval=TYPING_PAUSE)
        self._pause.timeout.connect(self.settle)
        self.textChanged.connect(lambda text: self._pause.start() if text else self.settle())

    def settle(self) -> None:
        self._pause.stop()
        self.settled.emit(self.text())


def has_words(text: str, words: str) -> bool:
    """Return whether a text holds every one of some words, in any order and in capitals or not."""
    text = text.lower()
    return all(word in text for word in words.lower().split())


def button(
    text: str, tip: str, run: Callable[[], object] = lambda: None, *, flat: bool = True, icon: str = ""
) -> QToolButton:
    """Return a button; `tip` is also what screen readers say, `icon` names a file of ours.

    Without `run` it has an action of the window for what it does.
    """
    widget = called(QToolButton(), tip, tip=tip, role="flat" if flat else "")
    widget.setText(text)
    if icon:
        widget.setIcon(icons.icon(icon))
    # `clicked` says whether the button is down: `run` must not take that for an argument of its own.
    widget.clicked.connect(lambda: run())
    return widget


class PushButton(QPushButton):
    """A button that Enter presses while it has the focus, and from nowhere else."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text, autoDefault=False)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        # In a dialog Qt would have Enter press the default button in place of this one.
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


def push(text: str, tip: str, run: Callable[[], object]) -> PushButton:
    """Return a button; `tip` is also what screen readers say."""
    widget = called(PushButton(text), tip or text, tip=tip)
    widget.clicked.connect(lambda: run())
    return widget


def switch(text: str, tip: str, on: bool = False) -> QToolButton:
    """Return a button that stays down."""
    widget = called(QToolButton(), f"{text}: {tip}", tip=tip, role="flat")
    widget.setText(text)
    widget.setCheckable(True)
    widget.setChecked(on)
    return widget


def bind(owner: QWidget, keys: str, run: Callable[[], object], name: str) -> QAction:
    """Bind a key (or several, with spaces between) that acts while `owner` or something in it has the focus."""
    action = QAction(name, owner)
    action.setShortcuts([QKeySequence(key) for key in keys.split()])
    # Else the key would act in the whole window, and not at all where two views have the same one.
    action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    action.triggered.connect(lambda: run())
    owner.addAction(action)
    return action


class MenuButton(QToolButton):
    """A button that opens a menu."""

    def __init__(self, text: str, tip: str) -> None:
        super().__init__(popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setText(text)
        called(self, tip, tip=tip, role="flat").setMenu(QMenu(self))

    def offer(self, words: str, act: Callable[[], object]) -> None:
        self.menu().addAction(words).triggered.connect(lambda: act())


def copy_menu(tip: str, choices: Sequence[tuple[str, Callable[[], str]]]) -> MenuButton:
    """Return a button that offers texts to put on the clipboard."""
    menu = MenuButton("Copy", tip)
    for name, text in choices:
        # The default value keeps this turn's text.
        menu.offer(name, lambda text=text: to_clipboard(text()))  # type: ignore[misc]
    return menu


def to_clipboard(text: str) -> None:
    """Put a text where the user can paste it."""
    QGuiApplication.clipboard().setText(text)


def row(
    *parts: QWidget | QLayout | None,
    margins: Margins = NONE,
    spacing: int = SPACE,
    owner: QWidget | None = None,
    grows: QWidget | QLayout | None = None,
) -> QBoxLayout:
    """Lay widgets and layouts beside each other; None stretches. `grows`: what takes the room that the others leave."""
    return _filled(QHBoxLayout(), parts, margins, spacing, owner, grows)


def column(
    *parts: QWidget | QLayout | None,
    margins: Margins = NONE,
    spacing: int = 0,
    owner: QWidget | None = None,
    grows: QWidget | QLayout | None = None,
) -> QBoxLayout:
    """Lay widgets and layouts under each other; None stretches. `grows` as in `row`, by default a last widget."""
    last = parts[-1] if parts else None
    return _filled(
        QVBoxLayout(), parts, margins, spacing, owner, grows or (last if isinstance(last, QWidget) else None)
    )


def split(
    direction: Qt.Orientation, *parts: QWidget, sizes: Sequence[int] = (), stretch: Sequence[int] = ()
) -> QSplitter:
    """Return a splitter of widgets with a thin handle between them, none of which can be dragged out of sight.

    `sizes`: in which proportion they share the room at first; `stretch`: what each takes of the room that a larger
    window gives, by default in proportion to the sizes they have then.
    """
    splitter = QSplitter(direction, handleWidth=1, childrenCollapsible=False)
    for part in parts:
        splitter.addWidget(part)
    if sizes:
        splitter.setSizes(list(sizes))
    for place, share in enumerate(stretch):
        splitter.setStretchFactor(place, share)
    return splitter


def stacked(*parts: QWidget) -> QStackedWidget:
    """Return widgets in one place, of which the first is on show."""
    stack = QStackedWidget()
    for part in parts:
        stack.addWidget(part)
    return stack


def scrolled(part: QWidget) -> QScrollArea:
    """Return a widget that is scrolled where it has no room, by what stands in it: the frame takes no focus."""
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(part)
    return area


def on_ground(widget: QWidget, role: str) -> None:
    """Paint a widget on the ground that the style sheet has for a role, which Qt does for its own kinds alone."""
    widget.setProperty("role", role)
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)


def discard(widget: QWidget) -> None:
    """Take a widget away for good: out of sight, and of its layout, now; it is deleted in the next turn of the loop."""
    widget.setParent(None)
    widget.deleteLater()


class Section(QWidget):
    """A titled part: heading at the left, a label or control at the right, content below."""

    def __init__(self, title: str, content: QWidget, right: QWidget | None = None) -> None:
        super().__init__()
        on_ground(self, "surface")
        self.heading = called(QLabel(title), role="heading")
        self.heading.setBuddy(content)
        parts = (self.heading, None, right) if right is not None else (self.heading, None)
        head = row(*parts, margins=(SPACE + 4, SPACE, SPACE + 4, SPACE // 2))
        column(head, content, owner=self)


def _filled(
    made: QBoxLayout,
    parts: Sequence[QWidget | QLayout | None],
    margins: Margins,
    spacing: int,
    owner: QWidget | None,
    grows: QWidget | QLayout | None,
) -> QBoxLayout:
    if owner is not None:
        owner.setLayout(made)
    made.setContentsMargins(*margins)
    made.setSpacing(spacing)
    for part in parts:
        if isinstance(part, QWidget):
            made.addWidget(part, int(part is grows))
        elif part is None:
            made.addStretch(1)
        else:
            made.addLayout(part, int(part is grows))
    return made


QWIDGETSIZE_MAX = (1 << 24) - 1  # qt's own limit, which Python is not told of


class Flow(QLayout):
    """Left to right, top to bottom; hidden widgets take no room."""

    def __init__(self, parts: Sequence[QWidget], spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._sizes: list[tuple[QLayoutItem, QSize, QSize]] | None = None
        self._gap = spacing
        self.setContentsMargins(0, 0, 0, 0)
        for part in parts:
            self.addWidget(part)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        self._items.append(item)
        self._sizes = None

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem:  # noqa: N802
        return self._items[index] if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def takeAt(self, index: int) -> QLayoutItem:  # noqa: N802
        self._sizes = None
        return self._items.pop(index) if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def invalidate(self) -> None:
        self._sizes = None
        super().invalidate()

    def _measured(self) -> list[tuple[QLayoutItem, QSize, QSize]]:
        """Return what is not hidden, each with its size hint and its smallest size.

        Kept until `invalidate`: Qt asks for heights several times a layout, and each question to an item from Python
        costs more than all the arithmetic here.
        """
        if self._sizes is None:
            self._sizes = [(each, each.sizeHint(), each.minimumSize()) for each in self._items if not each.isEmpty()]
        return self._sizes

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        inner = QRect(0, 0, width, 0).marginsRemoved(self.contentsMargins())
        return self._place(inner, move=False) - inner.height()

    def sizeHint(self) -> QSize:  # noqa: N802
        sizes = [size for _, size, _ in self._measured()]
        width = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0)).grownBy(self.contentsMargins())

    def minimumSize(self) -> QSize:  # noqa: N802
        size = QSize()
        for _, _, least in self._measured():
            size = size.expandedTo(least)
        return size.grownBy(self.contentsMargins())

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802
        super().setGeometry(rect)
        self._place(rect.marginsRemoved(self.contentsMargins()), move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        x, y, height = rect.x(), rect.y(), 0
        line = max((hint.height() for _, hint, _ in self._measured()), default=0)
        for item, hint, least in self._measured():
            size = hint.boundedTo(QSize(max(rect.width(), least.width()), QWIDGETSIZE_MAX))
            if x > rect.x() and x + size.width() > rect.right() + 1:
                x, y = rect.x(), y + line + self._gap
            if move:
                item.setGeometry(QRect(x, y + (line - size.height()) // 2, size.width(), size.height()))
            x += size.width() + self._gap
            height = y + line - rect.y()
        return height
