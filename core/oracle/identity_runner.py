"""Run the unmodified suite in a sandbox, and say what is wrong when it is no ground to stand on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.errors import InspectorError, ProjectError, TargetError
from core.oracle.identity import IdentityRun, check_collected, missing_modules
from core.oracle.interpreter import Interpreter
from core.oracle.isolation import Apart, budget, failing_apart
from core.oracle.sandbox.protocol import Sandbox
from core.oracle.sessionplan import SessionPlan
from core.oracle.verdicts import OUTLIVES
from core.oracle.zygote import Zygote, ZygoteDied
from core.types import Report

SLOW_TRACE = 4.0
"""How many times longer a traced run may take."""


class SandboxEnded(TargetError):
    """The process that ran the project's own tests was killed, or its sandbox or engine ended."""


class IdentityRunner:
    """Starts processes and runs suites in them."""

    def __init__(
        self, new_sandbox: Callable[[], Sandbox], interpreter: Interpreter, root: Path, suite_timeout: float
    ) -> None:
        """Nothing is started yet. `suite_timeout`: seconds a plain run may take."""
        self._new_sandbox = new_sandbox
        self._interpreter = interpreter
        self._root = root
        self._timeout = suite_timeout

    def start(self, plan: SessionPlan, progress: Report) -> Zygote:
        """A process for the plan; close it. Raises TargetError, SandboxError, and what `progress` raises."""
        try:
            zygote = Zygote(self._new_sandbox(), plan, beat=lambda: progress("starting a sandbox", 0, 1))
        except ZygoteDied as error:
            raise TargetError(
                f"{self._interpreter.executable} cannot be started in the sandbox: {error}.",
                "Run `rtc-inspector doctor`, or choose another interpreter or sandbox.",
            ) from error
        if not zygote.ready:
            missing = missing_modules(str(zygote.greeting.get("missing", ""))) or ["pytest"]
            zygote.close()
            raise _no_pytest(self._interpreter, missing[0])
        return zygote

    def run(self, zygote: Zygote, stage: str, progress: Report, **request: Any) -> IdentityRun:
        """One identity run; `progress` hears of each test. Raises ProjectError, TargetError."""
        tests = request.get("tests")
        run, started = IdentityRun(None if tests is None else frozenset(tests)), time.monotonic()

        def beat() -> None:
            progress(stage, len(run.outcomes), max(1, len(run.collected)))

        def listen(kind: str, values: list[Any]) -> None:
            run.take(kind, values)
            if kind in ("collected", "test"):
                beat()

        limit = self._timeout * (SLOW_TRACE if request.get("trace") else 1.0)
        asked = {"tests": None, "identity": True, "total": limit, "default_test_seconds": limit, **request}
        try:
            reply = zygote.run(asked, listen, beat)
        except ZygoteDied as error:
            raise self._died(error) from error
        run.seconds = time.monotonic() - started
        run.changes.update({OUTLIVES} if reply["outlived"] else ())
        self._check_ending(run, reply, limit)
        return run

    def apart(self, zygote: Zygote, seconds: Mapping[str, float], plain: float, progress: Report) -> Apart:
        """The tests without their fellows, for about as long as a plain run takes. Raises TargetError."""
        try:
            return failing_apart(zygote, seconds, budget(plain), progress)
        except ZygoteDied as error:
            raise self._died(error) from error

    def _check_ending(self, run: IdentityRun, reply: dict[str, Any], limit: float) -> None:
        if reply["killed"]:
            where = f" in {reply['test']}" if reply["test"] else ""
            what = "report more than is read" if reply["killed"] == "flood" else f"did not end within {limit:.0f} s"
            raise ProjectError(
                f"The project's own tests {what}{where}.",
                "Deselect the slow tests in the project's pytest configuration, or raise --suite-seconds.",
            )
        check_collected(run, reply["printed"], self._interpreter, self._root)
        if run.status is None:
            where = f" in {reply['test']}" if reply["test"] else ""
            why = run.aborted or f"status {reply['exit']}, signal {reply['signal']}"
            raise ProjectError(
                f"The project's own tests end the interpreter{where}: {why}.",
                "Make the whole suite run to its end with pytest, then open the project again.",
            )

    def _died(self, error: ZygoteDied) -> InspectorError:
        return SandboxEnded(
            f"The sandbox ended while the project's own tests ran: {error}.",
            "Try again; if it happens again, give the sandbox more memory or run `rtc-inspector doctor`.",
        )


def _no_pytest(interpreter: Interpreter, missing: str) -> TargetError:
    needed = "" if missing == "pytest" else ", which pytest needs"
    return TargetError(
        f"{interpreter.executable} has no {missing}{needed}.",
        f"Run `{interpreter.executable} -m pip install {missing}`, or choose another interpreter.",
    )
