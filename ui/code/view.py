"""The code view: header, editor and find bar over one file of the project, with the run's regions in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from html import escape
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QSizePolicy, QWidget

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.run.considered import Considered
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import Codebase, CoverageMap, SourceFile, Span
from rtc_inspector.ui.background.gateway import Gateway, ignore
from rtc_inspector.ui.code.blocks import Block, OpenFile, PlacedBlocks, SourceText, neighbour, place
from rtc_inspector.ui.code.editor import CandidateBlock, CodeEditor, lay_out
from rtc_inspector.ui.code.selecting import ProbeBar, Selecting
from rtc_inspector.ui.diff.colouring import REST, tokenise
from rtc_inspector.ui.presenters import COMMIT, MARK, past_name, presenter
from rtc_inspector.ui.style.controls import BAR, bind, button, column, field, label, on_ground, row, switch
from rtc_inspector.ui.style.fonts import bold, elided_path
from rtc_inspector.ui.style.region_state import region_state
from rtc_inspector.ui.style.theme import SPACE


class PathLabel(QLabel):
    """Takes the room that its neighbours leave."""

    def __init__(self) -> None:
        super().__init__(textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse)
        self._path = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_path(self, path: str) -> None:
        self._path = path
        self.setToolTip(path)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        # Measured in bold throughout: only the name is, so it may be a little shorter, never too long.
        shown = elided_path(QFontMetrics(bold(self.font())), self._path, max(self.width() - 4, 1))
        head, slash, name = shown.rpartition("/")
        self.setText(f"{escape(head)}{slash}<b>{escape(name)}</b>" if self._path else "")


CANDIDATES = "Candidates"
ROOMY, NARROW = 600, 480
"""Pixels from which there is room for more than the name and the buttons, and for buttons that the menu has too."""


class CodeHeader(QWidget):
    """The file's name, what the run took of it, and buttons; `go(step, failing)` leads to another region."""

    def __init__(self, go: Callable[[int, bool], object]) -> None:
        super().__init__()
        on_ground(self, "header")
        self.title, self.about = PathLabel(), label(role="caption")
        self.candidates = switch(CANDIDATES, "Show what the run could have drawn, and why it did not")
        self.dropped = switch("Dropped", "Show what was dropped, e.g. regions whose deletion no test noticed")
        self.failure = button("Next failure", "Next failure", lambda: go(1, True))
        self.previous = button("", "Previous region or edit", lambda: go(-1, False), icon="previous")
        self.next = button("", "Next region or edit", lambda: go(1, False), icon="next")
        self._offers_candidates = self._has_failure = False
        buttons = (self.candidates, self.dropped, self.failure, self.previous, self.next)
        margins = SPACE + 4, SPACE // 2, SPACE // 2, SPACE // 2
        row(self.title, self.about, *buttons, margins=margins, spacing=SPACE // 2, owner=self, grows=self.title)

    def offer_candidates(self, offered: bool) -> None:
        self._offers_candidates = offered
        self._make_room()

    def say_candidates(self, words: str) -> None:
        self.candidates.setText(words or CANDIDATES)
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """Hide, where it is narrow, the count of regions first, then the buttons that the menu has as well."""
        self.about.setVisible(self.width() >= ROOMY and self.candidates.text() == CANDIDATES)
        roomy = self.width() >= NARROW
        self.candidates.setVisible(self._offers_candidates and (roomy or self.candidates.isChecked()))
        self.failure.setVisible(self._has_failure and roomy)

    def show_file(self, path: str, placed: PlacedBlocks, dropped: int, missing: bool) -> None:
        self.title.show_path(path)
        self.about.setText(_about(path, placed, missing))
        self.dropped.setText(f"{dropped} dropped")
        self.dropped.setVisible(dropped > 0)
        self._has_failure = any(block.state.failing for block in placed.blocks)
        self._make_room()


def _about(path: str, placed: PlacedBlocks, missing: bool) -> str:
    if not path:
        return ""
    noun = next((item.kind for item in placed.items), "region")
    if any(presenter(item).past for item in placed.items):
        return "the stored old code" if missing else "before the edit"
    if missing:
        return f"not on this machine; the stored {noun} is shown"
    count = sum(block.item.admitted for block in placed.blocks)
    parts = [counted(count, noun)] if count else []
    if placed.gone:
        parts.append(f"changed since the run, {len(placed.gone)} not found")
    elif any(block.moved for block in placed.blocks):
        parts.append("changed since the run")
    return " · ".join(parts)


class FindBar(QWidget):
    """A row under the editor: Enter goes on, Shift-Enter back, Escape closes."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        super().__init__()
        self._editor = editor
        on_ground(self, "status")
        self.words = field("Find in file", "Find in file")
        self.found = label(role="caption")
        previous = button("", "Previous match (Shift-Enter)", lambda: self.seek(back=True), icon="previous")
        onward = button("", "Next match (Enter)", self.seek, icon="next")
        close = button("", "Close (Escape)", self.close_bar, icon="close")
        parts = (self.words, self.found, previous, onward, close)
        row(*parts, margins=BAR, spacing=SPACE // 2, owner=self, grows=self.words)
        self.words.textEdited.connect(lambda: self.seek(from_here=True))
        self.hide()

    def open_bar(self) -> None:
        selected = self._editor.textCursor().selectedText()
        if selected and "\u2029" not in selected:
            self.words.setText(selected)
        self.show()
        self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.words.selectAll()

    def close_bar(self) -> None:
        self.hide()
        self._editor.setFocus()

    def seek(self, back: bool = False, from_here: bool = False) -> bool:
        """Go to the next (previous) match, round the end of the file; whether there is one."""
        words, editor = self.words.text(), self._editor
        if not words:
            self.found.clear()
            return False
        if from_here:
            cursor = editor.textCursor()
            cursor.setPosition(cursor.selectionStart())
            editor.setTextCursor(cursor)
        before, flags = editor.textCursor(), QTextDocument.FindFlag.FindBackward if back else QTextDocument.FindFlag(0)
        found = editor.find(words, flags)
        if not found:
            editor.moveCursor(QTextCursor.MoveOperation.End if back else QTextCursor.MoveOperation.Start)
            found = editor.find(words, flags)
        if not found:
            editor.setTextCursor(before)
        self.found.setText("" if found else "Not in this file")
        return found

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.seek(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)


KEY = "candidates"


Sampling = tuple[RegionSettings, str]
"""The way in which the run that is shown drew its regions, and the fingerprint of the files it drew from."""


def _consider(
    file: SourceFile, sampling: Sampling, codebase: Codebase, items: Sequence[ItemRow]
) -> Sequence[Considered] | str:
    from rtc_inspector.core.run.considered import considered

    if file.is_test:
        return "tests are never sampled"
    settings, fingerprint = sampling
    try:
        return considered(file, settings, _coverage(fingerprint, codebase), items)
    except ProjectError as error:
        return error.problem


@lru_cache(maxsize=2)
def _coverage(fingerprint: str, codebase: Codebase) -> CoverageMap | None:
    from rtc_inspector.core.regions.coverage import kept_coverage
    from rtc_inspector.core.source.codebase import content_fingerprint

    return kept_coverage(fingerprint) if content_fingerprint(codebase) == fingerprint else None


PAST_KEPT = 30  # files of the history whose text is kept
STEPS = (
    ("Next region or edit", "next-region", "N", 1, False),
    ("Previous region or edit", "previous-region", "P", -1, False),
    ("Next failure", "next-failure", "F", 1, True),
    ("Previous failure", "previous-failure", "Shift+F", -1, True),
)
"""Keys that work in the code: words, name, key, step, and whether only failures count."""


class CodeView(QWidget):
    """Shows one file at a time; of an edit its old code, in its file as it was before the commit."""

    item_chosen = Signal(int)  # id of a region, or of an edit whose file is not there yet
    failure_chosen = Signal(int)  # id of a region with a failure
    file_opened = Signal(str)  # its path

    def __init__(self, gateway: Gateway) -> None:
        super().__init__()
        self._gateway = gateway
        self._items: Sequence[ItemRow] = ()
        self._root = Path()
        self._chosen: ItemRow | None = None
        self._files: dict[str, SourceFile] = {}
        self._names: Mapping[str, str] = {}
        self._texts: dict[str, str] = {}
        self.past: dict[str, str] = {}  # texts of files of the history that were lent, by name
        self._by_path: dict[str, list[ItemRow]] = {}
        self.path = ""  # the open file; empty when there is none
        self.source = SourceText("")  # its text
        self._selected: ItemRow | None = None
        self.header = CodeHeader(self.go)
        self.editor = CodeEditor()
        self.find_bar = FindBar(self.editor)
        self.probe_bar = ProbeBar()
        self.selecting = Selecting(self.editor, self.probe_bar, gateway, self._open_file)
        self._sampling: Sampling | None = None
        self._codebase: Codebase | None = None
        column(self.header, self.probe_bar, self.editor, self.find_bar, owner=self, grows=self.editor)
        self.setFocusProxy(self.editor)
        self.editor.region_clicked.connect(self.item_chosen)
        self.header.dropped.toggled.connect(self._place)
        self.header.candidates.toggled.connect(self._consider)
        self.keys = tuple(
            bind(self.editor, key, partial(self.go, step, failing), words) for words, _, key, step, failing in STEPS
        )

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {
            **{id: partial(self.go, step, failing) for _, id, _, step, failing in STEPS},
            "check": self.selecting.check,
            "probe": self.selecting.probe,
            "candidates": self.header.candidates.toggle,
            "dropped": self.header.dropped.toggle,
            "find": self.find_bar.open_bar,
        }

    def set_codebase(self, codebase: Codebase | None) -> None:
        self._files = {each.path: each for each in codebase.files} if codebase else {}
        self._names = origin_of(codebase.root).keys if codebase else {}
        self._codebase = codebase
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
        self._gateway.cancel("past file")
        self._root, self.past = Path(), {}
        self.set_codebase(None)
        self.selecting.leave()

    def lend_text(self, path: str, text: str) -> None:
        self._texts[path] = text
        if path == self.path:
            self._show(text, 1)
            if self._selected is not None:
                self._show_item(self._selected)

    def set_items(self, items: Sequence[ItemRow], root: Path = Path()) -> None:
        self._items, self._root = items, root
        self._place_items()

    def _place_items(self) -> None:
        items = self._items
        # Asked once, as a run has items of one kind: of 100,000 regions that stand where they stand each answer would
        # be the same.
        moved = bool(items) and (presenter(items[0]).past or not items[0].path)
        self._by_path = {}
        for item in items:
            placed = self._placed(item) if moved else item
            self._by_path.setdefault(placed.path, []).append(placed)
        self._place()

    def _placed(self, item: ItemRow) -> ItemRow:
        return presenter(item).code_shown(item, self.past)

    def leave_run(self) -> None:
        self._items, self._chosen = (), None
        self._show_item(None)
        self._place_items()
        self._leave_past()

    def _leave_past(self) -> None:
        if MARK in self.path:
            self.clear()

    def clear(self) -> None:
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

    def choose_file(self, path: str) -> None:
        """Show a file that the user chose, or ask for the item by which it is read."""
        item = next((item for item in self._items if item.path == path), None)
        if item is None or path in self._texts:
            self.open_file(path)
        else:
            self.item_chosen.emit(item.id)

    def show_some(self, path: str = "") -> None:
        """Show the first item's file when none is shown; where there is no item, the file at `path` if it is named."""
        if not self._items and path and not self.path:
            self.open_file(path)
        if not self.path and self._items:
            self.open_file(self._placed(self._items[0]).path)
            self._want(self._items[0])

    def show_place(self, path: str, line: int, column: int, length: int) -> None:
        self.open_file(path)
        self.editor.show_line(line)
        cursor = self.editor.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, column)
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, length)
        self.editor.setTextCursor(cursor)

    def show_item(self, item: ItemRow | None) -> None:
        self._chosen = item
        self._show_item(self._placed(item) if item is not None else None)
        if item is not None:
            self._want(item)
        else:
            self._leave_past()
            self.show_some()

    def _want(self, item: ItemRow) -> None:
        """Read the file of an edit, unless it was; one that git does not hold any more is left to what is stored."""
        commit, name = item.origin.get(COMMIT), past_name(item)
        if presenter(item).past and commit and name not in self.past:
            work = partial(_read, self._root, commit, item.path)
            self._gateway.submit("past file", work, partial(self._take, name), ignore)

    def _take(self, name: str, text: str) -> None:
        # A history has thousands of files, each of them read when an edit in it is chosen.
        while len(self.past) >= PAST_KEPT:
            oldest = next(iter(self.past))
            del self.past[oldest], self._texts[oldest]
        self.past[name] = text
        self.lend_text(name, text)
        self._place_items()
        if self._chosen is not None:
            self._show_item(self._placed(self._chosen))

    def _show_item(self, item: ItemRow | None) -> None:
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
        return self._files.get(self.path), self.source, self._by_path.get(self.path, [])

    def _missing(self) -> bool:
        return bool(self.path) and self.path not in self._texts

    def _wanted(self, path: str) -> list[ItemRow]:
        items, chosen = self._by_path.get(path, []), self._selected.id if self._selected is not None else None
        if self.header.dropped.isChecked():
            return items
        # A dropped one that somebody chose in the list is wanted here as well, as long as it is chosen.
        return [item for item in items if item.admitted or item.id == chosen]

    def _dropped(self) -> bool:
        return self._selected is not None and not self._selected.admitted

    def _show(self, text: str, first_number: int) -> None:
        self.source = SourceText(text)
        shown = self.source.shown()
        self.editor.show_text(shown, first_number)
        self._place()
        self._gateway.submit("code tokens", partial(tokenise, shown, self.path, REST), self.editor.set_tokens)

    def _shown(self) -> PlacedBlocks:
        if self._missing():
            alone = [replace(self._selected, span=Span(0, self._selected.end))] if self._selected else []
            return place(alone, self.source)
        return place(self._wanted(self.path), self.source)

    def _place(self) -> None:
        placed = self._shown()
        self.editor.set_blocks(placed.blocks)
        self._consider()
        items = self._by_path.get(self.path, ())
        path = next((item.key for item in items if not item.has_file), self._names.get(self.path, self.path))
        self.header.show_file(path, placed, sum(not item.admitted for item in items), self._missing())

    # ---- what the run could have drawn

    def set_sampling(self, sampling: Sampling | None) -> None:
        if sampling != self._sampling:
            self._sampling = sampling
            self.header.offer_candidates(sampling is not None)
            self._consider()

    def _consider(self) -> None:
        file, text, items = self._open_file()
        if file is None or self._sampling is None or self._codebase is None or not self.header.candidates.isChecked():
            self._gateway.cancel(KEY)
            self._show_candidates((), "")
            return
        work = partial(_consider, file, self._sampling, self._codebase, tuple(items))
        self._gateway.submit(KEY, work, partial(self._take_candidates, text))

    def _take_candidates(self, text: SourceText, found: Sequence[Considered] | str) -> None:
        if isinstance(found, str):  # why there are none
            self._show_candidates((), found)
        else:
            self._show_candidates(lay_out(found, text), counted(len(found), "candidate"))

    def _show_candidates(self, candidates: Sequence[CandidateBlock], words: str) -> None:
        self.editor.set_candidates(candidates)
        self.header.say_candidates(words)


def present_path(name: str) -> str:
    """Return the path in the project that a name stands for: of a file of the history, that of its present one."""
    return name.partition(MARK)[2] or name


def _order(name: str) -> tuple[str, str]:
    """Return a sort key for files in the order of the project's tree, past ones beside the present."""
    return present_path(name), name


def _read(project: Path, commit: str, path: str) -> str:
    from rtc_inspector.core.source.git import text_before

    return text_before(project, commit, path)
