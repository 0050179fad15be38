"""The functions and methods of a Python file, with how complex they are (cosmetic variance, Sec. 2)."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate

from core.types import SourceFile, Span

BUCKET = 10
"""Brackets that one bucket of complexity spans, as in the paper's tables."""
_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.comprehension, ast.match_case)


@dataclass(frozen=True, slots=True)
class Function:
    """One function or method that stands in no other function.

    Attributes:
        name: with the classes around it, e.g. `Cart.total`.
        span: from its `def` to the end of its last statement; decorators are outside.
        body: its statements behind the docstring.
        docstring: the statement that is one; None where there is none.
        brackets: how many signs of `()[]{}` stand in its tokens: the paper's complexity.
        branches: McCabe's complexity: 1, and 1 for each way its course may fork.
    """

    name: str
    span: Span
    body: Span
    docstring: Span | None
    brackets: int
    branches: int

    @property
    def bucket(self) -> str:
        """Its bucket of complexity, e.g. `10-20`: from 10 on, below 20."""
        low = self.brackets // BUCKET * BUCKET
        return f"{low}-{low + BUCKET}"


def functions(file: SourceFile) -> list[Function]:
    """Every function of a file that does something in lines of its own; none where the file does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(file.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
    places = _Places(file.text)
    brackets = _brackets(file.text, places)
    found = []
    for name, node in _definitions(tree, ()):
        has_docstring = ast.get_docstring(node, clean=False) is not None
        statements = node.body[1:] if has_docstring else node.body
        idle = all(isinstance(each, ast.Pass) or _is_ellipsis(each) for each in statements)
        if idle or node.body[0].lineno == node.lineno:
            continue
        span = places.span(node)
        body = Span(min(places.start(each) for each in statements), span.end)
        if file.text[file.text.rfind("\n", 0, body.start) + 1 : body.start].strip():
            continue  # behind something else on its line
        found.append(
            Function(
                name,
                span,
                body,
                places.span(node.body[0]) if has_docstring else None,
                sum(span.start <= at < span.end for at in brackets),
                1 + sum(_forks(each) for each in ast.walk(node)),
            )
        )
    return found


def _definitions(node: ast.AST, around: tuple[str, ...]) -> Iterator[tuple[str, _Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            yield ".".join((*around, child.name)), child
        else:
            yield from _definitions(child, (*around, child.name) if isinstance(child, ast.ClassDef) else around)


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _forks(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return int(isinstance(node, _BRANCHES))


def _brackets(text: str, places: _Places) -> list[int]:
    """Where each bracket stands, those in strings and comments left out."""
    with suppress(tokenize.TokenError, SyntaxError):
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
        signs = [token.start for token in tokens if token.type == tokenize.OP and token.string in "()[]{}"]
        return [places.starts[line - 1] + column for line, column in signs]
    return []


class _Places:
    """Offsets of what `ast` gives as lines and columns in bytes."""

    def __init__(self, text: str) -> None:
        self._lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
        self.starts = [0, *accumulate(map(len, self._lines))]

    def span(self, node: ast.stmt) -> Span:
        return Span(self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 1, node.end_col_offset or 0))

    def start(self, node: ast.stmt) -> int:
        """With its decorators."""
        first = node.decorator_list[0] if isinstance(node, _Definition | ast.ClassDef) and node.decorator_list else node
        return self._at(first.lineno, first.col_offset - (first is not node))

    def _at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())
