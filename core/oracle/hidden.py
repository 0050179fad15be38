"""Failures that a candidate hides: its tests are run again, made to fail, and one passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import SystemRandom

from core.oracle.baseline import Baseline
from core.oracle.trial import Trial
from core.oracle.verdicts import Observation

SAMPLE_TESTS = 100
LEAST_SECONDS, MOST_SECONDS, SHARE = 0.05, 0.25, 0.1
"""The drawn tests may take a share of what the run took, between these bounds."""
STEADY = 0.001
"""Seconds of any test beside its own."""


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
        seed = 1 + SystemRandom().getrandbits(30)
        passed = self._passed(Trial(trial.candidate, self._sample(trial), doomed=seed))
        if passed:
            self._usual.update(self._passed(Trial(None, tuple(passed), doomed=seed)))
        return next((test for test in passed if test not in self._usual), "")

    def _passed(self, trial: Trial) -> list[str]:
        """What passes; with every file collected where these tell of no test by themselves."""
        observed = self._observe(trial)
        if not trial.whole and not observed.all("test"):
            observed = self._observe(replace(trial, whole=True))
        named = [test.node_id for test in observed.tests() if test.outcome == "passed"]
        return [test for test in named if test not in self._usual]

    def _sample(self, trial: Trial) -> tuple[str, ...]:
        """Tests that take a moment together, drawn so that nobody knows which; of one kind of process.

        The faster a test, the likelier: so there are more of them in the moment, and none is out of the question.
        """
        swapped = [test for test in trial.tests if test not in self._fresh_only] or trial.tests
        whole = sum(self._seconds.get(test, 0.0) for test in trial.tests + trial.rest)
        drawn, left = list[str](), min(MOST_SECONDS, max(LEAST_SECONDS, SHARE * whole))
        for test in self._by_lot(swapped)[:SAMPLE_TESTS]:
            left -= self._seconds.get(test, 0.0)
            if drawn and left < 0:
                break
            drawn.append(test)
        return tuple(drawn)

    def _by_lot(self, tests: Sequence[str]) -> list[str]:
        """In an order drawn with weights: one over a test's seconds."""
        lot = SystemRandom()
        keys = {test: lot.expovariate(1.0) * (STEADY + self._seconds.get(test, 0.0)) for test in tests}
        return sorted(keys, key=lambda test: keys[test])
