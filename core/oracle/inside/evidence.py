"""Proof that the framework still tells right from wrong when all tests have passed."""

from __future__ import annotations

import builtins
import operator
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .channel import Send

NOTES = ("_pytest_diamond_inheritance_warning_shown",)
"""What pytest notes on a class of its own at the first item, base or derived class first as the files come."""
OWN = "_rtc_inspector_inside"
FRAMEWORK = ("pytest", "_pytest", "pluggy", "unittest", "doctest", OWN)
LOADERS = ("_frozen_importlib", "_frozen_importlib_external")
"""What reads modules: their own loaders vouch for compiled code."""


class _Owner:
    """A module or class of the framework with what it held."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._held = dict(vars(owner))
        self._ids = [*map(id, self._held.values())]

    def changes(self) -> list[str]:
        """Names whose value is another object now. Identity alone counts: `==` could be the candidate's own."""
        now = vars(self._owner)
        if [*map(id, now.values())] == self._ids:
            return []
        name = str(getattr(self._owner, "__name__", self._owner))
        changed = [key for key, value in self._held.items() if _matters(value) and now.get(key) is not value]
        added = [key for key in now if key not in self._held and self._shadows(key)]
        return [name + "." + key for key in changed + added]

    def _shadows(self, key: str) -> bool:
        """Whether a new name hides an inherited or a built-in one; pytest's own notes are known."""
        if key in NOTES:
            return False
        if isinstance(self._owner, type):
            return any(key in vars(base) for base in self._owner.__mro__[1:])
        return hasattr(builtins, key) and not key.startswith("__")


def _matters(value: Any) -> bool:
    """Counters and caches may change; what can be called may not."""
    return callable(value) or isinstance(value, (classmethod, staticmethod, property))


def snapshot() -> Callable[[], list[str]]:
    """Remember the framework as it is; the function returned names what has changed since."""
    modules = [(name, module) for name, module in sys.modules.items() if _ours(name) and module is not None]
    kept = [module for _, module in modules]
    shown = [(name, module) for name, module in modules if not name.startswith(OWN)]
    owners = [_Owner(owner) for owner in [*kept, *_classes(kept), builtins]]
    functions = [*_functions(owners)]
    codes = [function.__code__ for function in functions]
    finders = list(sys.meta_path)
    code_of = operator.attrgetter("__code__")

    def changes() -> list[str]:
        found = {name for owner in owners for name in owner.changes()}
        if [*map(id, map(code_of, functions))] != [*map(id, codes)]:
            found.update(f.__qualname__ + ".__code__" for f, code in zip(functions, codes) if f.__code__ is not code)
        found.update("sys.modules." + name for name, module in shown if sys.modules.get(name) is not module)
        new = [finder for finder in sys.meta_path if not any(finder is old for old in finders)]
        found.update("meta_path." + type(finder).__name__ for finder in new)
        if sys.gettrace() is not None or sys.getprofile() is not None:
            found.add("sys.settrace")
        return sorted(found)

    return changes


def hide() -> None:
    """Have our own modules found under no name, by the last moment before a candidate runs."""
    for name in [name for name in sys.modules if name.split(".", 1)[0] == OWN]:
        del sys.modules[name]


class Watch:
    """Remembers the tests' own modules and classes: what they call must stay what it was.

    Each is taken as it was before the first of its tests: what a class sets up for its tests is set up once a stage.
    """

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self._owners: dict[int, _Owner] = {}

    def add(self, items: list[Any]) -> None:
        """Those of tests that are about to run."""
        for item in items:
            for owner in _owners_of(item):
                if id(owner) not in self._owners:
                    self._owners[id(owner)] = _Owner(owner)

    def changes(self) -> list[str]:
        """Names of what they no longer hold."""
        return [name for owner in self._owners.values() for name in owner.changes()]


def _owners_of(item: Any) -> Iterator[Any]:
    if getattr(item, "module", None) is not None:
        yield item.module
    yield from (kind for kind in getattr(getattr(item, "cls", None), "__mro__", ()) if kind is not object)


def _ours(module: str) -> bool:
    return module.split(".", 1)[0] in FRAMEWORK + LOADERS


def _classes(modules: list[Any]) -> list[type]:
    """The framework's own classes, each once."""
    found: dict[int, type] = {}
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, type) and _ours(value.__module__):
                found.setdefault(id(value), value)
    return [*found.values()]


def _functions(owners: list[_Owner]) -> Iterator[types.FunctionType]:
    """Python functions the owners hold, behind whatever wraps them."""
    seen: set[int] = set()
    for owner in owners:
        for value in owner._held.values():
            if isinstance(value, (classmethod, staticmethod)):
                value = value.__func__
            elif isinstance(value, property):
                value = value.fget
            if isinstance(value, types.FunctionType) and id(value) not in seen:
                seen.add(id(value))
                yield value


def needs_proof(failed: bool, items: list[Any], request: dict[str, Any]) -> bool:
    """A failed session proves itself; the unmodified project shows what is usual for it, or is not asked for proof."""
    if not items or request.get("unproven"):
        return False
    return not failed or bool(request.get("identity"))


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
