"""The history browser's widgets: filter, table of commits, and what is to know about the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from core.store.rows import ItemRow
from ui.history.model import AUTHOR, DAY, EDITS, STATE, SUBJECT, CommitModel
from ui.panels.empty import EmptyState
from ui.presenters import COMMIT
from ui.style.controls import BAR, FilterField, column, label, row, switch
from ui.style.tables import table
from ui.style.text_size import grown

if TYPE_CHECKING:
    from core.source.commits import CommitLine

WIDTHS = {STATE: 30, DAY: 96, AUTHOR: 150, EDITS: 90}
NOTHING = "No history"


class HistoryPanel(QWidget):
    """`item_chosen` carries an edit's id; `wanted` when the panel comes into sight."""

    item_chosen = Signal(int)
    wanted = Signal()

    def __init__(self) -> None:
        """Empty until `set_commits`."""
        super().__init__()
        self.setAccessibleName("History")
        self._chosen: ItemRow | None = None
        self._note, self._quiet = "", False
        self.commits = CommitModel(self)
        self.words = FilterField("Filter by message, author, date or id", "Filter commits")
        self.sampled = switch("Sampled", "Only commits from which the run took edits")
        self.count = label(role="muted")
        self.empty = EmptyState(NOTHING, "Open a project that is under git.")
        self.table = table("Commits, newest first")
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
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
        self._turn(False)

    def _connect(self) -> None:
        self.words.settled.connect(self._filter)
        self.words.returnPressed.connect(self.table.setFocus)
        self.sampled.toggled.connect(self._filter)
        self.table.selectionModel().currentRowChanged.connect(self._moved)
        self.table.activated.connect(self._next_edit)
        self.table.clicked.connect(self._take)

    def set_commits(self, commits: Sequence[CommitLine], texts: Sequence[str], note: str) -> None:
        """Show a history; `texts` as in the model."""
        self._note = note
        self._quiet = True
        self.commits.set_commits(commits, texts)
        self._quiet = False
        self._turn(bool(commits))
        self._say()
        self.select(self._chosen)

    def say_nothing(self, heading: str, advice: str) -> None:
        """There is no history to show, and why."""
        self._quiet = True
        self.commits.set_commits((), ())
        self._quiet = False
        self.empty.say(heading, advice)
        self._turn(False)

    def set_edits(self, edits: Mapping[str, Sequence[ItemRow]]) -> None:
        """Mark the commits that edits were sampled from."""
        self._quiet = True
        self.commits.set_edits(edits)
        self._quiet = False
        self.sampled.setEnabled(bool(edits))
        self._say()
        self.select(self._chosen)

    def select(self, item: ItemRow | None) -> None:
        """Show where an edit comes from, without saying that the user chose it."""
        self._chosen = item
        at = self.commits.row_of(item.origin.get(COMMIT, "")) if item is not None else None
        if at is None or at == self.table.currentIndex().row():
            return
        self._quiet = True
        index = self.commits.index(at, SUBJECT)
        self.table.setCurrentIndex(index)
        self.table.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        self._quiet = False

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Qt: the commits are read when somebody looks."""
        super().showEvent(event)
        self.wanted.emit()

    def _turn(self, there: bool) -> None:
        self.empty.setVisible(not there)
        for part in (self._bar, self.table):
            part.setVisible(there)

    def _filter(self) -> None:
        self._quiet = True
        self.commits.filter(self.words.text(), self.sampled.isChecked())
        self._quiet = False
        self._say()
        self.select(self._chosen)

    def _say(self) -> None:
        shown, total = self.commits.rowCount(), self.commits.total
        count = f"{total:,} commits" if shown == total else f"{shown:,} of {total:,} commits"
        self.count.setText(f"{count}   {self._note}".rstrip())

    def _moved(self, current: QModelIndex, before: QModelIndex) -> None:
        """Arrow keys: the edit of a commit that has one."""
        # A row also becomes current when the list is filled.
        if not self._quiet and self.table.hasFocus():
            self._take(current)

    def _take(self, index: QModelIndex) -> None:
        edits = self.commits.edits(index.row()) if index.isValid() else ()
        if edits and (self._chosen is None or self._chosen.id not in {item.id for item in edits}):
            self.item_chosen.emit(edits[0].id)

    def _next_edit(self, index: QModelIndex) -> None:
        """Enter: the next edit of the same commit."""
        edits = self.commits.edits(index.row()) if index.isValid() else ()
        ids = [item.id for item in edits]
        if ids:
            at = ids.index(self._chosen.id) + 1 if self._chosen is not None and self._chosen.id in ids else 0
            self.item_chosen.emit(ids[at % len(ids)])
