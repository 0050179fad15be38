"""How fast an annotator works."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW = 20
"""Labels the pace is taken over."""

PAUSE = 120.0
"""Seconds between two labels that count as a break and are left out."""


class Pace:
    """Counts labels given in this session."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._gaps: deque[float] = deque(maxlen=WINDOW)
        self._last: float | None = None
        self.count = 0

    def add(self) -> None:
        """A label was given now."""
        now = self._clock()
        if self._last is not None and now - self._last <= PAUSE:
            self._gaps.append(now - self._last)
        self._last = now
        self.count += 1

    def take_back(self) -> None:
        """The last label was undone."""
        self.count = max(0, self.count - 1)

    def per_hour(self) -> int | None:
        """Labels an hour over the last ones; None before there are three."""
        total = sum(self._gaps)
        return round(3600 * len(self._gaps) / total) if len(self._gaps) >= 2 and total > 0 else None

    def text(self) -> str:
        """`12 labelled · 212 an hour`."""
        rate = self.per_hour()
        return f"{self.count} labelled" + (f" · {rate} an hour" if rate is not None else "")
