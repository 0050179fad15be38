"""How items of each kind are shown: heading, where their code stands, what judges them, their trace and their diff.

Views ask the presenter of an item and know no kind themselves. An item need not have a file or a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from pkgutil import resolve_name

from rtc_inspector.core.generation import Role
from rtc_inspector.core.kinds import Kind, RoleName, article, counted, kind_of, task
from rtc_inspector.core.metrics.metric import metric
from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.core.types import OLD_LINE, Form, Span
from rtc_inspector.ui.diff.lines import PAIR, Sides

COMMIT = "commit"
"""Under this name of its origin an edit out of a history has its commit."""
MARK = "^:"
"""As git writes it: `1a2b3c4d5e^:src/a.c` is that file at the commit's parent."""

RECITES_FROM = 0.3
"""Share of the code repeated verbatim from which a description is marked."""


class Presenter:
    """An item whose text is the code to come back: a region, a problem.

    Attributes:
        past: it is an edit: its code stands in a file as it was before a commit, and is compared in three columns.
        sides: what the left and the right side of a comparison are.
    """

    past = False
    sides: Sides = PAIR

    def heading(self, item: ItemRow) -> str:
        """`file:first–last`, or the item's key where it stands in no file of the user's."""
        if not item.has_file:
            return item.key
        several = item.end_line != item.start_line
        lines = f"{item.start_line}–{item.end_line}" if several else str(item.start_line)
        return f"{item.path}:{lines}"

    def listed(self, item: ItemRow) -> str:
        """Return what the item is called in a list: its file, or its key."""
        return item.file

    def headline(self, item: ItemRow) -> tuple[str, str]:
        """Return the headline measure with its value, and what it rests on."""
        kind = task(item.task)
        measure, value = kind.measure(kind.headline), item.headline
        tip = measure.tip
        if kind.tally is not None:
            good, every = (int(item.measures.get(name, 0)) for name in kind.tally)
            tip = f"{good} of {every}: {kind.measure(kind.tally[0]).tip.lower()}"
        remark = kind.remark(item.measures)
        if remark:
            tip = f"{remark.capitalize()}. {tip}"
        return f"{measure.title} {'–' if value is None else f'{value:.2f}'}", tip

    def difference(self, item: ItemRow) -> tuple[str, str]:
        """Return what stands beside the headline, with what it says; nothing while it is not defined."""
        kind = task(item.task)
        measure = kind.difference
        for name in kind.beside[:1]:
            if name in item.measures:
                remark = kind.remark(item.measures)
                said = f"{kind.measure(name).title} {item.measures[name]:.2f}"
                return f"{said}, {remark}" if remark else said, f"{kind.measure(name).tip}."
        value = item.measures.get(measure.name) if measure is not None else None
        if measure is None or value is None:
            return "", ""
        few = f"So few outcomes of one item prove nothing: the {measure.title} of the run has an interval."
        return f"{measure.title} {value:+.2f}", f"{measure.tip}. {few}"

    def judged(self, item: ItemRow) -> tuple[str, str]:
        """Return what judges the item's code, and which tests those are: a dozen at most."""
        if not item.tests:
            return "whole suite", "These lines run at import: the whole suite judges them."
        names = ["Covered by:", *(as_known(item, test) for test in item.tests[:12])]
        if len(item.tests) > 12:
            names.append(f"and {len(item.tests) - 12} more")
        return counted(len(item.tests), "test"), "\n".join(names)

    def code_shown(self, item: ItemRow, texts: Mapping[str, str]) -> ItemRow:
        """Return the item where the code view shows it; without a file it stands alone, under its key.

        `texts`: past files that were read, by name.
        """
        if item.path:
            return item
        last = 1 + item.text.count("\n")
        return replace(item, path=item.key, span=Span(0, len(item.text)), start_line=1, end_line=last)

    def sides_of(self, item: ItemRow, code: SampleRow, before: SampleRow | None) -> Sides:
        """Return what stands left and right: what a description became, and words, go by the name of the kind."""
        if before is None and (code.role == Role.BACKWARD or describes(code)):
            return self.sides
        return self.sides[0] if before is None else diff_title(item.task, before), diff_title(item.task, code)


class EditPresenter(Presenter):
    """An edit: old code became new code, and the new code is to come back."""

    past = True
    sides = "new code", "predicted"

    def listed(self, item: ItemRow) -> str:
        """Return the subject of the edit's commit, where it has one."""
        return item.origin.get("message", "").partition("\n")[0].strip() or item.file

    def judged(self, item: ItemRow) -> tuple[str, str]:
        """Return the tests where the change has some, else the exact text."""
        if item.tests:
            return super().judged(item)
        return "exact match", "Passes when the new code comes back, white space at line ends aside."

    def code_shown(self, item: ItemRow, texts: Mapping[str, str]) -> ItemRow:
        """Return the old code, at its place in the past file."""
        old = item.old_text or ""
        name, line = past_name(item), int(item.origin.get(OLD_LINE) or 0)
        text = texts.get(name)
        start = _offset(text, line) if text is not None and line else 0
        last = (line or item.start_line) + old.count("\n")
        span, first = Span(start, start + len(old)), line or item.start_line
        return replace(item, path=name, text=old, span=span, start_line=first, end_line=last)


class WordsPresenter(Presenter):
    """An item whose text is words: code is made from it, and words from that code are held against it."""

    sides = "asked", "made"

    def judged(self, item: ItemRow) -> tuple[str, str]:
        """Return the tests where it came with some, else nothing but words."""
        return super().judged(item) if item.tests else ("no tests", "No tests came with it: only words are compared.")


def as_known(item: ItemRow, text: str) -> str:
    """Return what the oracle said of an item in the words of people, who never saw the files written for the run."""
    if item.has_file or not item.path:
        return text
    own = re.escape(PurePosixPath(item.path).stem)

    def name(found: re.Match[str]) -> str:
        return f"test {int(found['number']) + 1} of {item.key}" if found["number"] else f"the tests of {item.key}"

    text = re.sub(rf"tests/test_(?:p_)?{own}\.py(?:::test_(?P<number>\d+)\w*)?", name, text)
    return re.sub(rf"\b{re.escape(item.path)}", lambda _: item.key, text)


_PRESENTERS: Mapping[str, Presenter] = {"edit": EditPresenter()}
_WORDS = WordsPresenter()
_PLAIN = Presenter()


def presenter(item: ItemRow) -> Presenter:
    """Return the presenter that says how an item is shown."""
    return _WORDS if item.form == Form.TEXT else _PRESENTERS.get(item.kind, _PLAIN)


def past_name(item: ItemRow) -> str:
    """Return the name of the file in which an edit's old code stands; an edit out of a file of edits has its key."""
    commit = item.origin.get(COMMIT, "")
    return f"{commit[:10]}{MARK}{item.path}" if commit else item.key


def _offset(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        # 0 where there is no further line break.
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return at


# ---- the trace


@dataclass(frozen=True, slots=True)
class Node:
    """One sample in the tree of an item.

    Attributes:
        depth: how many samples are above it.
        name: what the kind calls it, with the paper's sign in brackets: `Description 2 (y2)`.
        against: its scores against other samples, in words.
        inset: how far it stands to the right of its tree's root; links of one chain stand below one another.
        remark: what its method says of it in words.
    """

    sample: SampleRow
    depth: int
    name: str
    against: tuple[str, ...] = ()
    inset: int = 0
    remark: str = ""


def trace(item: ItemRow, samples: Sequence[SampleRow]) -> list[Node]:
    """Return the samples of an item as a tree, in the order they are shown."""
    by_id = {sample.id: sample for sample in samples}
    kind = kind_of(item.task)
    remarks = _remarks(kind, samples)
    chained = kind is not None and any(named.by_round for named in kind.roles.values())

    def above(sample: SampleRow) -> list[SampleRow]:
        parent = by_id.get(sample.parent_id) if sample.parent_id is not None else None
        return [] if parent is None else [parent, *above(parent)]

    def against(sample: SampleRow) -> Iterator[str]:
        for name, value in sorted(sample.scores.items()) if item.form == Form.TEXT else ():
            yield f"{metric(name).short} {value:.2f}"
        for name, other, value in sample.pairs:
            if other in by_id:
                yield f"{metric(name).short} {value:.2f} to {sample_name(item.task, by_id[other])}"

    def node(sample: SampleRow) -> Node:
        parents = above(sample)
        inset = sum(each.index > 0 for each in (sample, *parents)) if chained else len(parents)
        name, remark = sample_name(item.task, sample), remarks.get(sample.id, "")
        return Node(sample, len(parents), name, tuple(against(sample)), inset, remark)

    return [node(sample) for sample in samples]


def _remarks(kind: Kind | None, samples: Sequence[SampleRow]) -> Mapping[int, str]:
    if kind is None or not kind.remarks:
        return {}
    said: Mapping[int, str] = resolve_name(kind.remarks)(samples)
    return said


def scored_against(sample: SampleRow, samples: Mapping[int, SampleRow]) -> SampleRow | None:
    """Return the other code that some code was held against; None where that is the item's own."""
    other = next((samples.get(other) for _, other, _ in sample.pairs), None)
    return other if other is not None and other.form != Form.TEXT and sample.form != Form.TEXT else None


def sample_name(task: str, sample: SampleRow) -> str:
    """Return what a sample is called in its method; of what a transformation made, that one's name."""
    named = _named(task, sample.role)
    by_round = named is not None and named.by_round
    name = role_name(task, sample.role, sample.step if by_round else sample.step or sample.index)
    if named is not None and named.by_author:
        return name.replace(" (", f", {sample.author} (", 1)
    return f"{name}, beside the chain" if by_round and sample.index else name


def _named(task: str, role: str) -> RoleName | None:
    """Return what a method calls its samples of a role; None for a method or role that is not known here."""
    kind = kind_of(task)
    return kind.roles.get(role) if kind is not None else None


def judged_by_tests(task: str, sample: SampleRow) -> bool:
    """Return whether a sample has, or is still to get, a verdict."""
    named = _named(task, sample.role)
    return not describes(sample) and (named is None or named.judged or sample.verdict is not None)


def role_name(name: str, role: str, number: int = 0) -> str:
    """`Description 2 (y2)`, by the words of the method. `number`: which of several it is, or the step of a chain.

    Steps are counted from 0, the person's words and the first program, as papers do.
    """
    named = _named(name, role)
    if named is None:
        return role
    title = named.title[:1].upper() + named.title[1:]
    if named.by_round:
        return f"{title} {number} ({named.sign}{number})" if number else f"{title} ({named.sign})"
    numbered = number > 0 or named.form is Form.TEXT
    return f"{title} {number + 1} ({named.sign}{number + 1})" if numbered else f"{title} ({named.sign})"


def sign_words(task: str, role: str) -> str:
    """Return what the sign in brackets after the name of a role's samples stands for; empty where it has none."""
    kind, named = kind_of(task), _named(task, role)
    if kind is None or named is None:
        return ""
    words = f"{named.sign} is how papers write {article(named.title)} of {article(kind.noun)}"
    return f"{words}; its number says where in the chain it stands" if named.by_round else words


def compared_words(sample: SampleRow) -> str:
    """Return what the figures of a sample against others say, a line each."""
    metrics = (metric(name) for name in dict.fromkeys((*sorted(sample.scores), *(name for name, _, _ in sample.pairs))))
    return "\n".join(f"{each.short}: {each.meaning}" for each in metrics)


def diff_title(task: str, sample: SampleRow, before: SampleRow | None = None) -> str:
    """Return the name of a diff's right side: `reconstruction`, `reconstruction 2`; with `before`, of both sides."""
    name = sample_name(task, sample).partition(" (")[0]
    name = name[:1].lower() + name[1:]
    return name if before is None else f"{diff_title(task, before)} → {name}"


def describes(sample: SampleRow) -> bool:
    """Return whether a sample is words, not code."""
    return sample.form == Form.TEXT


def recites(sample: SampleRow) -> bool:
    """Return whether words repeat so much of the code they describe that a pass may be mere copying."""
    return (sample.recitation or 0.0) >= RECITES_FROM


def rebuilt(sample: SampleRow) -> bool:
    """Return whether a sample is code made from another sample; a baseline and a first solution come from the item."""
    return sample.form != Form.TEXT and sample.parent_id is not None
