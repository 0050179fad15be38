"""Which tests are made to fail, to see whether a candidate hides that."""

from __future__ import annotations

from core.oracle.baseline import Baseline
from core.oracle.hidden import HiddenFailures
from core.oracle.trial import Trial
from core.oracle.verdicts import Allowances, Observation
from core.types import CoverageMap, Suite, TestCase

FAST, SLOW = tuple(f"t.py::fast{n}" for n in range(60)), tuple(f"t.py::slow{n}" for n in range(60))


def drawn(seconds: dict[str, float], tests: tuple[str, ...], rest: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The tests that are asked for; all of them fail, as they were made to."""
    cases = tuple(TestCase(test, spent) for test, spent in seconds.items())
    suite = Suite(cases, {}, CoverageMap(tuple(seconds), {}, {}), 1.0, "3.11.7")
    asked: list[Trial] = []

    def observe(trial: Trial) -> Observation:
        asked.append(trial)
        return Observation.of({"frames": [["test", test, "failed", 0.0, "", "", 0] for test in trial.tests]})

    hidden = HiddenFailures(
        Baseline(suite, 0.1, 0.0, (), (), frozenset(), (), Allowances(), True, frozenset()),
        observe,
    )
    assert hidden.of(Trial(None, tests, rest=rest)) == ""
    assert asked[0].doomed and set(asked[0].tests) <= set(tests)
    return asked[0].tests


def test_fast_tests_are_likelier_and_slow_ones_possible() -> None:
    seconds = dict.fromkeys(FAST, 0.0) | dict.fromkeys(SLOW, 0.009)
    chosen = [test for _ in range(40) for test in drawn(seconds, FAST + SLOW)]
    assert 0 < sum(test in SLOW for test in chosen) < sum(test in FAST for test in chosen)


def test_they_take_a_tenth_of_the_run_and_one_runs_however_slow() -> None:
    seconds = dict.fromkeys(FAST, 0.01) | dict.fromkeys(SLOW, 0.02)
    assert len(drawn(seconds, FAST)) == 6
    assert len(drawn(seconds, FAST, SLOW)) == 18
    assert len(drawn(dict.fromkeys(SLOW, 9.0), SLOW)) == 1
