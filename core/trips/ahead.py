"""Several pieces of work at a time, their results in order; and waiting for them in short steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")

STEP = 0.1


def _nothing() -> None:
    """Nobody asks how it goes."""


def in_order(
    function: Callable[[Given], Made], values: Iterable[Given], workers: int, beat: Callable[[], None] = _nothing
) -> Generator[Made, None, None]:
    """As `map`, with `workers` calls under way; closing it early drops those that have not begun.

    `beat` is called ten times a second while a result is waited for. Raises what `function` raises, at the place where
    its result would stand, and what `beat` raises. Calls that run then are not waited for.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="ahead")
    waiting: deque[Future[Made]] = deque()
    try:
        for value in values:
            waiting.append(pool.submit(function, value))
            if len(waiting) == workers:
                yield _result(waiting.popleft(), beat)
        while waiting:
            yield _result(waiting.popleft(), beat)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[Made], beat: Callable[[], None]) -> Made:
    while not wait((future,), STEP).done:
        beat()
    return future.result()


def patiently(work: Callable[[], Made], beat: Callable[[], None]) -> Made:
    """What `work` returns or raises; it runs in another thread while `beat` is called ten times a second.

    What `beat` raises is raised at once, and `work` is left behind: closing the oracle it uses ends it.
    """

    def call(_: None) -> Made:
        return work()

    with closing(in_order(call, (None,), 1, beat)) as results:
        return next(results)
