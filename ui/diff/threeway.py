"""An edit and what a model made of it: old, new and predicted text as rows of three, aligned by the new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from rtc_inspector.ui.diff.rows import Cell, Kind, Row, compare


class Made(StrEnum):
    """What the prediction is in one row."""

    SAME = "same"  # nothing was to change here, and nothing did
    DONE = "done"  # the edit, as the new code has it
    KEPT = "kept"  # the old code, which the edit changes
    OTHER = "other"  # neither the old nor the new code
    MISSING = "missing"  # a line of the new code is not there


@dataclass(frozen=True, slots=True)
class EditRow:
    """What stands side by side. `kind`: what the edit did here; marks are those against the new code, or the old."""

    kind: Kind
    old: Cell | None
    new: Cell | None
    predicted: Cell | None
    made: Made


@dataclass(frozen=True, slots=True)
class EditDiff:
    """The comparison of three texts. `notes` as in TextDiff."""

    rows: tuple[EditRow, ...]
    notes: tuple[str, ...] = ()

    def count(self, made: Made) -> int:
        """Return the number of rows of one sort."""
        return sum(row.made is made for row in self.rows)


def compare_edit(old: str, new: str, predicted: str) -> EditDiff:
    """Align both other texts with the new one; what stands between two of its lines is aligned with each other.

    White space at line ends and a last line break count for nothing, as in the exact match.
    """
    # A model seldom ends its answer as the file does.
    old, new, predicted = (text.removesuffix("\n") for text in (old, new, predicted))
    edit, answer = compare(old, new, python=False), compare(new, predicted, python=False)
    # Both comparisons have every line of the new code, in order: they are joined at these.
    olds = _by_new(replace(row, left=row.right, right=row.left) for row in edit.rows)
    answers = _by_new(answer.rows)
    rows: list[EditRow] = []
    for (old_extra, old_row), (extra, row) in zip(olds, answers, strict=True):
        rows += _between(old_extra, extra)
        if row is not None and old_row is not None:
            rows.append(_row(old_row, row))
    return EditDiff(tuple(rows), tuple(dict.fromkeys((*edit.notes, *answer.notes))))


def _by_new(rows: Iterable[Row]) -> list[tuple[list[Cell], Row | None]]:
    """Return each line of the new text, the left one, with the other's lines before it; a last entry for the end."""
    found: list[tuple[list[Cell], Row | None]] = []
    extra: list[Cell] = []
    for row in rows:
        if row.left is None:
            extra += [row.right] if row.right is not None else []
        else:
            found.append((extra, row))
            extra = []
    return [*found, (extra, None)]


def _row(edit: Row, answer: Row) -> EditRow:
    """Return the row of one line of the new text."""
    old, predicted = edit.right, answer.right
    if predicted is None:
        made = Made.MISSING
    elif edit.left is not None and predicted.text.rstrip() == edit.left.text.rstrip():
        made = Made.SAME if edit.kind is Kind.EQUAL else Made.DONE
    else:
        made = Made.KEPT if old is not None and old.text == predicted.text else Made.OTHER
    return EditRow(edit.kind, old, edit.left, predicted, made)


def _between(old: list[Cell], predicted: list[Cell]) -> Iterator[EditRow]:
    """Yield the lines that the new text lacks: taken away by the edit, kept or made up by the prediction."""
    texts = ("".join(f"{cell.text}\n" for cell in cells) for cells in (old, predicted))
    for row in compare(*texts, python=False).rows:
        ours = old[row.left.number] if row.left else None
        theirs = predicted[row.right.number] if row.right else None
        made = Made.DONE if theirs is None else Made.KEPT if row.kind is Kind.EQUAL else Made.OTHER
        yield EditRow(Kind.DELETED if ours else Kind.EQUAL, ours, None, theirs, made)
