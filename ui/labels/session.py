"""The labels that an annotator gave since they began: to be undone one by one, and how fast they came."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from core.store.rows import LabelRow

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


@dataclass(frozen=True, slots=True)
class Before:
    """What a sample had before its label was given."""

    sample_id: int
    mode: str
    note: str


class LabelSession:
    """The labels that one annotator gave on the samples of one queue, the last one first to be undone."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._before: list[Before] = []
        self._pace = Pace()
        self._progress = ""

    @property
    def text(self) -> str:
        """How far the queue is done, and the pace."""
        return self._progress + self._pace.text()

    def set_progress(self, done: int, total: int) -> None:
        """How far the queue is done."""
        self._progress = f"{done:,} of {total:,} · "

    def add(self, sample_id: int, own: LabelRow | None, *, counts: bool) -> None:
        """A label was given where `own` was; one that takes a label back counts for nothing."""
        self._before.append(Before(sample_id, own.mode if own else "", own.note if own else ""))
        if counts:
            self._pace.add()

    def take_back(self) -> Before | None:
        """Undo the last one."""
        if not self._before:
            return None
        self._pace.take_back()
        return self._before.pop()

    def forget(self) -> None:
        """Somebody else undoes nothing of what was said before, and has a pace and a count of their own."""
        self._before.clear()
        self._pace = Pace()

    def __bool__(self) -> bool:
        """Whether there is anything to undo."""
        return bool(self._before)
