"""A process of this machine, kept by a thread of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import BinaryIO, cast

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.process import Process

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
        """Start, collect standard error, reap."""
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
        """End everything inside; returns once it is gone."""
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
