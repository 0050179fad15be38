"""Work in other threads: several calls at a time with their results in order, and items drawn that way."""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Generic, TypeVar

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.kinds import counted, task
from rtc_inspector.core.trips.protocol import Trip
from rtc_inspector.core.types import Item, Report
from rtc_inspector.core.waiting import Poll, no_poll, result_of, wait_for

T = TypeVar("T")
R = TypeVar("R")
AHEAD = 4  # items for each judge that are looked at ahead of the next


def in_order(
    function: Callable[[T], R], values: Iterable[T], workers: int, poll: Poll = no_poll
) -> Generator[R, None, None]:
    """Yield results as `map` does, with `workers` calls under way; closing it early drops those that have not begun.

    Raises what `function` raises, at the place where its result would stand, and what `poll` raises. Calls that run
    then are not waited for.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="pool")
    waiting: deque[Future[R]] = deque()
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
    keys: Iterable[T],
    item_of: Callable[[T], Item],
    wanted: int,
    report: Report,
    stage: str,
    dropped: list[Item],
    workers: int | None = None,
) -> Iterator[Item]:
    """Yield the items of the keys in their order, until `wanted` are admitted; those that are not go to `dropped`, too.

    The first that is admitted comes at once, though earlier ones may not be decided yet: a model can be asked about it.
    Several are looked at ahead, since admitting one may take a run of tests; none that is not needed in any case.
    """
    left, admitted, most = iter(keys), 0, AHEAD * (workers or 1)
    pool = ThreadPoolExecutor(most, thread_name_prefix="pool")
    waiting: deque[Future[Item]] = deque()
    early: Future[Item] | None = None

    def poll() -> None:
        report(stage, admitted, wanted)

    def come(step: float) -> Future[Item] | None:
        done = [each for each in waiting if admitted == 0 and each.done()]
        ready = [each for each in done if each.exception() is None and each.result().admitted]
        if waiting[0].done() or ready:
            return ready[0] if ready else waiting[0]
        wait([each for each in waiting if not each.done()], step, FIRST_COMPLETED)
        return None

    try:
        while admitted < wanted:
            poll()
            undecided = len(waiting) - (early in waiting)
            room = max(0, min(most, wanted - admitted) - undecided)
            waiting.extend(pool.submit(item_of, key) for key in islice(left, room))
            if not waiting:
                return
            future = wait_for(come, poll)
            item = future.result()
            if future is not waiting[0]:
                early = future
            elif waiting.popleft() is early:  # it was yielded before its turn
                continue
            admitted += item.admitted
            if not item.admitted:
                dropped.append(item)
            yield item
    finally:
        # Not waited for: a verdict may take a minute, and whoever stops the run closes the oracle, which ends it.
        pool.shutdown(wait=False, cancel_futures=True)


class DrawnTrip(Trip, Generic[T]):
    """A trip whose items are all made of what one file or project holds, e.g. its problems."""

    sources: Mapping[str, T]  # what each item is made of, by the item's key
    stage: str  # what `report` calls the making of items
    workers: int | None = None
    # `none`, `remedy`: what to say where nothing can be used, and what to do; `holder`: what the items are in
    none: str
    remedy: str
    holder: str
    _dropped: Sequence[Item] = ()

    @abstractmethod
    def made(self, source: T) -> Item:
        """Return what is made of a source: an item that is admitted, or dropped with the reason."""

    def items(self, wanted: int, seed: int, stored: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Yield items in an order the seed decides until `wanted` are admitted; `stored` ones are not made again."""

        def item_of(key: str) -> Item:
            return stored.get(key) or self.made(self.sources[key])

        from rtc_inspector.core.source.edits import rank  # with git's library

        self._dropped = dropped = list[Item]()
        keys = sorted(self.sources, key=lambda key: rank(seed, key))
        return draw_items(keys, item_of, wanted, report, self.stage, dropped, self.workers)

    @property
    def available(self) -> int | None:
        return len(self.sources)

    @property
    def reasons(self) -> list[str]:
        """Why items were dropped, as they were drawn: `key: reason`."""
        return [f"{item.key}: {item.reason}" for item in self._dropped]

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        if not admitted:
            raise ProjectError(f"{self.none}: {[*self.reasons, 'it holds none'][0]}.", self.remedy)
        few = f"{self.holder} has {counted(admitted, task(self.settings.task).noun)} to use."
        return [*(f"Dropped {reason}." for reason in self.reasons), *([few] if admitted < wanted else [])]
