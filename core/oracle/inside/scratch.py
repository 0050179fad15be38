"""The writable folders, made again as they were before each candidate."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from typing import Tuple

MOST_BYTES = 16 << 20  # of files that were there at the start, to be kept in memory

Entry = Tuple[str, int, bytes]  # path, mode, and the bytes of a file or the target of a link


class Scratch:
    """Some folders, and what lay in them at the start; unless `guarded`, that was too much, and is left in place."""

    def __init__(self, folders: list[str]) -> None:
        """Remember what lies in `folders` now. What is mounted below them (a project, say) is not ours to remove."""
        mounts: list[str] = []  # none where the system does not tell
        with contextlib.suppress(OSError), open("/proc/self/mountinfo", "rb") as file:
            mounts = [os.fsdecode(unescaped(line.split()[4])) for line in file]
        self.guarded = True
        self._left: dict[str, set[str]] = {}
        self._entries: list[Entry] = []
        for folder in folders:
            start = folder.rstrip("/") + "/"
            self._left[folder] = {point[len(start) :].split("/", 1)[0] for point in mounts if point.startswith(start)}
            try:
                size = sum(len(data) for _, _, data in self._entries)
                self._entries += _read(folder, self._left[folder], MOST_BYTES - size)
            except OverflowError:
                self.guarded = False
                self._left[folder] = set(names_in(folder))

    def restore(self) -> None:
        """Empty the folders, links removed and never followed, and put back what was there."""
        for folder, left in self._left.items():
            for name in names_in(folder):
                if name not in left:
                    remove(folder, name)
        for path, mode, data in self._entries:
            with contextlib.suppress(OSError):
                _make(path, mode, data)


def remove(folder: str, name: str) -> None:
    """Delete an entry of `folder`, however deep it goes and whatever its maker locked.

    Folders within it are moved up before they are emptied, so that no path grows long and nothing recurses.
    """
    pending = [os.path.join(folder, name)]
    while pending:
        path = pending.pop()
        with contextlib.suppress(OSError):
            if os.path.islink(path) or not os.path.isdir(path):
                os.unlink(path)
                continue
            os.chmod(path, 0o700)
            with os.scandir(path) as entries:
                below = list(entries)
            for entry in below:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        os.chmod(entry.path, 0o700)
                        moved = os.path.join(folder, ".removed-" + os.urandom(8).hex())
                        os.rename(entry.path, moved)
                        pending.append(moved)
                    else:
                        os.unlink(entry.path)
            os.rmdir(path)


def unescaped(point: bytes) -> bytes:
    """Return a path as it is, of which the kernel writes blanks and the like as octal numbers."""
    return re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found.group(1), 8)]), point)


def names_in(folder: str) -> list[str]:
    """Return what lies in a folder; nothing where it cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(folder: str, left: set[str], most: int) -> list[Entry]:
    """Return all in the folder but the names in `left`, parents first. Raises OverflowError beyond `most` bytes."""
    found = []
    for parent, folders, files in os.walk(folder):
        if parent == folder:
            folders[:] = [name for name in folders if name not in left]
            files = [name for name in files if name not in left]
        for name in folders + files:
            entry = _entry(os.path.join(parent, name), most)
            most -= len(entry[2])
            found.append(entry)
    return found


def _entry(path: str, most: int) -> Entry:
    about = os.lstat(path)
    if stat.S_ISLNK(about.st_mode):
        return path, about.st_mode, os.fsencode(os.readlink(path))
    if not stat.S_ISREG(about.st_mode):
        return path, about.st_mode, b""
    if about.st_size > most:
        raise OverflowError(path)
    with open(path, "rb") as file:
        return path, about.st_mode, file.read()


def _make(path: str, mode: int, data: bytes) -> None:
    if stat.S_ISLNK(mode):
        os.symlink(os.fsdecode(data), path)
    elif stat.S_ISDIR(mode):
        os.mkdir(path)
        os.chmod(path, stat.S_IMODE(mode) | stat.S_IRWXU)
    elif stat.S_ISREG(mode):
        with open(path, "xb") as file:
            file.write(data)
        os.chmod(path, stat.S_IMODE(mode))
