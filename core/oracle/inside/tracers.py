"""Which test runs which line: one context a test, on whatever tracer of lines the interpreter offers."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, Union

import pytest

MONITORING_ID = 4
GLOB = "*?[]{}"
"""What a pattern does not take literally; folders may be named so."""

OPTIMIZED = 1
"""Set in the code of functions; clear in that of modules and class bodies."""
QUIET = 1.0
"""Seconds of computing, waiting not counted, without a new line."""


class QuietWatch:
    """A timer of the process's own computing time, armed while a test runs.

    A test that runs no new line any more is not traced on, so that what is left of it goes on at full speed. What it
    would run in the functions it is in the middle of counts as run: too many lines are better than too few, as
    admission tries every region.
    """

    def __init__(self, lines: Callable[[], int], pause: Callable[[FrameType | None], None]) -> None:
        """`lines`: how many this test has run so far; `pause` ends the tracing of this test, given its frame."""
        self._lines = lines
        self._pause = pause
        self._last = 0
        self._armed = False

    def start(self) -> None:
        """Install the handler; in the main thread, before any test."""
        if sys.platform != "win32":
            signal.signal(signal.SIGVTALRM, self._beat)

    def stop(self) -> None:
        """Leave no timer behind."""
        self.disarm()
        if sys.platform != "win32":
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL)

    def arm(self) -> None:
        """A test begins."""
        self._last, self._armed = 0, True
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_VIRTUAL, QUIET, QUIET)

    def disarm(self) -> None:
        """No test runs."""
        self._armed = False
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _beat(self, number: int, frame: FrameType | None) -> None:
        if not self._armed:
            return
        lines = self._lines()
        if lines > self._last:
            self._last = lines
            return
        self.disarm()
        self._pause(frame)


def lines_around(frame: FrameType | None, root: str) -> Iterator[tuple[str, int]]:
    """File and line of all that stands in the functions below `root` that a frame is called from, itself included."""
    import dis

    while frame is not None:
        code, frame = frame.f_code, frame.f_back
        if code.co_flags & OPTIMIZED and code.co_filename.startswith(root):
            yield from (
                (code.co_filename, line) for _, line in dis.findlinestarts(code) if line and line != code.co_firstlineno
            )


class Monitor:
    """`sys.monitoring` (Python 3.12 and later): each line costs one event a test."""

    def __init__(self, importing: set[tuple[str, int]], root: str) -> None:
        """Watch files below `root`."""
        self._api: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._importing = importing
        self._root = root
        self._into = importing

    def start(self) -> None:
        """Take a tool id and listen to lines."""
        self._api.use_tool_id(MONITORING_ID, "rtc-inspector")
        self._api.register_callback(MONITORING_ID, self._api.events.LINE, self._line)
        self._api.set_events(MONITORING_ID, self._api.events.LINE)

    def stop(self) -> None:
        """Give the tool id back."""
        self._api.set_events(MONITORING_ID, 0)
        self._api.free_tool_id(MONITORING_ID)

    def switch(self, into: set[tuple[str, int]]) -> None:
        """Lines seen before are reported again."""
        self._into = into
        self._api.restart_events()

    def _line(self, code: CodeType, line: int) -> Any:
        if code.co_filename.startswith(self._root):
            (self._into if code.co_flags & OPTIMIZED else self._importing).add((code.co_filename, line))
        return self._api.DISABLE


class Settrace:
    """`sys.settrace`: slow, and always there."""

    def __init__(self, importing: set[tuple[str, int]], root: str) -> None:
        """Watch files below `root`."""
        self._importing = importing
        self._root = root
        self._into = importing
        self._quiet = QuietWatch(lambda: len(self._into), self._give_up)

    def start(self) -> None:
        """In this thread and those to come."""
        self._quiet.start()
        self._resume()

    def stop(self) -> None:
        """No more."""
        self._quiet.stop()
        self._pause()

    def switch(self, into: set[tuple[str, int]]) -> None:
        """Only the target changes; a test that was given up is over."""
        self._quiet.disarm()
        self._into = into
        if sys.gettrace() is None:
            self._resume()
        if into is not self._importing:
            self._quiet.arm()

    def _resume(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def _give_up(self, frame: FrameType | None) -> None:
        self._pause()
        self._into.update(lines_around(frame, self._root))

    def _pause(self) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type,unused-ignore]

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(self._root):
            return None
        return self._function if frame.f_code.co_flags & OPTIMIZED else self._module

    def _function(self, frame: FrameType, event: str, argument: object) -> Any:
        self._into.add((frame.f_code.co_filename, frame.f_lineno))
        return self._function

    def _module(self, frame: FrameType, event: str, argument: object) -> Any:
        self._importing.add((frame.f_code.co_filename, frame.f_lineno))
        return self._module


class CoverageTracer:
    """The C tracer of coverage.py, through its own interface: a context for each test, all in memory."""

    def __init__(self, importing: set[tuple[str, int]], root: str) -> None:
        """Raises ImportError when coverage or its C tracer is missing."""
        importlib.import_module("coverage.tracer").CTracer  # noqa: B018 - there or not is the question
        self._importing = importing
        self._root = root
        self._module: Any = importlib.import_module("coverage")
        self._coverage: Any = None
        self._paused = False
        self._quiet = QuietWatch(self._count, self._give_up)

    def start(self) -> None:
        """One in-memory data set with a context a switch."""
        os.environ["COVERAGE_CORE"] = "ctrace"
        below = "".join("?" if character in GLOB else character for character in self._root) + "*"
        self._coverage = self._module.Coverage(data_file=None, config_file=False, include=[below])
        self._names: list[set[tuple[str, int]]] = []
        self._quiet.start()
        self._coverage.start()

    def switch(self, into: set[tuple[str, int]]) -> None:
        """Each target set is a context of its own."""
        self._quiet.disarm()
        if self._paused:
            self._paused = False
            self._coverage.start()
        self._names.append(into)
        self._coverage.switch_context(str(len(self._names) - 1))
        if into is not self._importing:
            self._quiet.arm()

    def _count(self) -> int:
        """Lines of the present context, in the tracer's own count."""
        data = getattr(sys.gettrace(), "data", None)
        return sum(map(len, list(data.values()))) if data is not None else sys.maxsize

    def _give_up(self, frame: FrameType | None) -> None:
        """A new tracer goes on at the next switch: this one must not miss any return it knows the call of."""
        self._paused = True
        self._coverage.stop()
        self._names[-1].update(lines_around(frame, self._root))

    def stop(self) -> None:
        """Share the recorded lines out."""
        self._quiet.stop()
        self._coverage.stop()
        data = self._coverage.get_data()
        # Code may have been compiled under a name that no file bears, or from a file that is gone.
        for path in filter(os.path.isfile, data.measured_files()):
            module_lines = module_level_lines(path)
            for line, contexts in data.contexts_by_lineno(path).items():
                for context in contexts:
                    into = self._names[int(context)] if context else self._importing
                    (self._importing if line in module_lines else into).add((path, line))


Tracer = Union[Monitor, Settrace, CoverageTracer]
"""Each adds (file, line) pairs to whichever set is current."""


def module_level_lines(path: str) -> set[int]:
    """Lines that belong to no function: they run while the module is imported, whenever that is."""
    with open(path, "rb") as file:
        try:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return set()
    return set(_outside_functions(code))


def _outside_functions(code: CodeType) -> Iterator[int]:
    import dis

    yield from (line for _, line in dis.findlinestarts(code) if line)
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and not constant.co_flags & OPTIMIZED:
            yield from _outside_functions(constant)


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
