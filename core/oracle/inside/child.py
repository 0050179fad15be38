"""What a forked child does before and after the tests, and its private way to report: numbered frames with a nonce."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import resource
import signal
import sys
from _json import encode_basestring_ascii, make_encoder
from _thread import allocate_lock, get_ident
from typing import Any, Callable

Send = Callable[..., None]


def _refuse(value: object) -> Any:
    raise TypeError("not a plain value: " + type(value).__name__)


def open_channel(descriptor: int, nonce: str, pid: int) -> Send:
    """Return a function `send(kind, *values)`, for any thread; what it was given is written when it returns.

    With `wait` it is written with what comes next: each write wakes the reader, which costs as much as a fast test.
    Everything it needs is captured here, before any candidate runs: patching `os` or `json` later changes nothing. A
    fork of the child stays silent.
    """
    getpid, thread, lock, owner = os.getpid, get_ident, allocate_lock(), 0
    encode = make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", False, False, True)
    put, waiting, join, number, text = _writer(descriptor), [], "".join, 0, str

    def send(kind: str, *values: object, wait: bool = False) -> None:
        nonlocal number, owner
        if getpid() != pid:
            return
        waiting.append(join((" ", kind, " ", *encode([*values], 0), "\n")))
        # The second: a signal's handler in the midst of this very function, which goes on afterwards.
        if wait or owner == thread():
            return
        with lock:
            owner = thread()
            while waiting:
                pieces = []
                while waiting:
                    pieces.append(join((nonce, " ", text(number), waiting.pop(0))))
                    number += 1
                put(join(pieces).encode())
            owner = 0

    return send


def _writer(descriptor: int) -> Callable[[bytes], None]:
    write, blocked = os.write, (BlockingIOError, InterruptedError)

    def put(data: bytes) -> None:
        while data:
            try:
                data = data[write(descriptor, data) :]
            except blocked:  # noqa: PERF203 - the loop is about them
                continue

    return put


class FrameReader:
    """The parent's end: keeps the frames that carry the nonce in unbroken order."""

    def __init__(self, nonce: str, limit: int) -> None:
        self._prefix = nonce.encode() + b" "
        self._rest = b""
        self._next = 0
        self.allow(limit)
        self.broken = False
        self.flooded = False

    def allow(self, limit: int) -> None:
        self._seen, self._limit = 0, limit

    def feed(self, data: bytes) -> list[tuple[str, list[Any]]]:
        self._seen += len(data)
        if self._seen > self._limit:
            self.flooded = True
            return []
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        frames = (self._frame(line) for line in lines if line.startswith(self._prefix))
        return [frame for frame in frames if frame is not None]

    def _frame(self, line: bytes) -> tuple[str, list[Any]] | None:
        try:
            _, number, kind, payload = line.split(b" ", 3)
            values = json.loads(payload.decode())
            in_order = int(number) == self._next
        except (ValueError, RecursionError):
            self.broken = True
            return None
        self._next += 1
        if not in_order or not isinstance(values, list):
            self.broken = True
            return None
        return kind.decode(), values


SET_DUMPABLE = 4
SET_CHILD_SUBREAPER = 36
STOPPED = 97  # the status with which a child ends at the first failure, where only a verdict is wanted


def control(option: int, value: int) -> None:
    """Call prctl, where the platform and this interpreter have it."""
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
    """Name an exception in one line, whatever its `__str__` does."""
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
