"""What rewrites work on: a project's files, parsed once with what each name means, and edits that can be traced back.

A rewrite never prints a syntax tree: it replaces a few stretches of the text, so all else stays as it was written, and
every token of the original can be found again in what came out (`Rewritten.place`).
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import libcst as cst
from libcst import metadata

from rtc_inspector.core import syntax
from rtc_inspector.core.types import Span

TREES_KEPT = 16  # a tree with its metadata takes a few hundred times the room of its text
_WORD = re.compile(r"\w+")
_DOCTEST_KEYWORD = re.compile(r"[(,]\s*(\w+)\s*=(?!=)")
Node = TypeVar("Node", bound=cst.CSTNode)


# --------------------------------------------------------------------------- what comes out


class Refused(Exception):
    """Why a transformation leaves a function as it is: it does not apply, or it could change the meaning."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of a file replaced by `text`.

    `source`: which stretch of the original stands here now: another one for code that was moved, the same one for a
    name that was renamed; None for what is new.
    """

    span: Span
    text: str
    source: Span | None = None


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten function: the edits of every file that had to follow, in order, and variables renamed, old to new."""

    edits: Mapping[str, tuple[Edit, ...]]
    renamed: Mapping[str, str] = field(default_factory=dict)

    def text(self, path: str, original: str) -> str:
        parts, at = list[str](), 0
        for edit in self.edits.get(path, ()):
            parts += original[at : edit.span.start], edit.text
            at = edit.span.end
        return "".join([*parts, original[at:]])

    def place(self, path: str, offset: int) -> int | None:
        """Return where the token that begins at `offset` of the original begins now, or None where it is gone."""
        # Code that was moved stands inside an edit whose `source` covers it; its old place is inside another edit. So
        # a covering source decides, and only without one does standing inside an edit mean that the token is gone.
        moved = 0
        gone = False
        for edit in self.edits.get(path, ()):
            if edit.source is not None and edit.source.start <= offset < edit.source.end:
                before = sum(_growth(other) for other in self.edits[path] if other.span.end <= edit.span.start)
                return edit.span.start + before + offset - edit.source.start
            gone |= edit.span.start <= offset < edit.span.end
            moved += _growth(edit) if edit.span.end <= offset else 0
        return None if gone else offset + moved


def _growth(edit: Edit) -> int:
    return len(edit.text) - len(edit.span)


# --------------------------------------------------------------------------- what goes in


class Parsed:
    """One file: its concrete syntax tree, where each node stands, and what each name means."""

    def __init__(self, text: str) -> None:
        """Parse. Raises libcst.ParserSyntaxError."""
        self.text = text
        self.module = cst.parse_module(text)
        providers = (
            metadata.ByteSpanPositionProvider,
            metadata.ScopeProvider,
            metadata.ParentNodeProvider,
        )
        # Without the copy, which takes as long as parsing: no node stands twice in a tree that was just parsed. Places
        # in bytes: counted from lines they would be wrong behind a form feed, where only `str.splitlines` ends a line.
        found: Any = metadata.MetadataWrapper(self.module, unsafe_skip_copy=True).resolve_many(providers)
        self._positions = found[metadata.ByteSpanPositionProvider]
        self._scopes = found[metadata.ScopeProvider]
        self._parents = found[metadata.ParentNodeProvider]
        self._bytes = None if text.isascii() else text.encode()
        self._children: dict[cst.CSTNode, list[cst.CSTNode]] = {}
        for child, parent in self._parents.items():  # of one parent in the order of the source
            self._children.setdefault(parent, []).append(child)

    def span(self, node: cst.CSTNode) -> Span:
        """Return where a node stands, in characters; a statement without its decorators, comments and line end."""
        at = self._positions[node]
        start, end = at.start, at.start + at.length
        if self._bytes is None:
            return Span(start, end)
        first = len(self._bytes[:start].decode())
        return Span(first, first + len(self._bytes[start:end].decode()))

    def indentation(self, at: int) -> str:
        """Return the white space before an offset on its line. Raises Refused where more stands there."""
        before = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        if before.strip():
            raise Refused("its statements share lines")
        return before

    @property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def scope(self, node: cst.CSTNode) -> metadata.Scope | None:
        found: metadata.Scope | None = self._scopes.get(node)
        return found

    def meanings(self, node: cst.CSTNode) -> set[metadata.QualifiedName]:
        """Return what a name or attribute may stand for, as far as its file tells."""
        # Of the few nodes that are asked for: QualifiedNameProvider visits every node, a third of the time of parsing.
        scope = self.scope(node)
        return set() if scope is None else set(scope.get_qualified_names_for(node))

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes that a node stands in, the nearest first and the module last."""
        while (found := self._parents.get(node)) is not None:
            yield found
            node = found

    def children(self, node: cst.CSTNode) -> Sequence[cst.CSTNode]:
        return self._children.get(node, ())

    def inside(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the node itself and all that stands in it, in the order of the source."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(self._children.get(node, ()))

    def every(self, node: cst.CSTNode, kind: type[Node]) -> Iterator[Node]:
        return (each for each in self.inside(node) if isinstance(each, kind))

    @cached_property
    def functions(self) -> Mapping[int, cst.FunctionDef]:
        """The functions by the offset at which their `def`, or `async def`, begins."""
        return {self.span(node).start: node for node in self.every(self.module, cst.FunctionDef)}

    @cached_property
    def names(self) -> Mapping[str, Sequence[cst.Name]]:
        """Every place where a word stands as a name, by the word."""
        found: dict[str, list[cst.Name]] = {}
        for node in self.every(self.module, cst.Name):
            found.setdefault(node.value, []).append(node)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the file, in code, texts and comments: a name that is not among them is free everywhere."""
        return frozenset(_WORD.findall(self.text))


def blocks(parsed: Parsed, function: cst.FunctionDef) -> Iterator[Sequence[cst.BaseStatement]]:
    """Yield the statements of each indented block of a function, functions and classes inside it left out."""
    waiting: list[cst.CSTNode] = [function.body]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, cst.IndentedBlock):
            yield node.body
        if not isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            waiting += parsed.children(node)


def docstring(function: cst.FunctionDef) -> cst.SimpleStatementLine | None:
    """Return the statement that is a function's docstring."""
    first = function.body.body[0] if isinstance(function.body, cst.IndentedBlock) else None
    return first if isinstance(first, cst.SimpleStatementLine) and is_text(first) else None


def is_text(line: cst.SimpleStatementLine) -> bool:
    """Return whether a statement is nothing but a string, as a docstring is."""
    only = line.body[0]
    texts = cst.SimpleString | cst.ConcatenatedString
    return len(line.body) == 1 and isinstance(only, cst.Expr) and isinstance(only.value, texts)


class Program:
    """The Python files of a project, or a single one."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.parsed = lru_cache(TREES_KEPT)(self._parse)

    def _parse(self, path: str) -> Parsed | None:
        """Return one file; None when it cannot be parsed, or not be located exactly."""
        try:
            parsed = Parsed(self.files[path])
        except (cst.ParserSyntaxError, RecursionError):
            return None
        # What libcst does not give back character by character, e.g. a byte order mark, stands elsewhere in its tree.
        return parsed if parsed.module.code == parsed.text else None

    def function(self, path: str, start: int) -> tuple[Parsed, cst.FunctionDef]:
        """Return a file and the function in it whose `def` begins at `start`. Raises Refused."""
        parsed = self.parsed(path)
        function = parsed.functions.get(start) if parsed else None
        if parsed is None or function is None:
            raise Refused("its file cannot be parsed exactly")
        return parsed, function

    def mentioning(self, word: str) -> list[str]:
        """Return paths of the files that hold a word, in code, texts or comments."""
        pattern = re.compile(rf"\b{re.escape(word)}\b")
        return [path for path, text in self.files.items() if pattern.search(text)]

    @cached_property
    def passed_by_keyword(self) -> frozenset[str]:
        """Every name that any call gives an argument by, doctests included, and every string that may be one."""
        found = set[str]()
        for text in self.files.values():
            for node in ast.walk(syntax.parsed(text) or ast.Module([], [])):
                if isinstance(node, ast.keyword) and node.arg:
                    found.add(node.arg)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    if node.value.isidentifier():  # a key of what is passed by `**`, say
                        found.add(node.value)
                    for line in node.value.splitlines():
                        if line.lstrip().startswith((">>>", "...")):
                            found.update(_DOCTEST_KEYWORD.findall(line))
        return frozenset(found)
