"""The same comparison in one column: old lines of a hunk, then new ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ui.diff.intraline import Marks
from ui.diff.rows import Cell, Kind, Row, TextDiff


@dataclass(frozen=True, slots=True)
class UnifiedLine:
    """One line of the one column. `left` and `right` are line numbers from 0 where the line stands there."""

    kind: Kind
    text: str
    left: int | None
    right: int | None
    marks: Marks = ()
    same_tree: bool = False


def unified(diff: TextDiff) -> tuple[UnifiedLine, ...]:
    """All lines; a changed line appears as a deleted one and an inserted one."""
    lines: list[UnifiedLine] = []
    done = 0
    for hunk in diff.hunks:
        lines += _equal(diff.rows[done : hunk.start])
        lines += _changed(diff.rows[hunk.start : hunk.end])
        done = hunk.end
    return (*lines, *_equal(diff.rows[done:]))


def patch(diff: TextDiff) -> str:
    """The lines with `+`, `-` and space in front, for the clipboard."""
    signs = {Kind.EQUAL: " ", Kind.DELETED: "-", Kind.INSERTED: "+", Kind.CHANGED: "~"}
    return "\n".join(signs[line.kind] + line.text for line in unified(diff))


def _equal(rows: tuple[Row, ...]) -> Iterator[UnifiedLine]:
    """Rows that stand on both sides."""
    for row in rows:
        if row.left and row.right:
            yield UnifiedLine(Kind.EQUAL, row.left.text, row.left.number, row.right.number)


def _changed(rows: tuple[Row, ...]) -> Iterator[UnifiedLine]:
    """Old lines first, then new ones."""
    for row in rows:
        if row.left:
            yield _line(Kind.DELETED, row.left, row.left.number, None, row.same_tree)
    for row in rows:
        if row.right:
            yield _line(Kind.INSERTED, row.right, None, row.right.number, row.same_tree)


def _line(kind: Kind, cell: Cell, left: int | None, right: int | None, same_tree: bool) -> UnifiedLine:
    """One line of a hunk."""
    return UnifiedLine(kind, cell.text, left, right, cell.marks, same_tree)
