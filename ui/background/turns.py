"""Work of the window's thread done in pieces, so that keys and clicks are heard in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

Work = Callable[[], object]


class Turns(QObject):
    """One piece for each turn of the event loop."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing to do yet."""
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

    def add(self, work: Work) -> None:
        """Do all that is still to do, then this: now, or in turn where a piece of work asks for it."""
        # From inside a piece of work this waits its turn: to finish all there would do the pieces out of order.
        self._pending.append(work)
        if not self._working:
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
