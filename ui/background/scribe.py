"""The one way by which the window writes what its user says: labels, names, notes. One thread, one commit each."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rtc_inspector.ui.background.gateway import Gateway, ignore

if TYPE_CHECKING:
    from rtc_inspector.core.store.writer import Store

T = TypeVar("T")
LANE = "write"
PATIENCE = 0.05
"""Seconds a key waits for its commit, so that a label outlives whatever happens next; a busy disk may take longer."""
OPENING = 1.0
"""Seconds it waits where the database is still being opened: once at most, and only right after `prepare`."""


class Scribe:
    """Keeps one database open for writing, in a thread of its own. Nothing asked for is dropped."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._store: Store | None = None
        self._last: Future[None] | None = None

    @property
    def busy(self) -> bool:
        """Return whether something waits to be written."""
        return self._last is not None and not self._last.done()

    def prepare(self, database: Path) -> None:
        """Open the database ahead of the first write."""
        self.write(database, lambda store: None, wait=False)

    def write(
        self, database: Path, change: Callable[[Store], T], on_done: Callable[[T], None] = ignore, *, wait: bool = True
    ) -> None:
        """Commit a change; `on_done` gets what it returned. Errors go to the notices."""
        self._gateway.on_lane_end(LANE, self._close)
        self._last = self._gateway.carry_out(lambda: change(self._open(database)), on_done, LANE)
        if wait:
            try:
                # The window stands still so long, on purpose: who labels and closes the lid at once has lost nothing.
                self._last.result(timeout=PATIENCE if self._store else OPENING)
            except NotYet:
                return

    def _open(self, database: Path) -> Store:
        """Return the store of this file; called in the lane."""
        if self._store is None or self._store.path != database.resolve():
            from rtc_inspector.core.run.results import open_store  # in the lane: the window opens sooner

            self._close()
            self._store = open_store(database)
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
