"""Opening a database file: what it is, whether we may touch it, its connections, and errors as sentences.

Nobody opens that file but SQLite. On POSIX, closing *any* descriptor of a file drops every lock that the process holds
on it (SQLite, "How To Corrupt An SQLite Database File", 2.2); another program that closes it then believes itself the
last one and removes the log. Whoever reads the files of a folder asks `core.platform.in_use` first.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from rtc_inspector.core import platform
from rtc_inspector.core.errors import Bug, InspectorError, StoreError, UserError
from rtc_inspector.core.store.schema import APPLICATION_ID, VERSION, create, version

ANOTHER = "open another database (on the command line: --db)"
_NETWORK = "9p afs beegfs ceph cifs gpfs lustre nfs nfs4 smb3 smbfs fuse.glusterfs fuse.rclone fuse.sshfs"
_SMALLEST = 512
"""Bytes of the smallest page, and so of the smallest database. SQLite itself would take a file of one byte as empty."""
_LITTLE = 64 << 10
"""Bytes of free space below which a failed write is put down to a full disk: SQLite asks for 32 KiB at once."""
BUSY_SECONDS = 5.0  # how long a locked database is waited for


def canonical(path: Path) -> Path:
    """Return the path of the file itself, links followed: its log and its locks stand beside it. Never raises."""
    return Path(os.path.realpath(path))


def network_caution(path: Path) -> str:
    """Return a warning where the file is on a network file system; empty elsewhere, and where that cannot be told."""
    try:
        ours = platform.device((path if path.exists() else path.parent).stat().st_dev)
        mounts = platform.mounts().splitlines()
    except OSError:
        return ""
    for line in mounts:
        before, _, after = line.partition(" - ")
        kind = after.partition(" ")[0]
        if before.split()[2:3] == [ours] and kind in _NETWORK.split():
            return (
                f"The database {path} is on a network file system ({kind}), where SQLite cannot keep two computers "
                "apart: open it on one of them at a time, or name a database on a disk of this one (--db)."
            )
    return ""


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Refuse to write over a database, and raise UserError where `file` cannot be written."""
    refuse_database(file)
    try:
        yield
    except OSError as error:
        problem = f"{file} cannot be written: {error.strerror or error}."
        raise UserError(problem, "Name a file in a folder you may write.") from error


def refuse_database(path: Path) -> None:
    """Raise UserError where a database or a file of one stands, before it is written over and its runs are gone."""
    for ending in ("", *platform.SIDE_FILES):
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

    Raises StoreError for a folder, a file that is no database, a damaged or foreign one, another version.
    """
    with explained(path):
        if path.is_dir():
            raise StoreError(f"{path} is a folder, not a database.", "Open a file (on the command line: --db).")
        if not path.exists() or path.stat().st_size == 0:
            return True
        if path.stat().st_size < _SMALLEST:
            raise StoreError(*(text.replace("{path}", str(path)) for text in _NO_DATABASE))
        if path.stat().st_nlink > 1:  # by which SQLite would miss the log beside the first name
            raise StoreError(
                f"The database {path} has a second name (a hard link), by which its last changes would be missed.",
                "Make a copy with `cp`, remove one of the two names, then open the one that is left.",
            )
        if _has_log(path):
            # What the log holds is part of the database, and newer than the file: only SQLite can read both together.
            with closing(_readable(path)) as db:
                return _is_empty(db, path)
        try:
            # At rest: look so that not even side files are made.
            with closing(connect(path, "ro", immutable=True)) as db:
                return _is_empty(db, path)
        except sqlite3.DatabaseError:
            if not _has_log(path):
                raise
    return is_new(path)  # somebody began to write while we looked


def open_writable(path: Path) -> Connection:
    """Connect to the file, creating it where there is none. Raises StoreError."""
    is_new(path)
    with explained(path):
        _check_rights(path)
        db = connect(path, "rwc")
        try:
            # WAL lets views read while a run writes; NORMAL survives a killed process as well as FULL.
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA foreign_keys = ON")
            create(db)
            db.log = _file_at(f"{path}-wal")
            if _holding.is_set() and path not in _keepers:
                nowhere = subprocess.DEVNULL
                command = [sys.executable, "-I", "-S", "-c", _KEEPER, str(path)]
                with suppress(OSError):  # no process can be started: the database is no worse off than without
                    _keepers[path] = subprocess.Popen(
                        command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True
                    )
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


# ---- connections


_File = tuple[int, int]  # a file's device and inode


class Connection(sqlite3.Connection):
    """A connection that remembers which file, and which log beside it, it was made to."""

    path: Path
    file: _File | None = None
    log: _File | None = None
    rescued: Path | None = None


def connect(path: Path, mode: str, immutable: bool = False) -> Connection:
    """Connect to a file; `immutable` takes no lock and makes no file beside it. Raises sqlite3.Error."""
    uri = f"{path.absolute().as_uri()}?mode={mode}" + ("&immutable=1" if immutable else "")
    db = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=Connection
    )
    db.path, db.file = path, _file_at(path)
    return db


_KEEPER = """
import signal, sqlite3, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("SELECT count(*) FROM sqlite_master").fetchone()
sys.stdin.buffer.read()
"""
"""Holds a shared lock on a database until its standard input ends: nobody else can take himself for the last reader."""
_keepers: dict[Path, subprocess.Popen[bytes]] = {}
_holding = threading.Event()


def hold_open() -> None:
    """Have a second process keep open each database that this one writes to from now on, as long as this one lives.

    Windows call it: Qt's file dialogs open and close every file of a folder to choose its icon, by which a process
    loses SQLite's locks. A program that closes the database then would remove the log, and what is stored here with it.
    """
    _holding.set()


def _file_at(path: Path | str) -> _File | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - called at every write
    except OSError:
        return None
    return status.st_dev, status.st_ino


def require_in_place(db: sqlite3.Connection) -> None:
    """Raise StoreError when the database was moved, replaced or lost its log while open; its content is saved first.

    SQLite does not notice: it would go on writing into files without a name.
    """
    if not isinstance(db, Connection) or db.log is None:
        return
    if _file_at(db.path) == db.file and _file_at(f"{db.path}-wal") == db.log:
        return
    if db.rescued is None:
        names = (db.path.with_name(f"{db.path.stem}-rescued-{number}{db.path.suffix}") for number in count(1))
        name = next(each for each in names if not each.exists())
        with closing(sqlite3.connect(name)) as copy:
            db.backup(copy)
        db.rescued = name
    raise StoreError(
        f"The database {db.path} was moved or replaced, or its -wal file was removed, while it was open here.",
        f"All that was stored is in {db.rescued}: close RTC Inspector and put that file in its place, then go on.",
    )


# ---- errors as sentences


_NO_DATABASE = (
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
    sqlite3.SQLITE_NOTADB: _NO_DATABASE,
    sqlite3.SQLITE_CORRUPT: (
        "The database {path} is damaged, or its end is missing.",
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
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        with suppress(OSError):  # SQLite says so of the log and the file only, not of the shared memory beside them
            code = sqlite3.SQLITE_FULL if shutil.disk_usage(path.parent).free < _LITTLE else code
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


# ---- who works on a run

_PATIENCE = 0.5  # seconds to wait for somebody who only looks whether a run is claimed


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
