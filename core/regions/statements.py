"""Which lines of a file can run, and which statement each belongs to."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType


@dataclass(frozen=True, slots=True)
class StatementMap:
    """Lines (1-based) seen as statements.

    Attributes:
        first_line: line -> first line of the innermost statement, or clause with a header of its own, around it.
        executable: first lines of those that the compiler made code for (none for `global` or dead code), save those
            that are only a string, as some versions of Python run such a line and others do not.
        function_bodies: first and last line of every function's body.
    """

    first_line: dict[int, int]
    executable: frozenset[int]
    function_bodies: tuple[tuple[int, int], ...]

    def in_function(self, line: int) -> bool:
        """Whether the line stands inside a function, so that importing the module does not run it."""
        return any(first <= line <= last for first, last in self.function_bodies)


def map_statements(text: str) -> StatementMap:
    """The statements of a file that compiles. Raises SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
        code = compile(text, "<source>", "exec", dont_inherit=True)
    # Outer statements first, so that the inner ones write over them.
    extents = sorted(_extents(tree), key=lambda extent: (extent[0], -extent[1]))
    first_line: dict[int, int] = {}
    for first, last in extents:
        first_line.update(dict.fromkeys(range(first, last + 1), first))
    firsts = Counter(first for first, _ in extents)
    # A string that shares its line with another statement says nothing about whether that one runs.
    silent = {line for line in _strings(tree) if firsts[line] == 1}
    executable = {first_line[line] for line in _code_lines(code) if line in first_line} - silent
    return StatementMap(first_line, frozenset(executable), tuple(_function_bodies(tree)))


def _extents(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """First and last line of every statement, exception handler and case."""
    for node in ast.walk(tree):
        if isinstance(node, ast.match_case):
            yield node.pattern.lineno, node.body[-1].end_lineno or node.pattern.lineno
        elif isinstance(node, ast.stmt | ast.excepthandler):
            decorators: list[ast.expr] = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            yield first, node.end_lineno or first


def _code_lines(code: CodeType) -> Iterator[int]:
    """Every line some instruction is on, nested code included."""
    for _, _, line in code.co_lines():
        if line:
            yield line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_lines(constant)


def _strings(tree: ast.Module) -> Iterator[int]:
    """First lines of docstrings, and of strings used as comments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno


def _function_bodies(tree: ast.Module) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno + 1, node.end_lineno or node.lineno
