"""One judge: its zygotes, the retry after trouble of ours, and the probe after trouble of the candidate's."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import SandboxError
from core.oracle.baseline import Baseline
from core.oracle.sandbox.protocol import Sandbox
from core.oracle.sessionplan import SessionPlan
from core.oracle.verdicts import Observation, conclude
from core.oracle.zygote import Zygote, ZygoteDied
from core.settings import OracleSettings
from core.types import Candidate, Outcome, Verdict

ATTEMPTS = 2
ABNORMAL = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY, Outcome.TAMPERED})
PROBE_TESTS = 3


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to run: a candidate (None: the project as it is) under tests."""

    candidate: Candidate | None
    tests: tuple[str, ...]
    every_test: bool = False
    whole: bool = False
    original: str = ""

    def request(self, total: float) -> dict[str, Any]:
        """As the zygote wants it."""
        asked: dict[str, Any] = {
            "tests": list(self.tests),
            "whole": self.whole,
            "fail_fast": not self.every_test,
            "total": total,
        }
        if self.candidate is not None:
            file = self.candidate.file
            asked |= {"path": file.path, "encoding": file.encoding, "original": file.text}
            asked |= {"text": self.candidate.new_text}
        return asked


class Worker:
    """Judges one trial at a time; owned by one thread at a time."""

    def __init__(
        self,
        new_sandbox: Callable[[], Sandbox],
        plan: SessionPlan,
        baseline: Baseline,
        settings: OracleSettings,
        oracle: str,
        closed: Callable[[], bool],
    ) -> None:
        """Processes are started when first needed. `closed`: whether the oracle is being shut down."""
        self._new_sandbox = new_sandbox
        self._plan = plan
        self._baseline = baseline
        self._settings = settings
        self._oracle = oracle
        self._closed = closed
        self._fresh: Zygote | None = None

    def judge(self, trial: Trial) -> Verdict:
        """A verdict; INFRASTRUCTURE when our own processes failed twice."""
        started = time.monotonic()
        trouble = "the oracle was closed"
        for _ in range(ATTEMPTS):
            if self._closed():
                break
            try:
                verdict = self._attempt(trial, started)
            except (ZygoteDied, SandboxError) as error:
                trouble = str(error).splitlines()[0]
                self.stop()
                continue
            if verdict.outcome not in ABNORMAL or self._sound():
                return verdict
            trouble = "the test process no longer judges the unmodified project right"
            self.stop()
        detail = f"The sandbox could not judge this: {trouble}."
        return Verdict(Outcome.INFRASTRUCTURE, time.monotonic() - started, (), detail, "", self._oracle)

    def _attempt(self, trial: Trial, started: float) -> Verdict:
        total = self._baseline.total_limit(trial.tests, self._settings)
        observed = Observation.of(self._zygote().run(trial.request(total)))
        seconds = time.monotonic() - started
        limit = self._settings.output_kib << 10
        return conclude(observed, trial.tests, self._baseline.allowed, seconds, self._oracle, limit)

    def _sound(self) -> bool:
        """Whether the unmodified project still passes here."""
        tests = sorted(self._baseline.suite.tests, key=lambda test: test.seconds)[:PROBE_TESTS]
        probe = Trial(None, tuple(test.node_id for test in tests))
        try:
            return self._attempt(probe, time.monotonic()).outcome is Outcome.PASS
        except (ZygoteDied, SandboxError):
            return False

    def _zygote(self) -> Zygote:
        if self._fresh is None:
            self._fresh = self._start(self._plan)
        return self._fresh

    def _start(self, plan: SessionPlan) -> Zygote:
        learned: Mapping[str, Any] = self._baseline.learned(self._settings)
        return Zygote(self._new_sandbox(), plan, learned)

    def stop(self) -> None:
        """End the processes; a later trial starts new ones."""
        zygote, self._fresh = self._fresh, None
        if zygote is not None:
            zygote.close()


def fastest_first(tests: Sequence[str], baseline: Baseline) -> tuple[str, ...]:
    """Each test once, by its baseline seconds."""
    seconds = baseline.seconds
    return tuple(sorted(dict.fromkeys(tests), key=lambda test: (seconds.get(test, 0.0), test)))
