"""The attach stream of a container: standard output and error in one, told apart by headers."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from contextlib import suppress

STDOUT, STDERR = 1, 2
_HEADER = 8


class Demultiplexer:
    """Splits the stream as it comes (Docker Engine API, "Attach to a container", stream format)."""

    def __init__(self) -> None:
        """Expect a header."""
        self._header = b""
        self._kind = 0
        self._left = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Pieces of payload with the stream they belong to, without waiting for whole frames."""
        while data:
            if self._left == 0:
                missing = _HEADER - len(self._header)
                self._header, data = self._header + data[:missing], data[missing:]
                if len(self._header) == _HEADER:
                    self._kind, self._left = self._header[0], int.from_bytes(self._header[4:], "big")
                    self._header = b""
                continue
            piece, data = data[: self._left], data[self._left :]
            self._left -= len(piece)
            yield self._kind, piece


class StdinSocket(io.RawIOBase):
    """The writing half of an attached socket."""

    def __init__(self, connection: socket.socket) -> None:
        """Borrow `connection`; closing this ends only its writing half."""
        self._connection = connection

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """Of the socket."""
        return self._connection.fileno()

    def write(self, data: object) -> int:
        """Send all of `data`. Raises BrokenPipeError when the container or its engine is gone."""
        view = memoryview(data).cast("B")  # type: ignore[arg-type]
        self._connection.sendall(view)
        return len(view)

    def close(self) -> None:
        """The program inside sees the end of its input."""
        if not self.closed:
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_WR)
        super().close()
