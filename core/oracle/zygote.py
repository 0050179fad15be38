"""The host's end of a warm process in a sandbox."""

import itertools
import json
import os
import select
import time
from collections.abc import Callable, Mapping
from typing import Any

from rtc_inspector.core import platform
from rtc_inspector.core.oracle.sandbox.protocol import Process, Sandbox
from rtc_inspector.core.oracle.sessionplan import SessionPlan
from rtc_inspector.core.waiting import Poll, no_poll, wait_for

START_PATIENCE = 60.0
MARGIN = 10.0  # seconds beyond a request's own limit after which the process itself is taken for dead
AWAY = 20.0  # seconds that an engine may be away: one that was restarted is back within that
RETRY = 0.25
KILLED = 128 + platform.KILL
"""The status of a process that was killed from outside, which nobody but the system does while it is waited for."""

Reply = dict[str, Any]
Listener = Callable[[str, list[Any]], None]


class ZygoteDied(Exception):
    """The process, its container or its engine ended, or stopped answering; never the candidate's verdict."""


class Zygote:
    """One process that answers requests one at a time. Not thread-safe: a worker owns it."""

    def __init__(
        self,
        sandbox: Sandbox,
        plan: SessionPlan,
        poll: Poll = no_poll,
        patience: float = START_PATIENCE,
    ) -> None:
        """Start it and wait until it is ready. Raises SandboxError, ZygoteDied, and what `poll` raises.

        `poll` is called a few times a second. `patience`: seconds that it may take.
        """
        self._numbers = itertools.count(1)
        self._rest = b""
        self._memory = plan.launch.limits.memory_mib
        placed = plan.placed(sandbox.scratch)
        self._process: Process = sandbox.start(placed.launch)
        try:
            self._send(placed.config)
            self.greeting = self._receive(time.monotonic() + patience, poll)
        except BaseException:
            self.close()
            raise

    @property
    def ready(self) -> bool:
        return bool(self.greeting.get("ready"))

    def learn(self, learned: Mapping[str, Any]) -> None:
        """Send limits and lists once, to be merged into each request."""
        self._send({"do": "learn", **learned})

    def run(self, request: Mapping[str, Any], listen: Listener | None = None, poll: Poll = no_poll) -> Reply:
        """Run one child to its end.

        `listen` hears frames as they come; `poll` is called a few times a second; raising from either gives the process
        up (close it then). Raises ZygoteDied.
        """
        number = next(self._numbers)
        self._send({"do": "run", "id": number, "stream": listen is not None, **request})
        deadline = time.monotonic() + float(request["total"]) + MARGIN
        while True:
            reply = self._receive(deadline, poll)
            if "frame" in reply and listen is not None:
                listen(reply["frame"], reply["values"])
            elif reply.get("done") == number:
                return reply

    def close(self) -> None:
        self._process.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        deadline = time.monotonic() + START_PATIENCE
        try:
            while data:
                if not select.select([], [self._process.stdin], [], max(0.0, deadline - time.monotonic()))[1]:
                    raise ZygoteDied("it stopped reading")
                data = data[os.write(self._process.stdin.fileno(), data[:32768]) :]
        except (OSError, ValueError) as error:
            raise ZygoteDied(self._death()) from error

    def _receive(self, deadline: float, poll: Poll) -> Reply:
        def some(step: float) -> bytes | None:
            if select.select([self._process.stdout], [], [], step)[0]:
                return os.read(self._process.stdout.fileno(), 1 << 16)
            if time.monotonic() > deadline:
                raise ZygoteDied("it stopped answering")
            return None

        while b"\n" not in self._rest:
            try:
                data = wait_for(some, poll)
            except (OSError, ValueError) as error:
                raise ZygoteDied(self._death()) from error
            if not data:
                raise ZygoteDied(self._death())
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        try:
            reply: Reply = json.loads(line)
        except ValueError as error:
            raise ZygoteDied("it answered something unreadable") from error
        return reply

    def _death(self) -> str:
        status = self._process.wait(1.0)
        if status == KILLED:
            return f"it was killed, as the system does where memory is too small (--memory is {self._memory} MiB)"
        last = self._process.stderr_tail().strip().splitlines()[-1:]
        return f"it ended with status {status}" + (f": {last[0]}" if last else "")


class EngineWait:
    """How long to go on trying to start a sandbox whose engine does not answer."""

    def __init__(self) -> None:
        self._since: float | None = None

    def worth_another(self) -> bool:
        """Wait a moment after a failure to start; return whether to try again."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since > AWAY:
            return False
        time.sleep(RETRY)
        return True

    def answered(self) -> None:
        self._since = None
