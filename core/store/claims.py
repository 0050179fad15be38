"""Who works on a run: a lock file beside the database, held by the kernel for as long as its process lives.

A killed process lets go at once, whatever killed it; no process ids are compared, none can be reused.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from rtc_inspector.core import platform
from rtc_inspector.core.errors import StoreError

_PATIENCE = 0.5
"""Seconds to wait for somebody who only looks whether a run is claimed."""


def _lock_file(database: Path, run_id: int) -> Path:
    return database.with_name(f"{database.name}.run{run_id}.lock")


class Claim:
    """The right to work on one run, until released or until this process ends."""

    def __init__(self, database: Path, run_id: int) -> None:
        """Take the claim. Raises StoreError when somebody else holds it, OSError when no file can be made."""
        self._path = _lock_file(database, run_id)
        deadline = time.monotonic() + _PATIENCE
        while (handle := _take(self._path)) is None:
            if time.monotonic() > deadline:
                raise StoreError(
                    f"Run {run_id} is being worked on by another window or command.",
                    "Stop it there first, or wait until it ends.",
                )
            time.sleep(0.02)
        self._handle = handle

    def release(self) -> None:
        """Let go and take the file away; idempotent."""
        if self._handle < 0:
            return
        with suppress(OSError):
            self._path.unlink()
        os.close(self._handle)
        self._handle = -1


def is_claimed(database: Path, run_id: int) -> bool:
    """Return whether a living process works on the run."""
    try:
        handle = os.open(_lock_file(database, run_id), os.O_RDONLY | platform.PRIVATE)
    except OSError:
        return False
    try:
        # Shared, so that two who only look do not take each other for somebody at work.
        platform.lock(handle, shared=True)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _take(path: Path) -> int | None:
    """Return an open, locked handle, or None while somebody else holds the lock or has just removed the file."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | platform.PRIVATE, 0o644)
    try:
        platform.lock(handle)
        # Its holder may have removed the file between our opening and locking it; a lock on a file without a name keeps
        # nobody out.
        if path.stat().st_ino == os.fstat(handle).st_ino:
            return handle
    except (FileNotFoundError, BlockingIOError):
        pass
    except OSError:  # a file system without locks: better an unguarded run than none
        return handle
    os.close(handle)
    return None
