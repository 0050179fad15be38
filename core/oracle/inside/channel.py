"""The child's private way to report: numbered frames that carry a nonce, over a pipe of its own."""

from __future__ import annotations

import json
import os
from _json import encode_basestring_ascii, make_encoder
from _thread import allocate_lock, get_ident
from typing import Any, Callable

Send = Callable[..., None]


def _refuse(value: object) -> Any:
    raise TypeError("not a plain value: " + type(value).__name__)


def open_channel(descriptor: int, nonce: str, pid: int) -> Send:
    """A function `send(kind, *values)`, for any thread; what it was given is written when it returns.

    With `wait` it is written with what comes next: each write wakes the reader, which costs as much as a fast test.

    Everything it needs is captured here, before any candidate runs: patching `os` or `json` later changes nothing.
    A fork of the child stays silent.
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
    """Writes the whole of what it is given."""
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
        """Read at most `limit` bytes."""
        self._prefix = nonce.encode() + b" "
        self._rest = b""
        self._next = 0
        self.allow(limit)
        self.broken = False
        self.flooded = False

    def allow(self, limit: int) -> None:
        """Read at most `limit` bytes more."""
        self._seen, self._limit = 0, limit

    def feed(self, data: bytes) -> list[tuple[str, list[Any]]]:
        """The complete frames in `data` and what came before."""
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
