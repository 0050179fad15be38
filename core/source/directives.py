"""Directives: what people ask for in words, with the head of the function and its tests where there are some.

A file of them is a JSONL of objects, plain text with a directive on each line, or a benchmark file, whose docstrings
are directives. Nothing of a file runs here, and a bad one is refused with every bad line named.
"""

import ast
import gzip
import hashlib
import re
import textwrap
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.source import json_lines
from rtc_inspector.core.source.benchmark import is_benchmark, read_benchmark, with_docstring
from rtc_inspector.core.syntax import AnyFunction, Lines, first_line_of, parse
from rtc_inspector.core.types import Problem, Span

FIELD = "directive"
_REMEDY = (
    "Name a file of directives: JSONL with `directive` in each object, plain text with one a line, or a benchmark."
)
_EXAMPLES = re.compile(r"(?im)^[ \t]*(?:>>>|(?:for )?examples?\b[^\n]{0,40}:?[ \t]*$)")
_HOLE = "pass"
_BEGINNING = 1 << 16  # bytes in which a file's first directive stands


@dataclass(frozen=True, slots=True)
class Directive:
    """One thing that a person asked for."""

    key: str  # its name in the file; unique there
    words: str  # the directive
    # the program with its body, a single `pass` where nobody gave a reference. Its `entry` is empty where no head of
    # the function was given: then the whole program is to be written
    problem: Problem
    header: str  # the lines of the function above its body, decorators included; empty as above
    tested: bool  # whether tests came with it
    solved: bool  # whether a reference came with it, which has to pass those tests


@dataclass(frozen=True, slots=True)
class Directives:
    """A file of directives. `fingerprint`: SHA-256 of its bytes."""

    name: str
    fingerprint: str
    every: tuple[Directive, ...]


def holds_directives(path: Path) -> bool:
    """Return whether a file is one of directives, maybe a bad one, and no benchmark, by its name and its beginning."""
    if path.suffix.lower() == ".txt":
        return path.is_file()
    if not is_benchmark(path) or not path.is_file():
        return False
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            return f'"{FIELD}"'.encode() in file.read(_BEGINNING)
    except (OSError, EOFError, zlib.error):
        return False


def read_directives(path: Path) -> Directives:
    """Return every directive of the file. Raises ProjectError that names each bad line (the first 20)."""
    name = path.name.split(".")[0]
    if not is_benchmark(path):
        return _read_text(path, name)
    data, rows = json_lines.read_rows(path, _REMEDY)
    digest = hashlib.sha256(data).hexdigest()
    if rows and not any(isinstance(row, dict) and FIELD in row for _, row in rows):
        every = []
        for problem in read_benchmark(path).problems:
            # Without examples: what a function is to do, not what it gives.
            words = without_examples(problem.words, problem.entry)
            nodes = (node for node in parse(problem.program).body if isinstance(node, AnyFunction))
            *_, node = (node for node in nodes if node.name == problem.entry)
            start, _ = Lines(problem.program).bounds(first_line_of(node))
            header = problem.program[start : problem.body.start].rstrip()
            every.append(Directive(problem.key, words, problem, header, tested=True, solved=True))
        return Directives(name, digest, tuple(every))
    found = json_lines.read_each(path, rows, _of_row, lambda directive: directive.key, "id")
    return Directives(name, digest, _some(path, found))


def by_hand(words: str, header: str = "", tests: str = "") -> Directives:
    """Return the one directive that a person wrote down instead of a file. Raises ProjectError."""
    try:
        row = {"id": "by hand", FIELD: words, "header": header, "tests": tests}
        # Separated, so that words moved from one of the three to another make another directive.
        digest = hashlib.sha256("\x1f".join((words, header, tests)).encode("utf-8", "surrogatepass")).hexdigest()
        return Directives("by hand", digest, (_of_row(1, row),))
    except json_lines.BadLine as error:
        raise ProjectError(f"What was written cannot be used: {error}.", "Mend it, then try again.") from None


def _some(path: Path, found: Sequence[Directive]) -> tuple[Directive, ...]:
    if not found:
        raise ProjectError(f"{path} holds no directive.", _REMEDY)
    return tuple(found)


def _read_text(path: Path, name: str) -> Directives:
    data = json_lines.read_bytes(path, _REMEDY)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProjectError(f"{path} is not UTF-8 text (byte {error.start + 1}).", _REMEDY) from None
    if "\0" in text:
        raise ProjectError(f"{path} is no text: it holds NUL bytes.", _REMEDY)
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    found = [_of_row(number, {FIELD: line}) for number, line in lines if line]
    return Directives(name, hashlib.sha256(data).hexdigest(), _some(path, found))


def _of_row(number: int, row: json_lines.Row) -> Directive:
    words = json_lines.text_of(row, FIELD).strip()
    if not words:
        raise json_lines.BadLine("`directive` is empty")
    if "\0" in words:
        raise json_lines.BadLine("`directive` holds a NUL character")
    prelude, header = (json_lines.text_of(row, name, "").strip("\n") for name in ("prelude", "header"))
    json_lines.python_tree("prelude", prelude)
    function = _function(header) if header.strip() else None
    test, asserts = _tests(row)
    if (test or asserts) and function is None:
        raise json_lines.BadLine("has `tests` but no `header`: the tests would not know which function they call")
    reference = json_lines.text_of(row, "reference", "") if function is not None else ""
    problem = _problem(number, words, prelude, header, function.name if function is not None else "", reference)
    if reference:
        json_lines.python_tree("reference", problem.program)
    problem = replace(problem, key=_key(number, row), test=test, asserts=asserts)
    return Directive(problem.key, words, problem, header, bool(test or asserts), bool(reference.strip()))


def _key(number: int, row: json_lines.Row) -> str:
    value = row.get("id")
    if value is None:
        return f"line {number}"
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise json_lines.BadLine("`id` is neither a text nor a whole number")
    return json_lines.text_of({"id": str(value)}, "id")


def _function(header: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Return the function that the lines begin. Raises BadLine where they are no head of one."""
    try:
        body = json_lines.python_tree("header", f"{header.rstrip()}\n    {_HOLE}\n").body
    except json_lines.BadLine:
        body = []
    if len(body) == 1 and isinstance(body[0], AnyFunction) and [type(node) for node in body[0].body] == [ast.Pass]:
        return body[0]
    raise json_lines.BadLine("`header` is no `def` line, as in `def add(a, b):`, with or without decorators above it")


def _tests(row: json_lines.Row) -> tuple[str, tuple[str, ...]]:
    """Return a source that defines `check`, or asserts one by one. Raises BadLine."""
    value: Any = row.get("tests") or ""
    if isinstance(value, list):
        asserts = tuple(json_lines.texts_of(row, "tests"))
        for source in asserts:
            json_lines.python_tree("tests", source)
        return "", asserts
    if not isinstance(value, str):
        raise json_lines.BadLine("`tests` is neither a text nor a list of texts")
    source = json_lines.text_of(row, "tests", "").strip("\n")
    tree = json_lines.python_tree("tests", source)
    if not tree.body or any(isinstance(node, AnyFunction) and node.name == "check" for node in tree.body):
        return source, ()
    # Written anew, since lines of a text in triple quotes must not be indented with the rest.
    lines = textwrap.indent("\n".join(map(ast.unparse, tree.body)), "    ")
    return f"def check(candidate):\n{lines}\n", ()


def _problem(number: int, words: str, prelude: str, header: str, entry: str, reference: str) -> Problem:
    above = f"{prelude}\n\n\n" if prelude else ""
    head, indent = (f"{above}{header.rstrip()}\n    ", "    ") if entry else (above, "")
    body = textwrap.dedent(reference.strip("\n")).rstrip() or _HOLE
    body = textwrap.indent(body, indent).removeprefix(indent)
    program, span = f"{head}{body}\n", Span(len(head), len(head) + len(body))
    if entry:
        asked, asked_body = with_docstring(program, span, words)
    else:
        # Without a head of a function the words can stand nowhere but above the program.
        comment = "".join(f"# {line}\n" for line in words.split("\n"))
        asked = program[: span.start] + comment + program[span.start :]
        asked_body = Span(span.start + len(comment), span.end + len(comment))
    return Problem(
        key="",
        line=number,
        entry=entry,
        names=(entry,),
        words=words,
        program=program,
        body=span,
        asked=asked,
        asked_body=asked_body,
    )


def without_examples(words: str, entry: str) -> str:
    """Return a docstring up to its examples or the first line that calls the function; whole if nothing is before."""
    call = re.compile(rf"(?m)^[ \t]*{re.escape(entry)}\(")
    starts = [found.start() for form in (_EXAMPLES, call) if (found := form.search(words))]
    return words[: min(starts, default=len(words))].strip() or words.strip()
