"""The one place where SQLite's errors become sentences."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rtc_inspector.core.errors import Bug, InspectorError, StoreError

_LITTLE = 64 << 10
"""Bytes of free space below which a failed write is put down to a full disk: SQLite asks for 32 KiB at once."""
BUSY_SECONDS = 5.0
"""How long a locked database is waited for."""

NO_DATABASE = (
    "The file {path} is not a database.",
    "Open another file (on the command line: --db); this one was left as it is.",
)
_REMEDIES = {
    sqlite3.SQLITE_BUSY: (
        "The database {path} is locked by another program.",
        f"It was waited for ({BUSY_SECONDS:.0f} s). Close the program that writes to it, then try again.",
    ),
    sqlite3.SQLITE_FULL: (
        "The disk that holds {path} is full.",
        "Free some space on it, then resume: everything finished so far is stored.",
    ),
    sqlite3.SQLITE_READONLY: (
        "The database {path} cannot be written to.",
        "Make the file and its folder writable, or open another database (on the command line: --db).",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "The database {path} cannot be opened.",
        "Check that its folder exists and that you may read and write there.",
    ),
    sqlite3.SQLITE_NOTADB: NO_DATABASE,
    sqlite3.SQLITE_CORRUPT: (
        "The database {path} is damaged.",
        "Bring back a copy, or save what can be read with `sqlite3 FILE .recover`; nothing was written to it.",
    ),
    sqlite3.SQLITE_IOERR: (
        "The files of the database {path} could not be read or written.",
        "Check that they are where they were and can be written to, then resume: all that was finished is stored.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        "A text is too long for the database {path}.",
        "Lower the limits on answers or on captured output.",
    ),
}
_SAME = {
    sqlite3.SQLITE_LOCKED: sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_PROTOCOL: sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_PERM: sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_AUTH: sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FORMAT: sqlite3.SQLITE_NOTADB,
}


def explain(error: sqlite3.Error, path: Path) -> InspectorError:
    """Return the error to raise in place of `error`: a StoreError the user can mend, or else a Bug."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and _is_full(path.parent):
        code = sqlite3.SQLITE_FULL  # SQLite says so of the log and the file only, not of the shared memory beside them
    sentences = _REMEDIES.get(_SAME.get(code, code))
    if sentences is None:
        return Bug(f"The database {path} refused a statement: {error}.")
    problem, remedy = (text.replace("{path}", str(path)) for text in sentences)
    return StoreError(problem, remedy)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's and the file system's errors into ours. Raises StoreError or Bug."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error, path) from error
    except OverflowError as error:
        raise StoreError(f"A number is too large for the database {path}.", "Give a smaller one.") from error
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be used: {error.strerror or error}.",
            "Check the path, its folder and your rights there.",
        ) from error


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _LITTLE
    except OSError:
        return False
