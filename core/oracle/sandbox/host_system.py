"""What of the host a sandbox shows: its system, and who a program inside is for it and may read and write there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError

# Programs and libraries. /nix/store and /gnu/store hold them on NixOS and Guix.
_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")

# What the loader, the clock and a few modules of the standard library look up; no accounts, no names of machines.
_FILES = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/protocols",
    "/etc/services",
    "/etc/timezone",
)

# A project that is one of these would take the place of something the sandbox itself needs there.
_TAKEN = frozenset(map(Path, ("/", "/dev", "/dev/shm", "/etc", "/proc", "/sys", "/tmp", "/var", "/var/tmp")))

SCRATCH = "/tmp"
SHARED_MEMORY = "/dev/shm"


@dataclass(frozen=True, slots=True)
class HostSystem:
    """The host's system folders as a sandbox shows them: mounts read-only, and links (`/bin` -> `usr/bin`)."""

    links: tuple[tuple[str, str], ...]
    mounts: tuple[Path, ...]

    @property
    def covers(self) -> tuple[Path, ...]:
        return (*self.mounts, *(Path(path) for path, _ in self.links))


def host_system() -> HostSystem:
    """Return the system folders and files of this machine."""
    folders = [Path(name) for name in _FOLDERS]
    links = tuple((str(path), str(path.readlink())) for path in folders if path.is_symlink())
    mounts = tuple(path for path in folders if path.is_dir() and not path.is_symlink())
    return HostSystem(links, mounts + tuple(path for path in map(Path, _FILES) if path.exists()))


def visible(readonly: Iterable[Path], system: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return the paths to mount, parents first: as named and as resolved, without those inside another one.

    `system`: what is mounted already. Raises SandboxError for a path that is missing or cannot be shown.
    """
    wanted: set[Path] = set()
    for path in readonly:
        try:
            wanted |= {path.absolute(), path.resolve(strict=True)}
        except (OSError, RuntimeError) as error:
            raise SandboxError(
                f"The sandbox was to show {path}, which cannot be read: {error.__class__.__name__}.",
                "Check that the folder still exists and that you may read it.",
            ) from error
    if refused := sorted(wanted & _TAKEN):
        raise SandboxError(
            f"A sandbox cannot show {refused[0]} as a whole.", "Move the project into a folder of its own."
        )
    shown: list[Path] = []
    for path in sorted(wanted):
        if not any(path.is_relative_to(parent) for parent in (*system, *shown)):
            shown.append(path)
    return tuple(shown)


def account_files(uid: int, gid: int, home: str) -> Mapping[str, str]:
    """Return what a sandbox has below /etc, path -> text: one account `sandbox`, loopback, no look-ups."""
    return {
        "/etc/passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\nsandbox:x:{uid}:{gid}:sandbox:{home}:/bin/sh\n",
        "/etc/group": f"root:x:0:\nsandbox:x:{gid}:\n",
        "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def shared_memory_mib(scratch_mib: int) -> int:
    """Return the size of /dev/shm beside a scratch space: enough for semaphores and small arrays."""
    return max(16, scratch_mib // 4)


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
    """Return the caller; for root the owner of `project`, or nobody where root owns that too. Raises SandboxError."""
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
    """Say what the tests' user cannot read in the project, a trouble of root's alone; empty if nothing.

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
    """Return `paths` as `user` can read them: a folder closed to others is shown by its entries, one mount each.

    Temporary folders are made that way (mode 0700), with open entries inside. Raises SandboxError when nothing in it
    can be read either.
    """
    found: list[Path] = []
    for path in paths:
        entries = [path] if user.may_read(path) else sorted(path.iterdir()) if path.is_dir() else []
        shown = [entry for entry in entries if entry.exists() and user.may_read(entry)]
        if not shown:
            raise SandboxError(
                f"{path} is closed to the user that tests run as (number {user.uid}).",
                f"Open it for reading, e.g. `chmod -R go+rX {path}`, or run as an ordinary user.",
            )
        found += shown
    return tuple(found)


MOST_ENTRIES = 200
MOST_BYTES = 1 << 20  # of the files of a folder that are copied
CODE = frozenset([".py", ".pyi", ".pyc", ".pyd", ".so", ".pth", ".cfg", ".ini", ".toml"])
"""Endings of files that decide what runs: those are never a copy that can be changed."""


def can_be_opened(folder: Path) -> bool:
    """Return whether each entry can be a mount of its own: files and folders only, and not too many."""
    try:
        modes = [entry.lstat().st_mode for entry in folder.iterdir()]
    except OSError:
        return False
    return len(modes) <= MOST_ENTRIES and all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes)


def copied(folder: Path) -> list[Path]:
    """Return data files that tests find as copies of their own, the smallest first, as many as fit."""
    sized = sorted((entry.stat().st_size, entry.name) for entry in folder.iterdir() if is_data(entry))
    together = accumulate(size for size, _ in sized)
    return [folder / name for (_, name), total in zip(sized, together, strict=True) if total <= MOST_BYTES]


def is_data(path: Path) -> bool:
    """Return whether it is a plain file that runs nothing."""
    return path.suffix not in CODE and path.is_file() and not path.is_symlink()


def entries(folder: Path) -> list[Path]:
    """Return what is in the folder now and is mounted there: all but the data files that are copied."""
    return sorted(set(folder.iterdir()) - set(copied(folder)))
