"""Waiting for what may take long, so that a stop is heard within a fraction of a second."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

Beat = Callable[[], None]
"""Called a few times a second while something is waited for; what it raises ends the waiting."""
STEP = 0.1
T = TypeVar("T")


def unheard() -> None:
    """The beat of work that nobody stops."""


def wait_for(found: Callable[[float], T | None], beat: Beat) -> T:
    """What `found` gives in the end: it is asked again and again, and told how many seconds it may wait each time.

    None is no answer yet. Python's own waits take no second reason to end, and a thread cannot be interrupted: hence
    the short steps.
    """
    while (answer := found(STEP)) is None:
        beat()
    return answer


def result_of(future: Future[T], beat: Beat) -> T:
    """What a future gives or raises."""
    wait_for(lambda step: wait((future,), step).done or None, beat)
    return future.result()
