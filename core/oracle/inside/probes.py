"""Which lines run, told by the project's own code: a call is compiled in before each of its statements.

A tracer slows every line of the interpreter, libraries included; this costs some ten nanoseconds for each statement
of the project. Files that are loaded in another way than by import are not seen.
"""

from __future__ import annotations

import ast
import gc
import importlib.machinery
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType
from typing import Any, DefaultDict, Set

import pytest

from .child import Send

Lines = DefaultDict[str, Set[int]]  # lines that ran, by file

IN_FUNCTION, AT_IMPORT = "\0rtc function", "\0rtc module"
"""Constants in whose places the functions that record a line are put, once the code is compiled."""
BLOCKS = ("body", "orelse", "finalbody")


class Probes:
    """Adds the lines that run to whatever is current, of what is imported from `start` on."""

    def __init__(self, importing: Lines, root: str) -> None:
        self._importing = self._into = importing
        self._root = root
        self._ran: dict[str, set[int]] = {}
        self._usual: Any = None

    def start(self) -> None:
        if self._usual is None:
            loader: Any = importlib.machinery.SourceFileLoader
            usual = self._usual = loader.get_code
            probes = self

            def get_code(self: Any, fullname: str) -> Any:
                code = probes._code(self) if type(self) is loader else None
                return usual(self, fullname) if code is None else code

            loader.get_code = get_code

    def stop(self) -> None:
        self.switch(self._into)

    def switch(self, into: Lines) -> None:
        """Give what ran so far to who asked for it, and what runs from here on to `into`."""
        for path, lines in list(self._ran.items()):
            if lines:
                self._into[path] |= lines
                lines.clear()
        self._into = into

    def _code(self, loader: Any) -> CodeType | None:
        """Return the code of one of the project's files with its probes; None for any other file."""
        path = loader.path
        if not path.startswith(self._root) or os.sep + "site-packages" + os.sep in path:
            return None
        collects = gc.isenabled()
        gc.disable()  # thousands of nodes that all stay make it look through them again and again
        try:
            tree = ast.parse(loader.get_data(path))
            _mark_within(tree, AT_IMPORT)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # that constants are called
                code = compile(tree, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, OSError):
            return None
        finally:
            if collects:
                gc.enable()
        ran = self._ran.setdefault(path, set())
        return _connected(code, {IN_FUNCTION: ran.add, AT_IMPORT: self._importing[path].add})


def _marked(parent: ast.AST, body: list[ast.stmt], kind: str) -> Iterator[ast.stmt]:
    """Yield the statements of a block, each behind its probe; what must come first stays there."""
    docstring = body[0] if body and _has_docstring(parent) else None
    late: list[ast.stmt] = []
    for node in body:
        probe = [] if node is docstring else [_probe(node, kind)]
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            late += probe
        elif node is not docstring:
            yield from late + probe
            late = []
        _mark_within(node, kind)
        yield node
    yield from late


def _has_docstring(parent: ast.AST) -> bool:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(parent, owners) and ast.get_docstring(parent, clean=False) is not None


def _mark_within(node: Any, kind: str) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        kind = IN_FUNCTION
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            setattr(node, name, [*_marked(node, block, kind)])
    for handler in getattr(node, "handlers", ()):
        if handler.type is None:
            handler.body.insert(0, _probe(handler, kind))
        else:  # asked, whether or not it is the one: the call gives None
            asked = ast.BoolOp(op=ast.Or(), values=[_call(handler.type, handler.lineno, kind), handler.type])
            handler.type = ast.copy_location(asked, handler.type)
        handler.body = [*_marked(handler, handler.body, kind)]
    tried: list[ast.stmt] = []
    for case in getattr(node, "cases", ()):
        tried.append(_probe(case.pattern, kind))
        case.body = [*tried, *_marked(case, case.body, kind)]


def _probe(node: Any, kind: str) -> ast.stmt:
    """Return the call that records the first line of a statement, decorators included."""
    line = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return ast.Expr(value=_call(node, line, kind), **_place(node))


def _call(node: Any, line: int, kind: str) -> ast.expr:
    place = _place(node)
    asked = ast.Constant(value=kind, **place), ast.Constant(value=line, **place)
    return ast.Call(func=asked[0], args=[asked[1]], keywords=[], **place)


def _place(node: Any) -> dict[str, Any]:
    """Return where a node stands, for others to stand there; `ast.copy_location` takes ten times as long."""
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno,
        "end_col_offset": node.end_col_offset,
    }


def _connected(code: CodeType, recorders: dict[str, Any]) -> CodeType:
    constants = [
        _connected(each, recorders)
        if isinstance(each, CodeType)
        else (recorders.get(each, each) if isinstance(each, str) else each)
        for each in code.co_consts
    ]
    return code.replace(co_consts=tuple(constants))


class Collector:
    """A pytest plugin that gives each test its lines.

    The set-up of a fixture that outlives one test counts for every test that uses it.
    """

    def __init__(self, root: str) -> None:
        """`root`: of the project. Lines outside tests, and module level lines at any time, count as run at import."""
        self._importing = importing = no_lines()
        self._probes = Probes(importing, root + os.sep)
        self._root = root
        self._tests: dict[str, Lines] = defaultdict(no_lines)
        self._fixtures: dict[tuple[str, str], Lines] = defaultdict(no_lines)
        self._uses: dict[str, set[tuple[str, str]]] = {}
        self._current = importing

    def start(self) -> None:
        self._probes.start()
        self._probes.switch(self._importing)

    def stop(self) -> None:
        self._probes.stop()

    def _enter(self, into: Lines) -> None:
        self._current = into
        self._probes.switch(into)

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
        self._probes.stop()
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


def no_lines() -> Lines:
    """Return an empty record of lines, by file."""
    return defaultdict(set)
