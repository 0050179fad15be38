"""The blocks of a file and where their statements stand.

LibCST's concrete syntax tree says what a block is and what one statement of it is. Python's own `ast` says where they
stand: both list the same statements in the same order. LibCST could locate them too, by writing the file anew; that
takes twice the time, and is off by the characters it loses (it writes `except (A, B) :` without the blank).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.syntax import Lines, parse
from rtc_inspector.core.types import SourceFile, Span

_SEMICOLON = re.compile(r"(?:[ \t\f]|\\(?:\r\n|\r|\n))*;")
_CLAUSES = ("body", "cases", "handlers", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Block:
    """The statements of one indented block, or of the module, in order.

    Attributes:
        statements: a span each, decorators and a closing semicolon included.
        docstring: the first statement is the docstring of the module, class or function.
        indented: below a header that needs it; False for the module.
    """

    statements: tuple[Span, ...]
    docstring: bool
    indented: bool


@lru_cache(maxsize=32)
def parse_blocks(file: SourceFile) -> tuple[Block, ...]:
    """Every block with at least one statement, inner before outer; kept for the files last asked about.

    Statements behind a colon on the same line (`if x: return`) are part of their compound statement, not a block.
    Raises ProjectError for a file whose statements cannot be located.
    """
    try:
        walk = _Walk(file.text)  # first, as Python's parser gives up on deep nesting long before LibCST's
        tree = cst.parse_module(file.text)
        walk.block(tree, tree.body)
    except (cst.ParserSyntaxError, cst.CSTValidationError, SyntaxError, RecursionError, _Mismatch) as error:
        raise ProjectError(
            f"The statements of {file.path} cannot be located, so no region is taken from it.",
            "Leave it at that, or put its unusual syntax in plainer words.",
        ) from error
    return tuple(walk.blocks)


class _Mismatch(Exception):
    """The two trees do not list the same statements."""


class _Walk:
    """One pass over LibCST's tree in the order of the text, with `ast`'s statements taken one by one alongside."""

    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = []
        self._text = text
        self._lines = Lines(text)
        nodes = [node for node in ast.walk(parse(text)) if isinstance(node, ast.stmt)]
        self._nodes = iter(sorted(nodes, key=lambda node: (node.lineno, node.col_offset)))

    def block(self, owner: cst.CSTNode, body: Sequence[cst.BaseStatement]) -> None:
        """Collect the block that `owner` holds, after those below it."""
        spans = tuple(self._statement(statement) for statement in body)
        if isinstance(owner, cst.Module) and next(self._nodes, None) is not None:
            raise _Mismatch
        if spans:
            documented = isinstance(owner, cst.Module | cst.ClassDef | cst.FunctionDef) and _is_string(body[0])
            self.blocks.append(Block(spans, documented, not isinstance(owner, cst.Module)))

    def _statement(self, statement: cst.BaseStatement) -> Span:
        if isinstance(statement, cst.SimpleStatementLine):
            nodes = [self._next() for _ in statement.body]
            return self._span(nodes[0], nodes[-1])
        node = self._next()
        self._below(statement)
        return self._span(node, node)

    def _below(self, node: cst.CSTNode) -> None:
        """Go into the suites of a compound statement, or of one of its clauses."""
        for part in _parts(node):
            if isinstance(part, cst.IndentedBlock):
                self.block(node, part.body)
            elif isinstance(part, cst.SimpleStatementSuite):
                for _ in part.body:
                    self._next()
            elif isinstance(part, cst.If):  # an `elif`
                self._next()
                self._below(part)
            else:
                self._below(part)

    def _next(self) -> ast.stmt:
        node = next(self._nodes, None)
        if node is None:
            raise _Mismatch
        return node

    def _span(self, first: ast.stmt, last: ast.stmt) -> Span:
        decorators: list[ast.expr] = getattr(first, "decorator_list", [])
        start = self._at_sign(self._lines.start(decorators[0])) if decorators else self._lines.start(first)
        end = self._lines.end(last)
        semicolon = _SEMICOLON.match(self._text, end)
        return Span(start, semicolon.end() if semicolon else end)

    def _at_sign(self, before: int) -> int:
        """Return where a decorator starts whose expression starts at `before`.

        It is the `@` that is the first on its line.
        """
        while True:
            # The expression of a decorator may itself hold an `@` (matrix product), so the sign must be the first on
            # its line.
            before = self._text.rindex("@", 0, before)
            start, _ = self._lines.bounds(self._lines.number(before))
            if not self._text[start:before].strip():
                return before


def _parts(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Suites and clauses of a node, in the order of the text."""
    for name in _CLAUSES:
        part = getattr(node, name, None)
        if isinstance(part, cst.CSTNode):
            yield part
        elif part is not None:
            yield from part


def _is_string(statement: cst.BaseStatement) -> bool:
    """Return whether a statement begins with nothing but a string: no bytes, no f-string."""
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    if not isinstance(first, cst.Expr) or not isinstance(first.value, cst.SimpleString | cst.ConcatenatedString):
        return False
    return isinstance(first.value.evaluated_value, str)
