"""Which lines run, told by the project's own code: a call is compiled in before each of its statements.

A tracer slows every line of the interpreter, libraries included; this costs some ten nanoseconds for each statement
of the project. Files that are loaded in another way than by import are not seen.
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any

from .tracers import Lines

IN_FUNCTION, AT_IMPORT = "\0rtc function", "\0rtc module"
"""Constants in whose places the functions that record a line are put, once the code is compiled."""
BLOCKS = ("body", "orelse", "finalbody")


class Probes:
    """Implements `tracers.Tracer` for what is imported from `start` on."""

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
        try:
            tree = ast.parse(loader.get_data(path))
            _mark_within(tree, AT_IMPORT)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # that constants are called
                code = compile(tree, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, OSError):
            return None
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
    return ast.copy_location(ast.Expr(value=_call(node, line, kind)), node)


def _call(node: Any, line: int, kind: str) -> ast.expr:
    call = ast.Call(func=ast.Constant(value=kind), args=[ast.Constant(value=line)], keywords=[])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def _connected(code: CodeType, recorders: dict[str, Any]) -> CodeType:
    constants = [
        _connected(each, recorders)
        if isinstance(each, CodeType)
        else (recorders.get(each, each) if isinstance(each, str) else each)
        for each in code.co_consts
    ]
    return code.replace(co_consts=tuple(constants))
