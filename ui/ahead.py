"""Makes what is not on show yet, one piece at a time: its first show would hold the window up."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from ui.turns import Work

if TYPE_CHECKING:
    from ui.main_window import MainWindow

REST = 1500
"""Milliseconds after a window was opened until the first piece is made."""
PAUSE = 120
"""Milliseconds between two pieces, for keys and clicks."""


class Ahead(QObject):
    """Charts and the page that compares runs, of one window."""

    def __init__(self, window: MainWindow) -> None:
        """Nothing is made until `begin`."""
        super().__init__(window)
        self._window = window
        summary = window.comparing.make_summary
        self._pieces: deque[Work] = deque((self._charts, summary, self._page, self._side, self._side, self._traces))
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(self._step)

    def begin(self) -> None:
        """What is needed is loaded: make it, once the user has seen the window."""
        QTimer.singleShot(REST, self, self._timer.start)

    def _step(self) -> None:
        self._pieces.popleft()()
        if not self._pieces:
            self._timer.stop()

    def _charts(self) -> None:
        _ = self._window.parts.run.charts

    def _page(self) -> None:
        _ = self._window.comparing.page

    def _side(self) -> None:
        self._window.comparing.page.make_side()

    def _traces(self) -> None:
        _ = self._window.comparing.page.traces
