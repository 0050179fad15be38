"""Long work of other programs that a stop ends within a fraction of a second."""

from __future__ import annotations

import fcntl
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, TypeVar

Beat = Callable[[], None]
"""Called a few times a second; what it raises ends the work."""
PAUSE = 0.2
Step = TypeVar("Step")


def unheard() -> None:
    """The beat of work that nobody stops."""


def run_to_end(command: Sequence[str], patience: float, beat: Beat) -> str:
    """What a program wrote to standard output.

    It is killed with all of its session when `beat` raises. Raises what `subprocess.run` does with `check`.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, start_new_session=True, stdout=pipe, stderr=pipe) as process:
        try:
            out, err = _awaited(process, time.monotonic() + patience, beat)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, out, err)
    return out


def _awaited(process: subprocess.Popen[str], end: float, beat: Beat) -> tuple[str, str]:
    while True:
        try:
            return process.communicate(timeout=PAUSE)
        except subprocess.TimeoutExpired:
            beat()
            if time.monotonic() > end:
                raise


def lock(file: IO[str], beat: Beat) -> None:
    """Wait for a lock that another process holds. Raises OSError, and what `beat` raises."""
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            beat()
            time.sleep(PAUSE)


def each_step(steps: Callable[[], Iterator[Step]], beat: Beat) -> Iterator[Step]:
    """The steps, taken by a thread of their own, which closes them when it is given up at its next step.

    Raises what taking them raises, and what `beat` raises.
    """
    taken: queue.Queue[tuple[Step | None, BaseException | None]] = queue.Queue()
    given_up = threading.Event()
    threading.Thread(target=_take, args=(steps, taken, given_up), name="steps", daemon=True).start()
    try:
        while True:
            try:
                step, error = taken.get(timeout=PAUSE)
            except queue.Empty:
                beat()
                continue
            if error is not None:
                raise error
            if step is None:
                return
            yield step
    finally:
        given_up.set()


def _take(
    steps: Callable[[], Iterator[Step]],
    taken: queue.Queue[tuple[Step | None, BaseException | None]],
    given_up: threading.Event,
) -> None:
    try:
        for step in steps():
            taken.put((step, None))
            if given_up.is_set():
                break
        taken.put((None, None))
    except BaseException as error:
        taken.put((None, error))
