"""unittest's `load_tests` protocol, which pytest leaves out."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any

import pytest


class LoadTests:
    """A plugin: modules that define `load_tests` give the tests it adds."""

    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: Any) -> Any:
        """Asked for every name of a module."""
        if name == "load_tests" and isinstance(collector, pytest.Module) and callable(obj):
            return Added.from_parent(collector, name=name, function=obj)
        return None


class Added(pytest.Collector):
    """What one `load_tests` adds to the tests that pytest finds by itself."""

    def __init__(self, *, function: Any, **others: Any) -> None:
        """`function`: the module's own."""
        super().__init__(**others)
        self._function = function

    def collect(self) -> Iterator[pytest.Item]:
        """One item a test case; those of the module's own classes are pytest's already."""
        suite = self._function(unittest.TestLoader(), unittest.TestSuite(), None)
        own = self._own()
        for case in _cases(suite):
            if type(case) not in own:
                yield AddedCase.from_parent(self, name=case.id(), case=case)

    def _own(self) -> set[type]:
        module = getattr(self.parent, "obj", None)
        return {value for value in vars(module).values() if isinstance(value, type)}


class AddedCase(pytest.Item):
    """One test case, run as unittest would."""

    def __init__(self, *, case: Any, **others: Any) -> None:
        """`case`: a TestCase, e.g. one made from a doctest."""
        super().__init__(**others)
        self._case = case

    def runtest(self) -> None:
        """Raise what went wrong."""
        result = unittest.TestResult()
        self._case.run(result)
        for _, text in [*result.errors, *result.failures]:
            raise AssertionError(text)
        for _, reason in result.skipped:
            pytest.skip(reason)

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        """What unittest would print."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where the module lies."""
        return self.path, None, self.name


def _cases(suite: Any) -> Iterator[Any]:
    """The test cases of a suite, at any depth."""
    if isinstance(suite, unittest.TestCase):
        yield suite
        return
    for inner in suite or ():
        yield from _cases(inner)
