"""The field that goes to places by words, the dialog that searches a project, and the lists of both."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from rtc_inspector.core.kinds import counted
from rtc_inspector.core.types import SourceFile
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.blocks import SourceText
from rtc_inspector.ui.diff.lines import units
from rtc_inspector.ui.style.controls import FilterField, called, column, label
from rtc_inspector.ui.style.fonts import fixed_font, open_at
from rtc_inspector.ui.style.icons import icon
from rtc_inspector.ui.style.tables import Index, ListedRows
from rtc_inspector.ui.style.theme import SPACE, current_theme

ENTRY = Qt.ItemDataRole.UserRole
BETWEEN, MARK = 16, 3  # pixels between the two parts, and of the bar that marks the chosen row


class Found(ListedRows):
    """A model of what was found, an entry a row; `words` says the text of one."""

    heads = ("",)

    def __init__(self, words: Callable[[Any], str], parent: QObject) -> None:
        super().__init__(parent)
        self._words = words

    def show(self, found: Sequence[Any]) -> None:
        self.beginResetModel()
        self.shown = found
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.shown[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(entry)
        return entry if role == ENTRY else None


class FoundRow(QStyledItemDelegate):
    """One row; `detail` says what stands at the right. A subclass may draw the left part itself."""

    height, inset = 28, 12  # pixels of a row, and at its ends
    detail_share, detail_end = 0.5, Qt.TextElideMode.ElideRight  # of the width, at most, for the right part

    def __init__(self, detail: Callable[[Any], str], parent: QObject) -> None:
        super().__init__(parent)
        self.detail = detail

    def draw_title(self, painter: QPainter, room: QRect, index: Index) -> None:
        title = painter.fontMetrics().elidedText(str(index.data()), Qt.TextElideMode.ElideLeft, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        return QSize(0, self.height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        theme = current_theme()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(option.rect, QColor(theme.selection if chosen else theme.surface))
        if chosen:
            painter.fillRect(QRect(option.rect.topLeft(), QSize(MARK, option.rect.height())), QColor(theme.accent))
        room, metrics = option.rect.adjusted(self.inset, 0, -self.inset, 0), painter.fontMetrics()
        detail = metrics.elidedText(
            self.detail(index.data(ENTRY)), self.detail_end, int(room.width() * self.detail_share)
        )
        painter.setPen(QColor(theme.muted))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, detail)
        room.setRight(room.right() - metrics.horizontalAdvance(detail) - BETWEEN)
        painter.setPen(QColor(theme.text))
        self.draw_title(painter, room, index)
        painter.restore()


def step_in(view: QListView, step: int, *, around: bool) -> None:
    """Choose the row `step` further; `around`: from the last to the first, else no further than the ends."""
    count = view.model().rowCount() if view.model() is not None else 0
    if count:
        row = view.currentIndex().row() + step
        row = row % count if around else min(max(row, 0), count - 1)
        view.setCurrentIndex(view.model().index(row, 0))


MOST = 12  # entries shown at a time
ICON = 16


@dataclass(frozen=True, slots=True)
class Target:
    """Somewhere to go; `detail`, else `kind`, is shown at the right."""

    title: str
    kind: str
    go: Callable[[], object]
    detail: str = ""


Find = Callable[[str], list[Target]]


class SearchField(QLineEdit):
    """Type, choose with the arrows, go with Enter."""

    def __init__(self) -> None:
        super().__init__(placeholderText="Go to…  Ctrl+K")
        self.setAccessibleName("Go to a file, a region, an edit or a command")
        self.setMinimumWidth(150)
        self.places: Callable[[], Find] = lambda: lambda words: []
        self._find: Find = self.places()
        # A popup of Qt would take the focus from the field in which one types.
        self.popup = called(QFrame(self, Qt.WindowType.ToolTip), role="popup")
        self.list = called(QListView(self.popup, uniformItemSizes=True), "Places to go to")
        self._model = Found(attrgetter("title"), self)
        self._rows = FoundRow(lambda target: target.detail or target.kind, self)
        self._icon = icon("search", "muted")
        self.setTextMargins(ICON + SPACE // 2, 0, 0, 0)
        self.list.setModel(self._model)
        self.list.setItemDelegate(self._rows)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column(self.list, margins=(1, SPACE // 2, 1, SPACE // 2), owner=self.popup)
        self.list.clicked.connect(self._go)
        self.textEdited.connect(self._search)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        painter = QPainter(self)
        self._icon.paint(painter, SPACE, (self.height() - ICON) // 2, ICON, ICON)
        painter.end()

    def enter(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self._find = self.places()
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
        self.list.setCurrentIndex(self._model.index(0, 0))
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


KEY = "project search"
MOST_HITS = 2_000  # places found at most; more are not read by anybody
ROOM = 200  # characters of a line that are kept, the match among them


@dataclass(frozen=True, slots=True)
class Hit:
    """One match. `line` from 0; `column` and `length` in UTF-16 units of the line; `start` in `shown`."""

    path: str
    line: int
    column: int
    length: int
    shown: str
    start: int
    size: int


def search(files: Sequence[SourceFile], words: str, given_up: Callable[[], bool]) -> list[Hit]:
    """Return every place of `words`, in file order; capitals count only if there are any. Ends once `given_up()`."""
    found: list[Hit] = []
    fold = words == words.lower()
    for file in files:
        if given_up():
            break
        # One more than is listed is looked for, so that it can be said that there are more.
        found += islice(_in_file(file, words, fold), MOST_HITS + 1 - len(found))
    return found


def _in_file(file: SourceFile, words: str, fold: bool) -> Iterator[Hit]:
    text = file.text.lower() if fold else file.text
    at = text.find(words) if words else -1
    if at < 0:
        return
    source = SourceText(file.text if len(text) == len(file.text) else text)  # some letters grow when folded
    while at >= 0:
        yield _hit(file.path, source, at, len(words))
        at = text.find(words, at + len(words))


def _hit(path: str, source: SourceText, at: int, size: int) -> Hit:
    place = source.position(at)
    line = source.line(place[0])
    before = at - source.offset(place[0], 0)
    lead = len(line) - len(line.lstrip())
    cut = max(lead, before - ROOM // 2) if before >= lead else 0
    shown = line[cut : cut + ROOM]
    length = units(source.text[at : at + size])
    return Hit(path, *place, length, shown, before - cut, size)


class _HitRow(FoundRow):
    """The line with its match marked, and where it stands at the right."""

    height, inset = 26, SPACE
    detail_share, detail_end = 0.4, Qt.TextElideMode.ElideLeft

    def __init__(self, detail: Callable[[Hit], str], parent: QObject) -> None:
        super().__init__(detail, parent)
        self._font = fixed_font(9)

    def draw_title(self, painter: QPainter, room: QRect, index: Index) -> None:
        hit: Hit = index.data(ENTRY)
        painter.setFont(self._font)
        painter.setClipRect(room)
        metrics = painter.fontMetrics()
        left = room.left() + metrics.horizontalAdvance(hit.shown[: hit.start])
        width = metrics.horizontalAdvance(hit.shown[hit.start : hit.start + hit.size])
        mark = QRect(left, room.top() + 4, width, room.height() - 8)
        painter.fillRect(mark, QColor(current_theme().changed))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, hit.shown)


class SearchDialog(QDialog):
    """Stays open beside the window. `hit_chosen` carries a Hit."""

    hit_chosen = Signal(object)

    def __init__(
        self,
        gateway: Gateway,
        files: Callable[[], Sequence[SourceFile]],
        parent: QWidget,
        named: Callable[[str], str] = str,
    ) -> None:
        """Search in what `files()` gives at that moment. `named`: what people call the file at a path."""
        super().__init__(parent)
        self._named = named
        self.setWindowTitle("Search in project")
        self._gateway, self._files = gateway, files
        self._stop = threading.Event()
        hint = "Search in every file; capitals count if you type any"
        self.words = FilterField(hint, "Search in every file of the project")
        self.said, self.list = label(role="caption"), called(QListView(uniformItemSizes=True), "Places found")
        self.found = Found(lambda hit: f"{self._place(hit)} {hit.shown}", self)
        self.words.settled.connect(self._search)
        self.list.setModel(self.found)
        self._row = _HitRow(self._place, self)
        self.list.setItemDelegate(self._row)
        self.list.clicked.connect(self._go)
        self.list.activated.connect(self._go)
        margins = SPACE, SPACE, SPACE, SPACE
        column(self.words, self.list, self.said, margins=margins, spacing=SPACE, owner=self, grows=self.list)
        open_at(self, 820, 460)

    def _place(self, hit: Hit) -> str:
        return f"{self._named(hit.path)}:{hit.line + 1}"

    def enter(self, words: str) -> None:
        if words:
            self.words.setText(words)
            self.words.settle()
        self.show()
        self.raise_()
        self.activateWindow()
        self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.words.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 12, Qt.Key.Key_PageUp: -12}
        if event.key() in step:
            step_in(self.list, step[Qt.Key(event.key())], around=False)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._go(self.list.currentIndex())
        else:
            super().keyPressEvent(event)

    def done(self, result: int) -> None:
        """Break off the search: nobody waits for results any more."""
        self._stop.set()
        self._gateway.cancel(KEY)
        super().done(result)

    def _search(self, words: str) -> None:
        self._stop.set()
        # An event for each search: the one before has heard that it is to end, this one must not.
        self._stop = threading.Event()
        if not words.strip():
            self._gateway.cancel(KEY)
            self._show(())
            self.said.clear()
            return
        work = partial(search, tuple(self._files()), words, self._stop.is_set)
        self._gateway.submit(KEY, work, self._show)

    def _show(self, hits: Sequence[Hit]) -> None:
        listed = hits[:MOST_HITS]
        self.found.show(listed)
        self.list.setCurrentIndex(self.found.index(0, 0))
        more = "More than " if len(hits) > MOST_HITS else ""
        where = f"{more}{counted(len(listed), 'place')} in {counted(len({hit.path for hit in listed}), 'file')}"
        self.said.setText(where if listed else "Nowhere")

    def _go(self, index: Index) -> None:
        if index.isValid():
            self.hit_chosen.emit(index.data(ENTRY))
