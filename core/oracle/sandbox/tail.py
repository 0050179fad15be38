"""The last of what was written to a stream, however much that was."""

from __future__ import annotations

from collections import deque
from threading import Lock

KEPT = 16 * 1024


class Tail:
    """Keeps the last `KEPT` bytes; thread-safe."""

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
