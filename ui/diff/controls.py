"""Making labels, buttons and layouts the same way everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from ui.style.theme import SPACE

Margins = tuple[int, int, int, int]
"""Left, top, right, bottom."""

BAR: Margins = (SPACE, SPACE // 2, SPACE, SPACE // 2)
"""Around a row of controls."""

NONE: Margins = (0, 0, 0, 0)

FOCUS_RING = (
    "QPlainTextEdit { border: 1px solid transparent; } QPlainTextEdit:focus { border: 1px solid palette(link); }"
)
"""Style of read-only texts; the link colour is the theme's accent."""


def label(text: str = "", role: str = "", *, wrap: bool = False, selectable: bool = False) -> QLabel:
    """A plain-text label of a style sheet role."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if selectable:
        flag = Qt.TextInteractionFlag
        made.setTextInteractionFlags(flag.TextSelectableByMouse | flag.TextSelectableByKeyboard)
    return made


def button(text: str, tip: str, run: Callable[[], object], *, flat: bool = True) -> QToolButton:
    """A button; `tip` is also what screen readers say."""
    made = QToolButton()
    made.setText(text)
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setProperty("role", "flat" if flat else "")
    made.clicked.connect(lambda: run())
    return made


def push(text: str, tip: str, run: Callable[[], object]) -> QPushButton:
    """A dialog's button that Enter does not press from elsewhere; `tip` is also what screen readers say."""
    made = QPushButton(text)
    made.setToolTip(tip)
    made.setAccessibleName(tip or text)
    made.setAutoDefault(False)
    made.clicked.connect(lambda: run())
    return made


def switch(text: str, tip: str, on: bool = False) -> QToolButton:
    """A button that stays down."""
    made = QToolButton()
    made.setText(text)
    made.setToolTip(tip)
    made.setAccessibleName(f"{text}: {tip}")
    made.setProperty("role", "flat")
    made.setCheckable(True)
    made.setChecked(on)
    return made


def bind(owner: QWidget, keys: str, run: Callable[[], object], name: str, id: str = "") -> QAction:
    """A key (or several, with spaces between) that acts while `owner` or something in it has the focus.

    `id`: what the user's choice of another key is stored under; without one the key is fixed.
    """
    action = QAction(name, owner)
    action.setObjectName(id)
    action.setShortcuts([QKeySequence(key) for key in keys.split()])
    action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    action.triggered.connect(lambda: run())
    owner.addAction(action)
    return action


def copy_menu(tip: str, choices: Sequence[tuple[str, Callable[[], str]]]) -> QToolButton:
    """A button that offers texts to put on the clipboard."""
    made = QToolButton()
    made.setText("Copy")
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    made.setProperty("role", "flat")
    menu = QMenu(made)
    for name, text in choices:
        menu.addAction(name).triggered.connect(lambda _=False, text=text: to_clipboard(text()))
    made.setMenu(menu)
    return made


def to_clipboard(text: str) -> None:
    """Put a text where the user can paste it."""
    QGuiApplication.clipboard().setText(text)


def row(
    *parts: QWidget | None,
    margins: Margins = NONE,
    spacing: int = SPACE,
    owner: QWidget | None = None,
) -> QHBoxLayout:
    """Widgets beside each other; None stretches."""
    made = QHBoxLayout()
    if owner is not None:
        owner.setLayout(made)
    made.setContentsMargins(*margins)
    made.setSpacing(spacing)
    for part in parts:
        if part is None:
            made.addStretch(1)
        else:
            made.addWidget(part)
    return made


def column(
    *parts: QWidget | QHBoxLayout | None,
    margins: Margins = NONE,
    spacing: int = 0,
    owner: QWidget | None = None,
) -> QVBoxLayout:
    """Widgets and rows under each other; None stretches; the last widget takes what room is left."""
    made = QVBoxLayout()
    if owner is not None:
        owner.setLayout(made)
    made.setContentsMargins(*margins)
    made.setSpacing(spacing)
    for index, part in enumerate(parts):
        if part is None:
            made.addStretch(1)
        elif isinstance(part, QHBoxLayout):
            made.addLayout(part)
        else:
            made.addWidget(part, int(index == len(parts) - 1))
    return made
