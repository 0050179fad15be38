"""Work in other threads: several calls at a time with their results in order, and items drawn that way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

from core.types import Item, Report
from core.waiting import Beat, result_of, unheard

Given = TypeVar("Given")
Made = TypeVar("Made")


def in_order(
    function: Callable[[Given], Made], values: Iterable[Given], workers: int, beat: Beat = unheard
) -> Generator[Made, None, None]:
    """As `map`, with `workers` calls under way; closing it early drops those that have not begun.

    Raises what `function` raises, at the place where its result would stand, and what `beat` raises. Calls that run
    then are not waited for.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="pool")
    waiting: deque[Future[Made]] = deque()
    try:
        for value in values:
            waiting.append(pool.submit(function, value))
            if len(waiting) == workers:
                yield result_of(waiting.popleft(), beat)
        while waiting:
            yield result_of(waiting.popleft(), beat)
    finally:
        # Not waited for: a verdict may take a minute, and whoever stops the run closes the oracle, which ends it.
        pool.shutdown(wait=False, cancel_futures=True)


def draw_items(
    keys: Iterable[Given],
    item_of: Callable[[Given], Item],
    wanted: int,
    report: Report,
    stage: str,
    dropped: list[Item],
    workers: int | None = None,
) -> Iterator[Item]:
    """The items of the keys in their order, until `wanted` are admitted; those that are not go to `dropped`, too.

    `workers` items are looked at ahead, since admitting one may take a run of tests.
    """
    admitted = 0

    def beat() -> None:
        report(stage, admitted, wanted)

    with closing(in_order(item_of, keys, workers or 1, beat)) as items:
        while admitted < wanted:
            beat()
            item = next(items, None)
            if item is None:
                return
            admitted += item.admitted
            if not item.admitted:
                dropped.append(item)
            yield item
