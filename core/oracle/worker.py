"""One judge: its zygotes, the retry after trouble of ours, and the probe after trouble of the candidate's."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import SandboxError
from core.oracle.baseline import Baseline, file_of
from core.oracle.sandbox.protocol import Sandbox
from core.oracle.sessionplan import SessionPlan
from core.oracle.verdicts import Observation, conclude
from core.oracle.zygote import Zygote, ZygoteDied
from core.settings import OracleSettings
from core.types import Candidate, Outcome, Verdict

ATTEMPTS = 2
ABNORMAL = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY, Outcome.TAMPERED})
PROBE_TESTS = 3
NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to run: a candidate (None: the project as it is) under tests.

    Attributes:
        rest: run after `tests` have passed, where the process at hand has collected them anyway; else left out.
    """

    candidate: Candidate | None
    tests: tuple[str, ...]
    every_test: bool = False
    whole: bool = False
    rest: tuple[str, ...] = ()

    def request(self, tests: Sequence[str], total: float) -> dict[str, Any]:
        """As the zygote wants it."""
        asked: dict[str, Any] = {
            "tests": list(tests),
            "whole": self.whole,
            "fail_fast": not self.every_test,
            "total": total,
        }
        if self.candidate is not None:
            file = self.candidate.file
            asked |= {"path": file.path, "encoding": file.encoding, "original": file.text}
            asked |= {"text": self.candidate.new_text}
            asked["first_line"], asked["last_line"] = lines_of(self.candidate)
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
        self._zygotes: dict[bool, Zygote] = {}
        self._by_file = baseline.by_file()
        self._stands_alone: dict[str, bool] = {}

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
        observed, tests = self._observe(trial)
        seconds = time.monotonic() - started
        limit = self._settings.output_kib << 10
        shown = frozenset(trial.tests)
        return conclude(observed, tests, self._baseline.allowed, seconds, self._oracle, limit, shown)

    def _observe(self, trial: Trial) -> tuple[Observation, tuple[str, ...]]:
        """By code swap where that is known to be as good as a fresh import, else by a fresh import; with what ran."""
        baseline = self._baseline
        if baseline.code_swap and trial.candidate is not None and baseline.fresh_only.isdisjoint(trial.tests):
            tests = trial.tests + (trial.rest if baseline.fresh_only.isdisjoint(trial.rest) else ())
            observed = Observation.of(self._zygote(collected=True).run(self._request(trial, tests)))
            if "fallback" not in observed:
                return observed, tests
        return self._observe_fresh(trial, self._request(trial, trial.tests)), trial.tests

    def _request(self, trial: Trial, tests: tuple[str, ...]) -> dict[str, Any]:
        return trial.request(tests, self._baseline.total_limit(tests, self._settings))

    def _observe_fresh(self, trial: Trial, request: Mapping[str, Any]) -> Observation:
        """Collect only the files of the tests, unless one of them needs the company of others."""
        zygote = self._zygote(collected=False)
        files = {file_of(test) for test in trial.tests}
        if trial.whole or any(self._stands_alone.get(file) is False for file in files):
            return Observation.of(zygote.run({**request, "whole": True}))
        observed = Observation.of(zygote.run(request))
        if "syntax" in observed or observed.green or all(self._stands(file) for file in files):
            return observed
        return Observation.of(zygote.run({**request, "whole": True}))

    def _stands(self, file: str) -> bool:
        """Whether a file's tests pass on the unmodified project when only that file is collected; asked once."""
        known = self._stands_alone.get(file)
        if known is None:
            tests = tuple(self._by_file.get(file, ()))
            known = not tests or self._passes(self._zygote(collected=False), tests)
            self._stands_alone[file] = known
        return known

    def _sound(self) -> bool:
        """Whether the unmodified project still passes in every process that runs."""
        tests = [test for test in self._baseline.suite.tests if test.node_id not in self._baseline.fresh_only]
        fastest = tuple(test.node_id for test in sorted(tests, key=lambda test: test.seconds)[:PROBE_TESTS])
        return all(self._passes(zygote, fastest) for zygote in self._zygotes.values())

    def _passes(self, zygote: Zygote, tests: tuple[str, ...]) -> bool:
        try:
            observed = Observation.of(zygote.run(self._request(Trial(None, tests), tests)))
        except ZygoteDied:
            return False
        return conclude(observed, tests, self._baseline.allowed, 0.0, "", 0).outcome is Outcome.PASS

    def _zygote(self, *, collected: bool) -> Zygote:
        """The process that holds the collected suite, or the one that imports afresh."""
        zygote = self._zygotes.get(collected)
        if zygote is None:
            plan = self._plan.with_config(collect=True) if collected else self._plan
            zygote = Zygote(self._new_sandbox(), plan, self._baseline.learned(self._settings), self._check_open)
            self._zygotes[collected] = zygote
            if self._closed():
                self.stop()
                self._check_open()
        return zygote

    def _check_open(self) -> None:
        """Raises ZygoteDied once the oracle is being shut down."""
        if self._closed():
            raise ZygoteDied("the oracle was closed")

    def stop(self) -> None:
        """End the processes; a later trial starts new ones."""
        zygotes, self._zygotes = self._zygotes, {}
        for zygote in zygotes.values():
            zygote.close()


def lines_of(candidate: Candidate) -> tuple[int, int]:
    """First and last line (1-based) of the span in the original, as Python counts lines."""
    text, span = candidate.file.text, candidate.span
    last = len(NEWLINE.findall(text, 0, max(span.start, span.end - 1)))
    return len(NEWLINE.findall(text, 0, span.start)) + 1, last + 1


def fastest_first(tests: Sequence[str], baseline: Baseline) -> tuple[str, ...]:
    """Each test once, by its baseline seconds."""
    seconds = baseline.seconds
    return tuple(sorted(dict.fromkeys(tests), key=lambda test: (seconds.get(test, 0.0), test)))
