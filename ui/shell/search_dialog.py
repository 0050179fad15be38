"""Search in the whole project: results while typing, chosen with the arrows, opened with Enter."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import QDialog, QListView, QWidget

from rtc_inspector.core.kinds import counted
from rtc_inspector.core.types import SourceFile
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.project_search import Hit, Hits, search
from rtc_inspector.ui.shell.found_row import ENTRY, Found, FoundRow, Index, step_in
from rtc_inspector.ui.style.controls import FilterField, column, label
from rtc_inspector.ui.style.fonts import fixed_font
from rtc_inspector.ui.style.text_size import open_at
from rtc_inspector.ui.style.theme import SPACE, current_theme

KEY = "project search"


def _words(hit: Hit) -> str:
    return f"{hit.path}:{hit.line + 1} {hit.shown}"


class _Row(FoundRow):
    """The line with its match marked, and where it stands at the right."""

    height, inset = 26, SPACE
    detail_share, detail_end = 0.4, Qt.TextElideMode.ElideLeft

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._font = fixed_font(9)

    def detail(self, hit: Hit) -> str:
        return f"{hit.path}:{hit.line + 1}"

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

    def __init__(self, gateway: Gateway, files: Callable[[], Sequence[SourceFile]], parent: QWidget) -> None:
        """Search in what `files()` gives at that moment."""
        super().__init__(parent)
        self.setWindowTitle("Search in project")
        self._gateway, self._files = gateway, files
        self._stop = threading.Event()
        hint = "Search in every file; capitals count if you type any"
        self.words = FilterField(hint, "Search in every file of the project")
        self.said, self.list = label(role="caption"), QListView(uniformItemSizes=True)
        self.found = Found(_words, self)
        self._build()

    def _build(self) -> None:
        self.words.settled.connect(self._search)
        self.list.setModel(self.found)
        self._row = _Row(self)
        self.list.setItemDelegate(self._row)
        self.list.setAccessibleName("Places found")
        self.list.clicked.connect(self._go)
        self.list.activated.connect(self._go)
        margins = SPACE, SPACE, SPACE, SPACE
        column(self.words, self.list, self.said, margins=margins, spacing=SPACE, owner=self, grows=self.list)
        open_at(self, 820, 460)

    def enter(self, words: str) -> None:
        """Show it, ready to type, with `words` if there are any."""
        if words:
            self.words.setText(words)
            self.words.settle()
        self.show()
        self.raise_()
        self.activateWindow()
        self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.words.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Choose by the arrows and go there by Enter while the words keep the focus; Escape closes."""
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
            self._show(Hits((), 0))
            self.said.clear()
            return
        work = partial(search, tuple(self._files()), words, self._stop.is_set)
        self._gateway.submit(KEY, work, self._show)

    def _show(self, hits: Hits) -> None:
        self.found.show(hits.found)
        self.list.setCurrentIndex(self.found.index(0))
        count, files = len(hits.found), hits.files
        more = "More than " if hits.more else ""
        where = f"{more}{counted(count, 'place')} in {counted(files, 'file')}"
        self.said.setText(where if count else "Nowhere")

    def _go(self, index: Index) -> None:
        if index.isValid():
            self.hit_chosen.emit(index.data(ENTRY))
