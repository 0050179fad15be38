"""Connections to a database, and the two guards that keep SQLite's locks on its file.

On POSIX, closing *any* descriptor of a file drops every lock that the process holds on it (SQLite, "How To Corrupt An
SQLite Database File", 2.2). Reading a live database file with `open` is enough: after that another program which
closes the file believes itself the last one, removes the log, and what is committed here afterwards goes into a
file without a name. Hence:

- `_refuse` stops Python code of this process from opening the files of a connected database, whatever the module.
- `keeper.hold_open` lets a second process keep each database open. The window needs it: Qt's file dialogs look into
  every file of a folder to choose its icon, and no Python code has a say in that.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.store import keeper
from rtc_inspector.core.store.failures import BUSY_SECONDS

SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite puts behind the name of a database for the files that belong to it."""

_BUSY = "it belongs to a database that is open here"
_GUARDED = {"open": 1, "os.remove": 1, "os.rename": 2, "os.truncate": 1, "os.link": 1}
"""Audit events of Python that open, move or cut a file, with how many paths they begin with."""
_KEEPER_PATIENCE = 5.0
"""Seconds a second process may take to come or go."""

_Place = tuple[int, int]
_connected: Counter[_Place] = Counter()
_keepers: dict[_Place, subprocess.Popen[bytes]] = {}
_turn = threading.RLock()


class Connection(sqlite3.Connection):
    """A connection that knows which file it was made to, and is counted until it is closed."""

    path: Path
    place: _Place | None = None
    log: _Place | None = None
    rescued: Path | None = None

    def close(self) -> None:
        """Close; the last connection to a file lets its keeper go first, so that SQLite tidies up here."""
        with _turn:
            place, self.place = self.place, None
            last = place is not None and _connected[place] == 1
            if place is not None and last:
                _let_go(place)
            super().close()
            if place is not None:
                _connected[place] -= 1
                if last:
                    del _connected[place]


def connect(path: Path, mode: str, immutable: bool = False) -> Connection:
    """Connect to a file; `immutable` takes no lock and makes no file beside it. Raises sqlite3.Error."""
    uri = f"{path.absolute().as_uri()}?mode={mode}" + ("&immutable=1" if immutable else "")
    with _turn:
        db = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=Connection
        )
        db.path = path
        db.place = _place(path)
        if db.place is not None:
            _connected[db.place] += 1
    return db


def is_connected(path: Path) -> bool:
    """Return whether this process has the database at `path` open, or one that the file at `path` belongs to."""
    bases = [path.with_name(path.name.removesuffix(end)) for end in SIDE_FILES if path.name.endswith(end)]
    return any(_place(base) in _connected for base in (path, *bases))


def _place(path: Path | str) -> _Place | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - called at every opening of a file
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise OSError where Python code other than SQLite is about to open a connected database (an audit hook)."""
    paths = _GUARDED.get(event)
    if paths is None or not _connected:
        return
    for path in arguments[:paths]:
        if isinstance(path, (str, bytes, os.PathLike)) and is_connected(Path(os.fsdecode(path))):
            raise OSError(errno.EBUSY, _BUSY, os.fsdecode(path))


sys.addaudithook(_refuse)


# --------------------------------------------------------------------------- the second process


def settle(db: Connection) -> None:
    """Remember which log belongs to a connection that has read once, and start the file's keeper where one is wanted.

    Not waited for. Call it when the file is in WAL mode: only then does a connection keep a lock between questions.
    """
    db.log = _place(f"{db.path}-wal")
    with _turn:
        place = db.place
        if place is None or place in _keepers or not keeper.WANTED.is_set():
            return
        command = [sys.executable, "-I", "-S", keeper.__file__, str(db.path)]
        nowhere = subprocess.DEVNULL
        with suppress(OSError):  # no process can be started: the database is no worse off than without
            _keepers[place] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True
            )


def _let_go(place: _Place) -> None:
    process = _keepers.pop(place, None)
    if process is None:
        return
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_KEEPER_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# --------------------------------------------------------------------------- when the files go away all the same


def require_in_place(db: sqlite3.Connection) -> None:
    """Raise StoreError when the database was moved, replaced or lost its log while open; its content is saved first.

    SQLite does not notice: it would go on writing into files without a name.
    """
    if not isinstance(db, Connection) or db.place is None:
        return
    if _place(db.path) == db.place and _place(f"{db.path}-wal") == db.log:
        return
    if db.rescued is None:
        name = _free_name(db.path)
        with closing(sqlite3.connect(name)) as copy:
            db.backup(copy)
        db.rescued = name
    raise StoreError(
        f"The database {db.path} was moved or replaced, or its -wal file was removed, while it was open here.",
        f"All that was stored is in {db.rescued}: close RTC Inspector and put that file in its place, then go on.",
    )


def _free_name(path: Path) -> Path:
    names: Iterable[Path] = (path.with_name(f"{path.stem}-rescued-{number}{path.suffix}") for number in count(1))
    return next(name for name in names if not name.exists())
