"""The parts that keep learning a suite short."""

from __future__ import annotations

from rtc_inspector.core.oracle.identity import IdentityRun, affordable, batches, untrusted


def run(*tests: tuple[str, str, float], asked: frozenset[str] | None = None) -> IdentityRun:
    found = IdentityRun(asked)
    found.take("collected", [[name for name, _, _ in tests]])
    for name, outcome, seconds in tests:
        found.take("test", [name, outcome, seconds, ""])
    return found


def test_the_fastest_tests_that_fit_are_run_again_and_at_least_one() -> None:
    first = run(("a", "passed", 3.0), ("b", "failed", 0.1), ("c", "passed", 1.0), ("d", "passed", 2.0))
    assert affordable(first, 3.5) == ["c", "d"]
    assert affordable(first, 10.0) == ["a", "c", "d"]
    assert affordable(first, 0.5) == ["c"]


def test_a_run_says_nothing_of_tests_it_was_not_asked_about() -> None:
    first = run(("a", "passed", 3.0), ("b", "failed", 0.1), ("c", "passed", 1.0))
    again = run(("c", "passed", 1.0), asked=frozenset("c"))
    assert list(untrusted([first, again])) == ["b"]
    assert list(untrusted([first, run(("c", "passed", 1.0))])) == ["a", "b"]


def test_a_batch_takes_one_test_of_each_file_fast_ones_first() -> None:
    seconds = {"x::a": 2.0, "x::b": 1.0, "y::c": 3.0, "x::d": 1.5}
    assert batches(seconds) == [["x::b", "y::c"], ["x::d"], ["x::a"]]
