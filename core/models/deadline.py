"""An HTTP exchange that ends in time, also with a server that trickles: head, body, or the body of an error."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Self

Watch = Callable[[socket.socket], None]


class Deadline:
    """Shuts the connections of one exchange when its time is over; who reads from them then sees their end."""

    def __init__(self, seconds: float) -> None:
        """The time runs from `with` on."""
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        """Start the clock."""
        self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the clock."""
        self._timer.cancel()

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._over.is_set()

    def handlers(self) -> list[urllib.request.BaseHandler]:
        """For an opener whose connections are to be watched."""
        return [_Http(self._watch), _Https(self._watch)]

    def _watch(self, connection: socket.socket) -> None:
        self._sockets.append(connection)
        # The time ended while the connection was being made.
        if self.over:
            _shut(connection)

    def _end(self) -> None:
        self._over.set()
        for connection in self._sockets:
            _shut(connection)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        # Not an encrypted connection's own way, which another thread may not take while one reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Connection(http.client.HTTPConnection):
    def __init__(self, *arguments: Any, watch: Watch, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._watch = watch

    def connect(self) -> None:
        """Connect, and be watched."""
        super().connect()
        self._watch(self.sock)


class _Encrypted(_Connection, http.client.HTTPSConnection):
    """The same over TLS."""


class _Http(urllib.request.HTTPHandler):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        """Open over a watched connection."""
        return self.do_open(partial(_Connection, watch=self._watch), request)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        """Open over a watched connection."""
        return self.do_open(partial(_Encrypted, watch=self._watch), request)
