"""The first process of a container, attached to."""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread
from typing import BinaryIO, cast

from docker import APIClient
from docker.errors import APIError
from docker.utils.socket import STDOUT, frames_iter_no_tty

from rtc_inspector.core.oracle.sandbox.docker_engine import FAILURES, Engine
from rtc_inspector.core.oracle.sandbox.process import Process

GRACE = 5.0
"""Seconds a killed container may take to go."""

ENGINE_LOST = 255
"""Exit status when the engine went away, or could not say how the container ended."""


class StdinSocket(io.RawIOBase):
    """The writing half of an attached socket."""

    def __init__(self, connection: socket.socket) -> None:
        """Borrow `connection`; closing this ends only its writing half."""
        self._connection = connection

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """Return the socket's descriptor."""
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


class ContainerProcess(Process):
    """A `Process` over a created container, which it starts, kills and sees removed."""

    def __init__(self, engine: Engine, client: APIClient, container: str) -> None:
        """Attach first, so that no output is missed, then start. Owns `client`. Raises one of `FAILURES`."""
        super().__init__(status=ENGINE_LOST)
        self._client, self._container = client, container
        self._attached = client.attach_socket(
            container, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1, "logs": 0}
        )
        self._connection: socket.socket = getattr(self._attached, "_sock", self._attached)
        self._connection.settimeout(None)
        reading, self._writing = os.pipe()
        self.stdin = cast(BinaryIO, StdinSocket(self._connection))
        self.stdout = cast(BinaryIO, io.FileIO(reading, "rb"))
        started = Event()
        self._threads = [
            Thread(target=self._copy, name="sandbox-output", daemon=True),
            Thread(target=self._watch, args=(engine, started), name="sandbox-watch", daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        try:
            client.start(container)
        except FAILURES:
            started.set()
            self.close()
            raise
        started.set()

    def _copy(self) -> None:
        """From the socket to the pipe of `stdout` and to the tail of standard error, until either end closes."""
        frames = cast(Iterator[tuple[int, bytes]], frames_iter_no_tty(self._connection))
        with suppress(OSError, ValueError):  # the latter where the connection was closed meanwhile
            for kind, piece in frames:
                self._deliver(kind, piece)
        # The engine may keep its end open and read no more: writing must fail then, not wait.
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        os.close(self._writing)

    def _deliver(self, kind: int, piece: bytes) -> None:
        if kind != STDOUT:
            self._tail.add(piece)
            return
        while piece:
            piece = piece[os.write(self._writing, piece) :]

    def _watch(self, engine: Engine, started: Event) -> None:
        """Wait until the container is gone, on a connection of our own."""
        try:
            client = engine.client(timeout=None)
            try:
                if engine.removes:
                    # Asked before the start: a container that is gone already could not be waited for.
                    self._status = int(client.wait(self._container, condition="removed")["StatusCode"])
                else:
                    started.wait()
                    self._status = int(client.wait(self._container)["StatusCode"])
                    client.remove_container(self._container, force=True)
            finally:
                client.close()
        except FAILURES as error:
            self._tail.add(f"\nThe Docker engine lost the container: {error}\n".encode())
        self._ended.set()

    def kill(self) -> None:
        """End everything inside; returns once the container is gone."""
        if self._ended.is_set():
            return
        with suppress(*FAILURES):
            try:
                self._client.kill(self._container, "SIGKILL")
            except APIError:
                # Not running: never started, or on its way out.
                self._client.remove_container(self._container, force=True)
        self._ended.wait(GRACE)

    def _release(self) -> None:
        """Free the connection and the pipe."""
        self.stdin.close()
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self.stdout.close()
        for thread in self._threads:
            thread.join(GRACE)
        # Closing the answer closes the stream read from it; the socket below counts its users and goes last.
        getattr(self._attached, "_response", self._attached).close()
        self._connection.close()
        self._client.close()
