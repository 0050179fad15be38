"""Opening a database file: what it is, whether we may touch it, and the settings of a connection."""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing, suppress
from enum import Enum
from pathlib import Path

from core.errors import StoreError, UserError
from core.store.failures import BUSY_SECONDS, explained
from core.store.migrations import APPLICATION_ID, MIGRATIONS, migrate, version

ANOTHER = "open another database (on the command line: --db)"
_MAGIC = b"SQLite format 3\x00"


class Kind(Enum):
    """What stands at a path before we touch it."""

    NEW = "new"
    OLDER = "older"
    CURRENT = "current"


def canonical(path: Path) -> Path:
    """The file itself, links followed: its log and its locks stand beside it. Never raises."""
    return Path(os.path.realpath(path))


def refuse_database(path: Path) -> None:
    """Before a file is written: raise UserError where a database stands, whose runs would be gone."""
    with suppress(OSError):
        if path.is_file() and _begins(path).startswith(_MAGIC):
            raise UserError(f"{path} is a database, which is not written over.", "Name another file.")


def inspect(path: Path) -> Kind:
    """Say what the file is, without changing a byte of it or of its folder.

    Raises StoreError for a folder, a file that is no database, a cut-off, damaged, foreign or newer one.
    """
    with explained(path):
        if path.is_dir():
            raise StoreError(f"{path} is a folder, not a database.", "Open a file (on the command line: --db).")
        if not path.exists() or path.stat().st_size == 0:
            return Kind.NEW
        _check_header(path)
        if _has_log(path):
            with closing(_readable(path)) as db:
                return _kind(db, path)
        try:
            # At rest: look so that not even side files are made.
            with closing(_connect(path, "ro", immutable=True)) as db:
                return _kind(db, path)
        except sqlite3.DatabaseError:
            if not _has_log(path):
                raise
    return inspect(path)  # somebody began to write while we looked


def open_writable(path: Path) -> sqlite3.Connection:
    """Create or migrate the file as needed and connect to it. Raises StoreError."""
    inspect(path)
    with explained(path):
        _check_rights(path)
        db = _connect(path, "rwc")
        try:
            _prepare(db)
            migrate(db)
        except BaseException:
            db.close()
            raise
        return db


def open_readable(path: Path) -> sqlite3.Connection:
    """Connect without the right to write; an older file is migrated first. Raises StoreError."""
    with explained(path):
        if not path.exists():
            raise StoreError(f"There is no database at {path}.", "Name another file, or start a run first.")
    if inspect(path) is not Kind.CURRENT:
        open_writable(path).close()
    with explained(path):
        return _readable(path)


def _readable(path: Path) -> sqlite3.Connection:
    """A read-only connection, also where the folder allows no side files."""
    db = _connect(path, "ro")
    try:
        version(db)
        return db
    except sqlite3.OperationalError as error:
        db.close()
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    if _has_log(path):
        raise StoreError(
            f"The database {path} has unfinished changes beside it, and its folder cannot be written to.",
            "Copy the file together with the one ending in -wal into a folder of yours, and open the copy.",
        )
    return _connect(path, "ro", immutable=True)


def _check_rights(path: Path) -> None:
    """A database and its folder must both be writable: the log stands beside the file."""
    if not path.parent.is_dir():
        raise StoreError(
            f"The folder {path.parent} does not exist.",
            f"Create it, or {ANOTHER}.",
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise StoreError(
            f"The database {path} cannot be written to.",
            f"Make the file and its folder writable, or {ANOTHER}.",
        )


def _prepare(db: sqlite3.Connection) -> None:
    """WAL lets views read while a run writes; NORMAL survives a killed process, which FULL would not better."""
    db.execute("PRAGMA journal_mode = WAL").fetchone()
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA foreign_keys = ON")


def _check_header(path: Path) -> None:
    header = _begins(path)
    if not header.startswith(_MAGIC):
        raise StoreError(
            f"The file {path} is not a database.",
            "Open another file (on the command line: --db); this one was left as it is.",
        )
    if len(header) < 100 or path.stat().st_size < _expected_size(header):
        raise StoreError(
            f"The database {path} is cut off: its end is missing.",
            "Bring back a whole copy, or save what can be read with `sqlite3 FILE .recover`.",
        )


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)


def _expected_size(header: bytes) -> int:
    """Bytes the file must have at least, by its own header; 0 where the header's page count is stale."""
    page_size = struct.unpack(">H", header[16:18])[0]
    pages, counter, valid_for = (struct.unpack(">I", header[at : at + 4])[0] for at in (28, 24, 92))
    return (65536 if page_size == 1 else int(page_size)) * int(pages) if counter == valid_for else 0


def _kind(db: sqlite3.Connection, path: Path) -> Kind:
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    owner = db.execute("PRAGMA application_id").fetchone()[0]
    if owner != APPLICATION_ID and (tables or owner):
        raise StoreError(
            f"The database {path} belongs to another program.",
            "Open another file (on the command line: --db); this one was left as it is.",
        )
    if version(db) > len(MIGRATIONS):
        raise StoreError(
            f"The database {path} was written by a newer version of RTC Inspector.",
            "Install that version (`pip install -U rtc-inspector`); the file was left as it is.",
        )
    if not tables:
        return Kind.NEW
    return Kind.CURRENT if version(db) == len(MIGRATIONS) else Kind.OLDER


def _connect(path: Path, mode: str, immutable: bool = False) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}" + ("&immutable=1" if immutable else "")
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0
