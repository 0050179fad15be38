"""Which test runs which line: one context a test, on whatever tracer of lines the interpreter offers."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, DefaultDict, Protocol, Set

import pytest

from .child import Send

MONITORING_ID = 4
Lines = DefaultDict[str, Set[int]]
"""Lines that ran, by file."""

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
        self.disarm()
        if sys.platform != "win32":
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL)

    def arm(self) -> None:
        self._last, self._armed = 0, True
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_VIRTUAL, QUIET, QUIET)

    def disarm(self) -> None:
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
    """Yield file and line of all in the functions below `root` that a frame is called from, itself included."""
    import dis

    while frame is not None:
        code, frame = frame.f_code, frame.f_back
        if code.co_flags & OPTIMIZED and code.co_filename.startswith(root):
            yield from (
                (code.co_filename, line) for _, line in dis.findlinestarts(code) if line and line != code.co_firstlineno
            )


class Monitor:
    """`sys.monitoring` (Python 3.12 and later): each line costs one event a test."""

    def __init__(self, importing: Lines, root: str) -> None:
        self._api: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._importing = importing
        self._root = root
        self._into = importing

    def start(self) -> None:
        self._api.use_tool_id(MONITORING_ID, "rtc-inspector")
        self._api.register_callback(MONITORING_ID, self._api.events.LINE, self._line)
        self._api.set_events(MONITORING_ID, self._api.events.LINE)

    def stop(self) -> None:
        self._api.set_events(MONITORING_ID, 0)
        self._api.free_tool_id(MONITORING_ID)

    def switch(self, into: Lines) -> None:
        """Switch; lines seen before are reported again."""
        self._into = into
        self._api.restart_events()

    def _line(self, code: CodeType, line: int) -> Any:
        if code.co_filename.startswith(self._root):
            (self._into if code.co_flags & OPTIMIZED else self._importing)[code.co_filename].add(line)
        return self._api.DISABLE


class Settrace:
    """`sys.settrace`: slow, and always there."""

    def __init__(self, importing: Lines, root: str) -> None:
        self._importing = importing
        self._root = root
        self._into = importing
        self._quiet = QuietWatch(lambda: sum(map(len, self._into.values())), self._give_up)

    def start(self) -> None:
        self._quiet.start()
        self._resume()

    def stop(self) -> None:
        self._quiet.stop()
        self._pause()

    def switch(self, into: Lines) -> None:
        """Change the target; a test that was given up is over."""
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
        _add(self._into, lines_around(frame, self._root))

    def _pause(self) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type,unused-ignore]

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(self._root):
            return None
        return self._function if frame.f_code.co_flags & OPTIMIZED else self._module

    def _function(self, frame: FrameType, event: str, argument: object) -> Any:
        self._into[frame.f_code.co_filename].add(frame.f_lineno)
        return self._function

    def _module(self, frame: FrameType, event: str, argument: object) -> Any:
        self._importing[frame.f_code.co_filename].add(frame.f_lineno)
        return self._module


class CTracer:
    """The C tracer of coverage.py without the package around it, which writes each test's lines to a database."""

    def __init__(self, importing: Lines, root: str, file: str) -> None:
        spec = importlib.util.spec_from_file_location("tracer", file)
        if spec is None or spec.loader is None:
            raise ImportError(file)
        self._module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._module)
        self._importing = self._into = importing
        self._root = root
        self._data: dict[str, set[int]] = {}
        self._known: dict[str, Any] = {}
        self._module_lines: dict[str, set[int]] = {}
        self._current: Any = None
        self._all: list[Any] = []  # one that is freed ends the tracing of the thread that frees it
        self._quiet = QuietWatch(lambda: sum(map(len, list(self._data.values()))), self._give_up)

    def start(self) -> None:
        self._quiet.start()
        self._resume()

    def stop(self) -> None:
        self._quiet.stop()
        self._pause()
        self._share_out()

    def switch(self, into: Lines) -> None:
        """Add lines to `into` from here on; a new tracer goes on where the last was given up."""
        self._quiet.disarm()
        self._share_out()
        self._into = into
        if self._current is None:
            self._resume()
        if into is not self._importing:
            self._quiet.arm()

    def _resume(self) -> None:
        threading.settrace(self._in_thread)
        self._current = self._made()
        self._current.start()

    def _pause(self) -> None:
        threading.settrace(None)  # type: ignore[arg-type,unused-ignore]
        if self._current is not None:
            self._current.stop()
            self._current = None

    def _give_up(self, frame: FrameType | None) -> None:
        # A tracer must not miss any return that it knows the call of: another one goes on.
        self._pause()
        _add(self._into, lines_around(frame, self._root))

    def _in_thread(self, frame: FrameType, event: str, argument: object) -> Any:
        """Trace a thread by a tracer of its own, the event included that begins it."""
        sys.settrace(None)
        trace = self._made().start()
        return trace(frame, event, argument) if trace is not None else None

    def _made(self) -> Any:
        tracer = self._module.CTracer()
        given = {
            "data": self._data,
            "should_trace": self._disposition,
            "should_trace_cache": self._known,
            "trace_arcs": False,
            "warn": lambda *_, **__: None,
            "lock_data": _nothing,
            "unlock_data": _nothing,
            "file_tracers": {},
            **dict.fromkeys(("concur_id_func", "check_include", "should_start_context", "switch_context")),
            **dict.fromkeys(("threading", "disable_plugin")),
        }
        for name, value in given.items():
            if hasattr(tracer, name):
                setattr(tracer, name, value)
        self._all.append(tracer)
        return tracer

    def _disposition(self, path: str, frame: FrameType) -> Any:
        """Return whether to trace a file, in the form that the tracer wants."""
        found = self._module.CFileDisposition()
        found.original_filename = found.canonical_filename = found.source_filename = path
        # Code may have been compiled under a name that no file bears.
        found.trace = path.startswith(self._root) and os.path.isfile(path)
        found.reason, found.file_tracer, found.has_dynamic_filename = "", None, False
        return found

    def _share_out(self) -> None:
        """Give the lines of functions to who runs now, and those of modules to imports."""
        for path, lines in list(self._data.items()):
            taken = lines.copy()
            if taken:
                lines -= taken
                if path not in self._module_lines:
                    self._module_lines[path] = module_level_lines(path)
                at_import = taken & self._module_lines[path]
                self._importing[path] |= at_import
                self._into[path] |= taken - at_import


def _nothing() -> None:
    """Stand for a lock that one thread at a time needs not."""


def _add(into: Lines, places: Iterable[tuple[str, int]]) -> None:
    for path, line in places:
        into[path].add(line)


class Tracer(Protocol):
    """Adds the lines that run to whatever is current."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def switch(self, into: Lines) -> None: ...


def module_level_lines(path: str) -> set[int]:
    """Return lines that belong to no function: they run while the module is imported, whenever that is."""
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

    def __init__(self, tracer: Tracer, importing: Lines, root: str) -> None:
        """`importing`: where lines outside tests go, and module level lines at any time."""
        self._tracer = tracer
        self._importing = importing
        self._root = root
        self._tests: dict[str, Lines] = defaultdict(no_lines)
        self._fixtures: dict[tuple[str, str], Lines] = defaultdict(no_lines)
        self._uses: dict[str, set[tuple[str, str]]] = {}
        self._current = importing

    def start(self) -> None:
        self._tracer.start()
        self._tracer.switch(self._importing)

    def stop(self) -> None:
        self._tracer.stop()

    def _enter(self, into: Lines) -> None:
        self._current = into
        self._tracer.switch(into)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._enter(self._tests[nodeid])

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._enter(self._importing)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            yield
            return
        outside = self._current
        self._enter(self._fixtures[fixturedef.argname, fixturedef.baseid])
        yield
        self._enter(outside)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> None:
        definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        keys = {(definition.argname, definition.baseid) for group in definitions.values() for definition in group}
        self._uses[item.nodeid] = keys

    def send(self, send: Send) -> None:
        """Stop, and report which lines run at import, and which by each test."""
        self._tracer.stop()
        for path, lines in self.import_lines().items():
            send("import-lines", path, lines)
        found: dict[str, list[tuple[str, list[int]]]] = {}
        for test, own in self._tests.items():
            for key in self._uses.get(test, ()):
                for path, numbers in self._fixtures[key].items():
                    own[path] |= numbers
            for path, numbers in own.items():
                if numbers:
                    found.setdefault(path, []).append((test, sorted(numbers)))
        for path, by_test in found.items():
            send("lines", self._relative(path), by_test)

    def import_lines(self) -> dict[str, list[int]]:
        """Return which lines of which files ran outside tests so far."""
        found = self._importing.items()
        return {self._relative(path): sorted(line for line in numbers if line > 0) for path, numbers in found}

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")


def choose_collector(config: dict[str, Any]) -> Collector:
    """Return one with the fastest tracer that this interpreter has."""
    importing, root, file = no_lines(), config["root"] + os.sep, config.get("tracer")
    tracer: Tracer = Settrace(importing, root)
    if sys.version_info >= (3, 12):
        tracer = Monitor(importing, root)
    else:
        if file is None and importlib.util.find_spec("coverage") is not None:
            own = importlib.util.find_spec("coverage.tracer")
            file = own.origin if own is not None else None
        if file is not None:
            with suppress(ImportError):
                tracer = CTracer(importing, root, file)
    return Collector(tracer, importing, config["root"])


def no_lines() -> Lines:
    """Return an empty record of lines, by file."""
    return defaultdict(set)
