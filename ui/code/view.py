"""The code view: header, editor and find bar over one file of the project, with the run's regions in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import Codebase, SourceFile, Span
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.blocks import Block, OpenFile, Placed, neighbour, place
from rtc_inspector.ui.code.candidates import Candidates
from rtc_inspector.ui.code.editor import CodeEditor
from rtc_inspector.ui.code.find_bar import FindBar
from rtc_inspector.ui.code.header import CodeHeader
from rtc_inspector.ui.code.highlight import tokenise
from rtc_inspector.ui.code.selecting import ProbeBar, Selecting
from rtc_inspector.ui.code.source_text import SourceText
from rtc_inspector.ui.presenters import MARK
from rtc_inspector.ui.style.controls import bind, column
from rtc_inspector.ui.style.region_state import region_state

PAST_KEPT = 30
"""Files of the history whose text is kept."""
STEPS = (
    ("Next region or edit", "next-region", "N", 1, False),
    ("Previous region or edit", "previous-region", "P", -1, False),
    ("Next failure", "next-failure", "F", 1, True),
    ("Previous failure", "previous-failure", "Shift+F", -1, True),
)
"""Keys that work in the code: words, name, key, step, and whether only failures count."""


class CodeView(QWidget):
    """Shows one file at a time.

    `item_chosen` carries a region's id, `failure_chosen` that of one with a failure; `file_opened` the path.

    Attributes:
        path: the open file; empty when there is none.
        source: its text.
        past: texts of files of the history that were lent, by name.
    """

    item_chosen = Signal(int)
    failure_chosen = Signal(int)
    file_opened = Signal(str)

    def __init__(self, gateway: Gateway, parent: QWidget | None = None) -> None:
        """Start without a file."""
        super().__init__(parent)
        self._gateway = gateway
        self._files: dict[str, SourceFile] = {}
        self._texts: dict[str, str] = {}
        self.past: dict[str, str] = {}
        self._by_path: dict[str, list[ItemRow]] = {}
        self.path = ""
        self.source = SourceText("")
        self._selected: ItemRow | None = None
        self.header = CodeHeader()
        self.editor = CodeEditor()
        self.find_bar = FindBar(self.editor)
        self.probe_bar = ProbeBar()
        self.selecting = Selecting(self.editor, self.probe_bar, gateway, self._open_file)
        self.candidates = Candidates(self.editor, self.header, gateway, self._open_file)
        column(self.header, self.probe_bar, self.editor, self.find_bar, owner=self, grows=self.editor)
        self.setFocusProxy(self.editor)
        self.editor.region_clicked.connect(self.item_chosen)
        self.header.go_asked.connect(self.go)
        self.header.dropped.toggled.connect(self._place)
        self.find_bar.closed.connect(self.editor.setFocus)
        self.keys = tuple(
            bind(self.editor, key, partial(self.go, step, failing), words) for words, _, key, step, failing in STEPS
        )

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """Return the handlers of the actions on the code, by the actions' names."""
        return {
            **{id: partial(self.go, step, failing) for _, id, _, step, failing in STEPS},
            "check": self.selecting.check,
            "probe": self.selecting.probe,
            "candidates": self.header.candidates.toggle,
            "dropped": self.header.dropped.toggle,
            "find": self.find_bar.open_bar,
        }

    def set_codebase(self, codebase: Codebase | None) -> None:
        """Take the project's texts; the open file is shown again if the project still has it."""
        self._files = {each.path: each for each in codebase.files} if codebase else {}
        self.candidates.set_codebase(codebase)
        self._texts = {path: each.text for path, each in self._files.items()} | self.past
        path = self.path
        if path in self._texts and self._texts[path] == self.source.text:
            self._place()
            self.file_opened.emit(path)
            return
        self.path = ""
        if path in self._texts:
            self.open_file(path)
        else:
            self.clear()

    def leave_project(self) -> None:
        """Show no file, and keep no text of the project that was open or of its history."""
        self.past = {}
        self.set_codebase(None)
        self.selecting.leave()

    def lend_text(self, path: str, text: str) -> None:
        """Take the text of one file before the project's own come."""
        self._texts[path] = text
        if path == self.path:
            self._show(text, 1)
            if self._selected is not None:
                self.show_item(self._selected)

    def lend_past(self, name: str, text: str) -> None:
        """Take the text of a file of the history, which is none of the project's present ones."""
        # A history has thousands of files, each of them read when an edit in it is chosen.
        while len(self.past) >= PAST_KEPT:
            oldest = next(iter(self.past))
            del self.past[oldest], self._texts[oldest]
        self.past[name] = text
        self.lend_text(name, text)

    def holds(self, path: str) -> bool:
        """Return whether the text of a file is here."""
        return path in self._texts

    def set_items(self, items: Sequence[ItemRow]) -> None:
        """Take a run's regions, dropped ones included."""
        self._by_path = {}
        for item in items:
            self._by_path.setdefault(item.path, []).append(item)
        self._place()

    def clear(self) -> None:
        """Show no file."""
        self.path, self.source, self._selected = "", SourceText(""), None
        self.editor.show_text("")
        self._place()
        self.file_opened.emit("")

    def open_file(self, path: str) -> None:
        """Show a file of the project; one that is not on this machine shows what the run stored of it."""
        if path == self.path:
            return
        self.path, self._selected = path, None
        self._show(self._texts.get(path, ""), 1)
        self.file_opened.emit(path)

    def show_place(self, path: str, line: int, column: int, length: int) -> None:
        """Open a file and select a part of a line; all from 0, in UTF-16 units."""
        self.open_file(path)
        self.editor.show_line(line)
        cursor = self.editor.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, column)
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, length)
        self.editor.setTextCursor(cursor)

    def show_item(self, item: ItemRow | None) -> None:
        """Open a region's file, select the region and bring it into view."""
        dropped = self._dropped()
        if item is not None and item.path != self.path:
            self.open_file(item.path)
        self._selected = item
        if self._missing():
            # Of a file that is not on this machine nothing can be shown but the region.
            self._show(item.text, item.start_line) if item is not None else self.clear()
        elif dropped or self._dropped():
            self._place()
        self.editor.select(item.id if item is not None else None)
        if item is None:
            return
        block = next((each for each in self.editor.blocks if each.item.id == item.id), None)
        if block is not None:
            self.editor.show_line(block.first)

    def go(self, step: int, failing: bool = False) -> bool:
        """Choose the next (1) or previous (-1) region, or failure, over file ends; whether there is one."""
        block = neighbour(self._shown().blocks, self.editor.selected_line(), step, failing)
        found = block.item if block is not None else self._next_elsewhere(step, failing)
        if found is not None:
            (self.failure_chosen if failing else self.item_chosen).emit(found.id)
        return found is not None

    def _next_elsewhere(self, step: int, failing: bool) -> ItemRow | None:
        here = _order(self.path)
        paths = sorted(self._by_path, key=_order, reverse=step < 0)
        later = [path for path in paths if (_order(path) > here) == (step > 0) and path != self.path]
        for path in later:
            if path not in self._texts:  # as far as the run tells
                items = (item for item in self._wanted(path) if not failing or region_state(item).failing)
                if (known := min(items, key=lambda item: step * item.start_line, default=None)) is not None:
                    return known
                continue
            blocks = place(self._wanted(path), SourceText(self._texts.get(path, ""))).blocks
            # From before its first line, or from after any last one.
            found: Block | None = neighbour(blocks, -1 if step > 0 else 1 << 30, step, failing)
            if found is not None:
                return found.item
        return None

    def _open_file(self) -> OpenFile:
        return OpenFile(self._files.get(self.path), self.source, self._by_path.get(self.path, []))

    def _missing(self) -> bool:
        return bool(self.path) and self.path not in self._texts

    def _wanted(self, path: str) -> list[ItemRow]:
        items, chosen = self._by_path.get(path, []), self._selected.id if self._selected is not None else None
        if self.header.dropped.isChecked():
            return items
        # A dropped one that somebody chose in the list is wanted here as well, as long as it is chosen.
        return [item for item in items if item.admitted or item.id == chosen]

    def _dropped(self) -> bool:
        """Return whether what is chosen was dropped."""
        return self._selected is not None and not self._selected.admitted

    def _show(self, text: str, first_number: int) -> None:
        self.source = SourceText(text)
        shown = self.source.shown()
        self.editor.show_text(shown, first_number)
        self._place()
        self._gateway.submit("code tokens", partial(tokenise, shown, self.path), self.editor.set_tokens)

    def _shown(self) -> Placed:
        if self._missing():
            alone = [replace(self._selected, span=Span(0, self._selected.end))] if self._selected else []
            return place(alone, self.source)
        return place(self._wanted(self.path), self.source)

    def _place(self) -> None:
        placed = self._shown()
        self.editor.set_blocks(placed.blocks)
        self.candidates.refresh()
        items = self._by_path.get(self.path, ())
        known = next((item.key for item in items if not item.has_file), self.path)
        self.header.show_file(known, placed, sum(not item.admitted for item in items), self._missing())


def present_path(name: str) -> str:
    """Return the path in the project that a name stands for: of a file of the history, that of its present one."""
    return name.partition(MARK)[2] or name


def _order(name: str) -> tuple[str, str]:
    """Return a sort key for files in the order of the project's tree, past ones beside the present."""
    return present_path(name), name
