"""Reads the figures of runs in the background, at most twice a second, while somebody looks at them."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from ui.reading.inspection import FIGURES, Inspection

if TYPE_CHECKING:
    from core.figures import Figure
    from core.store.reader import Reader

SHORTEST_REST = 500
"""Milliseconds between two readings."""


class FigureFeed(QObject):
    """`read(figures)`: what the analyses of the runs' kinds made of them, as they stand now; `failed(error)`."""

    read = Signal(object)
    failed = Signal(object)

    def __init__(self, inspection: Inspection, parent: QObject, key: str = "figures") -> None:
        """Nothing is read until `note`; feeds with other keys do not disturb each other."""
        super().__init__(parent)
        self._inspection, self._key = inspection, key
        self._runs: tuple[int, ...] = ()
        self._chosen: dict[str, str] = {}
        self._stale = self._asking = False
        self._began = 0.0
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self._ask)

    def note(self, *runs: int) -> None:
        """Something was stored for the runs on show, or they are others: read them, now or after a rest."""
        if runs != self._runs:
            self._runs = runs
            # Figures of the runs before must not come up under the names of these.
            self._inspection.forget(self._key)
            self._rest.stop()
            # The question under way is dropped by its key: nobody will tell that it ended.
            self._asking = False
        self._stale = True
        self._ask()

    def choose(self, name: str, value: str) -> None:
        """Make the figures with another choice, e.g. another metric; at once, for somebody waits."""
        self._chosen[name] = value
        self._rest.stop()
        self._asking, self._stale = False, True
        self._ask()

    def _ask(self) -> None:
        if self._stale and not self._asking and not self._rest.isActive() and self._runs:
            self._stale, self._asking, self._began = False, True, time.monotonic()
            question = partial(_analysed, self._runs, dict(self._chosen))
            self._inspection.ask(self._key, question, self._show, self._fail, lane=FIGURES)

    def _show(self, figures: list[Figure]) -> None:
        self._pause()
        self.read.emit(figures)

    def _fail(self, error: Exception) -> None:
        self._pause()
        self.failed.emit(error)

    def _pause(self) -> None:
        """Rest before reading again, the longer the longer it took: a run that goes on needs the processor too."""
        self._asking = False
        self._rest.start(max(SHORTEST_REST, int((time.monotonic() - self._began) * 2000)))


def _analysed(runs: tuple[int, ...], chosen: dict[str, str], reader: Reader) -> list[Figure]:
    from core.analyses.registry import analyse  # in the background: the window opens sooner

    return analyse(reader, runs, chosen=chosen)
