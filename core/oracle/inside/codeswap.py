"""Give the live functions of an unchanged module the code of a candidate, where that equals a fresh import."""

from __future__ import annotations
import __future__

import ast
import gc
import os
from types import CodeType, FunctionType
from typing import Any, Iterator

from .screening import LINE

FUTURES = 0  # the bits of `co_flags` that `from __future__` sets
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag

KIND = 0x02 | 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200
"""New locals, varargs, keywords, generator, coroutine, iterable coroutine, asynchronous generator."""


class Refusal(Exception):
    """Why the code cannot be swapped; a fresh import must judge."""


class Functions:
    """Every function alive after collection, by file, first line and name."""

    def __init__(self) -> None:
        real: dict[str, str] = {}
        self._found: dict[tuple[str, int, str], list[FunctionType]] = {}
        for function in gc.get_objects():
            if type(function) is FunctionType:
                code = function.__code__
                if code.co_filename not in real:
                    real[code.co_filename] = os.path.realpath(code.co_filename)
                place = real[code.co_filename], code.co_firstlineno, code.co_name
                self._found.setdefault(place, []).append(function)

    def of(self, path: str, line: int, name: str) -> list[FunctionType]:
        return self._found.get((path, line, name), [])


class Outline:
    """The original file's tree, to find the outermost function around some lines."""

    def __init__(self, path: str, text: str) -> None:
        """`path`: links resolved. Raises SyntaxError."""
        self.path = path
        self.lines = LINE.findall(text)
        self._tree = ast.parse(text)

    def enclosing(self, first: int, last: int) -> tuple[Any, list[ast.AST]]:
        """Return the function whose body holds the lines, and what is around it, outermost first. Raises Refusal."""
        around: list[ast.AST] = []
        node: ast.AST = self._tree
        while True:
            for inner in _statements(node):
                if inner.lineno <= first and last <= (inner.end_lineno or inner.lineno):
                    break
            else:
                raise Refusal("module level")
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if inner.body[0].lineno > first or inner.body[0].lineno == inner.lineno:
                    raise Refusal("function header")
                return inner, around
            around.append(inner)
            node = inner


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif type(child).__name__ in ("ExceptHandler", "match_case"):
            yield from _statements(child)


def locate(
    functions: Functions, outline: Outline, request: dict[str, Any]
) -> tuple[Any, list[ast.AST], list[FunctionType]]:
    """Return the function around the request's lines, what stands around it, and those made from it. Raises Refusal.

    `request`: path, first_line, last_line (of the original), import_lines (by path).
    """
    node, around = outline.enclosing(request["first_line"], request["last_line"])
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    # A header may go on over lines that run at import: default values and annotations.
    body = max(node.lineno + 1, node.body[0].lineno)
    if any(body <= line <= node.end_lineno for line in request["import_lines"].get(request["path"], ())):
        raise Refusal("runs at import")
    live = functions.of(outline.path, first, node.name)
    if not live:
        raise Refusal("no live function")
    return node, around, live


def swap(functions: Functions, outline: Outline, request: dict[str, Any]) -> None:
    """Swap the code of the function around the request's lines. Raises Refusal, SyntaxError; then nothing is changed.

    `request`: as for `locate`, and text.
    """
    node, around, live = locate(functions, outline, request)
    new = _compiled(outline, request["text"], node, around, live[0].__code__)
    for function in live:
        _check(function.__code__, new)
        for inner in _nested(function.__code__):
            if any(each.__code__ is inner for each in functions.of(outline.path, inner.co_firstlineno, inner.co_name)):
                raise Refusal("an inner function is alive")
    for function in live:
        function.__code__ = new


def _compiled(outline: Outline, text: str, node: Any, around: list[ast.AST], old: CodeType) -> CodeType:
    """Compile the function alone, at its own lines, inside empty copies of what stands around it."""
    lines, first = LINE.findall(text), old.co_firstlineno
    last = node.end_lineno + len(lines) - len(outline.lines)
    opened = []  # lines that open blocks as deep as those around
    for outer in around:
        line: str = outline.lines[getattr(outer, "lineno", 1) - 1]
        margin = line[: len(line) - len(line.lstrip())]
        opened.append(margin + ("class " + outer.name if isinstance(outer, ast.ClassDef) else "if 1") + ":\n")
    blank = "\n" * (first - 1 - len(opened))
    segment = blank + "".join(opened) + "".join(lines[first - 1 : last])
    tree = ast.parse(segment)
    found = _only(tree, len(around), node)
    if ast.get_docstring(found, clean=False) != ast.get_docstring(node, clean=False):
        raise Refusal("docstring changed")
    code: CodeType = compile(tree, old.co_filename, "exec", flags=old.co_flags & FUTURES, dont_inherit=True)
    for inner in _nested(code):
        if inner.co_firstlineno == first and inner.co_name == node.name:
            return inner
    raise Refusal("code not found")


def _only(tree: ast.Module, depth: int, node: Any) -> Any:
    """Return the function, when it is all there is: a candidate that broke out of it is not for us. Raises Refusal."""
    body: list[ast.stmt] = tree.body
    for _ in range(depth):
        if len(body) != 1:
            raise Refusal("structure changed")
        body = body[0].body  # type: ignore[attr-defined]
    found: Any = body[0]
    if len(body) != 1 or type(found) is not type(node) or found.name != node.name:
        raise Refusal("structure changed")
    return found


def _nested(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _nested(constant)


def _check(old: CodeType, new: CodeType) -> None:
    """Raise Refusal unless both look the same to whoever inspected the function when it was made."""
    looks = [
        (code.co_freevars, code.co_flags & (KIND | FUTURES), code.co_argcount, code.co_kwonlyargcount)
        for code in (old, new)
    ]
    if looks[0] != looks[1]:
        raise Refusal("signature, kind or free variables changed")
