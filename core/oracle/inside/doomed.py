"""Tests made to fail: whoever lets such a test pass hides failures.

Where a test compares, one of its comparisons says the contrary; any other raises when it has run.
"""

from __future__ import annotations

import functools
import inspect
import random
from typing import Any, Callable

import pytest

from .comparisons import METHODS, NAME, Comparisons

COMPARING = frozenset([NAME, *("assert" + method for methods in METHODS.values() for method in methods.split())])
AFTER = (0, 0, 0, 0, 1, 1, 2, 3)
"""How many comparisons come before the one that says the contrary."""
Function = Callable[..., Any]


def doomed_by(comparisons: Comparisons, seed: int) -> Callable[[Any], None]:
    """What makes a test fail; a closure, so that what it works with is not at hand.

    Of the same `seed`, the same comparison of a test says the contrary.
    """

    def doom(item: Any) -> None:
        after = random.Random("%d %s" % (seed, item.nodeid)).choice(AFTER)
        _doom(item, _Ending(comparisons, after, getattr(item, "obj", None)))

    return doom


def _doom(item: Any, ending: _Ending) -> None:
    """Have the test fail, as its own assertions would; before it is called."""
    if not isinstance(item, pytest.Function) or _by_unittest(item):
        item.runtest = _failing(item.runtest, ending)
    elif inspect.iscoroutinefunction(item.obj):
        item.obj = _failing_later(item.obj, ending)
    else:
        item.obj = _failing(item.obj, ending)
    item.repr_failure = _briefly


class _Ending:
    """What is done before and after one test."""

    def __init__(self, comparisons: Comparisons, after: int, function: Any) -> None:
        self._after = after
        code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
        comparing = code is not None and not COMPARING.isdisjoint(code.co_names)
        self._comparisons: Comparisons | None = comparisons if comparing else None

    def begin(self) -> None:
        if self._comparisons is not None:
            self._comparisons.contradict(self._after)

    def end(self) -> None:
        """Raises where nothing was contradicted, unless comparisons that the test makes were not heard of."""
        if self._comparisons is None or self._comparisons.relent():
            raise AssertionError("assert False")


def _by_unittest(item: Any) -> bool:
    """Whether unittest looks the method up by itself: so it does for those that it awaits."""
    return hasattr(item, "addSubTest") and inspect.iscoroutinefunction(item.obj)


def _failing(function: Function, ending: _Ending) -> Function:
    @functools.wraps(function)
    def failing(*values: Any, **named: Any) -> None:
        ending.begin()
        function(*values, **named)
        ending.end()

    return failing


def _failing_later(function: Function, ending: _Ending) -> Function:
    @functools.wraps(function)
    async def failing(*values: Any, **named: Any) -> None:
        ending.begin()
        await function(*values, **named)
        ending.end()

    return failing


def _briefly(*values: Any, **named: Any) -> str:
    """No traceback: making one costs more than the test, and nobody reads it."""
    return "AssertionError: assert False"
