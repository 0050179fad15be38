"""What every sandbox offers: long-lived processes inside, reached over their pipes; and what it promises of those."""

from __future__ import annotations

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from typing import BinaryIO, Protocol, cast

from rtc_inspector.core.errors import SandboxError

KEPT = 16 * 1024


class Tail:
    """Keeps the last `KEPT` bytes of a stream, however much that was; thread-safe."""

    def __init__(self) -> None:
        self._data, self._lock = b"", Lock()

    def add(self, data: bytes) -> None:
        with self._lock:
            self._data = (self._data + data)[-KEPT:]

    def text(self) -> str:
        return self._data.decode(errors="replace")


class Process(ABC):
    """A long-lived process inside a sandbox, PID 1 of its own pid namespace where the sandbox has one.

    A thread of its own watches it: that sets `_status`, then `_ended`, and adds to `_tail` meanwhile.
    """

    stdin: BinaryIO  # unbuffered; has `fileno()`

    stdout: BinaryIO  # unbuffered; `fileno()` works with select and poll

    def __init__(self, status: int) -> None:
        """`status`: what is said of its end as long as nobody knows better."""
        self._status = status
        self._tail, self._ended = Tail(), Event()
        self._closing, self._closed = Lock(), False

    def poll(self) -> int | None:
        """Return the exit status, 128 + n for signal n as a shell says it; None while it runs."""
        return self._status if self._ended.is_set() else None

    def wait(self, timeout: float) -> int | None:
        """Return the exit status, or None when `timeout` seconds passed first."""
        return self._status if self._ended.wait(timeout) else None

    def stderr_tail(self) -> str:
        return self._tail.text()

    @abstractmethod
    def kill(self) -> None:
        """End everything inside at once; returns once it is gone, and is safe to call again."""

    @abstractmethod
    def _release(self) -> None:
        """Close what is open; the process has been killed."""

    def close(self) -> None:
        """Kill, reap and free everything; idempotent."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        self.kill()
        self._release()


# How long a process may take to go once told to, before it is killed by force.
GRACE = 2.0


class LocalProcess(Process):
    """A `Process` over `subprocess`.

    The thread that starts the process stays until it ended: a parent-death signal, as bubblewrap sets one, follows
    the thread that forked, and a worker thread that returns would take the sandbox with it.
    """

    def __init__(
        self,
        command: Sequence[str],
        descriptors: Iterable[int],
        *,
        cwd: str = "/",
        end: Callable[[], None],
        after: Callable[[], None],
    ) -> None:
        """Start `command` with an empty environment and `descriptors` inherited.

        `end`: asks the process to end everything inside; by force when it has not ended `GRACE` seconds later.
        `after`: called once, by another thread, as soon as it ended. Raises SandboxError when the command cannot be
        run; then nothing is called.
        """
        super().__init__(status=0)
        self._end, self._after = end, after
        started: Future[subprocess.Popen[bytes]] = Future()
        start = partial(
            subprocess.Popen,
            list(command),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={},
            pass_fds=tuple(descriptors),
            cwd=cwd,
        )
        self._keeper = Thread(target=self._keep, args=(start, started), name="sandbox-keeper", daemon=True)
        self._keeper.start()
        try:
            self._popen = started.result()
        except (OSError, ValueError) as error:
            raise SandboxError(f"{command[0]} cannot be started: {error}.", "See `rtc-inspector doctor`.") from error
        self.stdin = cast(BinaryIO, self._popen.stdin)
        self.stdout = cast(BinaryIO, self._popen.stdout)

    def _keep(self, start: Callable[[], subprocess.Popen[bytes]], started: Future[subprocess.Popen[bytes]]) -> None:
        try:
            popen = start()
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(popen)
        with cast(BinaryIO, popen.stderr) as stderr:
            while data := os.read(stderr.fileno(), 65536):
                self._tail.add(data)
        code = popen.wait()
        self._status = 128 - code if code < 0 else code
        self._ended.set()
        self._after()

    def kill(self) -> None:
        if self._ended.is_set():
            return
        self._end()
        if not self._ended.wait(GRACE):
            self._popen.kill()
            self._ended.wait(GRACE)

    def _release(self) -> None:
        """Close the pipes; returns once what was made for the process is freed."""
        for stream in (self.stdin, self.stdout):
            with suppress(OSError):
                stream.close()
        self._keeper.join(GRACE)


THREAD_MIB = 72  # address space a thread reserves under glibc: an arena of 64 MiB, and its stack


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on everything inside together, as far as the sandbox claims them."""

    memory_mib: int
    processes: int
    scratch_mib: int

    @property
    def address_space_mib(self) -> int:
        """Bound on each process's address space: every thread reserves what it never touches."""
        return self.memory_mib + self.processes * THREAD_MIB


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start inside."""

    argv: tuple[str, ...]
    cwd: str
    readonly: tuple[Path, ...]  # host files and folders visible read-only at the same path inside
    environment: Mapping[str, str]  # the whole environment inside; nothing of the host's is added
    limits: Limits
    # folders inside readonly ones in which new files can be made; code that they hold cannot be changed
    writable: tuple[Path, ...] = ()


class Claim(StrEnum):
    """A promise about everything that runs inside; the conformance tests hold a sandbox to exactly those it makes."""

    NO_NETWORK = "no-network"  # no address can be reached and no name resolved; loopback is its own
    READ_ONLY = "read-only"  # nothing can be written but the scratch space
    PRIVATE_FILES = "private-files"  # host files outside of `Launch.readonly` and the system folders cannot be read
    CLEAN_ENVIRONMENT = "clean-environment"  # no variable of the host's is seen, in no process inside
    BOUNDED_SCRATCH = "bounded-scratch"  # the scratch space cannot outgrow its limit
    BOUNDED_PROCESSES = "bounded-processes"  # a fork bomb stops at the limit
    BOUNDED_MEMORY = "bounded-memory"  # all processes together stay within the limit
    BOUNDED_MEMORY_EACH = "bounded-memory-each"
    """The address space of any one process stays within the limit; that stops accidents, not a hostile program."""
    OWN_PROCESSES = "own-processes"  # only processes inside are seen in /proc, and the launched program is PID 1
    UNPRIVILEGED = "unprivileged"  # not root, no capabilities, and no program that would give any
    NO_NAMESPACES = "no-namespaces"
    """No user namespace can be made inside, where all capabilities would come back for what it holds."""
    OTHERS_OUT_OF_REACH = "others-out-of-reach"
    """No process outside can be signalled, traced or bounded, and the launched program not be ended by its children."""
    NAMED_ACCOUNT = "named-account"  # the user has a name, a group and a home
    WRITABLE_FOLDERS = "writable-folders"  # `Launch.writable` takes new files, which go with the process
    ENDS_WHOLE = "ends-whole"  # `kill` ends every process, also those that left their session


ALL = frozenset(Claim)

ISOLATION = ALL - {Claim.BOUNDED_MEMORY, Claim.BOUNDED_MEMORY_EACH, Claim.BOUNDED_PROCESSES}
"""What namespaces give by themselves, before any bound on memory or processes."""


class Sandbox(Protocol):
    """A way to run untrusted code away from the host."""

    name: str  # docker, bubblewrap, landlock or none

    image_digest: str  # of the container image; empty where there is none

    scratch: str  # the writable temporary folder inside, e.g. /tmp

    claims: frozenset[Claim]  # what this sandbox promises on this machine

    @property
    def detail(self) -> str:
        """Return what the sandbox is and what it does not bound, for a person to read."""

    @property
    def others(self) -> tuple[str, ...]:
        """Engines that could be used instead, for a person; none where there are no engines."""

    def start(self, launch: Launch) -> Process:
        """Start a process inside. Raises SandboxError."""


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """Whether a sandbox can be used here, and what to do when not."""

    name: str
    usable: bool
    detail: str
    remedy: str
