"""What time there is, shared out to projects, and lines that tell how far a part has come."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from judging.fresh import note

Item = TypeVar("Item")
BEAT = 5.0
"""Seconds between two lines."""


class Budget:
    """Seconds for one project, from now on."""

    def __init__(self, seconds: float, name: str) -> None:
        """`name`: of the project, for the lines."""
        self._end = time.monotonic() + seconds
        self._name = name

    @property
    def left(self) -> float:
        """Seconds that are left, at least none."""
        return max(0.0, self._end - time.monotonic())

    def begin(self, part: str) -> bool:
        """Whether there is time for one more part; says so either way."""
        if self.left:
            note(f"{self._name}: {part}")
            return True
        note(f"{self._name}: {part} is left out, for the time for this project is up")
        return False

    def each(self, items: Sequence[Item], what: str, share: float = 1.0) -> Iterator[tuple[int, Item]]:
        """Number and item, until `share` of the time that is left is spent; the first comes in any case.

        A line every few seconds, and one when some were not reached.
        """
        end, said = time.monotonic() + share * self.left, time.monotonic()
        for done, item in enumerate(items):
            now = time.monotonic()
            if done and now > end:
                note(f"{self._name}: {done} of {len(items)} {what}: the time for that is up")
                return
            if now - said > BEAT:
                said = now
                note(f"{self._name}: {done} of {len(items)} {what}")
            yield done, item
        note(f"{self._name}: {len(items)} {what}")


def shares(total: float, projects: Iterable[Item]) -> Iterator[tuple[Item, float]]:
    """Each project with its part of what is left of `total` seconds when its turn comes."""
    end, waiting = time.monotonic() + total, list(projects)
    while waiting:
        yield waiting[0], max(0.0, end - time.monotonic()) / len(waiting)
        waiting.pop(0)
