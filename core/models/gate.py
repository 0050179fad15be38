"""How many requests a server is given at a time: more while that brings more, fewer when it refuses."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

BEGIN = 8
MOST = 64
"""More at a time than this is asked only of a server whose user says so."""
GAIN = 1.15
"""How much more must come of twice as many requests to be worth it."""
SETTLED_FOR = 16
"""Rounds after which it is tried again whether more would bring more."""


class Gate:
    """Lets so many requests through at a time. Any thread may call it."""

    def __init__(self, begin: int = BEGIN, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        """`begin`, `most`: where they are equal, the number only shrinks, and grows back."""
        self.limit = self._former = min(begin, most)
        self.most = most
        self._clock = clock
        self._inside = self._outside = 0
        self._change = threading.Condition()
        self._best = 0.0
        self._settled, self._full = 0, True
        self._refused = float("-inf")
        self._start()

    def enter(self, given_up: threading.Event) -> bool:
        """Wait for a place; False once all was given up."""
        with self._change:
            self._outside += 1
            while self._inside >= self.limit and not given_up.is_set():
                self._change.wait(0.1)
            self._outside -= 1
            if self._inside == 0:  # nothing was asked meanwhile: that time says nothing of the server
                self._start()
            self._inside += not given_up.is_set()
            return not given_up.is_set()

    def leave(self, tokens: float, more: bool) -> None:
        """Give the place back, with as many tokens as came; `more`: whether there are requests
        besides those whose threads wait for a place.
        """
        with self._change:
            self._inside -= 1
            self._came += tokens
            self._answers += 1
            self._full = self._full and (more or self._outside > 0)
            if self._answers >= self.limit:
                self._judge()
            self._change.notify_all()

    def back_off(self) -> None:
        """Heed a server that has too many requests: halve them, once for all that were under way."""
        with self._change:
            now = self._clock()
            if now - self._refused > 1.0:
                self._refused = now
                self._settle(max(1, self.limit // 2))
                self._start()

    def _judge(self) -> None:
        """Hold a round against the best so far; one in which places stood empty tells nothing."""
        rate = self._came / max(1e-9, self._clock() - self._since)
        if self._full and self._settled:
            self._settled -= 1
        elif self._full and rate >= GAIN * self._best:
            self._best, self._former, self.limit = rate, self.limit, min(self.most, 2 * self.limit)
        elif self._full:
            self._settle(self._former)
        self._start()

    def _settle(self, limit: int) -> None:
        self.limit = self._former = limit
        self._best, self._settled = 0.0, SETTLED_FOR

    def _start(self) -> None:
        """Begin a round."""
        self._since, self._came, self._answers = self._clock(), 0.0, 0
        self._full = True
