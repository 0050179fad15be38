"""Two pieces of work at a time, their progress told by the thread that waits for both."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

from core.types import Report
from core.waiting import result_of

A = TypeVar("A")
B = TypeVar("B")


class _Abandoned(Exception):
    """The other work failed, or was cancelled."""


class _Heard:
    """The progress of the work in the other thread: keeps the latest, and raises there when that work is to end."""

    def __init__(self) -> None:
        self.latest = ("", 0, 1)
        self.abandoned = Event()

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.latest = (stage, done, total)
        if self.abandoned.is_set():
            raise _Abandoned


def both(first: Callable[[Report], A], second: Callable[[Report], B], progress: Report) -> tuple[A, B]:
    """Run `first` here and `second` in another thread; what either raises is raised, once both have ended.

    Each must call the progress it is given several times a second, so that it can be ended.
    """
    heard = _Heard()
    with ThreadPoolExecutor(1, thread_name_prefix="second") as pool:
        other = pool.submit(second, heard)
        try:

            def heeding(stage: str, done: int, total: int) -> None:
                progress(stage, done, total)
                if other.done():
                    other.result()  # raises what ended it

            own = first(heeding)
            return own, result_of(other, lambda: progress(*heard.latest))
        finally:
            heard.abandoned.set()


def in_turn(first: Callable[[Report], A], second: Callable[[Report], B], progress: Report) -> tuple[A, B]:
    """The same, one after the other."""
    return first(progress), second(progress)
