"""Runs the engine in a plain thread and hands its events to the window in batches, about ten times a second.

The engine is imported by the first job, in that thread: a window that only shows runs opens sooner.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from pkgutil import resolve_name

from PySide6.QtCore import QObject, QTimer, Signal

from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.run.events import Control, Event, ItemReady, RunStarted, TextStreamed
from rtc_inspector.ui.background.gateway import Gateway

BATCH = 100  # milliseconds between two batches

Emit = Callable[[Event], None]
Job = Callable[[Emit, Control], object]  # runs in a thread of its own; what it returns goes to `answered`


class RunState(StrEnum):
    """The state of this window's own run."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"


def job(name: str, *given: object, database: Path | None = None) -> Job:
    """Return work of the engine by its name in `core.run`; it takes what is given, then a store on a `database`."""

    def work(emit: Emit, control: Control) -> object:
        act = resolve_name(f"rtc_inspector.core.run.{name}")
        if database is None:
            return act(*given, emit, control)
        from rtc_inspector.core.run.results import open_store

        with open_store(database) as store:
            return act(*given, store, emit, control)

    return work


class _RunThread(threading.Thread):
    """Works the job off; what it says waits in `events` until the window fetches it."""

    def __init__(self, job: Job) -> None:
        super().__init__(name="coordinator")
        self._job = job
        self.control = Control()
        self.events: deque[Event] = deque()
        self.error: Exception | None = None
        self.answer: object = None

    def run(self) -> None:
        try:
            self.answer = self._job(self.events.append, self.control)
        except Exception as error:
            self.error = error

    def stop(self) -> None:
        self.control.stop()


class Coordinator(QObject):
    """One run at a time."""

    events = Signal(object)  # a list of Event, texts of one sample joined
    state_changed = Signal(object)  # a RunState
    finished = Signal()  # however it ended
    failed = Signal(object)  # the exception that ended it
    answered = Signal(object)  # what the job returned, when it did

    def __init__(self, gateway: Gateway, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._gateway = gateway
        self._thread: _RunThread | None = None
        self.state = RunState.IDLE
        self.run_id: int | None = None
        self._timer = QTimer(self, interval=BATCH)
        self._timer.timeout.connect(self._fetch)

    def begin(self, job: Job) -> bool:
        if self.state is not RunState.IDLE:
            return False
        self._thread, self.run_id = _RunThread(job), None
        self._gateway.own(self._thread)
        self._thread.start()
        self._timer.start()
        self._become(RunState.RUNNING)
        return True

    def toggle_pause(self) -> None:
        if self._thread is None:
            return
        if self.state is RunState.PAUSED:
            self._thread.control.resume()
            self._become(RunState.RUNNING)
        elif self.state is RunState.RUNNING:
            self._thread.control.pause()
            self._become(RunState.PAUSED)

    def stop(self) -> None:
        if self._thread is not None and self.state is not RunState.STOPPING:
            self._become(RunState.STOPPING)
            self._gateway.submit("stop run", self._thread.stop)  # its end comes as an event of its own

    def _become(self, state: RunState) -> None:
        self.state = state
        self.state_changed.emit(state)

    def _fetch(self) -> None:
        thread = self._thread
        if thread is None:
            return
        # Asked before the events are fetched: what the thread said last would be lost the other way round.
        ended = not thread.is_alive()
        batch = _drain(thread.events)
        for event in batch:
            if isinstance(event, RunStarted | ItemReady):
                self.run_id = event.run_id
        if batch:
            self.events.emit(batch)
        if ended:
            self._timer.stop()
            thread.join()
            self._thread = None
            self._become(RunState.IDLE)
            if thread.error is None:
                self.answered.emit(thread.answer)
            elif not isinstance(thread.error, Cancelled):
                self.failed.emit(thread.error)
            self.finished.emit()


def _drain(events: deque[Event]) -> list[Event]:
    """Take what waits; texts of one sample become one, however many others are written at the same time.

    They are not joined over an event of another kind: a sample that is stored ends its text.
    """
    batch: list[Event] = []
    texts: dict[TextStreamed, int] = {}
    while events:
        event = events.popleft()
        if not isinstance(event, TextStreamed):
            # What was stored ends the texts before it: later ones begin after it.
            texts.clear()
            batch.append(event)
            continue
        # Without its text the event names the sample that is being written.
        sample = replace(event, text="")
        if sample in texts:
            before = batch[texts[sample]]
            assert isinstance(before, TextStreamed)
            batch[texts[sample]] = replace(before, text=before.text + event.text)
        else:
            texts[sample] = len(batch)
            batch.append(event)
    return batch
