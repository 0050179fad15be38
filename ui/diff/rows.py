"""Two texts as aligned rows, with hunks, marks inside lines and what is mere form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rtc_inspector.ui.diff.align import Block, align
from rtc_inspector.ui.diff.changes import Marks, marks, pair
from rtc_inspector.ui.diff.equivalence import Trees
from rtc_inspector.ui.diff.lines import set_aside, split


class Kind(StrEnum):
    """What became of a line."""

    EQUAL = "equal"
    CHANGED = "changed"
    INSERTED = "inserted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Cell:
    """One line of one side. `number` counts from 0; `marks` are ranges that differ from the other side."""

    number: int
    text: str
    marks: Marks = ()


@dataclass(frozen=True, slots=True)
class Row:
    """What stands side by side. `same_tree`: the change leaves the syntax tree as it was."""

    kind: Kind
    left: Cell | None
    right: Cell | None
    same_tree: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring changed rows, `rows[start:end]`. `same_tree`: all of them are mere form."""

    start: int
    end: int
    same_tree: bool


@dataclass(frozen=True, slots=True)
class TextDiff:
    """The comparison of two texts.

    Attributes:
        same_tree: both parse, and to one syntax tree.
        notes: what was set aside, or which fall-back was taken, a sentence each.
    """

    rows: tuple[Row, ...]
    hunks: tuple[Hunk, ...]
    same_tree: bool
    notes: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Return whether no row differs."""
        return not self.hunks

    def count(self, kind: Kind) -> int:
        """Return the number of rows of one kind."""
        return sum(row.kind is kind for row in self.rows)


def compare(original: str, candidate: str, *, python: bool = True) -> TextDiff:
    """Align two texts. `python`: also recognise changes that leave the syntax tree as it was."""
    left, right = split(original), split(candidate)
    alignment = align(left.texts, right.texts)
    notes = [*set_aside(left, right), *([alignment.note] if alignment.note else [])]
    trees = Trees(left.texts, right.texts) if python else None
    if trees is not None and trees.too_long:
        notes.append("Too long to parse: changes of form alone are not recognised.")
    rows: list[Row] = []
    hunks: list[Hunk] = []
    for block in alignment.blocks:
        start = len(rows)
        if block.equal:
            pairs = zip(block.left, block.right, strict=True)
            rows += [Row(Kind.EQUAL, Cell(i, left.texts[i]), Cell(j, right.texts[j])) for i, j in pairs]
            continue
        rows += _changed(block, left.texts, right.texts, trees)
        hunks.append(Hunk(start, len(rows), all(row.same_tree or row.kind is Kind.EQUAL for row in rows[start:])))
    return TextDiff(tuple(rows), tuple(hunks), trees is not None and trees.whole, tuple(notes))


def _changed(block: Block, left: Sequence[str], right: Sequence[str], trees: Trees | None) -> Iterator[Row]:
    """Yield the rows of a changed block, which may be mere form row by row where the whole is not."""
    same = trees is not None and trees.same(block.left, block.right)
    for a, b in pair([left[i] for i in block.left], [right[j] for j in block.right]):
        old = None if a is None else Cell(block.left[a], left[block.left[a]])
        new = None if b is None else Cell(block.right[b], right[block.right[b]])
        yield _row(old, new, same or (trees is not None and trees.same(_lines(old), _lines(new))))


def _lines(cell: Cell | None) -> range:
    """Return the line of a cell; none where its side has none."""
    return range(0) if cell is None else range(cell.number, cell.number + 1)


def _row(old: Cell | None, new: Cell | None, form: bool) -> Row:
    """Return one row of a changed block. `form`: it leaves the syntax tree as it was."""
    if old is None or new is None:
        return Row(Kind.INSERTED if old is None else Kind.DELETED, old, new, form)
    if old.text == new.text:  # paired inside a block that was too long to align
        return Row(Kind.EQUAL, old, new)
    ours, theirs = marks(old.text, new.text)
    return Row(Kind.CHANGED, replace(old, marks=ours), replace(new, marks=theirs), form)
