"""Runs the engine in a plain thread and hands its events to the window in batches, about ten times a second.

The engine is imported by the first job, in that thread: a window that only shows runs opens sooner.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.run.control import Control
from rtc_inspector.core.run.events import Event, ItemReady, RunFinished, RunStarted, TextStreamed
from rtc_inspector.core.settings import OracleSettings, RunSettings
from rtc_inspector.core.store.rows import PaceRow
from rtc_inspector.core.types import Item, Span
from rtc_inspector.ui.background.gateway import Gateway

if TYPE_CHECKING:
    from rtc_inspector.core.run.many import SeriesFinished

BATCH = 100  # milliseconds between two batches

Emit = Callable[[Event], None]
Job = Callable[[Emit, Control], object]
"""Runs in a thread of its own; what it returns goes to `answered`. The functions below are jobs once they have all but
the last two arguments.
"""


class RunState(StrEnum):
    """Where this window's own run stands."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"


def new_run(settings: RunSettings, project: Path, database: Path, emit: Emit, control: Control) -> SeriesFinished:
    """Run a run from the start, or one for each model of a series."""
    from rtc_inspector.core.run import many
    from rtc_inspector.core.run.results import open_store

    with open_store(database) as store:
        return many.start(settings, project, store, emit, control)


def tried_run(settings: RunSettings, project: Path, emit: Emit, control: Control) -> PaceRow | None:
    """Return how fast such a run would go, or None where nothing came in time."""
    from rtc_inspector.core.run.estimate import try_pace

    return try_pace(settings, project, emit, control)


def resumed_run(run_id: int, database: Path, emit: Emit, control: Control) -> SeriesFinished:
    """Take up a stored run again, with the series that it belongs to."""
    from rtc_inspector.core.run import many
    from rtc_inspector.core.run.results import open_store

    with open_store(database) as store:
        return many.resume(run_id, store, emit, control)


def described(run_id: int, item_id: int, text: str, author: str, database: Path, emit: Emit, control: Control) -> None:
    """Make the backward pass on a person's words."""
    from rtc_inspector.core.run import by_hand
    from rtc_inspector.core.run.results import open_store

    with open_store(database) as store:
        by_hand.describe(run_id, item_id, text, author, store, emit, control)


def checked(project: Path, path: str, span: Span, settings: OracleSettings, emit: Emit, control: Control) -> Item:
    """Return selected code as an item, with what the tests say of it."""
    from rtc_inspector.core.run import by_hand

    return by_hand.check(project, path, span, settings, emit, control)


def probed(run_id: int, path: str, span: Span, database: Path, emit: Emit, control: Control) -> Item:
    """Make the round trip on selected code, beside a stored run's regions."""
    from rtc_inspector.core.run import by_hand
    from rtc_inspector.core.run.results import open_store

    with open_store(database) as store:
        return by_hand.probe(run_id, path, span, store, emit, control)


def probed_alone(
    settings: RunSettings, project: Path, path: str, span: Span, database: Path, emit: Emit, control: Control
) -> Item:
    """Make the round trip on selected code in a run of its own."""
    from rtc_inspector.core.run import by_hand
    from rtc_inspector.core.run.results import open_store

    with open_store(database) as store:
        return by_hand.probe_alone(settings, project, path, span, store, emit, control)


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
    """One run at a time.

    `events` carries a batch (list of Event), texts of one sample joined; `state_changed` a RunState; `finished` the
    RunFinished, or None when the run ended before it began; `failed` the exception that ended it; `answered` what the
    job returned, when it did.
    """

    events = Signal(object)
    state_changed = Signal(object)
    finished = Signal(object)
    failed = Signal(object)
    answered = Signal(object)

    def __init__(self, gateway: Gateway, parent: QObject | None = None) -> None:
        """Start idle."""
        super().__init__(parent)
        self._gateway = gateway
        self._thread: _RunThread | None = None
        self.state = RunState.IDLE
        self._end: RunFinished | None = None
        self.run_id: int | None = None
        self._timer = QTimer(self, interval=BATCH)
        self._timer.timeout.connect(self._fetch)

    def begin(self, job: Job) -> bool:
        if self.state is not RunState.IDLE:
            return False
        self._thread, self._end, self.run_id = _RunThread(job), None, None
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
            self._note(event)
        if batch:
            self.events.emit(batch)
        if ended:
            self._timer.stop()
            thread.join()
            self._thread = None
            self._become(RunState.IDLE)
            if thread.error is not None and not isinstance(thread.error, Cancelled):
                self.failed.emit(thread.error)
            elif thread.error is None:
                self.answered.emit(thread.answer)
            self.finished.emit(self._end)

    def _note(self, event: Event) -> None:
        if isinstance(event, RunStarted | ItemReady):
            self.run_id = event.run_id
        elif isinstance(event, RunFinished):
            self._end = event


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
