"""Files and pieces of code as trees of statements: Python's by `ast`, every other language's by its grammar."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate

import tree_sitter

from rtc_inspector.core.languages.language import Language
from rtc_inspector.core.syntax import Lines, blocks_of, first_line_of, parsed
from rtc_inspector.core.types import Span

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """One statement, with the blocks in it that are in no other block."""

    span: Span  # what belongs to it in front, such as decorators, included
    # `first`, `last`: its lines, from 1
    first: int
    last: int
    line: int  # on which it begins itself, behind what belongs to it
    imports: bool  # whether it is an import
    sampled: bool  # whether a region may hold it
    blocks: tuple[Block, ...]
    meaning: Callable[[], str]  # returns a text that is the same for statements that differ in their layout alone


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Statements that stand together."""

    head: str  # tells the block from others beside it: the name of its function or class, else its condition
    name: str  # of the function or class whose it is; empty for others
    body: bool  # whether it holds the definitions of a class or module
    statements: tuple[Statement, ...]

    def every(self) -> Iterator[Block]:
        """Yield this block and all those in it, inner ones first."""
        for statement in self.statements:
            for block in statement.blocks:
                yield from block.every()
        yield self


def statements(text: str, language: Language) -> Block | None:
    """Return a file as its outermost block, or None where it does not parse."""
    return _read(text, language, "", "")


def fragment(text: str, language: Language) -> Block | None:
    """Return a piece of a file as a block, or None where it parses neither by itself nor inside a function or class."""
    readings = (_read(text, language, before, after) for before, after in language.wrappers)
    return next((block for block in readings if block is not None), None)


def reads(text: str, language: Language, whole: bool = False) -> bool:
    """Return whether a piece of code parses; `whole`: it must be a file of its own."""
    if language.grammar is None:
        return parsed(text) is not None
    return (statements if whole else fragment)(text, language) is not None


def first_error(text: str, language: Language) -> int | None:
    """Return the line, from 1, of the first error that the grammar finds in a file; None where it finds none."""
    node = _parse(text.encode("utf-8", "replace"), language)
    if not node.has_error:
        return None
    while (inner := next((each for each in node.children if each.has_error or each.is_missing), None)) is not None:
        node = inner
    return int(node.start_point.row) + 1


def frozen_lines(text: str, language: Language) -> frozenset[int]:
    """Return the lines, from 0, that begin inside a string, whatever else of the text parses."""
    found: set[int] = set()
    waiting = [_parse(text.encode("utf-8", "replace"), language)]
    while waiting:
        node = waiting.pop()
        if node.type in language.strings:
            found.update(range(node.start_point.row + 1, node.end_point.row + 1))
        elif node.start_point.row != node.end_point.row:
            waiting += node.children
    return frozenset(found)


def _parse(data: bytes, language: Language) -> tree_sitter.Node:
    return tree_sitter.Parser(_grammar(language)).parse(data).root_node


@cache
def _grammar(language: Language) -> tree_sitter.Language:
    assert language.grammar is not None
    return tree_sitter.Language(language.grammar())


@lru_cache(maxsize=64)
def _read(text: str, language: Language, before: str, after: str) -> Block | None:
    """Return the block that stands between `before` and `after` in the text of all three."""
    try:
        if language.grammar is None:
            tree = parsed(text)
            return None if tree is None else _Python(text).block(tree.body)
        return _Grown(text, language, before, after).whole()
    except RecursionError:
        return None


class _Grown:
    """The reading of one text by a grammar."""

    def __init__(self, text: str, language: Language, before: str, after: str) -> None:
        self._language = language
        self._text = f"{before}{text}{after}"
        self._begin = len(before)
        self._data = self._text.encode("utf-8", "replace")
        ascii_only = len(self._data) == len(self._text)
        # How many characters begin before each byte.
        self._characters: Sequence[int] = (
            range(len(self._data) + 1)
            if ascii_only
            else [*accumulate((byte & 0xC0 != 0x80 for byte in self._data), initial=0)]
        )
        self._lines = Lines(text)

    def whole(self) -> Block | None:
        root = _parse(self._data, self._language)
        if root.has_error:
            return None
        block = self._block(root, "", "", True, self._language.at_top)
        if not self._begin:
            return block
        holder = block.statements[-1]
        # Text that closes what was opened before it is no piece of it.
        within = holder.span.start < 0 and holder.span.end == len(self._text) - self._begin
        if not within:
            return None
        return holder.blocks[0] if holder.blocks else Block("", "", False, ())

    def _block(self, node: tree_sitter.Node, head: str, name: str, body: bool, sampled: frozenset[str] | bool) -> Block:
        """`sampled`: the kinds of statements that a region may hold; True for all, False for none."""
        found: list[Statement] = []
        begin: int | None = None
        for index, child in enumerate(node.named_children):
            if child.type in self._language.comments or node.field_name_for_named_child(index) == "value":
                continue
            begin = self._at(child.start_byte) if begin is None else begin
            if child.type not in self._language.prefixes:
                found.append(self._statement(child, begin, sampled))
                begin = None
        return Block(head, name, body, tuple(found))

    def _statement(self, node: tree_sitter.Node, begin: int, sampled: frozenset[str] | bool) -> Statement:
        start, end = self._at(node.start_byte), self._at(node.end_byte)
        text = self._text[begin + self._begin : end + self._begin].rstrip()
        end = begin + len(text)
        tests = bool(self._language.test_code) and re.match(self._language.test_code, text) is not None
        return Statement(
            span=Span(begin, end),
            first=self._lines.number(begin),
            last=self._lines.number(max(begin, end - 1)),
            line=self._lines.number(start),
            imports=node.type in self._language.imports,
            sampled=sampled if isinstance(sampled, bool) else node.type in sampled,
            blocks=tuple(self._blocks(node, begin, sampled is not False and not tests)),
            meaning=lambda: _plain(text),
        )

    def _blocks(self, statement: tree_sitter.Node, begin: int, sampled: bool) -> Iterator[Block]:
        language, last = self._language, ""
        waiting = [(statement, "")]
        while waiting:
            node, name = waiting.pop()
            if node.type in language.scopes:
                named = node.child_by_field_name("name") or node.child_by_field_name("type")
                name = named.text.decode() if named is not None and named.text is not None else name
            body = node.type in language.bodies
            if not body and node.type not in language.blocks:
                waiting += [(child, name) for child in reversed(node.named_children)]
                continue
            start, end = self._at(node.start_byte), self._at(node.end_byte)
            own = _plain(self._text[begin + self._begin : start + self._begin]).lstrip("};,)")
            begin = end
            # `else` and the like say nothing without what stands before them.
            last = f"scope {name}" if name else own if "(" in own else f"{last} {own}"
            inner: frozenset[str] | bool = (frozenset() if body else True) if sampled else False
            yield self._block(node, last, name, body, inner)

    def _at(self, byte: int) -> int:
        return self._characters[byte] - self._begin


class _Python:
    """The reading of one text by `ast`."""

    def __init__(self, text: str) -> None:
        self._lines = Lines(text)

    def block(self, body: Sequence[ast.stmt], head: str = "", name: str = "", definitions: bool = True) -> Block:
        return Block(head, name, definitions, tuple(map(self._statement, body)))

    def _statement(self, node: ast.stmt) -> Statement:
        first, last = first_line_of(node), node.end_lineno or node.lineno
        decorated = first < node.lineno
        start = self._lines.bounds(first)[0] + node.col_offset if decorated else self._lines.start(node)
        name = node.name if isinstance(node, Scope) else ""
        head = f"scope {name}" if name else _header(node)
        return Statement(
            span=Span(start, self._lines.end(node)),
            first=first,
            last=last,
            line=node.lineno,
            imports=isinstance(node, ast.Import | ast.ImportFrom),
            sampled=True,
            blocks=tuple(
                self.block(block, f"{head} {index}", name, isinstance(node, ast.ClassDef))
                for index, block in enumerate(blocks_of(node))
            ),
            meaning=lambda: ast.dump(node),
        )


def _header(statement: ast.stmt) -> str:
    """Return a text that tells one compound statement from another: its kind and its condition."""
    parts = [getattr(statement, name, None) for name in ("test", "target", "iter", "items", "subject")]
    flat = [p for part in parts if part is not None for p in (part if isinstance(part, list) else [part])]
    return " ".join([type(statement).__name__, *(ast.dump(p) for p in flat)])


def _plain(text: str) -> str:
    return "".join(text.split())
