"""Ctrl-K: one field that goes to files, regions and commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListView

from rtc_inspector.ui.shell.found_row import Found, FoundRow, Index, step_in
from rtc_inspector.ui.style.controls import column
from rtc_inspector.ui.style.icons import icon
from rtc_inspector.ui.style.theme import SPACE

MOST = 12
"""Entries shown at a time."""
ICON = 16


@dataclass(frozen=True, slots=True)
class Target:
    """Somewhere to go; `detail`, else `kind`, is shown at the right."""

    title: str
    kind: str
    go: Callable[[], object]
    detail: str = ""


Find = Callable[[str], list[Target]]


class _Row(FoundRow):
    """Title at the left, detail or kind at the right."""

    def detail(self, target: Target) -> str:
        return target.detail or target.kind


class SearchField(QLineEdit):
    """Type, choose with the arrows, go with Enter."""

    def __init__(self) -> None:
        """Start without targets."""
        super().__init__()
        self.setPlaceholderText("Go to…")
        self.setAccessibleName("Go to a file, a region, an edit or a command")
        self.setMinimumWidth(150)
        self._places: Callable[[], Find] = lambda: lambda words: []
        self._find: Find = self._places()
        # A popup of Qt would take the focus from the field in which one types.
        self.popup = QFrame(self, Qt.WindowType.ToolTip)
        self.popup.setProperty("role", "popup")
        self.list = QListView(self.popup, uniformItemSizes=True)
        self._model, self._rows = Found(attrgetter("title"), self), _Row(self)
        self._icon = icon("search", "muted")
        self.setTextMargins(ICON + SPACE // 2, 0, 0, 0)
        self._build()

    def _build(self) -> None:
        self.list.setModel(self._model)
        self.list.setItemDelegate(self._rows)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName("Places to go to")
        column(self.list, margins=(1, SPACE // 2, 1, SPACE // 2), owner=self.popup)
        self.list.clicked.connect(self._go)
        self.textEdited.connect(self._search)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        painter = QPainter(self)
        self._icon.paint(painter, SPACE, (self.height() - ICON) // 2, ICON, ICON)
        painter.end()

    def set_source(self, places: Callable[[], Find]) -> None:
        """Call `places()` each time the field is entered; what it gives finds places by words."""
        self._places = places

    def enter(self) -> None:
        """Start a search."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Ask for the places there are now."""
        super().focusInEvent(event)
        self._find = self._places()
        # Who clicks wants to type; who came by key is shown at once where one can go.
        if event.reason() is Qt.FocusReason.ShortcutFocusReason:
            self._search(self.text())

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self.popup.hide()

    def event(self, event: QEvent) -> bool:
        """Keep the arrows and Escape from shortcuts while the list is open."""
        # Accepted, the key comes to `keyPressEvent` instead of acting as a shortcut of the window.
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self.popup.isVisible():
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = event.key()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step_in(self.list, 1 if key == Qt.Key.Key_Down else -1, around=True)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._go(self.list.currentIndex())
        elif key == Qt.Key.Key_Escape:
            self._leave()
        else:
            super().keyPressEvent(event)

    def _search(self, words: str) -> None:
        self._model.show(self._find(words))
        count = len(self._model.shown)
        self.popup.setVisible(count > 0)
        if not count:
            return
        self.list.setCurrentIndex(self._model.index(0))
        width = max(self.width(), 440)
        self.popup.resize(width, count * FoundRow.height + SPACE + 2)
        corner = self.mapToGlobal(QPoint(self.width() - width, self.height() + 4))
        self.popup.move(corner)

    def _go(self, index: Index) -> None:
        if index.isValid() and index.row() < len(self._model.shown):
            target = self._model.shown[index.row()]
            self._leave()
            target.go()

    def _leave(self) -> None:
        self.popup.hide()
        self.clear()
        self.clearFocus()
