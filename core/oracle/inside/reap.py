"""Leave no process of a candidate behind."""

from __future__ import annotations

import contextlib
import os
import signal
import time

PATIENCE = 5.0
GRACE = 0.2
"""Seconds in which processes that are about to end may do so."""


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


def outliving() -> bool:
    """Whether descendants go on, a moment after the child has ended. What multiprocessing keeps running ends later."""
    give_up = time.monotonic() + GRACE
    while True:
        _reap_dead()
        if not any(map(_goes_on, descendants())):
            return False
        if time.monotonic() > give_up:
            return True
        time.sleep(0.005)


def _goes_on(pid: int) -> bool:
    with contextlib.suppress(OSError), open("/proc/%d/cmdline" % pid, "rb") as file:
        return b"multiprocessing" not in file.read()
    return False


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
