"""Stop tracing a test that runs no new line any more: what is left of it goes on at full speed.

What it would run in functions it is in the middle of then counts as run, since nobody watches: too many lines are
better than too few, as admission tries every region.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from types import FrameType

OPTIMIZED = 1
"""Set in the code of functions; clear in that of modules and class bodies."""
QUIET = 1.0
"""Seconds of computing, waiting not counted, without a new line."""


class QuietWatch:
    """A timer of the process's own computing time, armed while a test runs."""

    def __init__(self, lines: Callable[[], int], pause: Callable[[FrameType | None], None]) -> None:
        """`lines`: how many this test has run so far; `pause` ends the tracing of this test, given its frame."""
        self._lines = lines
        self._pause = pause
        self._last = 0
        self._armed = False

    def start(self) -> None:
        """Install the handler; in the main thread, before any test."""
        signal.signal(signal.SIGVTALRM, self._beat)

    def stop(self) -> None:
        """Leave no timer behind."""
        self.disarm()
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)

    def arm(self) -> None:
        """A test begins."""
        self._last, self._armed = 0, True
        signal.setitimer(signal.ITIMER_VIRTUAL, QUIET, QUIET)

    def disarm(self) -> None:
        """No test runs."""
        self._armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _beat(self, number: int, frame: FrameType | None) -> None:
        if not self._armed:
            return
        lines = self._lines()
        if lines > self._last:
            self._last = lines
            return
        self.disarm()
        self._pause(frame)


def lines_around(frame: FrameType | None, root: str) -> Iterator[tuple[str, int]]:
    """File and line of all that stands in the functions below `root` that a frame is called from, itself included."""
    import dis

    while frame is not None:
        code, frame = frame.f_code, frame.f_back
        if code.co_flags & OPTIMIZED and code.co_filename.startswith(root):
            yield from (
                (code.co_filename, line) for _, line in dis.findlinestarts(code) if line and line != code.co_firstlineno
            )
