"""unittest's `load_tests` protocol, which pytest leaves out."""

from __future__ import annotations

import fnmatch
import os
import sys
import unittest
from collections.abc import Iterator
from typing import Any

import pytest

PATTERN = "test*.py"
"""What unittest looks for by itself."""


class LoadTests:
    """A plugin: modules and packages that define `load_tests` give the tests it adds."""

    if hasattr(pytest, "version_tuple"):  # pytest 7 and later

        def pytest_collect_file(self, file_path: Any, parent: Any) -> Any:
            """A package's own file, which pytest looks into only where it is named."""
            if file_path.name != "__init__.py" or parent.session.isinitpath(file_path):
                return None
            if _is_pytests(parent.config, str(file_path)) or b"load_tests" not in file_path.read_bytes():
                return None
            return PackageTests.from_parent(parent, path=file_path)

    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: Any) -> Any:
        """Asked for every name of a module."""
        if name == "load_tests" and isinstance(collector, pytest.Module) and callable(obj):
            return Added.from_parent(collector, name=name, function=obj)
        return None


class PackageTests(pytest.Module):
    """The file of a package, of which nothing but `load_tests` is collected."""

    def collect(self) -> Iterator[pytest.Collector]:
        """One collector, or none."""
        function = getattr(self.obj, "load_tests", None)
        if callable(function):
            yield Added.from_parent(self, name="load_tests", function=function)


class Added(pytest.Collector):
    """What one `load_tests` adds to the tests that pytest finds by itself."""

    def __init__(self, *, function: Any, **others: Any) -> None:
        """`function`: the module's own."""
        super().__init__(**others)
        self._function = function

    def collect(self) -> Iterator[pytest.Item]:
        """One item a test case; those of the module's own classes are pytest's already."""
        module: Any = getattr(self.parent, "obj", None)
        own = {value for value in vars(module).values() if isinstance(value, type)}
        package = hasattr(module, "__path__")
        for case in _cases(self._of_package(module) if package else self._suite(unittest.TestLoader(), None)):
            if type(case) not in own and not (package and _is_pytests(self.config, _file_of(case))):
                yield AddedCase.from_parent(self, name=case.id(), case=case)

    def _suite(self, loader: Any, pattern: str | None) -> Any:
        return self._function(loader, unittest.TestSuite(), pattern)

    def _of_package(self, module: Any) -> Any:
        """With a loader that is amid discovery, so that looking through the package does not ask it again."""
        loader: Any = unittest.TestLoader()
        folder = os.path.dirname(os.path.abspath(module.__file__))
        for _ in module.__name__.split("."):
            folder = os.path.dirname(folder)
        loader._top_level_dir = folder
        loader._loading_packages.add(module.__name__)
        return self._suite(loader, PATTERN)


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
        """Return what unittest would print."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return where the module lies, no line, and the test's name."""
        return self.path, None, self.name


def _file_of(case: Any) -> str:
    return str(getattr(sys.modules.get(type(case).__module__), "__file__", None) or "")


def _is_pytests(config: Any, file: str) -> bool:
    """Return whether pytest collects a file of that name by itself."""
    return any(fnmatch.fnmatch(os.path.basename(file), pattern) for pattern in config.getini("python_files"))


def _cases(suite: Any) -> Iterator[Any]:
    """The test cases of a suite, at any depth."""
    if isinstance(suite, unittest.TestCase):
        yield suite
        return
    for inner in suite or ():
        yield from _cases(inner)
