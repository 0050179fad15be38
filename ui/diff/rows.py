"""Two or three texts compared line by line, as rows. No Qt.

Lines that belong together share a row; those that changed are paired by likeness, and their tokens are marked. A change
that leaves the Python syntax tree as it was is called one of form.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import accumulate, groupby, zip_longest
from typing import TYPE_CHECKING

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.syntax import parsed
from rtc_inspector.core.types import OLD_LINE
from rtc_inspector.ui.diff.lines import indents, set_aside, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_LINES, MOST_PAIRS = 4_000, 100_000
"""Lines of a text, and pairs of equal lines, up to which texts are aligned; beyond, all is one change."""
MOST_CHARACTERS = 150_000  # of a text up to which it is parsed (a second's work)
SIMILAR = 45.0  # per cent of shared characters from which two lines count as one line changed
CELLS = 40_000  # line pairs of one block up to which the best pairing is sought
MOST_TOKENS = 600  # tokens on a line up to which it is marked; beyond, the whole line is
LEAST_SHARED = 0.25  # share of the characters that both lines must have in common to be marked inside

_TOKEN = re.compile(r"\w+|\s+|->|:=|\*\*=?|//=?|<<=?|>>=?|[-+*/%&|^@=!<>]=|\.\.\.|[^\w\s]")

Pair = tuple[int | None, int | None]  # indices into a block's left and right lines; None is a gap
Marks = tuple[tuple[int, int], ...]  # half-open character ranges of one line


class Kind(StrEnum):
    """The fate of a line."""

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
class DiffRow:
    """A row of lines side by side. `same_tree`: the change leaves the syntax tree as it was."""

    kind: Kind
    left: Cell | None
    right: Cell | None
    same_tree: bool = False


@dataclass(frozen=True, slots=True)
class TextDiff:
    """The comparison of two texts."""

    rows: tuple[DiffRow, ...]
    hunks: tuple[range, ...]  # places of rows that changed and are neighbours
    same_tree: bool  # both parse, and to one syntax tree
    notes: tuple[str, ...] = ()  # what was set aside or given up, a sentence each


def compare(original: str, candidate: str, *, python: bool = True) -> TextDiff:
    """Align two texts. `python`: also recognise changes that leave the syntax tree as it was."""
    left, right = split(original), split(candidate)
    blocks, notes = align(left.texts, right.texts), set_aside(left, right)
    if blocks is None:
        blocks = [(False, range(len(left.texts)), range(len(right.texts)))]
        notes = (*notes, "Long texts: shown as one change, not aligned.")
    trees = None
    if python and max(len(original), len(candidate)) <= MOST_CHARACTERS:
        trees = Trees(left.texts, right.texts)
    elif python:
        notes = (*notes, "Too long to parse: changes of form alone are not recognised.")
    rows: list[DiffRow] = []
    hunks: list[range] = []
    for equal, ours, theirs in blocks:
        start = len(rows)
        if equal:
            pairs = zip(ours, theirs, strict=True)
            rows += [DiffRow(Kind.EQUAL, Cell(i, left.texts[i]), Cell(j, right.texts[j])) for i, j in pairs]
        else:
            rows += _changed(ours, theirs, left.texts, right.texts, trees)
            hunks.append(range(start, len(rows)))
    return TextDiff(tuple(rows), tuple(hunks), trees is not None and trees.whole, notes)


def _changed(
    ours: range, theirs: range, left: Sequence[str], right: Sequence[str], trees: Trees | None
) -> Iterator[DiffRow]:
    """Yield the rows of a changed block, which may be mere form row by row where the whole is not."""
    same = trees is not None and trees.same(ours, theirs)
    for a, b in pair(left[ours.start : ours.stop], right[theirs.start : theirs.stop]):
        old = None if a is None else Cell(ours[a], left[ours[a]])
        new = None if b is None else Cell(theirs[b], right[theirs[b]])
        lines = (range(0) if cell is None else range(cell.number, cell.number + 1) for cell in (old, new))
        yield _row(old, new, same or (trees is not None and trees.same(*lines)))


def _row(old: Cell | None, new: Cell | None, form: bool) -> DiffRow:
    if old is None or new is None:
        return DiffRow(Kind.INSERTED if old is None else Kind.DELETED, old, new, form)
    if old.text == new.text:  # paired inside a block that was too long to align
        return DiffRow(Kind.EQUAL, old, new)
    ours, theirs = marks(old.text, new.text)
    return DiffRow(Kind.CHANGED, replace(old, marks=ours), replace(new, marks=theirs), form)


def align(left: Sequence[str], right: Sequence[str]) -> list[tuple[bool, range, range]] | None:
    """Return blocks in order that cover both texts: whether equal, and the lines; None where the texts are too long."""
    counts = Counter(right)
    # difflib visits each pair of equal lines: ten thousand blank lines on both sides would be a hundred million.
    if max(len(left), len(right)) > MOST_LINES or sum(counts[line] for line in left) > MOST_PAIRS:
        return None
    codes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return [(tag == "equal", range(a, b), range(c, d)) for tag, a, b, c, d in codes]


def pair(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """Return rows for one block, in order on both sides.

    Similar lines share a row (in blocks of up to `CELLS` pairs). What is left over between them shares rows
    too, so that blocks stay short.
    """
    anchors = _best(_similarity(left, right)) if 0 < len(left) * len(right) <= CELLS else []
    pairs: list[Pair] = []
    i = j = 0
    for a, b in anchors:
        pairs += [*_gap(i, a, j, b), (a, b)]
        i, j = a + 1, b + 1
    return pairs + _gap(i, len(left), j, len(right))


def _gap(i: int, i_end: int, j: int, j_end: int) -> list[Pair]:
    return list(zip_longest(range(i, i_end), range(j, j_end)))


def _similarity(left: Sequence[str], right: Sequence[str]) -> NDArray[np.float32]:
    """Return the similarity of every pair, 0 below the threshold; blank lines only match blank lines."""
    strip = [[line.strip() for line in side] for side in (left, right)]
    import numpy as np  # not before it is needed: the window opens sooner
    from rapidfuzz import fuzz, process

    matrix = process.cdist(strip[0], strip[1], scorer=fuzz.ratio, score_cutoff=SIMILAR, dtype=np.float32)
    return np.asarray(matrix, dtype=np.float32)


def _best(matrix: NDArray[np.float32]) -> list[tuple[int, int]]:
    import numpy as np

    rows, columns = matrix.shape
    # best[i, j]: the greatest sum that the first i lines of the left and the first j of the right allow. A row needs
    # the one above it alone, and the running maximum along it, so that numpy does a row at a time.
    best = np.zeros((rows + 1, columns + 1), dtype=np.float32)
    for i in range(1, rows + 1):
        with_pair = np.where(matrix[i - 1] > 0, best[i - 1, :-1] + matrix[i - 1], 0)
        best[i, 1:] = np.maximum.accumulate(np.maximum(best[i - 1, 1:], with_pair))
    i, j = rows, columns
    found: list[tuple[int, int]] = []
    # Back from the end: where leaving a line out costs nothing it was left out; else the two were paired.
    while i and j:
        if best[i, j] == best[i, j - 1]:
            j -= 1
        elif best[i, j] == best[i - 1, j]:
            i -= 1
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return found[::-1]


def marks(left: str, right: str) -> tuple[Marks, Marks]:
    """Return the ranges that differ on either side; whole lines where the two have little in common."""
    ones, others = _TOKEN.findall(left), _TOKEN.findall(right)
    if max(len(ones), len(others)) > MOST_TOKENS:
        return _whole_line(left), _whole_line(right)
    codes = SequenceMatcher(None, ones, others, autojunk=False).get_opcodes()
    shared = sum(_weight(ones[a:b]) for tag, a, b, _, _ in codes if tag == "equal")
    # Lines with little in common would get a mark every few letters, which says less than none.
    if shared * 2 < LEAST_SHARED * _weight(ones + others):
        return _whole_line(left), _whole_line(right)
    changed = [code for code in codes if code[0] != "equal"]
    return _ranges(ones, [(a, b) for _, a, b, _, _ in changed]), _ranges(others, [(c, d) for *_, c, d in changed])


def _weight(tokens: list[str]) -> int:
    return sum(len(token) for token in tokens if not token.isspace())


def _whole_line(line: str) -> Marks:
    start = len(line) - len(line.lstrip())
    return ((start, len(line)),) if start < len(line) else ()


def _ranges(tokens: list[str], spans: list[tuple[int, int]]) -> Marks:
    offsets = [0, *accumulate(map(len, tokens))]
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if start == end:
            continue
        if joined and all(token.isspace() for token in tokens[joined[-1][1] : start]):
            start = joined.pop()[0]
        joined.append((start, end))
    return tuple((offsets[start], offsets[end]) for start, end in joined)


class _Parsed:
    """A text read as Python: `tree` is a dump without positions, None where it does not parse."""

    def __init__(self, texts: Sequence[str]) -> None:
        whole = "\n".join(texts)
        # A first line without its indentation, as regions have it, is put right.
        lost = indents(texts) if texts and not texts[0][:1].isspace() else []
        tries = (parsed(textwrap.dedent(indent + whole)) for indent in dict.fromkeys(["", *lost]))
        found = next((tree for tree in tries if tree is not None), None)
        self.texts, self.tree = texts, _dump(found)
        self._undivided = [_undivided(each) for each in ast.walk(found) if hasattr(each, "lineno")] if found else []

    def part(self, lines: range) -> tuple[str, str] | None:
        if any(a < lines.stop and lines.start < b and (a < lines.start or lines.stop < b) for a, b in self._undivided):
            return None
        texts = self.texts[lines.start : lines.stop]
        found = parsed(textwrap.dedent("\n".join(texts)))
        tree = _dump(found)
        first = next(line for line in texts if line.strip()) if found and found.body and lines.start else ""
        return None if tree is None else (first[: len(first) - len(first.lstrip())], tree)


def _undivided(node: ast.AST) -> tuple[int, int]:
    """Return the lines (from 0, half-open) of a simple statement, or of the head of another; none for an expression."""
    if not isinstance(node, ast.stmt | ast.excepthandler):
        return 0, 0
    body = getattr(node, "body", None)
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    return first - 1, body[0].lineno - 1 if body else node.end_lineno or first


class Trees:
    """Two texts read as Python. `whole`: both parse, to one tree."""

    def __init__(self, left: Sequence[str], right: Sequence[str]) -> None:
        self._left, self._right = _Parsed(left), _Parsed(right)
        self.whole = self._left.tree is not None and self._left.tree == self._right.tree

    def same(self, ours: range, theirs: range) -> bool:
        if self.whole or self._left.tree is None or self._right.tree is None:
            return self.whole
        part = self._left.part(ours)
        return part is not None and part == self._right.part(theirs)


def _dump(tree: ast.Module | None) -> str | None:
    try:
        return None if tree is None else ast.dump(tree)
    except RecursionError:  # the parser goes deeper than Python functions may
        return None


# ---- an edit and what a model made of it


class Prediction(StrEnum):
    """The prediction in one row."""

    SAME = "same"  # nothing was to change here, and nothing did
    DONE = "done"  # the edit, as the new code has it
    KEPT = "kept"  # the old code, which the edit changes
    OTHER = "other"  # neither the old nor the new code
    MISSING = "missing"  # a line of the new code is not there


@dataclass(frozen=True, slots=True)
class EditRow:
    """A row of lines side by side. `kind`: what the edit did here; marks are those against the new code, or the old."""

    kind: Kind
    old: Cell | None
    new: Cell | None
    predicted: Cell | None
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class EditDiff:
    """The comparison of three texts. `notes` as in TextDiff."""

    rows: tuple[EditRow, ...]
    notes: tuple[str, ...] = ()


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
            rows.append(_edit_row(old_row, row))
    return EditDiff(tuple(rows), tuple(dict.fromkeys((*edit.notes, *answer.notes))))


def _by_new(rows: Iterable[DiffRow]) -> list[tuple[list[Cell], DiffRow | None]]:
    """Return each line of the new text, the left one, with the other's lines before it; a last entry for the end."""
    found: list[tuple[list[Cell], DiffRow | None]] = []
    extra: list[Cell] = []
    for row in rows:
        if row.left is None:
            extra += [row.right] if row.right is not None else []
        else:
            found.append((extra, row))
            extra = []
    return [*found, (extra, None)]


def _edit_row(edit: DiffRow, answer: DiffRow) -> EditRow:
    old, predicted = edit.right, answer.right
    if predicted is None:
        prediction = Prediction.MISSING
    elif edit.left is not None and predicted.text.rstrip() == edit.left.text.rstrip():
        prediction = Prediction.SAME if edit.kind is Kind.EQUAL else Prediction.DONE
    else:
        prediction = Prediction.KEPT if old is not None and old.text == predicted.text else Prediction.OTHER
    return EditRow(edit.kind, old, edit.left, predicted, prediction)


def _between(old: list[Cell], predicted: list[Cell]) -> Iterator[EditRow]:
    """Yield the lines that the new text lacks: taken away by the edit, kept or made up by the prediction."""
    texts = ("".join(f"{cell.text}\n" for cell in cells) for cells in (old, predicted))
    for row in compare(*texts, python=False).rows:
        ours = old[row.left.number] if row.left else None
        theirs = predicted[row.right.number] if row.right else None
        prediction = (
            Prediction.DONE if theirs is None else Prediction.KEPT if row.kind is Kind.EQUAL else Prediction.OTHER
        )
        yield EditRow(Kind.DELETED if ours else Kind.EQUAL, ours, None, theirs, prediction)


@dataclass(frozen=True, slots=True)
class PaneLine:
    """One row of one pane."""

    kind: Kind
    text: str  # what stands there; empty for a filler
    side: int | None  # which text, from the left, whose line `number` (from 0) this is; None for a filler
    number: int
    labels: tuple[str, ...]  # line numbers as shown, one a column
    sign: str  # `-`, `+`, `~`, `≈` (same tree) or a space; of a prediction `✓` or `✗`
    marks: Marks = ()
    form: bool = False  # the change leaves the syntax tree as it was
    tone: int = 0  # 0 the colours of what is taken away, 1 those of what is put in


@dataclass(frozen=True, slots=True)
class PairLines:
    """Lines of the comparison of two texts. `first`: what the first line of either side is numbered."""

    diff: TextDiff
    first: tuple[int, int]

    def columns(self) -> tuple[list[PaneLine], ...]:
        """Return one list for each text, all equally long."""
        left = [_cell(row, row.left, 0, self.first[0]) for row in self.diff.rows]
        return left, [_cell(row, row.right, 1, self.first[1]) for row in self.diff.rows]

    def single(self) -> list[PaneLine]:
        """Return the lines of all texts in one column."""
        lines: list[PaneLine] = []
        done = 0
        for hunk in self.diff.hunks:
            rows = self.diff.rows[hunk.start : hunk.stop]
            lines += self._equal(done, hunk.start)
            lines += [self._alone(row, row.left, 0) for row in rows if row.left]
            lines += [self._alone(row, row.right, 1) for row in rows if row.right]
            done = hunk.stop
        return lines + self._equal(done, len(self.diff.rows))

    def _equal(self, start: int, end: int) -> list[PaneLine]:
        return [
            PaneLine(Kind.EQUAL, row.left.text, 0, row.left.number, self._labels(row.left, row.right), " ")
            for row in self.diff.rows[start:end]
            if row.left and row.right
        ]

    def _alone(self, row: DiffRow, cell: Cell, side: int) -> PaneLine:
        """Return a line that only one text has; one that changed stands there twice, as deleted and as inserted."""
        labels = self._labels(None, cell) if side else self._labels(cell, None)
        kind, sign = (Kind.INSERTED, "+") if side else (Kind.DELETED, "-")
        return PaneLine(kind, cell.text, side, cell.number, labels, sign, cell.marks, row.same_tree, side)

    def _labels(self, left: Cell | None, right: Cell | None) -> tuple[str, str]:
        first, second = ("" if c is None else str(c.number + n) for c, n in zip((left, right), self.first, strict=True))
        return first, second

    def changes(self) -> list[PaneLine]:
        """Return a line for each row of `columns`, whose kind says what the map of changes shows there."""
        left, right = self.columns()
        return [theirs if theirs.side is not None else ours for ours, theirs in zip(left, right, strict=True)]


def patch(diff: TextDiff) -> str:
    """Return the lines with `+`, `-` and space in front, for the clipboard."""
    return "\n".join(line.sign + line.text for line in PairLines(diff, (1, 1)).single())


def _cell(row: DiffRow, cell: Cell | None, side: int, first: int) -> PaneLine:
    if cell is None:
        return PaneLine(row.kind, "", None, 0, ("",), " ", (), row.same_tree)
    sign = {Kind.EQUAL: " ", Kind.CHANGED: "~", Kind.INSERTED: "+", Kind.DELETED: "-"}[row.kind]
    labels, sign = (str(cell.number + first),), "≈" if row.same_tree else sign
    return PaneLine(row.kind, cell.text, side, cell.number, labels, sign, cell.marks, row.same_tree, side)


# ---- edits

OLD, NEW, PREDICTED = 0, 1, 2
BAD, GOOD = 0, 1  # tones: the colours of what is taken away and of what is put in
SIGNS = {Prediction.SAME: " ", Prediction.DONE: "✓"}  # of predictions that are right; others have ✗


@dataclass(frozen=True, slots=True)
class ShownEdit:
    """The texts that are compared."""

    old: str
    new: str
    predicted: str | None  # None while nothing was
    title: str
    path: str
    first_line: int = 1  # the file's line at which the new code starts; `old_line` the old one's, None for unknown
    old_line: int | None = None
    description: str = ""


def shown_edit(item: ItemRow, predicted: str | None, title: str = "", description: str = "") -> ShownEdit:
    """Return a stored edit and what was predicted of it."""
    line = item.origin.get(OLD_LINE, "")
    old_line = int(line) if line.isdecimal() else None
    old = item.old_text or ""
    return ShownEdit(old, item.text, predicted, title, item.path, item.start_line, old_line, description)


class EditLines:
    """An edit as panes show it: lines of three panes, equally many, and of the one column."""

    def __init__(self, edit: ShownEdit) -> None:
        """Compare its texts; while nothing was predicted, the new code stands in for it."""
        self._predicted = edit.predicted is not None
        self._first = edit.old_line, edit.first_line, edit.first_line
        self.diff = compare_edit(edit.old, edit.new, edit.new if edit.predicted is None else edit.predicted)

    def columns(self) -> tuple[list[PaneLine], ...]:
        old, new, predicted = [], [], []
        for row in self.diff.rows:
            old.append(self._pane(row.old, OLD, row.kind, BAD, "-" if row.new is None else "~"))
            new.append(self._pane(row.new, NEW, row.kind, GOOD, "+" if row.old is None else "~"))
            kind = Kind.EQUAL if row.prediction is Prediction.SAME else Kind.CHANGED
            tone = GOOD if row.prediction is Prediction.DONE else BAD
            predicted.append(self._pane(row.predicted, PREDICTED, kind, tone, SIGNS.get(row.prediction, "✗")))
        return old, new, predicted

    def single(self) -> list[PaneLine]:
        lines: list[PaneLine] = []
        for changed, group in groupby(
            self.diff.rows, lambda row: row.kind is not Kind.EQUAL or row.prediction is not Prediction.SAME
        ):
            rows = list(group)
            lines += self._changes(rows) if changed else [self._line(row.new, NEW, row, " ") for row in rows]
        return lines

    def changes(self) -> list[PaneLine]:
        kinds = {Prediction.SAME: Kind.EQUAL, Prediction.DONE: Kind.INSERTED}
        if not self._predicted:
            return [PaneLine(row.kind, "", NEW, 0, (), "") for row in self.diff.rows]
        return [PaneLine(kinds.get(row.prediction, Kind.DELETED), "", PREDICTED, 0, (), "") for row in self.diff.rows]

    def _pane(self, cell: Cell | None, side: int, kind: Kind, tone: int, sign: str) -> PaneLine:
        if cell is None:
            return PaneLine(kind, "", None, 0, ("",), " ")
        labels, sign = (self._label(side, cell),), " " if kind is Kind.EQUAL else sign
        return PaneLine(kind, cell.text, side, cell.number, labels, sign, cell.marks, tone=tone)

    def _changes(self, rows: list[EditRow]) -> Iterator[PaneLine]:
        for row in rows:
            if row.old is not None and row.kind is not Kind.EQUAL:
                yield self._line(row.old, OLD, row, "-", BAD)
        for row in rows:
            if row.new is not None:
                same = row.kind is Kind.EQUAL
                yield self._line(row.new, NEW, row, " " if same else "+", None if same else GOOD)
        if self._predicted and any(row.prediction not in (Prediction.SAME, Prediction.DONE) for row in rows):
            for row in rows:
                if row.predicted is not None:
                    good = row.prediction in (Prediction.SAME, Prediction.DONE)
                    yield self._line(row.predicted, PREDICTED, row, "✓" if good else "✗", GOOD if good else BAD)

    def _line(self, cell: Cell | None, side: int, row: EditRow, sign: str, tone: int | None = None) -> PaneLine:
        assert cell is not None
        same = tone is None
        labels = tuple(
            self._label(at, each) if each is not None and (same or at == side) else ""
            for at, each in enumerate((row.old, row.new, row.predicted))
        )
        kind = Kind.EQUAL if same else Kind.CHANGED
        return PaneLine(kind, cell.text, side, cell.number, labels, sign, cell.marks, tone=tone or 0)

    def _label(self, side: int, cell: Cell) -> str:
        first = self._first[side]
        return "" if first is None else str(cell.number + first)


Lines = PairLines | EditLines
"""A comparison as panes show it."""
