"""Learn the unmodified project: identity runs, coverage, what is set aside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.errors import Bug, InspectorError, ProjectError, TargetError
from core.oracle.baseline import Baseline
from core.oracle.identity import (
    IdentityRun,
    Progress,
    check_collected,
    coverage_map,
    shuffled_seeds,
    untrusted,
)
from core.oracle.interpreter import Interpreter
from core.oracle.sandbox.protocol import Sandbox
from core.oracle.sessionplan import SessionPlan
from core.oracle.verdicts import Allowances
from core.oracle.zygote import Zygote, ZygoteDied
from core.settings import OracleSettings
from core.types import Suite, TestCase

SLOW_TRACE = 4.0
MOST_FRESH_ONLY = 0.2
"""Share of tests that may need fresh imports before the collected suite is given up."""


class SuiteRun:
    """One learning of one project; start processes, ends them all."""

    def __init__(
        self,
        new_sandbox: Callable[[], Sandbox],
        plan: SessionPlan,
        interpreter: Interpreter,
        settings: OracleSettings,
        notice: Callable[[str], None],
    ) -> None:
        """Nothing is started yet."""
        self._new_sandbox = new_sandbox
        self._plan = plan
        self._interpreter = interpreter
        self._settings = settings
        self._notice = notice

    def learn(self, progress: Progress) -> Baseline:
        """Run the suite as often as it takes.

        Raises ProjectError, TargetError, SandboxError, and what `progress` raises.
        """
        progress("check", 0, 1)
        first = self._first_run(progress)
        ignored = tuple(dict.fromkeys(where for where, _ in first.errors if where))
        plan = ready_plan(self._plan, ignored, tuple(first.modules))
        runs = [first]
        with_preload = self._start(plan)
        try:
            for number, seed in enumerate(shuffled_seeds(self._settings.identity_runs)[1:], start=2):
                runs.append(self._run(with_preload, f"tests, run {number}", progress, shuffle=seed))
        finally:
            with_preload.close()
        baseline = self._baseline(runs, ignored)
        return self._try_code_swap(baseline, plan, progress)

    def _try_code_swap(self, baseline: Baseline, plan: SessionPlan, progress: Progress) -> Baseline:
        """Run the trusted tests forked from the collected suite; those that fail only there need fresh imports."""
        zygote = self._start(plan.with_config(collect=True))
        order = [test.node_id for test in baseline.suite.tests]
        try:
            if zygote.greeting["trouble"]:
                self._notice(f"Candidates are judged by fresh imports only: {zygote.greeting['trouble']}.")
                return baseline
            run = self._run(zygote, "tests, collected once", progress, tests=order, shuffle=0)
        finally:
            zygote.close()
        fresh_only = frozenset(node for node in order if run.outcomes.get(node, ("missing",))[0] != "passed")
        allowed = Allowances(baseline.allowed.changes | run.changes, baseline.allowed.events | run.events)
        usable = len(fresh_only) <= len(order) * MOST_FRESH_ONLY
        return replace(baseline, allowed=allowed, code_swap=usable, fresh_only=fresh_only)

    def _first_run(self, progress: Progress) -> IdentityRun:
        zygote = self._start(self._plan)
        try:
            run = self._run(zygote, "tests with coverage", progress, trace=True)
        finally:
            zygote.close()
        if run.errors:
            names = ", ".join(where for where, _ in run.errors[:3])
            self._notice(f"{len(run.errors)} test files cannot be imported and are left out: {names}.")
        return run

    def _start(self, plan: SessionPlan) -> Zygote:
        try:
            zygote = Zygote(self._new_sandbox(), plan)
        except ZygoteDied as error:
            raise TargetError(
                f"{self._interpreter.executable} cannot be started in the sandbox: {error}.",
                "Run `rtc-inspector doctor`, or choose another interpreter or sandbox.",
            ) from error
        if not zygote.ready:
            zygote.close()
            raise _no_pytest(self._interpreter)
        return zygote

    def _run(self, zygote: Zygote, stage: str, progress: Progress, **request: Any) -> IdentityRun:
        """One identity run; `progress` hears of each test."""
        run, started = IdentityRun(), time.monotonic()

        def beat() -> None:
            progress(stage, len(run.outcomes), max(1, len(run.collected)))

        def listen(kind: str, values: list[Any]) -> None:
            run.take(kind, values)
            if kind in ("collected", "test"):
                beat()

        limit = self._settings.suite_timeout * (SLOW_TRACE if request.get("trace") else 1.0)
        asked = {"tests": None, "identity": True, "total": limit, "default_test_seconds": limit, **request}
        try:
            reply = zygote.run(asked, listen, beat)
        except ZygoteDied as error:
            raise self._died(error) from error
        run.seconds = time.monotonic() - started
        self._check_ending(run, reply, limit)
        return run

    def _check_ending(self, run: IdentityRun, reply: dict[str, Any], limit: float) -> None:
        if reply["killed"]:
            where = f" in {reply['test']}" if reply["test"] else ""
            raise ProjectError(
                f"The project's own tests did not end within {limit:.0f} s{where}.",
                "Deselect the slow tests in the project's pytest configuration, or raise the suite's time limit.",
            )
        check_collected(run, reply["printed"], self._interpreter)
        if run.status is None:
            where = f" in {reply['test']}" if reply["test"] else ""
            raise ProjectError(
                f"The project's own tests end the interpreter{where}: "
                f"status {reply['exit']}, signal {reply['signal']}.",
                "Make the whole suite run to its end with pytest, then open the project again.",
            )

    def _died(self, error: ZygoteDied) -> InspectorError:
        return TargetError(
            f"The sandbox ended while the project's own tests ran: {error}.",
            "Try again; if it happens again, give the sandbox more memory or run `rtc-inspector doctor`.",
        )

    def _baseline(self, runs: list[IdentityRun], ignored: tuple[str, ...]) -> Baseline:
        excluded = untrusted(runs)
        order = [node_id for node_id in dict.fromkeys(runs[0].collected) if node_id not in excluded]
        if not order:
            raise _none_pass(excluded)
        if len(runs) < 2:
            raise Bug("Fewer than two identity runs.")
        plain = runs[1:]
        tests = tuple(TestCase(node, max(run.outcomes[node][1] for run in plain)) for node in order)
        seconds = min(run.seconds for run in plain)
        suite = Suite(tests, excluded, coverage_map(runs[0], order), seconds, self._interpreter.version_text)
        allowed = Allowances(
            frozenset().union(*(run.changes for run in runs)), frozenset().union(*(run.events for run in runs))
        )
        overhead = max(run.overhead for run in plain)
        return Baseline(suite, overhead, ignored, tuple(runs[0].modules), allowed, False, frozenset())


def ready_plan(plan: SessionPlan, ignored: tuple[str, ...], preload: tuple[str, ...]) -> SessionPlan:
    """The plan for judging: broken test files left out, foreign modules imported beforehand."""
    arguments = [*plan.config["pytest_args"], *(f"--ignore={plan.config['root']}/{path}" for path in ignored)]
    return plan.with_config(pytest_args=arguments, preload=list(preload))


def _no_pytest(interpreter: Interpreter) -> TargetError:
    return TargetError(
        f"{interpreter.executable} has no pytest.",
        f"Run `{interpreter.executable} -m pip install pytest`, or choose another interpreter.",
    )


def _none_pass(excluded: dict[str, str]) -> ProjectError:
    first = "; ".join(f"{node} {reason}" for node, reason in list(excluded.items())[:3])
    return ProjectError(
        f"None of the project's {len(excluded)} tests passes in every run: {first}",
        "Make the tests pass with pytest and without network or write access to the project, then open it again.",
    )
