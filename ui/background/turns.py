"""Work of the window's thread in pieces, so that keys and clicks are heard in between: now, or in idle moments."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

Work = Callable[[], object]


class Turns(QObject):
    """One piece for each turn of the event loop."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pending: deque[Work] = deque()
        self._working = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._step)

    def begin(self, *works: Work) -> None:
        """Do the first now and the others in turn; what was still to do is done first."""
        self.finish()
        self._pending.extend(works)
        self._step()
        if self._pending:
            self._timer.start()

    def add(self, work: Work, wait: bool = False) -> None:
        """Do all that is still to do, then this: now, or in turn where a piece of work asks for it or it can `wait`."""
        # From inside a piece of work this waits its turn: to finish all there would do the pieces out of order.
        self._pending.append(work)
        if wait:
            self._timer.start()
        elif not self._working:
            self.finish()

    def finish(self) -> None:
        """Do all that is still to do, now."""
        while self._pending:
            self._step()

    def _step(self) -> None:
        if not self._pending:
            return
        self._working = True
        try:
            self._pending.popleft()()
        finally:
            self._working = False
        if not self._pending:
            self._timer.stop()


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
        super().__init__(window)
        self._window = window
        self._pieces: deque[Work] = deque(pieces)
        self._touched = 0.0
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(self._step)

    @property
    def done(self) -> bool:
        """Return whether all is made."""
        return not self._pieces

    def begin(self) -> None:
        """Begin with the pieces: what they need is loaded, and the user is given time to see the window first."""
        screen = self._window.windowHandle()  # sees what is done by hand, and little else
        if screen is not None and not self.done:
            screen.installEventFilter(self)
            self._touched = time.monotonic()
            self._timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Note when the user last did something: pieces of work wait meanwhile."""
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
