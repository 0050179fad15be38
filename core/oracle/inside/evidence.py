"""Proof that the framework still tells right from wrong when all tests have passed."""

from __future__ import annotations

import builtins
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .channel import Send

FRAMEWORK = ("pytest", "_pytest", "pluggy", "unittest", "doctest", "_rtc_inspector_inside")


def snapshot() -> Callable[[], list[str]]:
    """Remember the framework as it is; the function returned names what has changed since."""
    places = list(_places())
    codes = [(function, function.__code__) for function in _functions(places)]
    modules = [(name, module) for name, module in sys.modules.items() if _ours(name)]
    finders = list(sys.meta_path)
    original_builtins = dict(vars(builtins))

    def changes() -> list[str]:
        found = {_name(owner) + "." + key for owner, key, value in places if vars(owner).get(key) is not value}
        found.update(function.__qualname__ + ".__code__" for function, code in codes if function.__code__ is not code)
        found.update("sys.modules." + name for name, module in modules if sys.modules.get(name) is not module)
        now = vars(builtins)
        found.update("builtins." + key for key, value in original_builtins.items() if now.get(key) is not value)
        found.update("meta_path." + _name(type(f)) for f in sys.meta_path if not any(f is old for old in finders))
        if sys.gettrace() is not None or sys.getprofile() is not None:
            found.add("sys.settrace")
        return sorted(found)

    return changes


def _ours(module: str) -> bool:
    return module.split(".", 1)[0] in FRAMEWORK


def _places() -> Iterator[tuple[Any, str, Any]]:
    """Every callable that a framework module or class holds."""
    for name, module in list(sys.modules.items()):
        if module is None or not _ours(name):
            continue
        for key, value in list(vars(module).items()):
            if key.startswith("__") or not callable(value):
                continue
            yield module, key, value
            if isinstance(value, type) and _ours(value.__module__):
                yield from ((value, inner, held) for inner, held in list(vars(value).items()) if _code(held))


def _functions(places: list[tuple[Any, str, Any]]) -> Iterator[types.FunctionType]:
    return (function for _, _, value in places for function in [_code(value)] if function is not None)


def _code(value: Any) -> types.FunctionType | None:
    """The function behind a function, method wrapper or property."""
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    return value if isinstance(value, types.FunctionType) else None


def _name(owner: Any) -> str:
    return str(getattr(owner, "__name__", owner))


def needs_proof(failed: bool, items: list[Any], request: dict[str, Any]) -> bool:
    """A failed session proves itself; the unmodified project shows what is usual for it."""
    return bool(items) and (not failed or bool(request.get("identity")))


def prove(send: Send, session: Any, bits: list[int], changes: list[str]) -> None:
    """Send the canaries' outcomes and what changed in the framework; the last frame of a whole session."""
    send("evidence", sing(session, bits), changes + broken_assertions())
    send("end", True)


class Canary(pytest.Item):
    """A test whose result is known beforehand."""

    wrong = False

    def runtest(self) -> None:
        """Fail when told to."""
        if self.wrong:
            raise AssertionError("canary")

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        """No traceback: making one would cost more than all the rest."""
        return "canary"

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Nowhere in the project."""
        return "canary", None, "canary"


def sing(session: Any, bits: list[int]) -> list[str]:
    """Run a canary for each bit (1: must fail); the outcomes, for the parent to compare."""
    session._setupstate.teardown_exact(None)
    outcomes = []
    for bit in bits:
        canary = Canary.from_parent(session, name="canary")
        canary.wrong = bool(bit)
        reports = runtestprotocol(canary, log=False, nextitem=None)
        outcomes.append("".join(report.outcome for report in reports if report.when == "call"))
    return outcomes


def broken_assertions() -> list[str]:
    """Names of unittest and pytest checks that let a wrong value through."""
    case = type("Case", (unittest.TestCase,), {"runTest": lambda self: None})()
    wrong: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (case.assertEqual, (1, 2)),
        (case.assertTrue, (0,)),
        (case.assertIn, (1, ())),
        (case.assertIs, (None, 0)),
    ]
    bad = [check.__name__ for check, values in wrong if not _raises(check, *values)]
    if not _raises(_no_raise):
        bad.append("pytest.raises")
    if pytest.approx(1.0) == 2.0:
        bad.append("pytest.approx")
    return bad


def _no_raise() -> None:
    try:
        with pytest.raises(ValueError):
            pass
    except BaseException as error:
        raise AssertionError from error


def _raises(check: Callable[..., Any], *values: Any) -> bool:
    try:
        check(*values)
    except AssertionError:
        return True
    except BaseException:
        return False
    return False
