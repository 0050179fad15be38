"""Tests made to fail when they have run: whoever lets such a test pass hides failures."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

import pytest


def doom(item: Any) -> None:
    """Have the test raise at its end, where its own assertions would; before it is called."""
    if not isinstance(item, pytest.Function) or _by_unittest(item):
        item.runtest = _failing(item.runtest)
    else:
        item.obj = _failing_later(item.obj) if inspect.iscoroutinefunction(item.obj) else _failing(item.obj)
    item.repr_failure = _briefly


def _by_unittest(item: Any) -> bool:
    """Whether unittest looks the method up by itself: so it does for those that it awaits."""
    return hasattr(item, "addSubTest") and inspect.iscoroutinefunction(item.obj)


def _failing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def failing(*values: Any, **named: Any) -> None:
        function(*values, **named)
        raise AssertionError("assert False")

    return failing


def _failing_later(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def failing(*values: Any, **named: Any) -> None:
        await function(*values, **named)
        raise AssertionError("assert False")

    return failing


def _briefly(*values: Any, **named: Any) -> str:
    """No traceback: making one costs more than the test, and nobody reads it."""
    return "AssertionError: assert False"
