"""The history browser: the commits of the open repository, with the edits a run sampled from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from rtc_inspector.core.store.rows import ItemRow, RunRow
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.panels.pieces import EmptyState
from rtc_inspector.ui.presenters import COMMIT, presenter
from rtc_inspector.ui.shell.bars import say_in_place
from rtc_inspector.ui.style.controls import BAR, FilterField, column, label, row, switch
from rtc_inspector.ui.style.fonts import grown
from rtc_inspector.ui.style.region_state import RegionState, mark_icon, region_state, state_words
from rtc_inspector.ui.style.tables import Index, ListedRows, table

if TYPE_CHECKING:
    from rtc_inspector.core.source.git import CommitLine, CommitList

STATE, DAY, AUTHOR, SUBJECT, EDITS = range(5)
HEADINGS = ("", "Date", "Author", "Commit", "Edits")
TIPS = ("State of its edits", "Author's date", "Author", "First line of its message", "Its edits: passes of judged")

_HASH = 10


class CommitModel(ListedRows):
    """The commits that pass the filter, newest first. Cells are made as they come into sight."""

    heads, tips = HEADINGS, TIPS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commits: Sequence[CommitLine] = ()
        self._texts: Sequence[str] = ()
        self.shown: Sequence[int] = ()
        self._edits: Mapping[str, Sequence[ItemRow]] = {}
        self._words: list[str] = []
        self._sampled = False
        self._icons = {state: mark_icon(state) for state in RegionState}

    def set_commits(self, commits: Sequence[CommitLine], texts: Sequence[str]) -> None:
        self._commits, self._texts = commits, texts
        self._select()

    def set_edits(self, edits: Mapping[str, Sequence[ItemRow]]) -> None:
        same, self._edits = edits.keys() == self._edits.keys(), edits
        if self._sampled and not same:
            self._select()
        else:
            self.say_changed()

    def filter(self, words: str, sampled: bool) -> None:
        self._words, self._sampled = words.lower().split(), sampled
        self._select()

    @property
    def total(self) -> int:
        return len(self._commits)

    def commit(self, row: int) -> CommitLine:
        return self._commits[self.shown[row]]

    def edits(self, row: int) -> Sequence[ItemRow]:
        return self._edits.get(self.commit(row).id, ())

    def row_of(self, commit: str) -> int | None:
        return next((row for row, at in enumerate(self.shown) if self._commits[at].id == commit), None)

    def _select(self) -> None:
        self.beginResetModel()
        # Places, not commits: 50,000 of them are a range as long as nothing is filtered.
        found: Sequence[int] = range(len(self._commits))
        if self._sampled:
            found = [at for at in found if self._commits[at].id in self._edits]
        for word in self._words:
            found = [at for at in found if word in self._texts[at]]
        self.shown = found
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        column, edits = index.column(), self.edits(index.row())
        if role == Qt.ItemDataRole.DecorationRole and column == STATE and edits:
            return self._icons[_state(edits)]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(self.commit(index.row()), column, edits)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._tip(self.commit(index.row()), edits)
        return None

    def _text(self, commit: CommitLine, column: int, edits: Sequence[ItemRow]) -> str:
        if column == EDITS:
            return " · ".join((item.tally or str(region_state(item))) for item in edits)
        return {DAY: commit.day, AUTHOR: commit.author, SUBJECT: commit.subject}.get(column, "")

    def _tip(self, commit: CommitLine, edits: Sequence[ItemRow]) -> str:
        lines = [f"{item.path}:{item.start_line}: {state_words(item)}" for item in edits]
        return "\n".join([f"{commit.id[:_HASH]}  {commit.day}  {commit.author}", commit.subject, *lines])


def _state(edits: Sequence[ItemRow]) -> RegionState:
    states = {region_state(item) for item in edits}
    return states.pop() if len(states) == 1 else RegionState.PARTIAL


WIDTHS = {STATE: 30, DAY: 96, AUTHOR: 150, EDITS: 90}
NOTHING = "No history"


FIRST = 300  # commits shown while the others are read
KEY, LANE = "history", "history"

Read = tuple["CommitList", list[str]]


class HistoryPanel(QWidget):
    """Keeps with the project that is open and the run that is shown. `item_chosen` carries an edit's id."""

    item_chosen = Signal(int)

    def __init__(self, gateway: Gateway) -> None:
        super().__init__(accessibleName="History")
        self._gateway = gateway
        self._root: Path | None = None
        self._run: RunRow | None = None
        self._read: tuple[Path, str | None] | None = None
        self._chosen: ItemRow | None = None
        self._note, self._quiet = "", False
        self.commits = CommitModel(self)
        self.words = FilterField("Filter by message, author, date or id", "Filter commits")
        self.sampled = switch("Sampled", "Only commits from which the run took edits")
        self.count = label(role="muted")
        self.empty = EmptyState(NOTHING, "Open a project that is under git.")
        self.table = table("Commits, newest first")
        self.table.setModel(self.commits)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.table.horizontalHeader()
        for section, width in WIDTHS.items():
            header.resizeSection(section, grown(self.table, width))
        header.setSectionResizeMode(SUBJECT, QHeaderView.ResizeMode.Stretch)
        self.words.setMaximumWidth(360)
        self._bar = QWidget()
        row(self.words, self.sampled, self.count, None, margins=BAR, owner=self._bar, grows=self.words)
        column(self._bar, self.empty, self.table, owner=self)
        self._bar.hide()
        self.table.hide()
        self.words.settled.connect(self._filter)
        self.words.returnPressed.connect(self.table.setFocus)
        self.sampled.toggled.connect(self._filter)
        self.table.selectionModel().currentRowChanged.connect(self._moved)
        self.table.activated.connect(self._next_edit)
        self.table.clicked.connect(self._take)

    def set_project(self, root: Path | None) -> None:
        self._read = None
        if root != self._root or root is None:
            self._gateway.cancel(KEY)
            self._root = root
            self._say_nothing(NOTHING, "" if root else "The project of this run is not on this machine.")
        self._look()

    def set_items(self, items: Sequence[ItemRow], run: RunRow | None) -> None:
        edits: dict[str, list[ItemRow]] = {}
        for item in items:
            if item.admitted and presenter(item).past and COMMIT in item.origin:
                edits.setdefault(item.origin[COMMIT], []).append(item)
        self._run = run if edits else None
        with self._quietly():
            self.commits.set_edits(edits)
        if self.sampled.isEnabled() != bool(edits):
            # Of a run without edits there would be nothing to list, and no way back.
            self.sampled.setEnabled(bool(edits))
            self._filter()
        self._say()
        self.select(self._chosen)
        self._look()

    def select(self, item: ItemRow | None) -> None:
        self._chosen = item
        if item is None:
            with self._quietly():
                self.table.clearSelection()
                self.table.setCurrentIndex(QModelIndex())
            return
        at = self.commits.row_of(item.origin.get(COMMIT, ""))
        if at is None or at == self.table.currentIndex().row():
            return
        index = self.commits.index(at, SUBJECT)
        with self._quietly():
            self.table.setCurrentIndex(index)
        self.table.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Take no row that becomes current meanwhile for one that the user chose."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._look()

    def _filter(self) -> None:
        with self._quietly():
            self.commits.filter(self.words.text(), self.sampled.isChecked() and self.sampled.isEnabled())
        self._say()
        self.select(self._chosen)

    def _say(self) -> None:
        shown, total = self.commits.rowCount(), self.commits.total
        count = f"{total:,} commits" if shown == total else f"{shown:,} of {total:,} commits"
        self.count.setText(f"{count}   {self._note}".rstrip())

    def _moved(self, current: QModelIndex, before: QModelIndex) -> None:
        if not self._quiet and self.table.hasFocus():
            self._take(current)

    def _take(self, index: QModelIndex) -> None:
        edits = self.commits.edits(index.row()) if index.isValid() else ()
        if edits and (self._chosen is None or self._chosen.id not in {item.id for item in edits}):
            self.item_chosen.emit(edits[0].id)

    def _next_edit(self, index: QModelIndex) -> None:
        edits = self.commits.edits(index.row()) if index.isValid() else ()
        ids = [item.id for item in edits]
        if ids:
            at = ids.index(self._chosen.id) + 1 if self._chosen is not None and self._chosen.id in ids else 0
            self.item_chosen.emit(ids[at % len(ids)])

    # ---- what is read

    def _look(self) -> None:
        root, run = self._root, self._run
        if not self.isVisible() or root is None:
            return
        # As the run saw it: commits that came since have no edits of it.
        revision = run.revision if run is not None and Path(run.project_root) == root else None
        if self._read == (root, revision):
            return
        self._read = (root, revision)
        self._ask(root, revision, FIRST)

    def _ask(self, root: Path, revision: str | None, most: int | None) -> None:
        work = partial(_list, root, revision, most)
        self._gateway.submit(KEY, work, partial(self._show_read, root, revision), self._fail, lane=LANE)

    def _show_read(self, root: Path, revision: str | None, read: Read) -> None:
        found, texts = read
        self._note = found.note if found.whole else "reading the others…"
        with self._quietly():
            self.commits.set_commits(found.commits, texts)
        self.empty.stand_in(self._bar, self.table, empty=not found.commits)
        self._say()
        self.select(self._chosen)
        # The first few hundred are there in a moment; a long history takes seconds.
        if not found.whole:
            self._ask(root, revision, None)

    def _say_nothing(self, heading: str, advice: str) -> None:
        with self._quietly():
            self.commits.set_commits((), ())
        self.empty.say(heading, advice)
        self.empty.stand_in(self._bar, self.table, empty=True)

    def _fail(self, error: Exception) -> None:
        say_in_place(error, self._say_nothing, NOTHING, self._gateway.failed.emit)


def _list(root: Path, revision: str | None, most: int | None) -> Read:
    from rtc_inspector.core.source.git import list_commits  # git's library is loaded when it is first needed

    found = list_commits(root, revision, most)
    # The text of each in which words are looked for.
    return found, [f"{each.id} {each.day} {each.author}\n{each.subject}".lower() for each in found.commits]
