"""Verdicts already given, as many as a bound on their size allows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from rtc_inspector.core.types import Verdict

CHARACTERS = 32 << 20
"""Of all outputs and messages kept."""
EACH = 1 << 10
"""What a verdict counts beside its texts."""


class Memo:
    """Those asked for least recently go first. Thread-safe."""

    def __init__(self, characters: int = CHARACTERS) -> None:
        """Keep at most `characters`."""
        self._most = characters
        self._held = 0
        self._known: OrderedDict[Hashable, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Verdict | None:
        """The verdict kept under `key`, if it still is."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def keep(self, key: Hashable, verdict: Verdict) -> None:
        """Keep it; a verdict larger than the bound is not kept."""
        with self._lock:
            self._drop(key)
            if size(verdict) > self._most:
                return
            self._known[key] = verdict
            self._held += size(verdict)
            while self._held > self._most:
                self._drop(next(iter(self._known)))

    def _drop(self, key: Hashable) -> None:
        old = self._known.pop(key, None)
        self._held -= size(old) if old is not None else 0


def size(verdict: Verdict) -> int:
    """Characters of its texts, and a little for the rest of it and of each test."""
    texts = sum(len(test.message) + len(test.node_id) for test in verdict.tests)
    return EACH + len(verdict.output) + len(verdict.detail) + texts + EACH // 4 * len(verdict.tests)
