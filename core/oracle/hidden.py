"""Failures that a candidate hides: its tests are run again, made to fail, and one passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import SystemRandom

from core.oracle.baseline import Baseline
from core.oracle.trial import Trial
from core.oracle.verdicts import Observation

SAMPLE_TESTS = 100
SAMPLE_SECONDS = 0.25


class HiddenFailures:
    """Asks of each candidate that has passed; remembers which tests pass in any case."""

    def __init__(self, baseline: Baseline, observe: Callable[[Trial], Observation]) -> None:
        """`observe` runs the tests of a trial in one process."""
        self._seconds = baseline.seconds
        self._fresh_only = baseline.fresh_only
        self._observe = observe
        self._usual: set[str] = set()

    def of(self, trial: Trial) -> str:
        """A test that passes with the candidate even when it is made to fail; empty when none does.

        Such tests of the unmodified project (a plugin runs them its own way) prove nothing.
        """
        passed = self._passed(Trial(trial.candidate, self._sample(trial.tests), doomed=True))
        if passed:
            self._usual.update(self._passed(Trial(None, tuple(passed), doomed=True)))
        return next((test for test in passed if test not in self._usual), "")

    def _passed(self, trial: Trial) -> list[str]:
        """What passes; with every file collected where these tell of no test by themselves."""
        observed = self._observe(trial)
        if not trial.whole and not observed.all("test"):
            observed = self._observe(replace(trial, whole=True))
        named = [test.node_id for test in observed.tests() if test.outcome == "passed"]
        return [test for test in named if test not in self._usual]

    def _sample(self, tests: Sequence[str]) -> tuple[str, ...]:
        """Tests that take a moment together, drawn so that nobody knows which; of one kind of process."""
        swapped = [test for test in tests if test not in self._fresh_only] or tests
        drawn, left = list[str](), SAMPLE_SECONDS
        for test in SystemRandom().sample(swapped, min(len(swapped), SAMPLE_TESTS)):
            left -= self._seconds.get(test, 0.0)
            if drawn and left < 0:
                break
            drawn.append(test)
        return tuple(drawn)
