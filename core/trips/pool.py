"""Work in other threads: several calls at a time with their results in order, and items drawn that way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Generic, TypeVar

from rtc_inspector.core.source.edits import rank
from rtc_inspector.core.types import Item, Report
from rtc_inspector.core.waiting import Poll, no_poll, result_of

Given = TypeVar("Given")
Made = TypeVar("Made")


def in_order(
    function: Callable[[Given], Made], values: Iterable[Given], workers: int, poll: Poll = no_poll
) -> Generator[Made, None, None]:
    """Yield results as `map` does, with `workers` calls under way; closing it early drops those that have not begun.

    Raises what `function` raises, at the place where its result would stand, and what `poll` raises. Calls that run
    then are not waited for.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="pool")
    waiting: deque[Future[Made]] = deque()
    try:
        for value in values:
            waiting.append(pool.submit(function, value))
            if len(waiting) == workers:
                yield result_of(waiting.popleft(), poll)
        while waiting:
            yield result_of(waiting.popleft(), poll)
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
    """Yield the items of the keys in their order, until `wanted` are admitted; those that are not go to `dropped`, too.

    `workers` items are looked at ahead, since admitting one may take a run of tests.
    """
    admitted = 0

    def poll() -> None:
        report(stage, admitted, wanted)

    with closing(in_order(item_of, keys, workers or 1, poll)) as items:
        while admitted < wanted:
            poll()
            item = next(items, None)
            if item is None:
                return
            admitted += item.admitted
            if not item.admitted:
                dropped.append(item)
            yield item


class Draw(Generic[Given]):
    """Items that are made of what a file holds, e.g. its problems; it remembers which of them were dropped."""

    def __init__(
        self, sources: Mapping[str, Given], item_of: Callable[[Given], Item], stage: str, workers: int | None = None
    ) -> None:
        """`sources`: what each item is made of, by the item's key. `stage`: what `report` calls this work."""
        self._sources, self._item_of = sources, item_of
        self._stage, self._workers = stage, workers
        self._dropped: list[Item] = []

    def items(self, wanted: int, seed: int, known: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Yield items in an order the seed decides until `wanted` are admitted; `known` ones are not made again."""

        def item_of(key: str) -> Item:
            return known.get(key) or self._item_of(self._sources[key])

        keys = sorted(self._sources, key=lambda key: rank(seed, key))
        return draw_items(keys, item_of, wanted, report, self._stage, self._dropped, self._workers)

    @property
    def reasons(self) -> list[str]:
        """Return why items were dropped, as they were drawn: `key: reason`."""
        return [f"{item.key}: {item.reason}" for item in self._dropped]
