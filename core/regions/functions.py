"""A project's own functions that say in a docstring what they do, with all that must be shown to ask for one."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rtc_inspector.core.syntax import AnyFunction, Lines, first_line_of, parsed
from rtc_inspector.core.types import SourceFile, Span


@dataclass(frozen=True, slots=True)
class Documented:
    """A function or method with a docstring and a body below it.

    Attributes:
        name: within its file, e.g. `Till.pay`; with the line where two are called the same.
        entry: the function's own name.
        owner: `self` or `cls` of a method; else empty.
        line: of its `def`.
        imports: the import statements of its file, as they stand.
        header: decorators and signature, at column 0.
        words: the docstring.
        body: what follows the docstring in the file, without the white space before its first line.
        indent: that white space.
    """

    path: str
    name: str
    entry: str
    owner: str
    line: int
    imports: str
    header: str
    words: str
    body: Span
    indent: str

    @property
    def key(self) -> str:
        """Unique in its project."""
        return f"{self.path}:{self.name}"


def documented(file: SourceFile) -> list[Documented]:
    """The functions of a file and the methods of its classes, in their order; none where it does not parse.

    Left out are functions inside functions, and those whose body is not written on lines of its own.
    """
    tree, lines = parsed(file.text) or ast.Module([], []), Lines(file.text)
    imports = "\n".join(
        _whole_lines(file.text, lines, node.lineno, node.end_lineno or node.lineno)
        for node in tree.body
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module != "__future__")
    )
    found: dict[str, Documented] = {}
    for node, within in _functions(tree.body, ""):
        each = _documented(file, node, within, lines)
        if each is not None:
            name = f"{each.name}:{each.line}" if each.name in found else each.name
            found[name] = replace(each, name=name, imports=imports)
    return list(found.values())


def _functions(body: list[ast.stmt], within: str) -> Iterator[tuple[AnyFunction, str]]:
    """Each with the names of the classes that it stands in."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{within}{node.name}.")
        elif isinstance(node, AnyFunction):
            yield node, within


def _documented(file: SourceFile, node: AnyFunction, within: str, lines: Lines) -> Documented | None:
    words = ast.get_docstring(node)
    if not words or len(node.body) < 2:
        return None
    quoted, following, last = node.body[0], node.body[1], node.body[-1]
    first, end = first_line_of(following), lines.end(last)
    line, _ = lines.bounds(first)
    start = line + len(file.text[line:]) - len(file.text[line:].lstrip(" \t\f"))
    before = file.text[lines.bounds(quoted.lineno)[0] : lines.start(quoted)]
    if before.strip() or first <= (quoted.end_lineno or 0):
        return None
    header = _whole_lines(file.text, lines, first_line_of(node), quoted.lineno - 1)
    arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    return Documented(
        path=file.path,
        name=within + node.name,
        entry=node.name,
        owner=arguments[0] if within and arguments[:1] in (["self"], ["cls"]) else "",
        line=node.lineno,
        imports="",
        header=textwrap.dedent(header),
        words=inspect.cleandoc(words),
        body=Span(start, end),
        indent=file.text[line:start],
    )


def _whole_lines(text: str, lines: Lines, first: int, last: int) -> str:
    """With the line ends that Python reads them with."""
    start, end = lines.bounds(first)[0], lines.bounds(last)[1]
    return text[start:end].replace("\r\n", "\n").replace("\r", "\n")
