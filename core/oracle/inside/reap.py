"""Leave nothing of a candidate behind: processes, files, memory segments."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time

PATIENCE = 5.0


def _children(pid: int) -> list[int]:
    """Direct children of a process. Raises OSError when it is gone, or the kernel does not tell."""
    found: list[int] = []
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, thread), "rb") as file:
            found.extend(map(int, file.read().split()))
    return found


def _parents() -> dict[int, int]:
    """Process id -> parent, of every process that can be seen."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/" + name + "/stat", "rb") as stat:
                parents[int(name)] = int(stat.read().rsplit(b")", 1)[1].split()[1])
    return parents


def descendants() -> list[int]:
    """Every process below this one."""
    try:
        found = _children(os.getpid())
    except OSError:
        return _descendants_of_all()
    for pid in found:
        with contextlib.suppress(OSError):
            found.extend(child for child in _children(pid) if child not in found)
    return found


def _descendants_of_all() -> list[int]:
    parents, found = _parents(), [os.getpid()]
    for pid in found:
        found.extend(child for child, parent in parents.items() if parent == pid)
    return found[1:]


def _reap_dead() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:  # noqa: PERF203 - it ends the loop
            return


def kill_everything() -> bool:
    """Kill and reap every descendant; False when some outlived the attempt."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(-1, signal.SIGKILL)
        for pid in descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        _reap_dead()
        if not descendants():
            return True
        time.sleep(0.001)
    return False


class Scratch:
    """The writable folders, to be made again as they were at the start."""

    def __init__(self, folders: list[str]) -> None:
        """What lies in `folders` now (a project mounted below one of them) is not ours to remove."""
        self._kept = {folder: set(_names(folder)) for folder in folders}

    def wipe(self) -> None:
        """Empty the folders; links are removed, never followed."""
        for folder, kept in self._kept.items():
            with contextlib.suppress(OSError):
                for entry in os.scandir(folder):
                    if entry.name not in kept:
                        _remove(entry)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _remove(entry: os.DirEntry[str]) -> None:
    if not entry.is_dir(follow_symlinks=False):
        with contextlib.suppress(OSError):
            os.unlink(entry.path)
        return
    shutil.rmtree(entry.path, ignore_errors=True)
    if os.path.isdir(entry.path):
        _open_up(entry.path)
        shutil.rmtree(entry.path, ignore_errors=True)


def _open_up(folder: str) -> None:
    """Make folders that their maker locked removable."""
    os.chmod(folder, 0o700)
    for parent, names, _ in os.walk(folder):
        for path in (os.path.join(parent, name) for name in names):
            if not os.path.islink(path):
                os.chmod(path, 0o700)
