"""Which test runs which line: one context a test, on whatever tracer the interpreter offers."""

from __future__ import annotations

import importlib.util
import itertools
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from .tracers import CoverageTracer, Monitor, Settrace, Tracer


class Collector:
    """A pytest plugin that gives each test its lines.

    The set-up of a fixture that outlives one test counts for every test that uses it.
    """

    def __init__(self, tracer: Tracer, importing: set[tuple[str, int]], root: str) -> None:
        """`importing`: where lines outside tests go, and module level lines at any time."""
        self._tracer = tracer
        self._importing = importing
        self._root = root
        self._tests: dict[str, set[tuple[str, int]]] = {}
        self._fixtures: dict[tuple[str, str], set[tuple[str, int]]] = {}
        self._uses: dict[str, set[tuple[str, str]]] = {}
        self._current = importing

    def start(self) -> None:
        """Before the project is imported."""
        self._tracer.start()
        self._tracer.switch(self._importing)

    def _enter(self, into: set[tuple[str, int]]) -> None:
        self._current = into
        self._tracer.switch(into)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Lines are this test's from here on."""
        self._enter(self._tests.setdefault(nodeid, set()))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Nobody's test runs now."""
        self._enter(self._importing)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Keep the set-up of a shared fixture apart."""
        if fixturedef.scope == "function":
            yield
            return
        outside = self._current
        self._enter(self._fixtures.setdefault((fixturedef.argname, fixturedef.baseid), set()))
        yield
        self._enter(outside)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> None:
        """Note which shared fixtures the test may have used."""
        definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        keys = {(definition.argname, definition.baseid) for group in definitions.values() for definition in group}
        self._uses[item.nodeid] = keys

    def import_lines(self) -> dict[str, set[int]]:
        """Path below the root -> lines that ran outside tests or at module level."""
        self._tracer.stop()
        found: dict[str, set[int]] = {}
        for path, line in self._importing:
            if line > 0:
                found.setdefault(self._relative(path), set()).add(line)
        return found

    def lines(self) -> dict[str, dict[str, set[int]]]:
        """Path below the root -> test -> lines."""
        found: dict[str, dict[str, set[int]]] = {}
        for test, places in self._tests.items():
            shared = (self._fixtures.get(key, ()) for key in self._uses.get(test, ()))
            for path, line in itertools.chain(places, *shared):
                found.setdefault(self._relative(path), {}).setdefault(test, set()).add(line)
        return found

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")


def choose_collector(config: dict[str, Any]) -> Collector:
    """The fastest tracer this interpreter has."""
    importing: set[tuple[str, int]] = set()
    root = config["root"] + os.sep
    return Collector(_choose_tracer(importing, root, config.get("coverage_folder")), importing, config["root"])


def _choose_tracer(importing: set[tuple[str, int]], root: str, lent: str | None) -> Tracer:
    if sys.version_info >= (3, 12):
        return Monitor(importing, root)
    if lent is not None:
        _borrow("coverage", lent)
    try:
        return CoverageTracer(importing, root)
    except ImportError:
        return Settrace(importing, root)


def _borrow(name: str, folder: str) -> None:
    """Make one package importable from where the host has it, and nothing that lies beside it."""
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is not None and spec.loader is not None:
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
