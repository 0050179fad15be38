"""Run the unmodified suite in a sandbox, whole and test by test, and say what is wrong when it cannot be judged by."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import ProjectError, TargetError
from rtc_inspector.core.oracle.baseline import file_of
from rtc_inspector.core.oracle.identity import IdentityRun, check_collected, missing_modules
from rtc_inspector.core.oracle.interpreter import Interpreter
from rtc_inspector.core.oracle.messages import headline
from rtc_inspector.core.oracle.sandbox.protocol import Sandbox
from rtc_inspector.core.oracle.sessionplan import SessionPlan
from rtc_inspector.core.oracle.verdicts import OUTLIVES, Observation
from rtc_inspector.core.oracle.zygote import Listener, Reply, Zygote, ZygoteDied
from rtc_inspector.core.types import Report
from rtc_inspector.core.waiting import Beat

SLOW_TRACE = 4.0
"""How many times longer a traced run may take."""
LEAST_APART, MOST_APART = 2.0, 20.0
"""Seconds of running tests apart; between them, as long as a plain run takes."""
LEAST_PATIENCE = 30.0
"""Seconds that one fork may take at least."""
PYTEST_EXIT = re.compile(r"_pytest\.outcomes\.Exit: (.*?)\.? *!*$", re.MULTILINE)
"""What pytest prints where a test or a hook ended the session by `pytest.exit`, with the reason."""


@dataclass(slots=True)
class Apart:
    """What running tests apart showed.

    Attributes:
        failing: node id -> message, of tests that pass together but not by themselves.
        unreached: tests that were not tried when time was up; they are believed.
    """

    failing: dict[str, str] = field(default_factory=dict)
    unreached: list[str] = field(default_factory=list)


class SandboxEnded(TargetError):
    """The process that ran the project's own tests was killed, or its sandbox or engine ended."""


class IdentityRunner:
    """Starts processes and runs suites in them."""

    def __init__(
        self, new_sandbox: Callable[[], Sandbox], interpreter: Interpreter, root: Path, suite_timeout: float
    ) -> None:
        """`suite_timeout`: seconds a plain run may take."""
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
        reply = _run(zygote, asked, beat, listen)
        run.seconds = time.monotonic() - started
        run.changes.update({OUTLIVES} if reply["outlived"] else ())
        self._check_ending(run, reply, limit)
        return run

    def apart(self, zygote: Zygote, seconds: Mapping[str, float], plain: float, progress: Report) -> Apart:
        """Run the tests, each without any other of its file; those that fail so are run alone. Raises TargetError.

        `seconds`: what each test takes; the fast ones come first. `plain`: what a plain run takes, and this about too.
        """
        apart, done = Apart(), 0
        end = time.monotonic() + min(MOST_APART, max(LEAST_APART, plain))
        for batch in batches(seconds):
            if time.monotonic() > end:
                apart.unreached += batch
                continue
            beat = partial(progress, "learning the tests: without each other", done, len(seconds))
            beat()
            done += len(batch)
            patience = LEAST_PATIENCE + 3 * sum(seconds[test] for test in batch)
            for test in _failures(zygote, batch, patience, beat) if len(batch) > 1 else batch:
                if time.monotonic() > end:
                    apart.unreached.append(test)
                else:
                    apart.failing |= _failures(zygote, [test], patience, beat)
        return apart

    def _check_ending(self, run: IdentityRun, reply: Reply, limit: float) -> None:
        if reply["killed"]:
            where = f" in {reply['test']}" if reply["test"] else ""
            what = "report more than is read" if reply["killed"] == "flood" else f"did not end within {limit:.0f} s"
            raise ProjectError(
                f"The project's own tests {what}{where}.",
                "Deselect the slow tests in the project's pytest configuration, or raise --suite-seconds.",
            )
        if left := PYTEST_EXIT.search(reply["printed"]):
            where = reply["test"] or "A conftest.py or a plugin"
            raise ProjectError(
                f"{where} ends the whole run of the tests by pytest.exit: {left[1]}.",
                "Mend what it asks for, or deselect it in the project's pytest configuration, then open it again.",
            )
        if run.aborted.startswith("SystemExit") and not run.collected:
            raise ProjectError(
                f"A conftest.py or a plugin ends the interpreter before pytest has found a test ({run.aborted}).",
                f"Make `{self._interpreter.executable} -m pytest` work in the project's folder, then open it again.",
            )
        check_collected(run, reply["printed"], self._interpreter, self._root)
        if run.status is None:
            where = f" in {reply['test']}" if reply["test"] else ""
            why = run.aborted or f"status {reply['exit']}, signal {reply['signal']}"
            raise ProjectError(
                f"The project's own tests end the interpreter{where}: {why}.",
                "Make the whole suite run to its end with pytest, then open the project again.",
            )


def _failures(zygote: Zygote, tests: Sequence[str], total: float, beat: Beat) -> dict[str, str]:
    """Node id -> the line that names the error, of those that do not pass in one fork within `total` seconds."""
    request = {"tests": list(tests), "fail_fast": False, "unproven": True, "total": total}
    observed = Observation.of(_run(zygote, request, beat))
    said = {test: (outcome, message) for test, outcome, _, message, *_ in observed.all("test")}
    results = {test: said.get(test, ("missing", "")) for test in tests}
    return {test: headline(message) for test, (outcome, message) in results.items() if outcome != "passed"}


def _run(zygote: Zygote, request: dict[str, Any], beat: Beat, listen: Listener | None = None) -> Reply:
    """Raises SandboxEnded."""
    try:
        return zygote.run(request, listen, beat)
    except ZygoteDied as error:
        raise SandboxEnded(
            f"The sandbox ended while the project's own tests ran: {error}.",
            "Try again; if it happens again, give the sandbox more memory or run `rtc-inspector doctor`.",
        ) from error


def batches(seconds: Mapping[str, float]) -> list[list[str]]:
    """At most one test of each file in a batch; fast tests first."""
    by_file: dict[str, list[str]] = {}
    for test in sorted(seconds, key=lambda test: (seconds[test], test)):
        by_file.setdefault(file_of(test), []).append(test)
    return [[test for test in batch if test is not None] for batch in zip_longest(*by_file.values())]


def _no_pytest(interpreter: Interpreter, missing: str) -> TargetError:
    needed = "" if missing == "pytest" else ", which pytest needs"
    return TargetError(
        f"{interpreter.executable} has no {missing}{needed}.",
        f"Run `{interpreter.executable} -m pip install {missing}`, or choose another interpreter.",
    )
