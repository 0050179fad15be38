"""Verdicts are kept within a bound."""

from __future__ import annotations

from rtc_inspector.core.oracle.cache import EACH, VerdictCache, size
from rtc_inspector.core.types import Outcome, TestResult, Verdict


def verdict(characters: int) -> Verdict:
    return Verdict(Outcome.FAIL, 0.0, output="x" * (characters - EACH))


def test_what_was_asked_for_least_recently_goes_first() -> None:
    memo = VerdictCache(3 * EACH)
    for key in "abc":
        memo.keep(key, verdict(EACH))
    assert memo.get("a") is not None
    memo.keep("d", verdict(EACH))
    assert [memo.get(key) is not None for key in "abcd"] == [True, False, True, True]


def test_a_verdict_kept_again_counts_once_and_one_too_large_is_not_kept() -> None:
    memo = VerdictCache(2 * EACH)
    for _ in range(5):
        memo.keep("a", verdict(EACH))
    memo.keep("b", verdict(EACH))
    assert memo.get("a") is not None
    memo.keep("c", verdict(3 * EACH))
    assert memo.get("c") is None


def test_messages_and_output_count() -> None:
    tests = tuple(TestResult(f"t{number}", "failed", "m" * 4000) for number in range(10))
    assert size(Verdict(Outcome.FAIL, 0.0, tests, output="y" * 1000)) > 41_000
