"""Reads the history that the browser shows, once somebody looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from rtc_inspector.core.store.rows import ItemRow, RunRow
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.history.panel import NOTHING, HistoryPanel, searched
from rtc_inspector.ui.presenters import COMMIT, presenter
from rtc_inspector.ui.shell.notices import say_in_place

if TYPE_CHECKING:
    from rtc_inspector.core.source.commits import CommitList

FIRST = 300
"""Commits shown while the others are read."""
KEY, LANE = "history", "history"

Read = tuple["CommitList", list[str]]


class HistoryFeed(QObject):
    """Keeps the panel with the project that is open and the run that is shown."""

    def __init__(self, panel: HistoryPanel, gateway: Gateway, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._panel, self._gateway = panel, gateway
        self._root: Path | None = None
        self._run: RunRow | None = None
        self._read: tuple[Path, str | None] | None = None
        panel.wanted.connect(self._look)

    def set_project(self, root: Path | None) -> None:
        """Show the history of the project at `root`; read anew, since it may have grown."""
        self._read = None
        if root != self._root or root is None:
            self._gateway.cancel(KEY)
            self._root = root
            self._panel.say_nothing(NOTHING, "" if root else "The project of this run is not on this machine.")
        self._look()

    def set_items(self, items: Sequence[ItemRow], run: RunRow | None) -> None:
        """Mark the edits of the run that is shown."""
        edits: dict[str, list[ItemRow]] = {}
        for item in items:
            if item.admitted and presenter(item).past and COMMIT in item.origin:
                edits.setdefault(item.origin[COMMIT], []).append(item)
        self._run = run if edits else None
        self._panel.set_edits(edits)
        self._look()

    def _look(self) -> None:
        """Read what is wanted, unless it was, or nobody looks."""
        root, run = self._root, self._run
        if not self._panel.isVisible() or root is None:
            return
        # As the run saw it: commits that came since have no edits of it.
        revision = run.revision if run is not None and Path(run.project_root) == root else None
        if self._read == (root, revision):
            return
        self._read = (root, revision)
        self._ask(root, revision, FIRST)

    def _ask(self, root: Path, revision: str | None, most: int | None) -> None:
        work = partial(_list, root, revision, most)
        self._gateway.submit(KEY, work, partial(self._take, root, revision), self._fail, lane=LANE)

    def _take(self, root: Path, revision: str | None, read: Read) -> None:
        found, texts = read
        self._panel.set_commits(found.commits, texts, found.note if found.whole else "reading the others…")
        # The first few hundred are there in a moment; a long history takes seconds.
        if not found.whole:
            self._ask(root, revision, None)

    def _fail(self, error: Exception) -> None:
        say_in_place(error, self._panel.say_nothing, NOTHING, self._gateway.failed.emit)


def _list(root: Path, revision: str | None, most: int | None) -> Read:
    from rtc_inspector.core.source.commits import list_commits  # git's library is loaded when it is first needed

    found = list_commits(root, revision, most)
    return found, [searched(commit) for commit in found.commits]
