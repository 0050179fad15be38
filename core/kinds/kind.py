"""What a method is to whoever shows, exports or compares its runs: names, measures, defaults, where its parts are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.types import Form


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that a method gives every item; its mean over items, with an interval, is a figure of the run.

    Attributes:
        name: as it is stored and printed, e.g. `rtc`.
        title: for a column or a label.
        tip: one sentence: what it says.
        lowest, highest: what an item's value can be.
        higher_is_better: None where neither is better.
        count: a number of things, shown as it is, never averaged.
        solved: the least value that counts as solved where halfway between worst and best says nothing.
        remark: what is to be said of an item for which this is 1; empty where nothing is.
        continuous: a likeness, say, and no share of outcomes: how its mean is bounded (docs/statistics.md).
        less: the two measures, from 0 to `highest`, whose difference this is; its interval comes from both of them.
    """

    name: str
    title: str
    tip: str
    lowest: float = 0.0
    highest: float = 1.0
    higher_is_better: bool | None = True
    count: bool = False
    continuous: bool = False
    less: tuple[str, str] | None = None
    solved: float | None = None
    remark: str = ""

    def solves(self, value: float) -> bool:
        """Return whether a value counts as solved: one more than halfway to the best, unless `solved` says."""
        return self.goodness(value) > 0.5 if self.solved is None else value >= self.solved

    def goodness(self, value: float) -> float:
        """Return where a value stands between the worst, 0, and the best, 1."""
        share = (value - self.lowest) / (self.highest - self.lowest)
        return 1.0 - share if self.higher_is_better is False else share

    def correctness(self, value: float) -> float | None:
        """Return how right a value is, for its colour; None of a likeness or a change, neither right nor wrong."""
        return None if self.continuous else self.goodness(value)


@dataclass(frozen=True, slots=True)
class RoleName:
    """Names and form of the samples of a role in one method.

    Attributes:
        title, sign: in a sentence, and as the paper's sign.
        form: whether they are code or text.
        judged: whether tests judge its code; a word that was guessed is scored only.
        answers: whether its code stands for the item's own text, so that the two can be compared.
        by_round: whether several are told apart by the round that they are of, in a chain, not by their index.
        by_author: whether they are called by who made them, e.g. a transformation.
    """

    title: str
    sign: str
    form: Form = Form.CODE
    judged: bool = True
    answers: bool = True
    by_round: bool = False
    by_author: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Place that the items of a method are drawn from.

    Attributes:
        name: `code`, `history`, `problems`, `cells` or `samples`.
        file: path of the setting that names a file of them, e.g. `benchmark.file`; empty where there is none.
        folder: whether, without such a file, a folder of the user's is judged as it is.
        python: whether the project must hold Python files.
        functions: whether a project's own functions are taken where no file is named.
        selected: whether code that a person selects can be an item.
        by_file: whether items of one file are worked on one after the other, since the model has read it.
        words: where the function stands that takes words a person writes down for an item, `module:name`; it is given
            the words, the head of their function and tests, and raises what is wrong. Empty where none does.
    """

    name: str
    file: str = ""
    folder: bool = False
    python: bool = False
    functions: bool = False
    selected: bool = False
    by_file: bool = False
    words: str = ""

    def named(self, settings: RunSettings) -> str | None:
        """Return the file that the settings name for them, or None."""
        part, _, name = self.file.partition(".")
        found: str | None = getattr(getattr(settings, part), name) if self.file else None
        return found

    def by_hand(self, settings: RunSettings) -> bool:
        """Return whether the settings hold words that a person wrote down for an item."""
        return bool(self.words) and settings.directive.words is not None


@dataclass(frozen=True)
class Kind:
    """One method.

    Attributes:
        title, tip: for people to choose it by.
        noun: what one item is called; `nouns` are several.
        source: what its items are drawn from.
        judged: what became of a result, as the end of a sentence.
        baseline: the uninformative utterance as a person reads it; empty where none is made.
        describable: whether a person may describe an item in the model's place.
        fills_gaps: whether a model with the tokens for it may fill in the middle of a file.
        roles: the roles its trees have, with their names, in the order in which they are shown.
        measures: its figures; `headline` names the one that lists, status line and comparisons show.
        beside: names of the measures that lists show beside the headline.
        tally: names of two counts, good and all, that sum up an item, e.g. passes of judged reconstructions.
        measured_by: paths of the settings without which two runs' headlines do not compare; the first is a name.
        metrics: pair scores of reconstructions shown beside the headline, each with what it says.
        remarks: where the function stands, `module:name`, that says in words what is to be known of single samples of
            an item beside their scores; empty where there is nothing to say.
        samples: by role, how many samples of it models make of one item at most; empty where all are given.
        demo: the file in `resources` that its demonstration runs on; empty for the demo project.
        opens: where the function that opens a source for it stands, `module:name`; loaded when a run begins.
        checks: the same of one that reads a file of items and refuses a bad one, before a model is loaded for it.
        analyses: names of the analyses that apply to its runs (`core.analyses.analyse`).
        settings: paths of the settings, or parts of settings, that some methods have and others have not, e.g. `chain`
            or `benchmark.file`. What no method names all of them have.
        sandboxed: whether a run with these settings runs target code.
        forward_temperature, backward_temperature: the paper's.
        backward_max_tokens: room for an answer.
    """

    name: str
    title: str
    tip: str
    noun: str
    source: Source
    judged: str
    roles: Mapping[str, RoleName]
    measures: tuple[Measure, ...]
    headline: str
    samples: Callable[[RunSettings], Mapping[str, int]]
    opens: str
    forward_temperature: float
    backward_temperature: float
    backward_max_tokens: int
    baseline: str = ""
    describable: bool = False
    fills_gaps: bool = False
    analyses: tuple[str, ...] = ("scores",)
    beside: tuple[str, ...] = ()
    tally: tuple[str, str] | None = None
    measured_by: tuple[str, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict)
    remarks: str = ""
    checks: str = ""
    settings: tuple[str, ...] = ()
    demo: tuple[str, ...] = ()
    sandboxed: Callable[[RunSettings], bool] = lambda settings: True

    def has(self, path: str) -> bool:
        """Return whether the setting of that path says something to its runs."""
        return _names(self, path) or not any(_names(kind, path) for kind in (*METHODS.values(), *HIDDEN.values()))

    @property
    def nouns(self) -> str:
        """Return the noun for several items."""
        return f"{self.noun}s"

    @property
    def averaged(self) -> tuple[Measure, ...]:
        """The measures whose mean over items says something."""
        return tuple(measure for measure in self.measures if not measure.count)

    # These are asked of each of 100,000 items where a list is sorted by them.
    @cached_property
    def difference(self) -> Measure | None:
        """Return what stands beside the headline: the first other measure that can lie on both sides of 0, if any."""
        others = (measure for measure in self.averaged if measure.name != self.headline)
        return next((measure for measure in others if measure.lowest < 0), None)

    def remark(self, measures: Mapping[str, float]) -> str:
        """Return what is to be said of an item with these measures; empty where nothing is."""
        return next((each.remark for each in self.measures if each.remark and measures.get(each.name) == 1.0), "")

    @cached_property
    def secondary(self) -> str:
        """The name of `difference`; empty where there is none."""
        return self.difference.name if self.difference else ""

    @cached_property
    def _named(self) -> Mapping[str, Measure]:
        return {measure.name: measure for measure in self.measures}

    def measure(self, name: str) -> Measure:
        return self._named[name]


def _names(kind: Kind, path: str) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in kind.settings)


METHODS: dict[str, Kind] = {}
"""By name; `core/kinds/methods.py` fills it."""
HIDDEN: dict[str, Kind] = {}
"""Those that nobody chooses: what some command makes of a file."""
