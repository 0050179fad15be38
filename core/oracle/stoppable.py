"""Long work, of other programs and in other threads, that a stop ends within a fraction of a second."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import suppress
from functools import partial
from typing import IO, TypeVar

from rtc_inspector.core import platform
from rtc_inspector.core.types import Report
from rtc_inspector.core.waiting import Beat, in_thread, result_of, wait_for

Step = TypeVar("Step")
T = TypeVar("T")
U = TypeVar("U")


def run_to_end(command: Sequence[str], patience: float, beat: Beat) -> str:
    """Run a program and return what it wrote to standard output; `patience`: the most seconds it may take.

    It is killed with all of its session when `beat` raises. Raises what `subprocess.run` does with `check`.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, start_new_session=True, stdout=pipe, stderr=pipe) as process:
        try:
            out, err = _awaited(process, time.monotonic() + patience, beat)
        except BaseException:
            with suppress(ProcessLookupError):
                platform.end_session(process.pid)
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
            platform.lock(file.fileno())
        except BlockingIOError:
            time.sleep(step)
            return None
        return True

    wait_for(taken, beat)


def each_step(steps: Callable[[], Iterator[Step]], beat: Beat) -> Iterator[Step]:
    """The steps, each taken in another thread; when they are given up, that is let go of at its next step.

    Raises what taking them raises, and what `beat` raises.
    """
    taken = result_of(in_thread(steps), beat)
    try:
        while (step := result_of(in_thread(partial(next, taken, None)), beat)) is not None:
            yield step
    finally:
        # A generator closes with the last who holds it; a traceback that is kept holds this frame.
        del taken


class _Abandoned(Exception):
    """The other work failed, or was stopped."""


class _Heard:
    """The progress of the work in the other thread: keeps the latest, and raises there when that work is to end."""

    def __init__(self) -> None:
        self.latest = ("", 0, 1)
        self.abandoned = threading.Event()

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.latest = (stage, done, total)
        if self.abandoned.is_set():
            raise _Abandoned


def side_by_side(first: Callable[[Report], T], second: Callable[[Report], U], progress: Report) -> tuple[T, U]:
    """Do `first` here and `second` in another thread; what either raises is raised, once both have ended.

    Each must call the progress it is given several times a second, so that it can be ended.
    """
    heard = _Heard()
    other = in_thread(partial(second, heard))

    def heeding(stage: str, done: int, total: int) -> None:
        progress(stage, done, total)
        if other.done():
            other.result()  # raises what ended it

    try:
        return first(heeding), result_of(other, lambda: progress(*heard.latest))
    finally:
        heard.abandoned.set()
        wait((other,))
