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

from core.waiting import Beat, wait_for

Step = TypeVar("Step")


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
    def ended(step: float) -> tuple[str, str] | None:
        try:
            return process.communicate(timeout=step)
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                raise
            return None

    return wait_for(ended, beat)


def lock(file: IO[str], beat: Beat) -> None:
    """Wait for a lock that another process holds. Raises OSError, and what `beat` raises."""

    def taken(step: float) -> bool | None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(step)
            return None
        return True

    wait_for(taken, beat)


def each_step(steps: Callable[[], Iterator[Step]], beat: Beat) -> Iterator[Step]:
    """The steps, taken by a thread of their own, which closes them when it is given up at its next step.

    Raises what taking them raises, and what `beat` raises.
    """
    taken: queue.Queue[tuple[Step | None, BaseException | None]] = queue.Queue()
    given_up = threading.Event()
    threading.Thread(target=_take, args=(steps, taken, given_up), name="steps", daemon=True).start()

    def one(pause: float) -> tuple[Step | None, BaseException | None] | None:
        with suppress(queue.Empty):
            return taken.get(timeout=pause)
        return None

    try:
        while True:
            step, error = wait_for(one, beat)
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
