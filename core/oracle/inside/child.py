"""What a forked child does before, around and after the tests."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import resource
import signal
import sys
from typing import Any, Callable

from .channel import Send, open_channel

SET_DUMPABLE = 4
SET_CHILD_SUBREAPER = 36
STOPPED = 97
"""The status with which a child ends at the first failure, where only a verdict is wanted."""


def control(option: int, value: int) -> None:
    """prctl, where the platform and this interpreter have it."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        _library().prctl(option, value, 0, 0, 0)


@functools.lru_cache(maxsize=None)
def _library() -> Any:
    """Return the C library, loaded once so that forks have it."""
    import ctypes

    return ctypes.CDLL(None)


def guarded(send: Send, body: Callable[[], None]) -> None:
    """Call what this child is for, and end; never returns. All it needs then is taken before a candidate runs."""
    leave, status = os._exit, 1
    try:
        body()
        status = 0
    except BaseException as error:
        send("aborted", describe(error))
    flush()
    leave(status)


def describe(error: BaseException) -> str:
    """One line naming an exception, whatever its `__str__` does."""
    with contextlib.suppress(BaseException):
        return "%s: %s" % (type(error).__name__, str(error)[:500])
    return type(error).__name__


def flush() -> None:
    """Push out what was printed, before `os._exit` drops it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


assert sys.platform != "win32"  # inside a sandbox


def settle(report: int, output: int, nonce: str, config: dict[str, Any]) -> Send:
    """Become a process of its own with limits, default signals and the reporting channel."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    control(SET_DUMPABLE, 1)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    private = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, 100 + os.urandom(1)[0])
    os.close(report)
    _limit(config)
    home = os.environ.get("HOME")
    if home:
        os.makedirs(home, exist_ok=True)
    return open_channel(private, nonce, os.getpid())


def _limit(config: dict[str, Any]) -> None:
    with open("/proc/self/statm", "rb") as file:  # what is mapped by now, and what of that this process alone can write
        pages = file.read().split()
    space, data = (int(pages[place]) * os.sysconf("SC_PAGE_SIZE") for place in (0, 5))
    bounds = {
        resource.RLIMIT_AS: space + (int(config["address_space_mib"]) << 20),
        resource.RLIMIT_DATA: data + (int(config["memory_mib"]) << 20),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: int(config["scratch_mib"]) << 20,
    }
    for kind, bound in bounds.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (bound, bound))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
