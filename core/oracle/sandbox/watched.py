"""What is alike in the processes of every sandbox: how they are seen to end, and what they said last."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from threading import Event, Lock
from typing import BinaryIO

KEPT = 16 * 1024


class Tail:
    """Keeps the last `KEPT` bytes of a stream, however much that was; thread-safe."""

    def __init__(self) -> None:
        """Start empty."""
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
        """What is kept, undecodable bytes replaced."""
        with self._lock:
            data = b"".join(self._chunks)
        return data[-KEPT:].decode(errors="replace")


class WatchedProcess(ABC):
    """A `Process` that a thread of its own watches: it sets `_status`, then `_ended`, and adds to `_tail` meanwhile."""

    stdin: BinaryIO
    stdout: BinaryIO

    def __init__(self, status: int) -> None:
        """`status`: what is said of its end as long as nobody knows better."""
        self._status = status
        self._tail, self._ended = Tail(), Event()
        self._closing, self._closed = Lock(), False

    def poll(self) -> int | None:
        """The exit status, 128 + n for signal n; None while it runs."""
        return self._status if self._ended.is_set() else None

    def wait(self, timeout: float) -> int | None:
        """The exit status, or None when `timeout` seconds passed first."""
        return self._status if self._ended.wait(timeout) else None

    def stderr_tail(self) -> str:
        """The last few KiB of standard error."""
        return self._tail.text()

    @abstractmethod
    def kill(self) -> None:
        """End everything inside; returns once it is gone."""

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
