"""An item's descriptions, the code made from each as rows of a diff, and what failed: values for a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup, escape

from rtc_inspector.core.kinds import role_title
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ItemRow, SampleRow, TestRow
from rtc_inspector.core.types import Form
from rtc_inspector.ui.diff.lines import lost_indentation, restored
from rtc_inspector.ui.diff.rows import Cell, DiffRow, Kind, compare
from rtc_inspector.ui.presenters import presenter, recites, scored_against
from rtc_inspector.ui.style.outcomes import sign

MOST_TESTS = 3
"""Failing tests shown of one reconstruction; the others are counted."""
MESSAGE_LINES, MESSAGE_CHARACTERS = 12, 2_000
"""Of a failing test's message; a cut is said."""
NO_WORDS = "(the model answered without a word)"
UNCOUNTED = frozenset({"infrastructure"})
"""Outcomes that are no fault of the model."""


@dataclass(frozen=True)
class Code:
    """One reconstruction: its verdict and the rows of its diff. `more`: failing tests that are not shown.

    `sides`: what is compared.
    `tone` is `pass`, `notpass`, or `muted` for what says nothing about the model; `said` the outcome with its sign.
    """

    outcome: str
    tone: str
    said: str
    detail: str
    rows: list[dict[str, Any]]
    failed: list[TestRow]
    more: int
    sides: tuple[str, str]


@dataclass(frozen=True)
class Trip:
    """One description and the code made from it."""

    description: str
    recites: str
    codes: list[Code]

    @property
    def instructive(self) -> bool:
        """Return whether it shows how a description that is no copy lost what the tests ask for."""
        return not self.recites and any(code.outcome == "fail" and code.failed for code in self.codes)


def trips(reader: Reader, item: ItemRow) -> list[Trip]:
    """Return an item's trace: each description with the code made from it, and code that came from none of them."""
    samples = reader.samples(item.id)
    by_id = {sample.id: sample for sample in samples}
    words = {sample.id for sample in samples if sample.form == Form.TEXT}
    made: list[Trip] = []
    alone: dict[str, list[Code]] = {}
    for sample in samples:
        if sample.id in words:
            codes = [_code(reader, item, code, by_id) for code in samples if code.parent_id == sample.id]
            by = "" if sample.author == "model" else f" (by {sample.author})"
            recited = f"{sample.recitation:.0%}" if recites(sample) else ""
            made.append(Trip(f"{sample.text or sample.error or NO_WORDS}{by}", recited, codes))
        elif sample.parent_id not in words:
            title = f"(no description: the {role_title(item.task, sample.role)})"
            if title not in alone:
                alone[title] = []
                made.append(Trip(title, "", alone[title]))
            alone[title].append(_code(reader, item, sample, by_id))
    return made


def edit_rows(item: ItemRow) -> list[dict[str, Any]]:
    """Return the rows of what people changed in an edit; none for a region."""
    if not presenter(item).past:
        return []
    return [_row(row) for row in compare(item.old_text or "", item.text, python=False).rows]


def _code(reader: Reader, item: ItemRow, sample: SampleRow, samples: Mapping[int, SampleRow]) -> Code:
    """Return the code beside the item, or beside the code that it was held against, as the window shows it."""
    verdict, before = sample.verdict, scored_against(sample, samples)
    sides = presenter(item).sides_of(item, sample, before)
    original = item.text if before is None else before.text
    # A region's text begins at its first statement; both sides get the same indentation back.
    indent = lost_indentation(item.text)
    rows = [_row(row) for row in compare(restored(original, indent), restored(sample.text, indent)).rows]
    if verdict is None:
        return Code("", "muted", "○ Not judged", sample.error, rows, [], 0, sides)
    failed = [_short(test) for test in reader.tests(verdict.id) if test.outcome != "passed"]
    tone = "pass" if verdict.outcome == "pass" else "muted" if verdict.outcome in UNCOUNTED else "notpass"
    detail = verdict.detail.removeprefix(verdict.outcome).strip()  # it may begin with what the sign says already
    shown = sign(verdict.outcome)
    said = f"{shown.symbol} {shown.word.capitalize()}"
    return Code(verdict.outcome, tone, said, detail, rows, failed[:MOST_TESTS], len(failed[MOST_TESTS:]), sides)


def _short(test: TestRow) -> TestRow:
    """Return the start of a long message: there stands what went wrong."""
    message = test.message.strip()
    lines = message.splitlines()
    if len(lines) > MESSAGE_LINES:
        message = "\n".join([*lines[:MESSAGE_LINES], f"... {len(lines) - MESSAGE_LINES} lines left out ..."])
    if len(message) > MESSAGE_CHARACTERS:
        left_out = len(message) - MESSAGE_CHARACTERS
        message = f"{message[:MESSAGE_CHARACTERS]}\n... {left_out:,} characters left out ..."
    return replace(test, message=message)


def _row(row: DiffRow) -> dict[str, Any]:
    signs = {Kind.EQUAL: ("", ""), Kind.CHANGED: ("~", "~"), Kind.INSERTED: ("", "+"), Kind.DELETED: ("-", "")}
    left, right = signs[row.kind]
    return {
        "left_kind": "" if row.left is None else row.kind.value,
        "right_kind": "" if row.right is None else row.kind.value,
        "left": _marked(row.left),
        "right": _marked(row.right),
        "left_sign": left,
        "right_sign": right,
    }


def _marked(cell: Cell | None) -> Markup:
    if cell is None:
        return Markup("")
    parts, at = [], 0
    for start, end in cell.marks:
        parts += [escape(cell.text[at:start]), Markup("<mark>") + escape(cell.text[start:end]) + Markup("</mark>")]
        at = end
    return Markup("").join([*parts, escape(cell.text[at:])])
