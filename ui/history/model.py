"""Commits as a Qt table, filtered here: a proxy is too slow for 50,000 rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt

from core.store.rows import ItemRow
from ui.style.marks import mark_icon
from ui.style.region_state import RegionState, region_state, state_words
from ui.style.tables import Index, ListedRows

if TYPE_CHECKING:
    from core.source.commits import CommitLine

STATE, DAY, AUTHOR, SUBJECT, EDITS = range(5)
HEADINGS = ("", "Date", "Author", "Commit", "Edits")
TIPS = ("State of its edits", "Author's date", "Author", "First line of its message", "Its edits: passes of judged")

_HASH = 10


class CommitModel(ListedRows):
    """The commits that pass the filter, newest first. Cells are made as they come into sight."""

    heads, tips = HEADINGS, TIPS

    def __init__(self, parent: QObject | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self._commits: Sequence[CommitLine] = ()
        self._texts: Sequence[str] = ()
        self.shown: Sequence[int] = ()
        self._edits: Mapping[str, Sequence[ItemRow]] = {}
        self._words: list[str] = []
        self._sampled = False
        self._icons = {state: mark_icon(state) for state in RegionState}

    def set_commits(self, commits: Sequence[CommitLine], texts: Sequence[str]) -> None:
        """Show a history. `texts`: what words are looked for in, one a commit."""
        self._commits, self._texts = commits, texts
        self._select()

    def set_edits(self, edits: Mapping[str, Sequence[ItemRow]]) -> None:
        """Mark the commits from which edits were sampled, by commit."""
        same, self._edits = edits.keys() == self._edits.keys(), edits
        if self._sampled and not same:
            self._select()
        else:
            self.say_changed()

    def filter(self, words: str, sampled: bool) -> None:
        """List the commits that hold all words; `sampled`: only those with edits of the run."""
        self._words, self._sampled = words.lower().split(), sampled
        self._select()

    @property
    def total(self) -> int:
        """Commits, listed or not."""
        return len(self._commits)

    def commit(self, row: int) -> CommitLine:
        """What a row shows."""
        return self._commits[self.shown[row]]

    def edits(self, row: int) -> Sequence[ItemRow]:
        """The run's edits from the commit of a row."""
        return self._edits.get(self.commit(row).id, ())

    def row_of(self, commit: str) -> int | None:
        """Where a commit is listed; None when it is not."""
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
        """Qt: what a cell shows."""
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
            return " · ".join(_brief(item) for item in edits)
        return {DAY: commit.day, AUTHOR: commit.author, SUBJECT: commit.subject}.get(column, "")

    def _tip(self, commit: CommitLine, edits: Sequence[ItemRow]) -> str:
        said = [f"{item.path}:{item.start_line}: {state_words(item)}" for item in edits]
        return "\n".join([f"{commit.id[:_HASH]}  {commit.day}  {commit.author}", commit.subject, *said])


def searched(commit: CommitLine) -> str:
    """What words are looked for in."""
    return f"{commit.id} {commit.day} {commit.author}\n{commit.subject}".lower()


def _brief(item: ItemRow) -> str:
    return item.tally or str(region_state(item))


def _state(edits: Sequence[ItemRow]) -> RegionState:
    """Of several edits what they have in common, else mixed."""
    states = {region_state(item) for item in edits}
    return states.pop() if len(states) == 1 else RegionState.PARTIAL
