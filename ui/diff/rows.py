"""Two texts as aligned rows, with hunks, marks inside lines and what is mere form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ui.diff import equivalence
from ui.diff.align import Block, align
from ui.diff.intraline import Marks, marks
from ui.diff.lines import set_aside, split
from ui.diff.pairing import pair


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
        """Whether no row differs."""
        return not self.hunks

    def count(self, kind: Kind) -> int:
        """Rows of one kind."""
        return sum(row.kind is kind for row in self.rows)


def compare(original: str, candidate: str, *, python: bool = True) -> TextDiff:
    """Align two texts. `python`: also recognise changes that leave the syntax tree as it was."""
    left, right = split(original), split(candidate)
    alignment = align(left.texts, right.texts)
    notes = [*set_aside(left, right), *([alignment.note] if alignment.note else [])]
    trees = _Trees.read(left.texts, right.texts) if python else None
    if trees is not None and trees.too_long:
        notes.append("Too long to parse: changes of form alone are not recognised.")
    rows: list[Row] = []
    hunks: list[Hunk] = []
    for block in alignment.blocks:
        start = len(rows)
        if block.equal:
            rows += _equal(block, left.texts, right.texts)
            continue
        rows += _changed(block, left.texts, right.texts, trees)
        hunks.append(Hunk(start, len(rows), all(row.same_tree or row.kind is Kind.EQUAL for row in rows[start:])))
    return TextDiff(tuple(rows), tuple(hunks), trees is not None and trees.whole, tuple(notes))


@dataclass(frozen=True, slots=True)
class _Trees:
    """Both texts read as Python."""

    left: equivalence.Parsed
    right: equivalence.Parsed
    whole: bool
    too_long: bool

    @classmethod
    def read(cls, left: Sequence[str], right: Sequence[str]) -> _Trees:
        """Parse both, unless one is too long."""
        longest = max(sum(map(len, side)) + len(side) for side in (left, right))
        ones, others = equivalence.parse(left), equivalence.parse(right)
        whole = equivalence.same_tree(ones, others)
        return cls(ones, others, whole, longest > equivalence.MOST_CHARACTERS)

    def same(self, block: Block) -> bool:
        """Whether a changed block leaves the tree as it was."""
        return self._same(range(block.left_start, block.left_end), range(block.right_start, block.right_end))

    def same_row(self, old: int | None, new: int | None) -> bool:
        """Whether one row of a block, taken for itself, leaves the tree as it was."""
        return self._same(_one(old), _one(new))

    def _same(self, old: range, new: range) -> bool:
        return self.whole or equivalence.same_part(self.left, self.right, old, new)


def _one(number: int | None) -> range:
    """The lines of one cell."""
    return range(0) if number is None else range(number, number + 1)


def _equal(block: Block, left: Sequence[str], right: Sequence[str]) -> Iterator[Row]:
    """The rows of a block that stands on both sides."""
    for offset in range(block.left_end - block.left_start):
        i, j = block.left_start + offset, block.right_start + offset
        yield Row(Kind.EQUAL, Cell(i, left[i]), Cell(j, right[j]))


def _changed(block: Block, left: Sequence[str], right: Sequence[str], trees: _Trees | None) -> Iterator[Row]:
    """The rows of a changed block."""
    same = trees is not None and trees.same(block)
    for a, b in pair(left[block.left_start : block.left_end], right[block.right_start : block.right_end]):
        old = None if a is None else block.left_start + a
        new = None if b is None else block.right_start + b
        yield _row(old, new, left, right, same or (trees is not None and trees.same_row(old, new)))


def _row(i: int | None, j: int | None, left: Sequence[str], right: Sequence[str], same: bool) -> Row:
    """One row of a changed block."""
    if i is None or j is None:
        kind = Kind.INSERTED if i is None else Kind.DELETED
        ends = (None if i is None else Cell(i, left[i]), None if j is None else Cell(j, right[j]))
        return Row(kind, *ends, same)
    if left[i] == right[j]:  # paired inside a block that was too long to align
        return Row(Kind.EQUAL, Cell(i, left[i]), Cell(j, right[j]))
    ours, theirs = marks(left[i], right[j])
    return Row(Kind.CHANGED, Cell(i, left[i], ours), Cell(j, right[j], theirs), same)
