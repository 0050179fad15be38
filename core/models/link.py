"""The worker that serves one model: started when it is needed, loaded, replaced when it died."""

from __future__ import annotations

import contextlib
import queue
import time
from pathlib import Path

from core.errors import ModelError, WorkerDied
from core.models.process import ENDED, WorkerProcess
from core.models.wire import Wire
from core.waiting import Beat, unheard

SILENCE = 120.0
"""Seconds without any sign of life after which a worker counts as dead; it should give one every two seconds."""
TICK = 0.1


class WorkerLink:
    """One worker at a time, always loaded with the same model."""

    def __init__(self, path: Path, options: Wire, silence: float, beat: Beat) -> None:
        """Nothing runs yet. `options`: the `load` message; `beat` is called while loading, raising from it gives up."""
        self._path = path
        self._options = options
        self._silence = silence
        self._beat = beat
        self._worker: WorkerProcess | None = None
        self._closed = False

    def start(self) -> Wire:
        """Start a worker and load; its `loaded` message. Raises ModelError."""
        worker = self._worker = WorkerProcess()
        try:
            worker.send("load", **self._options)
            message = self.next(worker, worker.inbox, self._beat)
        except WorkerDied as death:
            self.drop(worker)
            raise ModelError(
                f"{self._path.name} cannot be loaded: {death.problem}",
                "Try a smaller model or a smaller context size, and close other programs.",
            ) from None
        except BaseException:
            self.drop(worker)
            raise
        if message["event"] == "refused":
            self.drop(worker)
            raise ModelError(message["problem"], message["remedy"])
        return message

    @property
    def worker(self) -> WorkerProcess | None:
        """The worker there is just now."""
        return self._worker

    def live(self) -> WorkerProcess:
        """A loaded worker, started if need be. Raises ModelError."""
        if self._closed:
            raise ModelError("This model was closed.", "Open it again.")
        if self._worker is None:
            self.start()
        assert self._worker is not None
        return self._worker

    def drop(self, worker: WorkerProcess) -> None:
        """End a worker by force; another may be there already."""
        # Two threads may give up the same worker; the second must not drop the one that replaced it.
        if self._worker is worker:
            self._worker = None
        worker.end()

    def next(self, worker: WorkerProcess, inbox: queue.Queue[Wire], beat: Beat = unheard) -> Wire:
        """The next message. Raises WorkerDied when the worker ended or is silent, and what `beat` raises."""
        while True:
            beat()
            with contextlib.suppress(queue.Empty):
                message = inbox.get(timeout=TICK)
                if message["event"] == ENDED:
                    raise WorkerDied(f"The model worker {worker.cause()}.", "It is started again.")
                return message
            if time.monotonic() - worker.last_sign > self._silence:
                raise WorkerDied(
                    f"The model worker gave no sign of life for {self._silence:.0f} seconds.", "It is started again."
                )

    def close(self) -> None:
        """End the worker; idempotent."""
        self._closed = True
        if self._worker is not None:
            worker, self._worker = self._worker, None
            worker.end(patience=1.0)
