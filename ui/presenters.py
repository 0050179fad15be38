"""How items of each kind and runs are shown: heading, code, what judges them, trace, diff; how a run was made.

Views ask the presenter of an item and know no kind themselves. An item need not have a file or a line.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from pkgutil import resolve_name
from typing import Any

from rtc_inspector.core.figures.reading import number
from rtc_inspector.core.generation import Role
from rtc_inspector.core.kinds import RoleName, article, counted, kind_of, noun, task
from rtc_inspector.core.metrics.metric import metric
from rtc_inspector.core.settings import EndpointSettings, NamedModel
from rtc_inspector.core.settings.words import flat, words_of
from rtc_inspector.core.store.rows import ItemRow, RunRow, SampleRow, VerdictRow
from rtc_inspector.core.types import OLD_LINE, Form, Span
from rtc_inspector.ui.diff.lines import PAIR, Sides

COMMIT = "commit"  # under this name of its origin an edit out of a history has its commit
MARK = "^:"  # as git writes it: `1a2b3c4d5e^:src/a.c` is that file at the commit's parent

RECITES_FROM = 0.3  # share of the code repeated verbatim from which a description is marked


class Presenter:
    """An item whose text is the code to come back: a region, a problem."""

    past = False  # it is an edit: its code stands in a file as it was before a commit, and is compared in three columns
    sides: Sides = PAIR  # what the left and the right side of a comparison are

    def heading(self, item: ItemRow) -> str:
        if not item.has_file:
            return item.key
        several = item.end_line != item.start_line
        lines = f"{item.start_line}–{item.end_line}" if several else str(item.start_line)
        return f"{item.path}:{lines}"

    def listed(self, item: ItemRow) -> str:
        return item.file

    def headline(self, item: ItemRow) -> tuple[str, str]:
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
                figure = f"{kind.measure(name).title} {item.measures[name]:.2f}"
                return f"{figure}, {remark}" if remark else figure, f"{kind.measure(name).tip}."
        value = item.measures.get(measure.name) if measure is not None else None
        if measure is None or value is None:
            return "", ""
        few = f"So few outcomes of one item prove nothing: the {measure.title} of the run has an interval."
        return f"{measure.title} {number(value, 'signed')}", f"{measure.tip}. {few}"

    def judged(self, item: ItemRow) -> tuple[str, str]:
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
        return item.origin.get("message", "").partition("\n")[0].strip() or item.file

    def judged(self, item: ItemRow) -> tuple[str, str]:
        if item.tests:
            return super().judged(item)
        return "exact match", "Passes when the new code comes back, white space at line ends aside."

    def code_shown(self, item: ItemRow, texts: Mapping[str, str]) -> ItemRow:
        """Return the old code, at its place in the past file."""
        old = item.old_text or ""
        name, line = past_name(item), int(item.origin.get(OLD_LINE) or 0)
        text = texts.get(name)
        before = text.split("\n")[: line - 1] if text is not None and line else []
        start = min(sum(len(each) + 1 for each in before), len(text or ""))
        last = (line or item.start_line) + old.count("\n")
        span, first = Span(start, start + len(old)), line or item.start_line
        return replace(item, path=name, text=old, span=span, start_line=first, end_line=last)


class WordsPresenter(Presenter):
    """An item whose text is words: code is made from it, and words from that code are held against it."""

    sides = "asked", "made"

    def judged(self, item: ItemRow) -> tuple[str, str]:
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


@dataclass(frozen=True, slots=True)
class Node:
    """One sample in the tree of an item."""

    sample: SampleRow
    depth: int  # how many samples are above it
    name: str  # what the kind calls it, with the paper's sign in brackets: `Description 2 (y2)`
    against: tuple[str, ...] = ()  # its scores against other samples, in words
    inset: int = 0  # how far it stands to the right of its tree's root; links of one chain stand below one another
    remark: str = ""  # what its method says of it in words


def trace(item: ItemRow, samples: Sequence[SampleRow]) -> list[Node]:
    """Return the samples of an item as a tree, in the order they are shown."""
    by_id = {sample.id: sample for sample in samples}
    kind = kind_of(item.task)
    remarks: Mapping[int, str] = resolve_name(kind.remarks)(samples) if kind is not None and kind.remarks else {}
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


@dataclass(frozen=True, slots=True)
class Sign:
    """The sign of an outcome."""

    symbol: str
    word: str
    role: str = "bad"  # of its colour in the theme
    about: str = ""

    @property
    def text(self) -> str:
        return f"{self.symbol} {self.word}"


# Verdicts of samples in capitals, outcomes of single tests in small letters.
SIGNS = {
    "pass": Sign("✓", "PASS", "good", "All covering tests pass with this text."),
    "fail": Sign("✗", "FAIL", "bad", "At least one covering test fails with this text."),
    "timeout": Sign("◷", "TIMEOUT", "warn", "The tests ran longer than they may."),
    "out-of-memory": Sign("▣", "OUT OF MEMORY", "warn", "The tests needed more memory than they may have."),
    "crash": Sign("✸", "CRASH", "bad", "The interpreter died while the tests ran."),
    "syntax-error": Sign("⊘", "SYNTAX ERROR", "bad", "The text is not valid Python where it stands."),
    "import-error": Sign("⊗", "IMPORT ERROR", "bad", "The module cannot be imported with this text."),
    "tampered": Sign("⚑", "TAMPERED", "warn", "The text interfered with the test framework."),
    "not-executed": Sign("○", "NOT EXECUTED", "neutral", "No covering test ran this text."),
    "infrastructure": Sign("⚙", "NOT JUDGED", "neutral", "Our sandbox failed, not the model; it does not count."),
    "passed": Sign("✓", "passed", "good"),
    "failed": Sign("✗", "failed"),
    "error": Sign("✸", "error"),
    "skipped": Sign("○", "skipped", "neutral"),
    "missing": Sign("?", "missing", "neutral"),
}


def sign(outcome: str) -> Sign:
    """Return the sign of an outcome; one we do not know keeps its own name."""
    return SIGNS.get(outcome, Sign("?", outcome.upper()))


def verdict_text(verdict: VerdictRow | None, covering: int = 0, *, going: bool = True) -> str:
    """`✓ PASS`, `✗ FAIL 2 of 8`, or `✗ FAIL at 3 of 385` where judging stopped at the first failure.

    `covering`: how many tests there are; 0 where that is not known. `going`: what has no verdict will get one.
    """
    if verdict is None:
        return "… judging" if going else "○ not judged yet"
    text = sign(verdict.outcome).text
    # Only a failure has counts worth a place on a badge.
    if verdict.outcome != "fail" or not verdict.tests_run or not covering:
        return text
    if _stopped_early(verdict, covering):
        return f"{text} at {verdict.tests_run} of {covering:,}"
    return f"{text} {verdict.tests_failed} of {verdict.tests_run}"


def verdict_badge(verdict: VerdictRow | None, covering: int, *, going: bool) -> tuple[str, str, str]:
    """Return the text, colour role and tip of the badge on a sample's card."""
    tip = verdict_detail(verdict, covering) if verdict else "Not judged yet."
    return verdict_text(verdict, covering, going=going), verdict_role(verdict), tip


def verdict_detail(verdict: VerdictRow, covering: int = 0) -> str:
    """Return what a verdict means, as a sentence without full stop; of a failure also that no test was run after it."""
    detail = (verdict.detail or sign(verdict.outcome).about).rstrip(".")
    if verdict.outcome == "fail" and _stopped_early(verdict, covering):
        detail += f"; judging stopped there, after {verdict.tests_run:,} of {covering:,} covering tests"
    return detail


def _stopped_early(verdict: VerdictRow, covering: int) -> bool:
    return verdict.tests_failed == 1 and 0 < verdict.tests_run < covering


def verdict_role(verdict: VerdictRow | None) -> str:
    """Return the colour role of a verdict's badge."""
    return "neutral" if verdict is None else sign(verdict.outcome).role


Pairs = tuple[tuple[str, str], ...]
Groups = tuple[tuple[str, Pairs], ...]  # heading, then pairs of name and value

_SERVERS = {"endpoint": "Server of the forward model", "backward_endpoint": "Server of the backward model"}
_TITLES = {
    "region": "Region settings",
    "edit": "Edit settings",
    "oracle": "Oracle settings",
    "generation": "Model settings",
    "series": "Run as well",
    **_SERVERS,
}


def provenance(run: RunRow) -> Groups:
    """Return the groups in the order they are read: the run, its models, where it was judged, all settings.

    A damaged record of models or settings is shown as far as it goes.
    """
    models, config = _json(run.model_json), _json(run.config_json)
    forward, backward = _mapping(models.get("forward", models)), _mapping(models.get("backward", {}))
    words = changed_words(run.task, str(config.pop("prompts", "")))
    kind = kind_of(run.task)

    def own(values: Mapping[str, Any], part: str = "") -> dict[str, Any]:
        """Return what says something to runs of this method; to one that is not known here, everything."""
        return {name: value for name, value in values.items() if kind is None or kind.has(f"{part}{name}")}

    if isinstance(series := config.get("series"), Mapping) and isinstance(listed := series.get("models"), list):
        config["series"] = {**series, "models": ", ".join(map(_model, listed))}
    parts = {name: own(value, f"{name}.") for name, value in config.items() if isinstance(value, Mapping)}
    flat = {
        f"{noun(run.task)}s" if name == "regions" else name: value  # what is sampled is called by its name
        for name, value in own(config).items()
        if name not in parts and not (name in _SERVERS and value is None)
    }
    return (
        ("Run", _run(run)),
        ("Code and tests", _code(run)),
        ("Forward model", _pairs(forward)),
        ("Backward model", (("", "the forward model"),) if backward in ({}, forward) else _pairs(backward)),
        ("Settings", _pairs(flat)),
        *((("Words of the prompts", words),) if words else ()),
        *((_TITLES.get(name, name.replace("_", " ")), _pairs(part)) for name, part in parts.items() if part),
    )


def changed_words(task: str, own: str) -> Pairs:
    """Return the texts of the prompts in which a person's words stand, by what they are."""
    if not own:
        return ()
    given = dict(flat(words_of(task)))
    return tuple((key.replace(".", " "), text) for key, text in flat(words_of(task, own)) if text != given.get(key))


def as_text(groups: Groups) -> str:
    """Return the groups as text, for the clipboard."""
    lines = []
    for title, pairs in groups:
        lines += [title, *(f"  {name}: {value}" if name else f"  {value}" for name, value in pairs), ""]
    return "\n".join(lines).rstrip()


def _run(run: RunRow) -> Pairs:
    items = f"{noun(run.task)}s"
    pairs = [
        ("number", str(run.id)),
        ("name", run.name),
        ("status", run.status),
        ("task", run.task),
        ("seed", str(run.seed)),
        ("started", _second(run.started_at)),
        ("ended", _second(run.ended_at) if run.ended_at else "–"),
        (items, f"{run.items_complete} of {run.items_expected}, {run.items_dropped} dropped"),
        (f"{items} to draw from", "" if run.available is None else f"{run.available:,}"),
        ("samples", f"{run.samples:,}"),
        ("RTC Inspector", run.app_version),
        ("notes", run.notes),
    ]
    return tuple((name, value) for name, value in pairs if value)


def _second(time: str) -> str:
    return f"{time[:19].replace('T', ' ')} UTC"


def _code(run: RunRow) -> Pairs:
    revision = run.revision or "not under version control"
    pairs = (
        ("project", run.project_name),
        ("folder", run.project_root),
        ("revision", f"{revision}{' with uncommitted changes' if run.dirty else ''}"),
        ("files", run.fingerprint),
        ("judged by", run.sandbox),
        ("image", run.image_digest),
    )
    return tuple((name, value) for name, value in pairs if value)


def _pairs(values: Mapping[str, Any]) -> Pairs:
    return tuple((name.replace("_", " "), _value(value)) for name, value in values.items())


def _value(value: Any) -> str:
    if value is None:
        return "automatic"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 100_000:
        return f"{value:,}"
    return str(value) if value != "" else "–"


def _model(stored: Any) -> str:
    stored = _mapping(stored)
    server = _mapping(stored.get("endpoint"))
    endpoint = EndpointSettings(str(server.get("address", "")), str(server.get("model", ""))) if server else None
    return NamedModel(str(stored.get("file", "")), endpoint).label


def _json(text: str) -> dict[str, Any]:
    try:
        return _mapping(json.loads(text))
    except ValueError:
        return {}


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
