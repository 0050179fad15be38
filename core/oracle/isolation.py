"""Which tests pass only in the company of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

from core.oracle.baseline import file_of
from core.oracle.messages import headline
from core.oracle.zygote import Zygote
from core.types import Report

LEAST_BUDGET = 2.0
MOST_BUDGET = 20.0
LEAST_PATIENCE = 30.0
"""Seconds that one fork may take at least."""
STAGE = "learning the tests: without each other"


def budget(plain_seconds: float) -> float:
    """Seconds to spend on it, by the time a plain run takes."""
    return min(MOST_BUDGET, max(LEAST_BUDGET, plain_seconds))


@dataclass(slots=True)
class Apart:
    """What running tests apart showed.

    Attributes:
        failing: node id -> message, of tests that pass together but not by themselves.
        unreached: tests that were not tried when time was up; they are believed.
    """

    failing: dict[str, str] = field(default_factory=dict)
    unreached: list[str] = field(default_factory=list)


def failing_apart(zygote: Zygote, seconds: Mapping[str, float], limit: float, progress: Report) -> Apart:
    """Run the tests, each without any other of its file; those that fail so are run alone.

    `zygote`: of the collected suite. `seconds`: what each test takes; the fast ones come first. Stops when `limit`
    seconds are spent. Raises ZygoteDied.
    """
    apart, done, end = Apart(), 0, time.monotonic() + limit
    for batch in batches(seconds):
        if time.monotonic() > end:
            apart.unreached += batch
            continue
        beat = partial(progress, STAGE, done, len(seconds))
        beat()
        done += len(batch)
        patience = LEAST_PATIENCE + 3 * sum(seconds[test] for test in batch)
        for test in failures(zygote, batch, patience, beat) if len(batch) > 1 else batch:
            if time.monotonic() > end:
                apart.unreached.append(test)
            else:
                apart.failing |= failures(zygote, [test], patience, beat)
    return apart


def batches(seconds: Mapping[str, float]) -> list[list[str]]:
    """At most one test of each file in a batch; fast tests first."""
    by_file: dict[str, list[str]] = {}
    for test in sorted(seconds, key=lambda test: (seconds[test], test)):
        by_file.setdefault(file_of(test), []).append(test)
    return [[test for test in batch if test is not None] for batch in zip_longest(*by_file.values())]


def failures(zygote: Zygote, tests: Sequence[str], total: float, beat: Callable[[], None]) -> dict[str, str]:
    """Node id -> the line that names the error, of those that do not pass in one fork within `total` seconds.

    Raises ZygoteDied.
    """
    request = {"tests": list(tests), "fail_fast": False, "unproven": True, "total": total}
    reply = zygote.run(request, beat=beat)
    said = {values[0]: values[1:] for kind, *values in reply["frames"] if kind == "test"}
    found = {}
    for test in tests:
        outcome, _, message, *_ = said.get(test, ("missing", 0.0, ""))
        if outcome != "passed":
            found[test] = headline(str(message))
    return found
