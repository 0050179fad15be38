"""The child's private way to report: numbered frames that carry a nonce, over a pipe of its own."""

from __future__ import annotations

import json
import os
from _json import encode_basestring_ascii, make_encoder
from typing import Any, Callable

Send = Callable[..., None]


def _refuse(value: object) -> Any:
    raise TypeError("not a plain value: " + type(value).__name__)


def open_channel(descriptor: int, nonce: str, pid: int) -> Send:
    """A function `send(kind, *values)`.

    Everything it needs is captured here, before any candidate runs: patching `os` or `json` later changes nothing.
    A fork of the child stays silent.
    """
    write, getpid, blocked = os.write, os.getpid, (BlockingIOError, InterruptedError)
    encode = make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", False, False, True)
    text, join, number = str, "".join, 0

    def send(kind: str, *values: object) -> None:
        nonlocal number
        if getpid() != pid:
            return
        data = join((nonce, " ", text(number), " ", kind, " ", *encode([*values], 0), "\n")).encode()
        number += 1
        while data:
            try:
                data = data[write(descriptor, data) :]
            except blocked:  # noqa: PERF203 - the loop is about them
                continue

    return send


class FrameReader:
    """The parent's end: keeps the frames that carry the nonce in unbroken order."""

    def __init__(self, nonce: str, limit: int) -> None:
        """Read at most `limit` bytes."""
        self._prefix = nonce.encode() + b" "
        self._limit = limit
        self._rest = b""
        self._seen = 0
        self._next = 0
        self.broken = False
        self.flooded = False

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
