"""Who a program is inside, as the host sees it, and what that user may read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError

NOBODY = 65534


@dataclass(frozen=True, slots=True)
class User:
    """A user and group of the host; never root."""

    uid: int
    gid: int

    def may_read(self, path: Path) -> bool:
        """Return whether the mode of `path` itself lets this user read it, and enter it when it is a folder."""
        status = path.stat()
        shift = 6 if status.st_uid == self.uid else 3 if status.st_gid == self.gid else 0
        wanted = 0o5 if stat.S_ISDIR(status.st_mode) else 0o4
        return (status.st_mode >> shift) & wanted == wanted


def inside_user(project: Path) -> User:
    """The caller; for root the owner of `project`, or nobody where root owns that too. Raises SandboxError."""
    if not platform.is_root():
        return User(*platform.user())
    try:
        status = project.stat()
    except OSError as error:
        raise SandboxError(
            f"The folder {project} cannot be read: {error.strerror}.", "Check that it still exists."
        ) from error
    return User(status.st_uid, status.st_gid) if status.st_uid and status.st_gid else User(NOBODY, NOBODY)


def closed_to_tests(project: Path) -> str:
    """One sentence about what the tests' user cannot read in the project, only root has that trouble; empty if nothing.

    Root's own files may be closed to all others. What hypothesis keeps so is not needed. Raises SandboxError.
    """
    if not platform.is_root():
        return ""
    user, closed = inside_user(project), list[Path]()
    for folder, names, files in os.walk(project):
        names[:] = sorted(name for name in names if name not in (".git", ".hypothesis"))
        entries = [path for path in (Path(folder, name) for name in [*names, *sorted(files)]) if path.exists()]
        shut = [path for path in entries if not user.may_read(path)]
        names[:] = [name for name in names if Path(folder, name) not in shut]
        closed += shut
    if not closed:
        return ""
    several = "1 file or folder" if len(closed) == 1 else f"{len(closed)} files and folders"
    return (
        f"{several} of the project cannot be read by the user that tests run as (number {user.uid}), first "
        f"{closed[0].relative_to(project)}: tests that need them may fail. `chmod -R go+rX {project}` opens them."
    )


def readable(paths: Iterable[Path], user: User) -> tuple[Path, ...]:
    """`paths` as `user` can read them: a folder closed to others is shown by its entries, one mount each.

    Temporary folders are made that way (mode 0700), with open entries inside. Raises SandboxError when nothing in it
    can be read either.
    """
    return tuple(shown for path in paths for shown in _readable(path, user))


def _readable(path: Path, user: User) -> Iterator[Path]:
    if user.may_read(path):
        yield path
        return
    entries = sorted(path.iterdir()) if path.is_dir() else []
    shown = [entry for entry in entries if entry.exists() and user.may_read(entry)]
    if not shown:
        raise SandboxError(
            f"{path} is closed to the user that tests run as (number {user.uid}).",
            f"Open it for reading, e.g. `chmod -R go+rX {path}`, or run as an ordinary user.",
        )
    yield from shown
