"""What is begun while a project's files are read: its sandbox and interpreter are found, and a process started there.

The process imports pytest and waits for its plan, so that it comes to what one comes to that is started later.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.bench.project import is_generated
from rtc_inspector.core.oracle.interpreter import Interpreter, find_interpreter
from rtc_inspector.core.oracle.sandbox.choose import choose_sandbox
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Process, Sandbox
from rtc_inspector.core.oracle.sessionplan import PytestOptions, make_plan
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import Notify
from rtc_inspector.core.waiting import Poll, in_thread, result_of


class Begun:
    """A sandbox, an interpreter and a first process for a project, made in a thread; close it."""

    def __init__(self, root: Path, settings: OracleSettings) -> None:
        """`root`: the project's folder, links resolved."""
        self._notices: list[str] = []
        self._started: list[tuple[Launch, Process]] = []
        self._found = in_thread(lambda: self._find(root, settings))

    def _find(self, root: Path, settings: OracleSettings) -> tuple[Sandbox, Interpreter]:
        sandbox = choose_sandbox(settings.sandbox, None, self._notices.append)
        interpreter = find_interpreter(root, settings.python, self._notices.append)
        plan = make_plan(root, interpreter, PytestOptions(None, (), (), {}), settings).placed(sandbox.scratch)
        with suppress(SandboxError):  # who needs a process starts one, and says why there can be none
            process = sandbox.start(plan.launch)
            self._started.append((plan.launch, process))
            with suppress(OSError):
                os.write(process.stdin.fileno(), json.dumps({**plan.config, "begun": True}).encode() + b"\n")
        return sandbox, interpreter

    def found(self, notice: Notify, poll: Poll) -> tuple[Sandbox, Interpreter]:
        """Return both; `notice` hears what was said of them. Raises SandboxError, TargetError, and what `poll` does."""
        try:
            return result_of(self._found, poll)
        finally:
            for text in self._notices:
                notice(text)

    def taken(self, launch: Launch) -> Process | None:
        """Return the process, once, where it was started as it is wanted; else it ends."""
        with suppress(IndexError):
            how, process = self._started.pop()
            if how == launch:
                return process
            process.close()
        return None

    def close(self) -> None:
        """Wait for the thread, and end a process that nobody took."""
        self._found.exception()
        for _, process in self._started:
            process.close()


class BegunSandbox:
    """Implements `Sandbox`: the process that was begun in `sandbox` stands in for the first of the same launch."""

    def __init__(self, sandbox: Sandbox, begun: Begun) -> None:
        self.name, self.image_digest, self.scratch = sandbox.name, sandbox.image_digest, sandbox.scratch
        self.claims, self.detail, self.others = sandbox.claims, sandbox.detail, sandbox.others
        self._sandbox, self._begun = sandbox, begun

    def start(self, launch: Launch) -> Process:
        return self._begun.taken(launch) or self._sandbox.start(launch)


def begin(project: Path, settings: OracleSettings) -> Begun | None:
    """Begin for a Python project whose tests pytest runs on this machine; None for any other."""
    elsewhere = settings.image or settings.install or settings.cluster or platform.image_to_show()
    if elsewhere or not project.is_dir() or is_generated(project):
        return None
    return Begun(project.resolve(), settings)
