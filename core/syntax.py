"""Python source as a syntax tree, and where its parts stand in the text."""

import ast
import re
import threading
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import TypeGuard

from rtc_inspector.core.types import Span

NEWLINE = re.compile(r"\r\n|\r|\n")  # str.splitlines knows more, such as the form feed
AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the parser raises: for wrong syntax, a null byte, deep nesting."""
_ONE_AT_A_TIME = threading.Lock()


def parse(source: str) -> ast.Module:
    """Return the syntax tree, without a warning of escapes like "\\d" and the like. Raises UNREADABLE."""
    # Python 3.11 counts the depth of trees of all threads together, and fails when two parse at a time; filters of
    # warnings are shared by threads, too.
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def compiled(source: str) -> CodeType:
    """Return what a module compiles to, likewise. Raises UNREADABLE."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source, "<source>", "exec", dont_inherit=True)


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree; None where Python cannot read the source."""
    try:
        return parse(source)
    except UNREADABLE:
        return None


def first_line_of(node: ast.stmt | ast.excepthandler) -> int:
    """Return the line on which a statement begins, decorators included; from 1."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def is_bare_text(node: ast.AST) -> TypeGuard[ast.Expr]:
    """Return whether a statement is a string and nothing else, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def blocks_of(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a compound statement or a module, in the order of the text."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        part = getattr(statement, name, None)
        if isinstance(part, list) and part:
            yield from ([part] if isinstance(part[0], ast.stmt) else (clause.body for clause in part))


def indent_of(line: str) -> str:
    """Return the white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def shared_indent(lines: Iterable[str]) -> str:
    """Return the white space that all of these lines begin with, blank ones left out."""
    indents = [indent_of(line) for line in lines if line.strip()]
    low, high = min(indents, default=""), max(indents, default="")
    return next((low[:at] for at, sign in enumerate(low) if high[at : at + 1] != sign), low)


class Lines:
    """Turns offsets of characters into lines as Python and LibCST count them, from 1, and back."""

    def __init__(self, text: str) -> None:
        newlines = [match.span() for match in NEWLINE.finditer(text)]
        self._text = text
        self._starts = [0, *(end for _, end in newlines)]
        self._ends = [*(start for start, _ in newlines), len(text)]
        self._ascii = text.isascii()

    def number(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def bounds(self, number: int) -> tuple[int, int]:
        """Offsets where a line starts and ends, its newline left out."""
        return self._starts[number - 1], self._ends[number - 1]

    def offset(self, number: int, column: int) -> int:
        """Return the offset of a place given as `ast` gives it: `column` counts bytes of UTF-8."""
        start, end = self.bounds(number)
        if self._ascii:
            return start + column
        return start + len(self._text[start:end].encode()[:column].decode())

    def start(self, node: ast.stmt | ast.expr) -> int:
        """Return the offset of a node's first character, decorators left out."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.stmt | ast.expr) -> int:
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def span(self, node: ast.stmt) -> Span:
        return Span(self.start(node), self.end(node))


def around(text: str, line: int) -> str:
    """Return the signature and docstring of the function around a line, below the line of its class; empty for none."""
    tree, lines, found = parsed(text), NEWLINE.split(text), ""
    body: list[ast.stmt] = tree.body if tree is not None else []
    above: list[str] = []
    while inside := next((each for each in body if each.lineno <= line <= (each.end_lineno or 0)), None):
        body = [statement for block in blocks_of(inside) for statement in block]
        if isinstance(inside, ast.ClassDef):
            above.append(lines[inside.lineno - 1])
        elif isinstance(inside, AnyFunction) and inside.body:
            first = inside.body[0]
            words = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            last = (first.end_lineno or first.lineno) if words else max(inside.lineno, first.lineno - 1)
            found = "\n".join([*above, *lines[inside.lineno - 1 : last]])
    return found
