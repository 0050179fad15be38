"""Reads the figures of runs in the background, at most twice a second, while somebody looks at them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from rtc_inspector.ui.reading.inspection import FIGURES, Inspection
from rtc_inspector.ui.reading.rereading import Rereading

if TYPE_CHECKING:
    from rtc_inspector.core.figures import Figure
    from rtc_inspector.core.store.reader import Reader


class FigureFeed(QObject):
    """`read(figures)`: what the analyses of the runs' kinds made of them, as they stand now; `failed(error)`."""

    read = Signal(object)
    failed = Signal(object)

    def __init__(self, inspection: Inspection, parent: QObject, key: str = "figures") -> None:
        """`key`: feeds with other keys do not disturb each other."""
        super().__init__(parent)
        self._runs: tuple[int, ...] = ()
        self._chosen: dict[str, str] = {}
        self._stale = False
        self._reading = Rereading(inspection, self, key, FIGURES, times=2)
        self._reading.rested.connect(self._ask)

    def note(self, *runs: int) -> None:
        """Read the runs on show, now or after a rest: something was stored for them, or they are others."""
        if runs != self._runs:
            self._runs = runs
            # Figures of the runs before must not come up under the names of these.
            self._reading.forget()
        self._stale = True
        self._ask()

    def choose(self, name: str, value: str) -> None:
        """Make the figures with another choice, e.g. another metric; at once, for somebody waits."""
        self._chosen[name] = value
        self._reading.forget()
        self._stale = True
        self._ask()

    def _ask(self) -> None:
        if self._stale and self._runs and not self._reading.busy:
            self._stale = False
            question = partial(_analysed, self._runs, dict(self._chosen))
            self._reading.ask(question, self.read.emit, self.failed.emit)


def _analysed(runs: tuple[int, ...], chosen: dict[str, str], reader: Reader) -> list[Figure]:
    from rtc_inspector.core.analyses.registry import analyse  # in the background: the window opens sooner

    return analyse(reader, runs, chosen=chosen)
