"""Keeps a database open until standard input ends. A program of its own, which `core.store.connection` starts.

In WAL mode a connection that has read once holds a shared lock on the file until it closes. As long as this process
holds it, no other program can take itself for the last one and remove the log.
"""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

WANTED = threading.Event()
"""Set in a process that wants each database which it opens to be kept open by a second one."""


def hold_open() -> None:
    """Let a second process keep open what this one opens from now on. Loads nothing: windows call it as they start."""
    WANTED.set()


def main(path: Path) -> None:
    """Read once, then wait; SQLite tidies up where this turns out to be the last connection."""
    import sqlite3

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    for mode in ("rw", "ro"):
        try:
            db = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            break
        except sqlite3.OperationalError:
            continue
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
