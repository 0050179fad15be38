"""The functions of a Python file: how complex they are (cosmetic variance, Sec. 2), and what they say they do."""

import ast
import inspect
import io
import textwrap
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from rtc_inspector.core.syntax import AnyFunction, Lines, first_line_of, parsed
from rtc_inspector.core.types import SourceFile, Span

BUCKET = 10  # brackets that one bucket of complexity spans, as in the paper's tables
_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.comprehension, ast.match_case)


@dataclass(frozen=True, slots=True)
class Function:
    """One function or method that stands in no other function."""

    name: str  # with the classes around it, e.g. `Cart.total`
    span: Span  # from its `def` to the end of its last statement; decorators are outside
    body: Span  # its statements behind the docstring
    docstring: Span | None  # the statement that is one; None where there is none
    brackets: int  # how many signs of `()[]{}` stand in its tokens: the paper's complexity
    branches: int  # McCabe's complexity: 1, and 1 for each way its course may fork

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
        idle = all(isinstance(each, ast.Pass) or ast.unparse(each) == "..." for each in statements)
        if idle or node.body[0].lineno == node.lineno:
            continue
        span = lines.span(node)
        body = Span(min(_start(each, lines) for each in statements), span.end)
        if file.text[file.text.rfind("\n", 0, body.start) + 1 : body.start].strip():
            continue  # behind something else on its line
        nodes = ast.walk(node)
        found.append(
            Function(
                name,
                span,
                body,
                lines.span(node.body[0]) if has_docstring else None,
                sum(span.start <= at < span.end for at in brackets),
                1 + sum(len(n.values) - 1 if isinstance(n, ast.BoolOp) else isinstance(n, _BRANCHES) for n in nodes),
            )
        )
    return found


def _definitions(node: ast.AST, around: tuple[str, ...]) -> Iterator[tuple[str, AnyFunction]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, AnyFunction):
            yield ".".join((*around, child.name)), child
        else:
            yield from _definitions(child, (*around, child.name) if isinstance(child, ast.ClassDef) else around)


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


@dataclass(frozen=True, slots=True)
class Documented:
    """A function or method with a docstring and a body below it."""

    path: str
    name: str  # within its file, e.g. `Till.pay`; with the line where two are called the same
    entry: str  # the function's own name
    owner: str  # `self` or `cls` of a method; else empty
    line: int  # of its `def`
    imports: str  # the import statements of its file, as they stand
    header: str  # decorators and signature, at column 0
    words: str  # the docstring
    body: Span  # what follows the docstring in the file, without the white space before its first line
    indent: str  # that white space

    @property
    def key(self) -> str:
        return f"{self.path}:{self.name}"


def documented(file: SourceFile) -> list[Documented]:
    """Return the functions of a file and the methods of its classes, in their order; none where it does not parse.

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
    start, end = lines.bounds(first)[0], lines.bounds(last)[1]
    return text[start:end].replace("\r\n", "\n").replace("\r", "\n")
