"""Opening a database file: what it is, whether we may touch it, and the settings of a connection."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from rtc_inspector.core import platform
from rtc_inspector.core.errors import StoreError, UserError
from rtc_inspector.core.store.connection import SIDE_FILES, Connection, connect, settle
from rtc_inspector.core.store.failures import NO_DATABASE, explained
from rtc_inspector.core.store.schema import APPLICATION_ID, VERSION, create, version

ANOTHER = "open another database (on the command line: --db)"
_NETWORK = "9p afs beegfs ceph cifs gpfs lustre nfs nfs4 smb3 smbfs fuse.glusterfs fuse.rclone fuse.sshfs"
_SMALLEST = 512
"""Bytes of the smallest page, and so of the smallest database. SQLite itself would take a file of one byte as empty."""


def canonical(path: Path) -> Path:
    """Return the path of the file itself, links followed: its log and its locks stand beside it. Never raises."""
    return Path(os.path.realpath(path))


def network_caution(path: Path, mounts: str | None = None) -> str:
    """Return a warning where the file is on a network file system; empty elsewhere, and where that cannot be told.

    `mounts`: the system's list, in the form of Linux's `/proc/self/mountinfo`.
    """
    try:
        device = (path if path.exists() else path.parent).stat().st_dev
        mounts = platform.mounts() if mounts is None else mounts
    except OSError:
        return ""
    ours = platform.device(device)
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind = after.partition(" ")[0]
        if before.split()[2:3] == [ours] and kind in _NETWORK.split():
            return (
                f"The database {path} is on a network file system ({kind}), where SQLite cannot keep two computers "
                "apart: open it on one of them at a time, or name a database on a disk of this one (--db)."
            )
    return ""


def refuse_database(path: Path) -> None:
    """Raise UserError where a database or a file of one stands, before it is written over and its runs are gone."""
    for ending in ("", *SIDE_FILES):
        base = path.with_name(path.name.removesuffix(ending))
        if path.name.endswith(ending) and path.is_file() and _is_database(base):
            what = "is a database" if base == path else f"belongs to the database {base}"
            raise UserError(f"{path} {what}, which is not written over.", "Name another file.")


def _is_database(path: Path) -> bool:
    """Ask SQLite whether the file is a database: opening it here would drop the locks of this process's connections."""
    if not path.is_file() or path.stat().st_size < _SMALLEST:
        return False
    try:
        with closing(connect(path, "ro", immutable=True)) as db:
            version(db)
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT
    return True


def is_new(path: Path) -> bool:
    """Return whether the schema is still to be made at `path`, without changing a byte of it or of its folder.

    Raises StoreError for a folder, a file that is no database, a cut-off, damaged or foreign one, another version.
    """
    with explained(path):
        if path.is_dir():
            raise StoreError(f"{path} is a folder, not a database.", "Open a file (on the command line: --db).")
        if not path.exists() or path.stat().st_size == 0:
            return True
        if path.stat().st_size < _SMALLEST:
            raise StoreError(*(text.replace("{path}", str(path)) for text in NO_DATABASE))
        _refuse_second_name(path)
        if _has_log(path):
            # What the log holds is part of the database, and newer than the file: only SQLite can read both together.
            with closing(_readable(path)) as db:
                return _is_empty(db, path)
        try:
            # At rest: look so that not even side files are made.
            with closing(connect(path, "ro", immutable=True)) as db:
                found = _is_empty(db, path)
                _refuse_cut_off(db, path)
                return found
        except sqlite3.DatabaseError:
            if not _has_log(path):
                _explain_cut_off(path)
                raise
    return is_new(path)  # somebody began to write while we looked


def open_writable(path: Path) -> Connection:
    """Connect to the file, creating it where there is none. Raises StoreError."""
    is_new(path)
    with explained(path):
        _check_rights(path)
        db = connect(path, "rwc")
        try:
            _prepare(db)
            create(db)
            settle(db)
        except BaseException:
            db.close()
            raise
        return db


def open_readable(path: Path) -> sqlite3.Connection:
    """Connect without the right to write; an empty file becomes a database first. Raises StoreError."""
    with explained(path):
        if not path.exists():
            raise StoreError(f"There is no database at {path}.", "Name another file, or start a run first.")
    if is_new(path):
        open_writable(path).close()
    with explained(path):
        return _readable(path)


def _readable(path: Path) -> sqlite3.Connection:
    """Return a read-only connection, also where the folder allows no side files."""
    db = connect(path, "ro")
    try:
        version(db)
        settle(db)
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
    return connect(path, "ro", immutable=True)


def _check_rights(path: Path) -> None:
    """Raise StoreError unless a database and its folder are both writable: the log stands beside the file."""
    if not path.parent.is_dir():
        raise StoreError(f"The folder {path.parent} does not exist.", f"Create it, or {ANOTHER}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise StoreError(
            f"The database {path} cannot be written to.", f"Make the file and its folder writable, or {ANOTHER}."
        )


def _prepare(db: sqlite3.Connection) -> None:
    """Set up a connection: WAL lets views read while a run writes; NORMAL survives a killed process as well as FULL."""
    db.execute("PRAGMA journal_mode = WAL").fetchone()
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA foreign_keys = ON")


def _refuse_second_name(path: Path) -> None:
    """Raise StoreError for a file with a second name, by which SQLite would miss the log beside the first one."""
    if path.stat().st_nlink > 1:
        raise StoreError(
            f"The database {path} has a second name (a hard link), by which its last changes would be missed.",
            "Make a copy with `cp`, remove one of the two names, then open the one that is left.",
        )


def _refuse_cut_off(db: sqlite3.Connection, path: Path) -> None:
    """Compare the file's size with the pages that it has by SQLite's word."""
    pages, size = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size"))
    if path.stat().st_size < pages * size and not _has_log(path):
        raise _cut_off(path)


def _explain_cut_off(path: Path) -> None:
    """Raise StoreError where all that SQLite minds about the file is that pages are missing at its end."""
    with closing(connect(path, "ro", immutable=True)) as db:
        # SQLite then opens also what is shorter than its header says, so that it can be mended.
        db.execute("PRAGMA writable_schema = ON")
        try:
            version(db)
        except sqlite3.DatabaseError:
            return
    with closing(connect(path, "ro", immutable=True)) as db:
        try:
            version(db)
        except sqlite3.DatabaseError:
            raise _cut_off(path) from None


def _cut_off(path: Path) -> StoreError:
    return StoreError(
        f"The database {path} is cut off: its end is missing.",
        "Bring back a whole copy, or save what can be read with `sqlite3 FILE .recover`.",
    )


def _is_empty(db: sqlite3.Connection, path: Path) -> bool:
    """Return whether the database holds nothing yet. Raises StoreError where it is not one of this version's."""
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    owner = db.execute("PRAGMA application_id").fetchone()[0]
    if owner != APPLICATION_ID and (tables or owner):
        raise StoreError(
            f"The database {path} belongs to another program.",
            "Open another file (on the command line: --db); this one was left as it is.",
        )
    if tables and version(db) != VERSION:
        raise StoreError(
            f"The database {path} was written by another version of RTC Inspector: "
            f"its schema is version {version(db)}, this program reads version {VERSION}.",
            f"Open it with the version that wrote it, or {ANOTHER}; the file was left as it is.",
        )
    return not tables


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0
