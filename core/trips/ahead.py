"""Several pieces of work at a time, their results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def in_order(function: Callable[[Given], Made], values: Iterable[Given], workers: int) -> Generator[Made, None, None]:
    """As `map`, with `workers` calls under way; closing it early drops those that have not begun.

    Raises what `function` raises, at the place where its result would stand. Calls that run then are not waited for.
    """
    if workers == 1:
        yield from map(function, values)
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="ahead")
    waiting: deque[Future[Made]] = deque()
    try:
        for value in values:
            waiting.append(pool.submit(function, value))
            if len(waiting) == workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
