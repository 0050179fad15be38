"""Fork one child, listen to it within its limits, and clear away everything it leaves."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from typing import Any, Callable

from .child import SET_DUMPABLE, FrameReader, control
from .scratch import Scratch

assert sys.platform != "win32"  # inside a sandbox

JUDGE_BYTES = 16 << 20
EACH_BYTES, EACH_FAILURE_BYTES = 1 << 10, 8 << 10
"""What is read beside that for each test, where the first failure ends the run, and where each may tell of one.

A suite can have tens of thousands of tests.
"""
MOST_BYTES = 128 << 20
TRACE_BYTES = 1 << 30  # of the unmodified project

PATIENCE = 5.0
GRACE = 0.2  # seconds in which processes that are about to end may do so

Body = Callable[[int, int, str, int], None]
"""Called in a child with the descriptor to report on, the one to print to, a nonce, and one that requests come by."""
Listener = Callable[[str, "list[Any]"], None]


class Wakeup:
    """A pipe that SIGCHLD writes to, so that `select` notices the end of a child."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        for end in (self.reader, self._writer):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self.reader, 4096):
                pass


class Output:
    """The head of what a child printed past pytest's capture."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = b""
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        kept = data[: self._limit - len(self._kept)]
        self._kept += kept
        self._dropped += len(data) - len(kept)

    def text(self) -> str:
        text = self._kept.decode("utf-8", "replace")
        return text + ("\n[%d bytes cut]" % self._dropped if self._dropped else "")


class _Child:
    """A forked process, with the ends of what it reports, what it prints and what it is asked."""

    def __init__(self, body: Body) -> None:
        nonce = os.urandom(16).hex()
        self.report, report_end = os.pipe()
        self.output, output_end = os.pipe()
        asked, self.asking = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for end in (self.report, self.output, self.asking):
                os.close(end)
            body(report_end, output_end, nonce, asked)
            os._exit(98)
        self.reader = FrameReader(nonce, 0)
        for end in (report_end, output_end, asked):
            os.close(end)
        for end in (self.report, self.output):
            os.set_blocking(end, False)

    def ask(self, data: bytes) -> None:
        """Write a request whole. Raises BrokenPipeError."""
        while data:
            data = data[os.write(self.asking, data) :]

    def close(self) -> None:
        for end in (self.report, self.output, self.asking):
            os.close(end)


class Supervisor:
    """Runs children one at a time."""

    def __init__(self, scratch: Scratch, wakeup: Wakeup) -> None:
        self._scratch = scratch
        self._wakeup = wakeup
        self._shared: _Child | None = None

    def run(self, body: Body, request: dict[str, Any], listen: Listener) -> dict[str, Any]:
        """Fork, call `body` in the child, and return how it ended.

        `request`: total (seconds), test_seconds (node id -> seconds), default_test_seconds, spare (seconds that its
        tests may take beyond those, all together: what is set up once is paid by whichever comes first),
        collect_seconds (for each file of tests), output_bytes, trace.
        """
        self._end_shared()
        child = _Child(body)
        try:
            return _Watch(request, listen, child).follow(self._wakeup)
        finally:
            self._clear(child)

    def share(self, body: Body, request: dict[str, Any], listen: Listener) -> dict[str, Any] | None:
        """Have a child judge this that goes on to the next request; None where one of its own must.

        What such a child runs can do nothing but compute. What it answers counts, and that time was up; where it ends
        in any other way, the request is run again by itself.
        """
        if self._shared is None:
            self._shared = _Child(body)
        watch = _Watch(request, listen, self._shared, shared=True)
        with contextlib.suppress(BrokenPipeError):
            asked = {name: request.get(name) for name in ("tests", "changes", "fail_fast", "output_bytes", "bits")}
            self._shared.ask(json.dumps(asked).encode() + b"\n")
        summary = watch.follow(self._wakeup)
        if not watch.goes_on:
            self._end_shared()
        if watch.answer is None:
            return summary if str(summary["killed"]).endswith("timeout") else None
        return summary if watch.answer >= 0 else None

    def _end_shared(self) -> None:
        """End it before anything else is run: such a child is not to be within another's reach."""
        if self._shared is not None:
            child, self._shared = self._shared, None
            self._clear(child)

    def _clear(self, child: _Child) -> None:
        child.close()
        alone = kill_everything()
        # A guardian that changes a mode for us reads its path from our memory, which nobody else is left to do now.
        control(SET_DUMPABLE, int(alone))
        self._scratch.restore()
        control(SET_DUMPABLE, 0)


class _Watch:
    """One request's deadlines and frames, and how the child came to an end or waits for the next.

    `answer`: the status with which a shared child answered; negative: the request is not for it.
    """

    def __init__(self, request: dict[str, Any], listen: Listener, child: _Child, *, shared: bool = False) -> None:
        self.answer: int | None = None
        self.goes_on = False
        self._shared = shared
        self._child = child
        self._reader = child.reader
        each = EACH_BYTES if request.get("fail_fast") else EACH_FAILURE_BYTES
        most = min(MOST_BYTES, JUDGE_BYTES + each * len(request.get("tests") or ()))
        self._reader.allow(TRACE_BYTES if request.get("identity") else most)
        self._listen = listen
        self._limits = request.get("test_seconds") or {}
        self._default = float(request.get("default_test_seconds", 60.0))
        self._collect_limit = float(request.get("collect_seconds", 0.0))
        self._output = Output(int(request.get("output_bytes", 1 << 18)))
        self._spare = float(request.get("spare", 0.0))
        self._deadline = time.monotonic() + float(request["total"])
        self._test_limit = 0.0
        self._test_deadline: float | None = None
        self._test = ""
        self._why = ""
        self._outlived = False

    def follow(self, wakeup: Wakeup) -> dict[str, Any]:
        """Listen until the child is dead and its frames are read, or it waits for the next request."""
        pid = self._child.pid
        ends: dict[int, Callable[[bytes], None]] = {
            self._child.report: self._take,
            self._child.output: self._output.feed,
        }
        status = None
        while status is None:
            left = min(self._deadline, self._test_deadline or self._deadline) - time.monotonic()
            for end in select.select([*ends, wakeup.reader], [], [], max(0.0, left))[0]:
                if end == wakeup.reader:
                    wakeup.drain()
                else:
                    _read(end, ends)
            if self.answer is not None:
                return self._summary(self.answer << 8)
            ended, code = os.waitpid(pid, os.WNOHANG)
            status = code if ended else self._judge_time(pid)
        self._outlived = not self._why and outliving()
        kill_everything()
        for end in list(ends):
            while _read(end, ends):
                pass
        return self._summary(status)

    def _judge_time(self, pid: int) -> int | None:
        """Kill a child that is over a limit; return its status then."""
        now = time.monotonic()
        if self._reader.flooded:
            self._why = "flood"
        elif self._test_deadline is not None and now > self._test_deadline:
            self._why = "test-timeout"
        elif now > self._deadline:
            self._why = "timeout"
        else:
            return None
        _kill(pid)
        return os.waitpid(pid, 0)[1]

    def _take(self, data: bytes) -> None:
        for kind, values in self._reader.feed(data):
            if kind == "start":
                self._test = str(values[0])
                self._test_limit = time.monotonic() + float(self._limits.get(self._test, self._default))
                self._test_deadline = self._test_limit + self._spare
            elif kind == "collect":
                self._test = str(values[0])
                self._test_deadline = time.monotonic() + self._collect_limit
            elif kind == "collected":
                self._test, self._test_deadline = "", None
            elif kind == "test":
                self._spare -= max(0.0, time.monotonic() - self._test_limit)
                self._test, self._test_deadline = "", None
            elif kind == "answer" and self._shared:
                self.answer, self.goes_on = int(values[0]), bool(values[1])
            self._listen(kind, values)

    def _summary(self, status: int) -> dict[str, Any]:
        return {
            "killed": self._why,
            "test": self._test,
            "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "outlived": self._outlived,
            "broken": self._reader.broken,
            "flooded": self._reader.flooded,
            "printed": self._output.text(),
            "shared": self._shared,
        }


def _read(end: int, ends: dict[int, Callable[[bytes], None]]) -> bool:
    """Hand on what can be read; return whether there was any. One that is closed is listened to no more."""
    try:
        data = os.read(end, 1 << 16)
    except BlockingIOError:
        return False
    if data:
        ends[end](data)
    else:
        del ends[end]
    return bool(data)


def descendants() -> list[int]:
    """Return every process below this one; those that have ended are reaped."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    parents, found = {}, [os.getpid()]
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/" + name + "/stat", "rb") as stat:
                parents[int(name)] = int(stat.read().rsplit(b")", 1)[1].split()[1])
    for pid in found:
        found.extend(child for child, parent in parents.items() if parent == pid)
    return found[1:]


def outliving() -> bool:
    """Return whether descendants outlive the child by a moment; those of multiprocessing, which end later, may."""
    give_up = time.monotonic() + GRACE
    while any(map(_goes_on, descendants())):
        if time.monotonic() > give_up:
            return True
        time.sleep(0.005)
    return False


def _goes_on(pid: int) -> bool:
    with contextlib.suppress(OSError), open("/proc/%d/cmdline" % pid, "rb") as file:
        return b"multiprocessing" not in file.read()
    return False


def kill_everything() -> bool:
    """Kill and reap every descendant; False when some outlived the attempt."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        # The first process of a sandbox ends all at once, so that they cannot fork faster than they are ended.
        for pid in [-1] if os.getpid() == 1 else descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                _kill(pid)
        if not descendants():
            return True
        time.sleep(0.001)
    return False


def _kill(pid: int) -> None:
    """Kill, asked again where the end of another child came between: a guardian answers, see `confinement`."""
    while True:
        with contextlib.suppress(InterruptedError):
            os.kill(pid, signal.SIGKILL)
            return
