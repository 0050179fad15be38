"""The functions and methods of a Python file, with how complex they are (cosmetic variance, Sec. 2)."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from rtc_inspector.core.syntax import AnyFunction, Lines, parsed
from rtc_inspector.core.types import SourceFile, Span

BUCKET = 10
"""Brackets that one bucket of complexity spans, as in the paper's tables."""
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
        """Return the function's bucket of complexity, e.g. `10-20`: from 10 on, below 20."""
        low = self.brackets // BUCKET * BUCKET
        return f"{low}-{low + BUCKET}"


def functions(file: SourceFile) -> list[Function]:
    """Return the functions of a file that do something in lines of their own; none where the file does not parse."""
    tree, lines = parsed(file.text) or ast.Module([], []), Lines(file.text)
    brackets = _brackets(file.text, lines)
    found = []
    for name, node in _definitions(tree, ()):
        has_docstring = ast.get_docstring(node, clean=False) is not None
        statements = node.body[1:] if has_docstring else node.body
        idle = all(isinstance(each, ast.Pass) or _is_ellipsis(each) for each in statements)
        if idle or node.body[0].lineno == node.lineno:
            continue
        span = lines.span(node)
        body = Span(min(_start(each, lines) for each in statements), span.end)
        if file.text[file.text.rfind("\n", 0, body.start) + 1 : body.start].strip():
            continue  # behind something else on its line
        found.append(
            Function(
                name,
                span,
                body,
                lines.span(node.body[0]) if has_docstring else None,
                sum(span.start <= at < span.end for at in brackets),
                1 + sum(_forks(each) for each in ast.walk(node)),
            )
        )
    return found


def _definitions(node: ast.AST, around: tuple[str, ...]) -> Iterator[tuple[str, AnyFunction]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, AnyFunction):
            yield ".".join((*around, child.name)), child
        else:
            yield from _definitions(child, (*around, child.name) if isinstance(child, ast.ClassDef) else around)


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _forks(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return int(isinstance(node, _BRANCHES))


def _brackets(text: str, lines: Lines) -> list[int]:
    """Return the index of each bracket outside strings and comments; none where the text is no Python."""
    with suppress(tokenize.TokenError, SyntaxError):
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
        signs = [token.start for token in tokens if token.type == tokenize.OP and token.string in "()[]{}"]
        return [lines.bounds(line)[0] + column for line, column in signs]
    return []


def _start(node: ast.stmt, lines: Lines) -> int:
    """Return the index at which a statement begins, with its decorators and their sign."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return lines.start(decorators[0]) - 1 if decorators else lines.start(node)
