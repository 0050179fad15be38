"""Waiting for what may take long, so that a stop is heard within a fraction of a second."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import Empty, Queue
from typing import TypeVar

Poll = Callable[[], None]  # called a few times a second while something is waited for; what it raises ends the waiting
STEP = 0.1
PATIENCE = 10.0  # seconds within which work ends that was told to
T = TypeVar("T")


def no_poll() -> None:
    """Let the waiting go on: nobody stops it."""


def wait_for(found: Callable[[float], T | None], poll: Poll) -> T:
    """Ask `found` again and again and return what it gives in the end; `poll` is called in between.

    `found` is told how many seconds it may wait each time; None is no answer yet. Python's own waits take no second
    reason to end, and a thread cannot be interrupted: hence the short steps.
    """
    while (answer := found(STEP)) is None:
        poll()
    return answer


def result_of(future: Future[T], poll: Poll) -> T:
    """Return what a future gives, or raise what it raises; `poll` is called meanwhile."""
    wait_for(lambda step: wait((future,), step).done or None, poll)
    return future.result()


def next_of(queue: Queue[T], poll: Poll) -> T:
    """Return the next item of a queue; `poll` is called meanwhile."""

    def taken(step: float) -> T | None:
        try:
            return queue.get(timeout=step)
        except Empty:
            return None

    return wait_for(taken, poll)


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Run `work` in another thread, a daemon so that it keeps no program from ending, and return its future."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="in_thread", daemon=True).start()
    return future


def patiently(work: Callable[[], T], poll: Poll, end: Callable[[], None], patience: float = PATIENCE) -> T:
    """Run `work` in another thread and return or raise what it does; `poll` is called meanwhile, at least once.

    What `poll` raises is raised in the end: `end` has what `work` waits for end, and then `work` is waited for, at most
    `patience` seconds.
    """
    answer = in_thread(work)
    try:
        poll()
        return result_of(answer, poll)
    except BaseException:
        if not answer.done():
            end()
            wait((answer,), patience)
        raise
