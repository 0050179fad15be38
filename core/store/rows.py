"""What views read from the store: frozen rows, one class a question."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rtc_inspector.core.generation import Sample
from rtc_inspector.core.kinds import counted, kind_of, noun, task
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.types import NEAR_LIMIT, Estimate, Form, Item, Outcome, TestResult, Verdict, tests_not_asked
from rtc_inspector.core.types import NOTHING as NOTHING

Row = dict[str, Any]  # a row of a table, or a record of an export, by the names of its columns
GROWING = frozenset({"running", "interrupted"})
"""The status of a run that may get more items, so that its figures are provisional."""


Interval = Callable[..., tuple[float, float, float]]
"""Mean and bounds of values, one a region: `core.metrics.statistics.interval`, which the store itself does not know."""
NOTABLE = 0.1  # share of answers that were none from which on the reader is asked whether they are read rightly


@dataclass(frozen=True, slots=True)
class Answers:
    """Counts of how well the models' answers could be read."""

    made: int = 0  # answers of the run's models that count
    empty: int = 0  # nothing was left of them to read; of these `thinking` held thoughts
    thinking: int = 0
    cut: int = 0  # they hit their limit, or the end of the window
    # answers that were to be code; of these `without_code` are words alone, and `unparsable` ones Python cannot parse
    # at their place, where it can parse what stands there
    code: int = 0
    without_code: int = 0
    unparsable: int = 0

    @classmethod
    def of(cls, sample: Sample, form: str) -> Answers:
        steps, code = sample.extraction_steps, form == Form.CODE
        empty, cut = "empty" in steps, sample.finish_reason in ("length", "context")
        thinking = empty and any(step.startswith("thoughts-") for step in steps)
        return cls(1, empty, thinking, cut, code, "no-code" in steps, "unparsable" in steps)

    def __add__(self, other: Answers) -> Answers:
        return Answers(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @property
    def shares(self) -> dict[str, float]:
        of = {"empty": self.made, "cut": self.made, "without_code": self.code, "unparsable": self.code}
        return {name: getattr(self, name) / all_ for name, all_ in of.items() if all_}

    @property
    def remark(self) -> str:
        if not (parts := self.words):
            return ""
        doubt = "; are they read rightly?" if max(self.shares.values()) >= NOTABLE else ""
        return f"of {counted(self.made, 'answer')} {parts}{doubt}"

    @property
    def words(self) -> str:
        """Return the shares that are not 0, in words; empty where all are 0."""
        words = {"empty": "empty", "cut": "cut at their limit", "without_code": "without code"}
        words["unparsable"] = "code that does not parse"
        return ", ".join(f"{share:.2f} {words[name]}" for name, share in self.shares.items() if share)

    @property
    def notices(self) -> dict[str, str]:
        """Return a sentence on each share from a tenth on, by its name, with what would help."""
        advice = {
            "empty": "--thought-tokens N gives thoughts more room, --thinking off asks for none."
            if self.thinking * 2 > self.empty
            else "Another --prompt-style may help.",
            "cut": "--forward-max-tokens and --backward-max-tokens give descriptions and code more room.",
            "without_code": "Another --prompt-style may help.",
            "unparsable": "See in the Prompt tab (on the command line: `export`) whether they are read rightly.",
        }
        kinds = {"empty": "answers are empty", "cut": "answers were cut at their limit"}
        kinds |= {"without_code": "answers hold no code", "unparsable": "programs do not parse"}
        of = {"empty": self.made, "cut": self.made}
        return {
            name: f"{getattr(self, name)} of {of.get(name, self.code)} {kinds[name]}. {advice[name]}"
            for name, share in self.shares.items()
            if share >= NOTABLE
        }


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The figures that a run's items come to."""

    changes: int  # grows with everything stored for the run; another count makes these stale
    items_admitted: int
    items_dropped: int
    items_complete: int
    samples: int  # of the run's own trips, without what a person wrote and what came of it
    scores: Mapping[str, Estimate] = field(hash=False)  # the mean of each measure over the run's items, by its name
    near_limit: int  # verdicts that took more than half of their time, or ran out of it below twice that
    answers: Answers  # how what models answered could be read

    @property
    def bounded(self) -> bool:
        return all(score.value is None or score.low is not None for score in self.scores.values())


@dataclass(frozen=True, slots=True)
class RunRow(RunFigures):
    """One run as the run list and the status line show it."""

    id: int
    task: str
    status: str  # running, finished, incomplete, interrupted (stopped, or its process died) or failed
    project_name: str
    project_root: str
    revision: str | None
    dirty: bool
    model_name: str
    backward_model_name: str
    sandbox: str
    seed: int
    app_version: str
    started_at: str
    ended_at: str | None
    regions_wanted: int
    config_json: str
    model_json: str  # `{"forward": ModelInfo, "backward": ModelInfo}`
    name: str
    notes: str
    # what could not be evaluated, and what to keep in mind of how items were drawn, a sentence each
    problems: tuple[str, ...] = ()
    # `{"tests": n, "excluded": {node id: reason}, "own_order": [node id], "not_asked": [node id], "seconds": s,
    # "python": version, "cached": bool}`
    suite_json: str = "{}"
    image_digest: str = ""
    fingerprint: str = ""
    # how many items, dropped ones too, the project has to draw from; None where nobody knows
    available: int | None = None

    @property
    def left(self) -> int | None:
        """Return about how many more items could be admitted, if as large a share as before is; None where unknown."""
        drawn = self.items_admitted + self.items_dropped
        if self.available is None or not drawn:
            return None
        return max(0, self.available - drawn) * self.items_admitted // drawn

    @property
    def items_expected(self) -> int:
        """Return how many items the run will have as far as is known.

        While it may still admit some, those that were asked for, or as many of them as are there to draw.
        """
        if self.status not in GROWING and self.items_admitted:
            return self.items_admitted
        drawn = self.items_admitted + self.items_dropped
        most = self.regions_wanted if self.available is None else self.available - drawn + self.items_admitted
        return max(self.items_admitted, min(self.regions_wanted, most))

    @property
    def not_asked(self) -> str:
        """Return a sentence on how many tests that plain pytest passes judged nothing; empty for none."""
        try:
            count = len(json.loads(self.suite_json).get("not_asked", ()))
        except (ValueError, AttributeError, TypeError):  # a damaged record
            return ""
        return tests_not_asked(count) if count else ""

    @property
    def label(self) -> str:
        return f"{self.model_name}, run {self.id}"

    @property
    def models(self) -> str:
        """Return the name of the model that made the run; of two the one that describes stands first."""
        forward, backward = self.model_name, self.backward_model_name
        return f"{forward} → {backward}" if backward not in ("", forward) else forward

    @property
    def headline(self) -> Estimate:
        return self.scores.get(task(self.task).headline, NOTHING)

    @property
    def secondary(self) -> Estimate:
        return self.scores.get(task(self.task).secondary, NOTHING)

    @property
    def remarks(self) -> list[str]:
        """Return what is to be known of its figures, each with the number of items or verdicts it is true of."""
        kind, remarks = kind_of(self.task), []
        for measure in kind.averaged if kind is not None else ():
            score = self.scores.get(measure.name, NOTHING)
            if measure.remark and score.value:
                count = round(score.value * score.n)
                remarks.append(f"{measure.remark}: {count} of {counted(score.n, noun(self.task))}")
        if self.near_limit:
            verdicts = counted(self.near_limit, "verdict")
            remarks.append(f"{NEAR_LIMIT}: {verdicts}, which another machine may judge otherwise")
        return [*remarks, *filter(None, (self.answers.remark, self.not_asked))]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow(Item):
    """One item of a run with what became of it."""

    id: int
    run_id: int
    state: str  # dropped, waiting, running or done
    task: str  # of its run
    # its figures by name; what is not defined is absent
    measures: Mapping[str, float] = field(default_factory=dict, hash=False)
    recitation: float | None = None  # the largest among its descriptions
    samples: int = 0  # how many of it count in the run's scores
    made: int = field(default=0, compare=False)  # how many whole ones models made, whether they count or not

    @property
    def start(self) -> int:
        return self.span.start

    @property
    def end(self) -> int:
        return self.span.end

    @property
    def headline(self) -> float | None:
        return self.measures.get(task(self.task).headline)

    @property
    def secondary(self) -> float | None:
        return self.measures.get(task(self.task).secondary)

    @property
    def copied(self) -> bool:
        """Return whether the same lines stand once more in the file: a model may copy them despite the description."""
        return "copy" in self.facets

    @property
    def tally(self) -> str:
        """Return how many of its samples did well, e.g. `2/3`; empty where its kind counts none, or none was judged."""
        good, judged = task(self.task).tally or ("", "")
        return f"{self.measures.get(good, 0):.0f}/{self.measures[judged]:.0f}" if self.measures.get(judged) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow(Verdict):
    """The last verdict of a sample.

    `tests` are those of a verdict that was just stored; of one that was read, `Reader.tests` has them.
    """

    id: int
    tests_run: int
    tests_failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow(Sample):
    """One sample of a trace, with its verdict and scores."""

    # empty where the sample was read: `Reader.prompt` has it by `prompt_hash`
    prompt_text: str = field(default="", compare=False)
    id: int
    item_id: int
    parent_id: int | None
    prompt_hash: str
    form: str = Form.CODE  # a `core.types.Form`
    verdict: VerdictRow | None = None
    scores: Mapping[str, float] = field(default_factory=dict, hash=False)  # against the item's own text, by metric
    # against other samples of the item: metric, id of the other sample, value
    pairs: tuple[tuple[str, int, float], ...] = ()

    @property
    def passes(self) -> bool | None:
        """Return whether its code passes; None before it is judged, and where the judging itself failed."""
        if self.verdict is None or not self.verdict.outcome.judged:
            return None
        return self.verdict.outcome is Outcome.PASS


class Tree:
    """The samples of one item in trace order, each with its last verdict and its scores.

    The engine's grows while it writes (`Store.add_sample` ...); one that is read is as it was then. In trace order each
    sample is followed by what was made from it: by role, as the method lists its roles, the model's before a person's.
    """

    def __init__(
        self,
        samples: Iterable[SampleRow] = (),
        tests: Callable[[int], Sequence[TestResult]] = lambda _: (),
        roles: Iterable[str] = (),
    ) -> None:
        """`tests` gives the test results of a stored verdict by its id; `roles` are those of the method, in order."""
        self._by_id = {sample.id: sample for sample in samples}
        self._order: list[int] | None = list(self._by_id)
        self._tests, self._roles = tests, tuple(roles)

    @property
    def samples(self) -> Sequence[SampleRow]:
        if self._order is None:
            self._order = [sample.id for sample in in_trace_order(self._by_id.values(), self._roles)]
        return [self._by_id[each] for each in self._order]

    def __getitem__(self, sample_id: int) -> SampleRow:
        return self._by_id[sample_id]

    def __contains__(self, sample_id: object) -> bool:
        return sample_id in self._by_id

    def add(self, new: SampleRow) -> None:
        """Add a sample; a failed one of the models at its place goes."""
        place = (new.role, new.parent_id, new.index)
        for old in [s for s in self._by_id.values() if s.error and s.author == new.author == "model"]:
            if (old.role, old.parent_id, old.index) == place:
                del self._by_id[old.id]
        self._by_id[new.id], self._order = new, None

    def judge(self, sample_id: int, verdict: VerdictRow) -> None:
        self._by_id[sample_id] = replace(self._by_id[sample_id], verdict=verdict)

    def score(self, sample_id: int, scores: Mapping[str, float], reference: int | None = None) -> None:
        """Give a sample scores against another one, or the item's own text, in the place of those of their names."""
        row = self._by_id[sample_id]
        if reference is None:
            self._by_id[sample_id] = replace(row, scores={**row.scores, **scores})
            return
        kept = tuple(pair for pair in row.pairs if pair[1] != reference or pair[0] not in scores)
        new = tuple((metric, reference, value) for metric, value in scores.items())
        self._by_id[sample_id] = replace(row, pairs=kept + new)

    def whole(self, role: str) -> list[SampleRow]:
        """Return the samples of a role that came out whole, by index; those the engine failed to make are left out."""
        whole = (s for s in self._by_id.values() if s.role == role and not s.error)
        return sorted(whole, key=lambda sample: (sample.index, sample.id))

    def parent(self, sample: SampleRow) -> SampleRow | None:
        return None if sample.parent_id is None else self._by_id[sample.parent_id]

    def taken(self, role: str, parent: int | None = None) -> set[int]:
        """Return the indices at which a parent has a whole child of that role."""
        rows = self._by_id.values()
        return {s.index for s in rows if s.role == role and s.parent_id == parent and not s.error}

    def missing(self, role: str, wanted: int, parent: int | None = None) -> list[int]:
        """Return those of `wanted` indices at which a parent has no whole child of that role yet."""
        taken = self.taken(role, parent)
        return [index for index in range(wanted) if index not in taken]

    def places(self, parent: int | None) -> tuple[int, ...]:
        """Return the indices on the way from the item down to a sample, its own included; empty for the item."""
        path: list[int] = []
        while parent is not None:
            sample = self._by_id[parent]
            path.append(sample.index)
            parent = sample.parent_id
        return tuple(reversed(path))

    def below(self, sample_id: int | None, ancestor: int) -> bool:
        """Return whether a sample is `ancestor` or hangs somewhere below it."""
        while sample_id is not None and sample_id != ancestor:
            sample_id = self._by_id[sample_id].parent_id
        return sample_id == ancestor

    def tests(self, sample: SampleRow) -> Sequence[TestResult]:
        return (sample.verdict.tests or self._tests(sample.verdict.id)) if sample.verdict else ()


def in_trace_order(samples: Iterable[SampleRow], roles: Sequence[str]) -> Iterator[SampleRow]:
    """Yield samples in the order of `Tree`; what hangs below none of them is left out."""
    rank = {role: place for place, role in enumerate(roles)}
    children: dict[int | None, list[SampleRow]] = {}
    for sample in sorted(
        samples, key=lambda s: (rank.get(s.role, len(rank)), s.author != "model", s.index, s.id), reverse=True
    ):
        children.setdefault(sample.parent_id, []).append(sample)
    waiting = children.get(None, [])
    while waiting:
        sample = waiting.pop()
        yield sample
        waiting += children.get(sample.id, ())


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file's share of a run."""

    path: str
    items: int
    done: int
    measures: Mapping[str, float] = field(hash=False)
    name: str = ""  # what people call it where it was written for the run; empty where it is called by its path


@dataclass(frozen=True, slots=True)
class FacetRow:
    """The share of a run whose items have one value of one facet, e.g. `language` `Go`."""

    facet: str
    value: str
    items: int  # admitted ones
    scores: Mapping[str, Estimate] = field(hash=False)


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One judged reconstruction with one metric's value."""

    sample_id: int
    item_id: int
    value: float
    passed: bool


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One judged piece of code beside the reference of its item, for whoever compares the two texts."""

    sample_id: int
    item_id: int
    key: str  # of the item
    role: str
    passed: bool
    origin: Mapping[str, str] = field(hash=False)  # as in `core.types.Item`
    scores: Mapping[str, float] = field(hash=False)  # those stored against the item's own text, by metric
    # `text`, `reference`: empty where they were not asked for
    text: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """Items of one cell, by the axes asked for, whose measures on variants differ from those on originals alike."""

    row: str
    column: str
    change: float  # mean of the form of change that was asked for, over what the cell joins
    noise: float | None  # the same of the variant that changes nothing; None where an item has none
    count: int  # how many items there are; `items` names a few of them, by run and id
    items: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """The number of items of a cell that passed (1) or failed (0), before and after they were written otherwise."""

    row: str
    column: str
    before: float
    after: float
    count: int


@dataclass(frozen=True, slots=True)
class RunningPoint:
    """Scores after the first `items` judged items, in the order their last verdicts came."""

    items: int
    item_id: int
    scores: Mapping[str, Estimate] = field(hash=False)


TRIAL = 0  # in the place of a run's number: a trial, of which nothing was stored


@dataclass(frozen=True, slots=True)
class PaceRow:
    """The speed of one run, pauses left out."""

    run_id: int  # of the stored run, or TRIAL
    settings: RunSettings
    # `samples`, `seconds`, `tokens`: of those regions that say something about it; tokens read and written
    samples: int
    seconds: float
    tokens: int
    parts: tuple[float, ...]  # seconds a sample in up to four consecutive parts of the run, one where it was short
    drawing: float  # seconds until a region was admitted
    written: int = 0  # of the tokens, those that were written


@dataclass(frozen=True, slots=True)
class Spent:
    """The tokens and money that a model of a run has taken."""

    model: str  # as the run's samples name it, `forward` or `backward`, or its name
    samples: int
    prompt_tokens: int
    completion_tokens: int
    thought_tokens: int  # of those that it wrote
    seconds: float  # that its answers took, each for itself: many may have been written at a time
    money: float | None = None  # in the currency of its price; None where none was given

    @property
    def answer_tokens(self) -> int:
        return self.completion_tokens - self.thought_tokens

    @property
    def speed(self) -> float | None:
        """Return the tokens that one answer got a second; None where nobody counted."""
        return self.completion_tokens / self.seconds if self.completion_tokens and self.seconds else None


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One entry of the history of labels. Without a mode it is a note alone; without either it took a label back."""

    id: int
    sample_id: int
    annotator: str
    mode: str  # ids of error modes with a space between them, as stored
    note: str
    made_at: str
    kind: str = "label"  # a `core.types.LabelKind`: an annotator's own label, or the decision between annotators
    taxonomy_version: int | None = None  # of the error modes it was chosen from; None where that is not known

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(self.mode.split())


@dataclass(frozen=True, slots=True)
class ReconstructionRow:
    """One reconstruction as a queue of labelling sees it. `outcome` is empty until it was judged."""

    sample_id: int
    item_id: int
    outcome: str
