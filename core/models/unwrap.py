"""Take the region out of a larger answer: a whole function, a whole class, a whole file, or the lines around it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from rtc_inspector.core.syntax import NEWLINE, blocks_of, first_line_of, parsed
from rtc_inspector.core.types import Item, Span

Holder = tuple[ast.stmt, int]
"""A compound statement around the region, and which of its blocks the way leads into."""
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def unwrap(answer: str, item: Item, file_text: str) -> tuple[str, list[str]]:
    """The part of `answer` that corresponds to the item, and the steps taken.

    An answer that is the region itself is left as it is, whatever stands around it.
    """
    text = textwrap.dedent(answer.strip("\n"))
    given, file = parsed(text), parsed(file_text)
    if given is None or file is None:
        return answer, []
    path, block, at = _locate(file, *_lines_of(item, file_text))
    if not block or _dumps(given.body) == _dumps(block[at.start : at.end]):
        return answer, []
    steps: list[str] = []
    body = _without_neighbours(_descend(given.body, path, steps), block, at, steps)
    return (_source(text, body), steps) if steps else (answer, [])


def enclosing(item: Item, file_text: str) -> list[str]:
    """Return the names of the functions and classes around the item, the innermost first."""
    file = parsed(file_text)
    if file is None:
        return []
    path, _, _ = _locate(file, *_lines_of(item, file_text))
    return [holder.name for holder, _ in reversed(path) if isinstance(holder, Scope)]


def _lines_of(item: Item, file_text: str) -> tuple[int, int]:
    first = len(NEWLINE.findall(file_text, 0, item.span.start)) + 1
    return first, first + len(NEWLINE.findall(file_text, item.span.start, item.span.end))


def _locate(file: ast.Module, first: int, last: int) -> tuple[list[Holder], list[ast.stmt], Span]:
    """The way to the block that holds the lines, that block, and which of its statements they are."""
    path: list[Holder] = []
    block: list[ast.stmt] = file.body
    while True:
        inside = [s for s in block if s.lineno <= last and (s.end_lineno or 0) >= first]
        if len(inside) != 1 or inside[0].lineno >= first:
            break
        blocks = list(blocks_of(inside[0]))
        way = next((i for i, b in enumerate(blocks) if b[0].lineno <= last and (b[-1].end_lineno or 0) >= first), None)
        if way is None:
            break
        path.append((inside[0], way))
        block = blocks[way]
    if not inside:
        return path, [], Span(0, 0)
    return path, block, Span(block.index(inside[0]), block.index(inside[-1]) + 1)


def _descend(body: list[ast.stmt], path: Sequence[Holder], steps: list[str]) -> list[ast.stmt]:
    """Go into the statements around the region as far as the answer repeats them."""
    for depth, (holder, block) in enumerate(path):
        found = next((s for s in body if _header(s) == _header(holder)), None)
        if found is None:
            continue
        blocks = list(blocks_of(found))
        if block >= len(blocks):
            continue
        steps.append(_step_name(body, holder))
        return _descend(blocks[block], path[depth + 1 :], [])
    return body


def _step_name(body: Sequence[ast.stmt], holder: ast.stmt) -> str:
    if not isinstance(holder, Scope):
        return "block-body"
    if len(body) > 1:
        return "whole-file"
    return "class-body" if isinstance(holder, ast.ClassDef) else "function-body"


def _header(statement: ast.stmt) -> str:
    """Return a text that tells one compound statement from another: its kind and its name or condition."""
    if isinstance(statement, Scope):
        return f"scope {statement.name}"
    parts = [getattr(statement, name, None) for name in ("test", "target", "iter", "items", "subject")]
    flat = [p for part in parts if part is not None for p in (part if isinstance(part, list) else [part])]
    return " ".join([type(statement).__name__, *(ast.dump(p) for p in flat)])


def _dumps(body: Sequence[ast.stmt]) -> list[str]:
    return [ast.dump(s) for s in body]


def _without_neighbours(
    body: Sequence[ast.stmt], block: Sequence[ast.stmt], at: Span, steps: list[str]
) -> Sequence[ast.stmt]:
    """Drop statements at both ends that repeat those around the region in the file; never all of them."""
    given, before, after = _dumps(body), _dumps(block[: at.start]), _dumps(block[at.end :])
    low = next((n for n in range(min(len(before), len(given)), 0, -1) if given[:n] == before[-n:]), 0)
    rest = given[low:]
    high = next((n for n in range(min(len(after), len(rest)), 0, -1) if rest[-n:] == after[:n]), 0)
    if not low + high or low + high == len(given):
        return body
    steps.append("around-dropped")
    return body[low : len(body) - high]


def _source(text: str, body: Sequence[ast.stmt]) -> str:
    """The lines of the statements, with decorators and the comments between them."""
    if not body:
        return ""
    first = first_line_of(body[0])
    lines = NEWLINE.split(text)
    start = body[0].col_offset
    if lines[first - 1][:start].strip():
        lines[first - 1] = " " * start + lines[first - 1][start:]
    return "\n".join(lines[first - 1 : body[-1].end_lineno])
