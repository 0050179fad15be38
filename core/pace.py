"""How fast a run would go, found by trying one item of it; nothing of the trial is kept."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from core import pipeline
from core.control import Control
from core.errors import Cancelled
from core.events import Event, ItemReady, Progress
from core.results import open_store
from core.run import Emit
from core.settings import RunSettings
from core.store.rows import TRIAL, PaceRow

LONGEST = 60.0
"""Seconds that the models are given from the item's admission on; what came by then is gone by."""


def try_pace(
    settings: RunSettings, project: Path, emit: Emit, control: Control, longest: float = LONGEST
) -> PaceRow | None:
    """The pace of one item's round trips, tests and all; None where no sample came in time.

    Loading the models and learning the project's tests come first and are not counted; what is learned of the tests
    is kept as ever. Only progress is emitted. Raises UserError, and Cancelled when stopped from outside.
    """
    late = threading.Event()

    def end() -> None:
        late.set()
        control.stop()

    clock = threading.Timer(longest, end)

    def pass_on(event: Event) -> None:
        if isinstance(event, ItemReady) and event.item.admitted:
            clock.start()
        if isinstance(event, Progress):
            emit(event)

    with TemporaryDirectory(prefix="rtc-inspector-") as folder, open_store(Path(folder, "trial.sqlite")) as store:
        try:
            with suppress(Cancelled):
                pipeline.start(replace(settings, regions=1), project, store, pass_on, control)
        finally:
            clock.cancel()
        if control.stopped and not late.is_set():
            raise Cancelled
        found = store.reader.paces()
    return replace(found[0], run_id=TRIAL) if found else None
