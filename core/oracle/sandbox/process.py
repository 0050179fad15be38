"""A process in a sandbox: what is alike in all of them, how they are seen to end and what they said last."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from threading import Event, Lock
from typing import BinaryIO

KEPT = 16 * 1024


class Tail:
    """Keeps the last `KEPT` bytes of a stream, however much that was; thread-safe."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._lock = Lock()

    def add(self, data: bytes) -> None:
        """Append, dropping whole chunks from the front."""
        with self._lock:
            self._chunks.append(data[-KEPT:])
            self._size += len(self._chunks[-1])
            while self._size - len(self._chunks[0]) >= KEPT:
                self._size -= len(self._chunks.popleft())

    def text(self) -> str:
        """Return what is kept as text, with undecodable bytes replaced."""
        with self._lock:
            data = b"".join(self._chunks)
        return data[-KEPT:].decode(errors="replace")


class Process(ABC):
    """A long-lived process inside a sandbox, PID 1 of its own pid namespace where the sandbox has one.

    A thread of its own watches it: that sets `_status`, then `_ended`, and adds to `_tail` meanwhile.
    """

    stdin: BinaryIO
    """Unbuffered; has `fileno()`."""

    stdout: BinaryIO
    """Unbuffered; `fileno()` works with select and poll."""

    def __init__(self, status: int) -> None:
        """`status`: what is said of its end as long as nobody knows better."""
        self._status = status
        self._tail, self._ended = Tail(), Event()
        self._closing, self._closed = Lock(), False

    def poll(self) -> int | None:
        """The exit status, 128 + n for signal n as a shell says it; None while it runs."""
        return self._status if self._ended.is_set() else None

    def wait(self, timeout: float) -> int | None:
        """The exit status, or None when `timeout` seconds passed first."""
        return self._status if self._ended.wait(timeout) else None

    def stderr_tail(self) -> str:
        """The last few KiB that were written to standard error."""
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
