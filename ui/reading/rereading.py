"""A question that is asked of the database again and again while a run goes on, with rests that leave the run time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from rtc_inspector.ui.reading.inspection import Inspection, LookedAt

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader

SHORTEST_REST = 500
"""Milliseconds between two readings."""
T = TypeVar("T")


class Rereading(QObject):
    """One reading at a time, and a rest after each; `rested` when the next one may begin."""

    rested = Signal()

    def __init__(self, inspection: Inspection, parent: QObject, key: str, lane: str, times: int) -> None:
        """Questions of one `key` replace each other; a rest is so many `times` as long as the reading before it."""
        super().__init__(parent)
        self._inspection, self._key, self._lane, self._times = inspection, key, lane, times
        self._asking = False
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self.rested)
        # The answer of another database will never come.
        inspection.moved.connect(self._move)

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        if before.database != now.database:
            self.forget()

    @property
    def busy(self) -> bool:
        """Return whether it reads or rests."""
        return self._asking or self._rest.isActive()

    def ask(
        self, question: Callable[[Reader], T], show: Callable[[T], None], fail: Callable[[Exception], None]
    ) -> None:
        """Ask at once, even in a rest; the answer to an earlier question is dropped."""
        self._rest.stop()
        self._asking = True
        began = time.monotonic()

        def rest() -> None:
            # The longer the longer the reading took: a run that goes on needs the processor too.
            self._asking = False
            self._rest.start(max(SHORTEST_REST, int((time.monotonic() - began) * 1000 * self._times)))

        def answer(found: T) -> None:
            rest()
            show(found)

        def refuse(error: Exception) -> None:
            rest()
            fail(error)

        self._inspection.ask(self._key, question, answer, refuse, lane=self._lane, of_run=False)

    def forget(self) -> None:
        """Drop the question under way, and rest no longer."""
        self._inspection.forget(self._key)
        self._rest.stop()
        # Nobody will tell that the question that was dropped has ended.
        self._asking = False
