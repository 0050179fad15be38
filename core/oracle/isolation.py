"""Which tests pass only in the company of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core.oracle.messages import headline
from core.oracle.zygote import Zygote

LEAST_BUDGET = 4.0
BUDGET_FACTOR = 1.0

Progress = Callable[[str, int, int], None]


def budget(plain_seconds: float) -> float:
    """Seconds to spend on it, by the time a plain run takes."""
    return max(LEAST_BUDGET, BUDGET_FACTOR * plain_seconds)


def failing_alone(zygote: Zygote, tests: Sequence[str], seconds: float, progress: Progress) -> dict[str, str]:
    """Node id -> message, of tests that pass together but not by themselves.

    `zygote`: of the collected suite. Stops when `seconds` are spent; what was not reached is believed.
    """
    found = {}
    for number, test in enumerate(_within(tests, seconds)):
        progress("tests alone", number, len(tests))
        outcomes = _outcomes(zygote, [test])
        outcome, message = outcomes.get(test, ("missing", ""))
        if outcome != "passed":
            found[test] = message
    return found


def _within(names: Sequence[str], seconds: float) -> Iterator[str]:
    end = time.monotonic() + seconds
    for name in names:
        if time.monotonic() > end:
            return
        yield name


def _outcomes(zygote: Zygote, tests: list[str]) -> dict[str, tuple[str, str]]:
    """Node id -> outcome and the last line of its message. Raises ZygoteDied."""
    reply: dict[str, Any] = zygote.run({"tests": tests, "fail_fast": True, "alone": True, "total": 120.0})
    found = {}
    for kind, *values in reply["frames"]:
        if kind == "test":
            found[values[0]] = (str(values[1]), headline(str(values[3])))
    return found
