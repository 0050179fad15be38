"""The worker process of a model seen from its parent, and the JSON lines between both."""

import contextlib
import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rtc_inspector.core.errors import ModelError, WorkerDied
from rtc_inspector.core.models import devices
from rtc_inspector.core.waiting import Poll, next_of, no_poll

Wire = dict[str, Any]
HEARTBEAT = 2.0  # seconds between signs of life of a worker that has nothing to say


def encode(message: Mapping[str, Any]) -> bytes:
    """Return the message as one line of JSON, its end included."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


# ---- the process


ENDED = "ended"  # event put into the inbox when the process closed its pipe
START_GRACE = 60.0  # seconds more that the first sign of life may take: libraries are loaded before it
FAULTS = {"SIGSEGV", "SIGILL", "SIGBUS", "SIGFPE", "SIGABRT"}
"""Signals that a process brings upon itself; others are sent by somebody."""
SILENCE = 120.0
"""Seconds without any sign of life after which a worker counts as dead; it should give one every two seconds."""


class Crashed(ModelError):
    """A worker that a fault ended while it loaded: it may do so otherwise."""


class WorkerProcess:
    """One worker and the three threads that write and listen to it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            # -P: the folder that the program was started in may hold an `email.py` of the user's.
            [sys.executable, "-P", "-m", "rtc_inspector.core.models.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in a terminal is for the parent alone, which ends us in good order
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.inbox: queue.Queue[Wire] = queue.Queue()
        self.counts: queue.Queue[Wire] = queue.Queue()
        self.errors: deque[str] = deque(maxlen=20)
        self.last_sign = time.monotonic() + START_GRACE
        self._threads = [
            threading.Thread(target=self._write, args=(self._process.stdin,), name="model-requests", daemon=True),
            threading.Thread(target=self._listen, args=(self._process.stdout,), name="model-events", daemon=True),
            threading.Thread(target=self._collect, args=(self._process.stderr,), name="model-log", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended_by(self) -> str:
        """Name the signal that ended it; empty while it runs, and where it ended by itself."""
        code = self._process.poll() or 0
        if code >= 0:
            return ""
        try:
            return signal.Signals(-code).name
        except ValueError:
            return str(-code)

    def send(self, operation: str, **values: object) -> None:
        """Have one message written, without waiting: a worker that does not read would keep us for ever.

        That it has ended is said in `inbox` and `counts`.
        """
        self._outbox.put(encode({"op": operation} | values))

    def end(self, patience: float = 0.0) -> None:
        """Stop it, by force after `patience` seconds, and collect everything it leaves behind."""
        if patience and self._process.poll() is None:
            self.send("quit")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self._process.kill()  # nothing, where it has ended
        self._process.wait()
        self._outbox.put(None)
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def cause(self) -> str:
        """Return how the worker died, for people: its signal or status, and the last line of its log."""
        status = self._process.wait()
        self._threads[-1].join(1)  # its log is read by a thread, which may come a moment after its end
        how = f"ended by signal {self.ended_by}" if self.ended_by else f"ended with status {status}"
        if self.ended_by == "SIGKILL":
            how += " (killed, perhaps for want of memory)"
        last = next((line for line in reversed(self.errors) if line.strip()), "")
        return f"{how}; last line of its log: {last}" if last else how

    def _write(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError):  # the worker has ended: `_listen` tells
            while (message := self._outbox.get()) is not None:
                pipe.write(message)
                pipe.flush()

    def _listen(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            self.last_sign = time.monotonic()
            if not line.endswith(b"\n"):
                break  # it was killed in the middle of a message
            message: Wire = json.loads(line)
            if message["event"] == "counted":
                self.counts.put(message)
            elif message["event"] != "alive":
                self.inbox.put(message)
        for inbox in (self.inbox, self.counts):
            inbox.put({"event": ENDED})

    def _collect(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            self.errors.append(line.decode("utf-8", errors="replace").rstrip())


@dataclass(eq=False)
class WorkerLink:
    """One worker at a time, always loaded with the same model; `worker` is the one there is just now."""

    path: Path
    options: Wire  # the `load` message
    silence: float
    poll: Poll  # called while loading; raising from it gives up
    extra_buffers: bool | None = None  # whether weights are packed for the processor; None: where that does not crash
    worker: WorkerProcess | None = field(default=None, init=False)
    _closed: bool = field(default=False, init=False)

    def start(self) -> Wire:
        """Start a worker and load; return its `loaded` message. Raises ModelError.

        Loading includes a first evaluation. Where that ends the worker by a fault, it is done once more without
        llama.cpp's extra buffers; that this helped is remembered for the build and the processor.
        """
        if self.extra_buffers is None and devices.crashes_with_extra_buffers():
            self.extra_buffers = False
        if self.extra_buffers is not None:
            return self._load(self.extra_buffers)
        try:
            return self._load(True)
        except Crashed:
            loaded = self._load(False)
        self.extra_buffers = False
        devices.remember_crash(True)
        return loaded

    def _load(self, extra_buffers: bool) -> Wire:
        worker = self.worker = WorkerProcess()
        try:
            worker.send("load", extra_buffers=extra_buffers, **self.options)
            message = self.next(worker, worker.inbox, self.poll)
            if message["event"] == "refused":
                raise ModelError(message["problem"], message["remedy"])
            return message
        except BaseException as error:
            self.drop(worker)
            if not isinstance(error, WorkerDied):
                raise
            death, ended_by = f"{self.path.name} cannot be loaded: {error.problem}", worker.ended_by
        if ended_by in FAULTS:
            processor, ways = devices.this_processor(), "with" if extra_buffers else "with and without"
            raise Crashed(
                f"{death} {devices.build_version()} crashes on this machine ({processor.name}: "
                f"{processor.vector_features}) {ways} its extra buffers; the file may be fine.",
                f"Build llama.cpp anew: `{devices.rebuild_without_amx()}`.",
            )
        if ended_by == "SIGKILL":
            raise ModelError(death, "Try a smaller model or a smaller context size, and close other programs.")
        remedy = "`rtc-inspector doctor` says whether llama.cpp works here."
        raise ModelError(death, "Somebody ended it: start again." if ended_by else remedy)

    def live(self) -> WorkerProcess:
        """Return a loaded worker, started if need be. Raises ModelError."""
        if self._closed:
            raise ModelError("This model was closed.", "Open it again.")
        if self.worker is None:
            self.start()
        assert self.worker is not None
        return self.worker

    def drop(self, worker: WorkerProcess) -> None:
        """End a worker by force; another may be there already."""
        # Two threads may give up the same worker; the second must not drop the one that replaced it.
        if self.worker is worker:
            self.worker = None
        worker.end()

    def next(self, worker: WorkerProcess, inbox: queue.Queue[Wire], poll: Poll = no_poll) -> Wire:
        """Return the next message. Raises WorkerDied when the worker ended or is silent, and what `poll` raises."""

        def heed() -> None:
            poll()
            if time.monotonic() - worker.last_sign > self.silence:
                raise WorkerDied(
                    f"The model worker gave no sign of life for {self.silence:.0f} seconds.", "It is started again."
                )

        poll()  # also where messages come so fast that none is ever waited for
        message = next_of(inbox, heed)
        if message["event"] == ENDED:
            raise WorkerDied(f"The model worker {worker.cause()}.", "It is started again.")
        return message

    def asked(self, ask: Callable[[WorkerProcess], Wire], what: str) -> Wire:
        """Return the answer to a question, which is asked twice where it ends the worker. Raises ModelError.

        Twice, as a sample is: a worker may be killed for want of memory that is there again a moment later. `what`
        says in the error when it ended.
        """
        for _ in range(2):
            worker = self.live()
            try:
                message = ask(worker)
            except BaseException as error:
                self.drop(worker)  # left in mid-question it is not asked again
                if not isinstance(error, WorkerDied):
                    raise
                continue
            if "problem" in message:
                raise ModelError(message["problem"], message["remedy"])
            return message
        raise ModelError(f"The model worker ended twice {what}.", "Look at the model's log, or restart.")

    def close(self) -> None:
        self._closed = True
        if self.worker is not None:
            worker, self.worker = self.worker, None
            worker.end(patience=1.0)
