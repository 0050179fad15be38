"""Work for the window's thread while its user does nothing, e.g. making widgets whose first show would take long."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from ui.background.turns import Work

REST = 1.0
"""Seconds without a key or a move of the mouse until a piece is made."""
PAUSE = 150
"""Milliseconds between two pieces, for keys and clicks."""
INPUT = frozenset(
    {
        QEvent.Type.KeyPress,
        QEvent.Type.MouseMove,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.Wheel,
        QEvent.Type.TouchUpdate,
    }
)


class IdleWork(QObject):
    """Does pieces of work one at a time, each after a second without a key or a move of the mouse over `window`."""

    def __init__(self, window: QWidget, pieces: Iterable[Work]) -> None:
        """Nothing is made until `begin`."""
        super().__init__(window)
        self._window = window
        self._pieces: deque[Work] = deque(pieces)
        self._touched = 0.0
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(self._step)

    @property
    def done(self) -> bool:
        """Whether all is made."""
        return not self._pieces

    def begin(self) -> None:
        """What is needed is loaded: make it, once the user has seen the window."""
        screen = self._window.windowHandle()  # sees what is done by hand, and little else
        if screen is not None and not self.done:
            screen.installEventFilter(self)
            self._touched = time.monotonic()
            self._timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Qt: wait while the user does something."""
        if event.type() in INPUT:
            self._touched = time.monotonic()
        return False

    def _step(self) -> None:
        if time.monotonic() - self._touched < REST:
            return
        # One piece at a time: widgets can be made in the window's own thread alone, which meanwhile hears no key.
        self._pieces.popleft()()
        if not self._pieces:
            self._timer.stop()
            self._window.windowHandle().removeEventFilter(self)
