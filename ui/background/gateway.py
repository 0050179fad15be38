"""The one way from the window to background work.

Work runs in a small thread pool, or in a lane: a thread of its own for things that belong to one thread, such as a
database connection. Its result comes back on the main thread. A later request of the same key makes an earlier one
stale: its answer is dropped, and it is not begun if it was still waiting.

Who is called with an answer is known on the main thread alone: if a background thread were the last to let go of a
widget, Qt would destroy it there, and the process could crash.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.types import Report

if TYPE_CHECKING:
    from rtc_inspector.core.store.writer import Store

T = TypeVar("T")
WORKERS = 3  # threads of the pool, at most


def ignore(answer: object) -> None:
    """Do nothing with an answer that nobody waits for."""


class Stoppable(Protocol):
    """A thread that the gateway stops and joins at close."""

    def stop(self) -> None:
        """Ask it to end; returns at once."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""

    def is_alive(self) -> bool:
        """Return whether it still runs."""


class Errand(threading.Thread):
    """Long work in a thread of its own; the window looks at it now and then, and may stop it."""

    def __init__(self, name: str, work: Callable[[Report], Any]) -> None:
        """`work` says by its argument how far it is; that raises Cancelled once it is to end."""
        super().__init__(name=name, daemon=True)
        self._work, self._stopping = work, threading.Event()
        self.step = ("", 0, 0)  # what it does, how much is done, of how much
        self.answer: Any = None  # what the work gave; None while it goes on, and where it was stopped or failed
        self.error: Exception | None = None  # what it failed with

    def run(self) -> None:
        try:
            self.answer = self._work(self._report)
        except Cancelled:
            pass
        except Exception as error:
            self.error = error

    def stop(self) -> None:
        self._stopping.set()

    def _report(self, stage: str, done: int, total: int) -> None:
        self.step = (stage, done, total)
        if self._stopping.is_set():
            raise Cancelled


_Asked = tuple[int, Callable[[Any], object], Callable[[Exception], object]]
"""The turn of a question, and who is told its answer, or its error."""


class Gateway(QObject):
    """Runs work off the main thread, delivers results on it, and owns every thread."""

    failed = Signal(object)  # the exception of work that had no `on_error` of its own: shown as a notice
    _answered = Signal(str, int, object, bool)  # key and turn of a question, its answer or error, whether it failed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="gateway")
        self._lanes: dict[str, ThreadPoolExecutor] = {}
        self._farewells: dict[str, Callable[[], None]] = {}
        self._turn = 0
        self._waiting: dict[str, Future[None]] = {}
        self._asked: dict[str, _Asked] = {}
        self._owned: list[Stoppable] = []
        self._closed = False
        # Emitted in a pool thread, delivered in this one: Qt queues a call between objects of different threads.
        self._answered.connect(self._deliver)

    def submit(
        self,
        key: str,
        work: Callable[[], T],
        on_result: Callable[[T], object] = ignore,
        on_error: Callable[[Exception], object] | None = None,
        lane: str | None = None,
    ) -> None:
        """Run `work` in the pool (or, in order, in `lane`), then `on_result` or `on_error` here, unless superseded."""
        if self._closed:
            return
        self.cancel(key)
        executor = self._pool if lane is None else self._lane(lane)
        self._waiting[key] = executor.submit(self._run, key, self._ask(key, on_result, on_error), work)

    def carry_out(self, work: Callable[[], T], on_result: Callable[[T], None], lane: str) -> Future[None]:
        """Run `work` in a lane come what may: no later request drops it, and closing waits for it.

        An error is reported by `failed`.
        """
        key = f"carry out {self._turn + 1}"
        return self._lane(lane).submit(self._run, key, self._ask(key, on_result, None), work)

    def _ask(self, key: str, on_result: Callable[[Any], object], on_error: Callable[[Exception], object] | None) -> int:
        """Note who is told the answer. It will carry the number of this turn; asked again, the numbers differ."""
        self._turn += 1
        self._asked[key] = self._turn, on_result, on_error or self.failed.emit
        return self._turn

    def cancel(self, key: str) -> None:
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting.cancel()
        # The callbacks go at once: they hold widgets, which no background thread may be the last to let go of.
        self._asked.pop(key, None)

    def own(self, thread: Stoppable) -> None:
        # A window that is open for days starts many threads: those that ended are let go.
        self._owned = [each for each in self._owned if each.is_alive()]
        self._owned.append(thread)

    def on_lane_end(self, lane: str, farewell: Callable[[], None]) -> None:
        """Run `farewell` in the lane as its last work at close."""
        self._farewells[lane] = farewell

    def close(self, timeout: float = 2.0) -> bool:
        """Stop and join everything within `timeout` seconds; whether all has ended. Idempotent."""
        self._closed = True
        for thread in self._owned:
            thread.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)
        # One by one, not all of a lane's: what `carry_out` promised must still be written there.
        for future in self._waiting.values():
            future.cancel()
        for name, farewell in self._farewells.items():
            # A lane in which nothing ever ran has nothing to say farewell to.
            if name in self._lanes:
                self._lanes[name].submit(farewell)
        self._farewells.clear()
        self._waiting.clear()
        self._asked.clear()
        for lane in self._lanes.values():
            lane.shutdown(wait=False)
        # One deadline for all of them: three threads that hang must not take three times as long.
        deadline = time.monotonic() + timeout
        for thread in self._owned:
            thread.join(max(0.0, deadline - time.monotonic()))
        alive = any(thread.is_alive() for thread in self._owned)
        if not alive:
            for pool in (self._pool, *self._lanes.values()):
                pool.shutdown(wait=True)
        return not alive

    def _lane(self, name: str) -> ThreadPoolExecutor:
        if name not in self._lanes:
            self._lanes[name] = ThreadPoolExecutor(1, thread_name_prefix=f"gateway-{name}")
        return self._lanes[name]

    def _run(self, key: str, turn: int, work: Callable[[], Any]) -> None:
        try:
            value, failed = work(), False
        except Exception as error:
            value, failed = error, True
        if not self._closed:
            self._answered.emit(key, turn, value, failed)

    @Slot(str, int, object, bool)
    def _deliver(self, key: str, turn: int, value: Any, failed: bool) -> None:
        asked = self._asked.get(key)
        if self._closed or asked is None or asked[0] != turn:
            return
        self._waiting.pop(key, None)
        _, on_result, on_error = self._asked.pop(key)
        (on_error if failed else on_result)(value)


LANE = "write"
PATIENCE = 0.05
"""Seconds a key waits for its commit, so that a label outlives whatever happens next; a busy disk may take longer."""
OPENING = 1.0  # seconds it waits where the database is still being opened: once at most, and only right after `prepare`


class Scribe:
    """Keeps one database open for writing, in a thread of its own. Nothing asked for is dropped."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._store: Store | None = None
        self._last: Future[None] | None = None

    @property
    def busy(self) -> bool:
        return self._last is not None and not self._last.done()

    def prepare(self, database: Path) -> None:
        self.write(database, lambda store: None, wait=False)

    def write(
        self, database: Path, change: Callable[[Store], T], on_done: Callable[[T], None] = ignore, *, wait: bool = True
    ) -> None:
        """Commit a change; `on_done` gets what it returned. Errors go to the notices."""
        self._gateway.on_lane_end(LANE, self._close)
        self._last = self._gateway.carry_out(lambda: change(self._open(database)), on_done, LANE)
        if wait:
            try:
                # The window stands still so long, on purpose: who labels and closes the lid at once has lost nothing.
                self._last.result(timeout=PATIENCE if self._store else OPENING)
            except NotYet:
                return

    def _open(self, database: Path) -> Store:
        if self._store is None or self._store.path != database.resolve():
            from rtc_inspector.core.run.results import open_store  # in the lane: the window opens sooner

            self._close()
            self._store = open_store(database)
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


Work = Callable[[], object]


class Turns(QObject):
    """One piece for each turn of the event loop."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pending: deque[Work] = deque()
        self._working = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._step)

    def begin(self, *works: Work) -> None:
        """Do the first now and the others in turn; what was still to do is done first."""
        self.finish()
        self._pending.extend(works)
        self._step()
        if self._pending:
            self._timer.start()

    def add(self, work: Work, wait: bool = False) -> None:
        """Do all that is still to do, then this: now, or in turn where a piece of work asks for it or it can `wait`."""
        # From inside a piece of work this waits its turn: to finish all there would do the pieces out of order.
        self._pending.append(work)
        if wait:
            self._timer.start()
        elif not self._working:
            self.finish()

    def finish(self) -> None:
        while self._pending:
            self._step()

    def _step(self) -> None:
        if not self._pending:
            return
        self._working = True
        try:
            self._pending.popleft()()
        finally:
            self._working = False
        if not self._pending:
            self._timer.stop()


REST = 1.0  # seconds without a key or a move of the mouse until a piece is made
PAUSE = 150  # milliseconds between two pieces, for keys and clicks
_Kind = QEvent.Type
INPUT = (_Kind.KeyPress, _Kind.MouseMove, _Kind.MouseButtonPress, _Kind.Wheel, _Kind.TouchUpdate)


class IdleWork(QObject):
    """Does pieces of work one at a time, each after a second without a key or a move of the mouse over `window`."""

    def __init__(self, window: QWidget, pieces: Iterable[Work]) -> None:
        super().__init__(window)
        self._window = window
        self._pieces: deque[Work] = deque(pieces)
        self._touched = 0.0
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(self._step)

    @property
    def done(self) -> bool:
        return not self._pieces

    def begin(self) -> None:
        """Begin with the pieces: what they need is loaded, and the user is given time to see the window first."""
        screen = self._window.windowHandle()  # sees what is done by hand, and little else
        if screen is not None and not self.done:
            screen.installEventFilter(self)
            self._touched = time.monotonic()
            self._timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Note when the user last did something: pieces of work wait meanwhile."""
        if event.type() in INPUT:
            self._touched = time.monotonic()
        return False

    def _step(self) -> None:
        if time.monotonic() - self._touched < REST:
            return
        piece = self._pieces.popleft()
        if not self._pieces:  # before the last one is made: should it fail, nothing is left to step through
            self._timer.stop()
            self._window.windowHandle().removeEventFilter(self)
        # One piece at a time: widgets can be made in the window's own thread alone, which meanwhile hears no key.
        piece()
