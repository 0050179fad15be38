"""The methods there are, as plain data: what each is called, what it makes and measures, and its defaults.

Quick to import: the window reads it before the engine is loaded. A new method is one entry here, with its trip and its
analysis; nothing else names a method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

from core.errors import UserError
from core.generation import Role
from core.settings import CosmeticSettings, RunSettings
from core.types import FEW


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
        less: the two measures, from 0 to `highest`, whose difference this is; its interval comes from both of them.
    """

    name: str
    title: str
    tip: str
    lowest: float = 0.0
    highest: float = 1.0
    higher_is_better: bool | None = True
    count: bool = False
    less: tuple[str, str] | None = None
    solved: float | None = None

    def solves(self, value: float) -> bool:
        """Whether an item with this value counts as solved: more than halfway to the best, unless `solved` says."""
        return self.goodness(value) > 0.5 if self.solved is None else value >= self.solved

    def goodness(self, value: float) -> float:
        """Where a value stands between the worst, 0, and the best, 1."""
        share = (value - self.lowest) / (self.highest - self.lowest)
        return 1.0 - share if self.higher_is_better is False else share


@dataclass(frozen=True, slots=True)
class RoleName:
    """What samples of a role are called in one method: in a sentence, and as the paper's sign.

    `judged`: whether tests judge its code; a word that was guessed is scored only.
    """

    title: str
    sign: str
    judged: bool = True


@dataclass(frozen=True, slots=True)
class Kind:
    """One method.

    Attributes:
        title, tip: for people to choose it by.
        noun: what one item is called; `nouns` are several.
        draws_from: the part of RunSettings that says which items are drawn: `region`, `edit` or
            `benchmark`.
        chained: whether its samples are the links of one chain, rather than branches of a tree.
        remarks: where the function stands, `module:name`, that says in words what is to be known of single samples of
            an item beside their scores; empty where there is nothing to say.
        draws_functions: whether a project's own functions are taken where nothing else is named.
        needs_python: whether the project must hold Python files.
        selects_code: whether code that a person selects can be an item.
        measured_by: paths of the settings without which two runs' headlines do not compare; the first is a name.
        describable: whether a person may describe an item in the model's place.
        takes_words: where the function stands that takes words a person writes down for an item, `module:name`; it is
            given the words, the head of their function and tests, and raises what is wrong. Empty where none does.
        models: whether models make its samples; without, all are given.
        fills_gaps: whether a model with the tokens for it may fill in the middle of a file.
        groups_files: whether items of one file are best worked on one after the other, since the model has read it.
        judged: what became of a result, as the end of a sentence.
        baseline: the uninformative utterance as a person reads it.
        roles: the roles its trees have, with their names.
        measures: its figures; `headline` names the one that lists, status line and comparisons show.
        tally: names of two counts, good and all, that sum up an item, e.g. passes of judged reconstructions.
        metrics: pair scores of reconstructions shown beside the headline, each with what it says.
        samples: by role, how many samples of it models make of one item at most.
        demo: the file in `resources` that its demonstration runs on; empty for the demo project.
        opens: where the function that opens a source for it stands, `module:name`; loaded when a run begins.
        checks: the same of one that reads a file of items and refuses a bad one, before a model is loaded for it.
        analyses: names of the analyses that apply to its runs (`core.analyses.registry`).
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
    draws_from: str
    needs_python: bool
    judged: str
    baseline: str
    roles: Mapping[Role, RoleName]
    measures: tuple[Measure, ...]
    headline: str
    samples: Callable[[RunSettings], Mapping[Role, int]]
    opens: str
    analyses: tuple[str, ...]
    forward_temperature: float
    backward_temperature: float
    backward_max_tokens: int
    tally: tuple[str, str] | None = None
    checks: str = ""
    selects_code: bool = False
    measured_by: tuple[str, ...] = ()
    describable: bool = False
    takes_words: str = ""
    draws_functions: bool = False
    chained: bool = False
    remarks: str = ""
    models: bool = True
    fills_gaps: bool = False
    groups_files: bool = False
    metrics: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    demo: tuple[str, ...] = ()
    sandboxed: Callable[[RunSettings], bool] = lambda settings: True

    def has(self, path: str) -> bool:
        """Whether the setting of that path says something to its runs."""
        return _names(self, path) or not any(_names(kind, path) for kind in TASKS.values())

    @property
    def nouns(self) -> str:
        """What several items are called."""
        return f"{self.noun}s"

    @property
    def averaged(self) -> tuple[Measure, ...]:
        """The measures whose mean over items says something."""
        return tuple(measure for measure in self.measures if not measure.count)

    @property
    def difference(self) -> Measure | None:
        """What stands beside the headline: the first other measure that can lie on both sides of 0."""
        others = (measure for measure in self.averaged if measure.name != self.headline)
        return next((measure for measure in others if measure.lowest < 0), None)

    @property
    def secondary(self) -> str:
        """The name of `difference`; empty where there is none."""
        return self.difference.name if self.difference else ""

    def measure(self, name: str) -> Measure:
        """The measure of that name. Raises KeyError."""
        return {measure.name: measure for measure in self.measures}[name]


def _names(kind: Kind, path: str) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in kind.settings)


_ROUND_TRIP = ("forward_samples", "backward_samples", "forward_temperature", "backward_temperature")


def _round_trip(settings: RunSettings) -> Mapping[Role, int]:
    forward, backward = settings.forward_samples, settings.backward_samples
    return {Role.FORWARD: forward, Role.BACKWARD: forward * backward, Role.BASELINE: backward}


def _solved_round_trip(settings: RunSettings) -> Mapping[Role, int]:
    return {Role.SOLVE: settings.benchmark.solve_samples, **_round_trip(settings)}


def _without_baseline(settings: RunSettings) -> Mapping[Role, int]:
    return {role: each for role, each in _round_trip(settings).items() if role is not Role.BASELINE}


def _chained(settings: RunSettings) -> Mapping[Role, int]:
    first = 0 if settings.chain.start == "reference" else 1
    words, code = (1, 2) if settings.chain.cross else (0, 0)
    return {
        Role.SOLVE: first,
        Role.FORWARD: settings.chain.steps + words,
        Role.BACKWARD: settings.chain.steps + code,
    }


def _programs_and_summaries(settings: RunSettings) -> Mapping[Role, int]:
    wanted = settings.directive
    programs = sum(wanted.draws if heat else 1 for heat in wanted.temperatures)
    return {Role.SOLVE: programs, Role.FORWARD: programs * settings.forward_samples}


IDENTITY = "identity"
COSMETIC_CHANGES = (IDENTITY, "rename", "logging", "swap", "permute", "document")
"""How functions are written otherwise, in the order of their numbers; `core/rewrites` has one file for each."""
TOGETHER = " + "
COSMETIC_PAIRS = tuple(TOGETHER.join(pair) for pair in combinations(("rename", "logging", "swap", "permute"), 2))
"""Two of them, the second of what the first has made."""


def cosmetic_changes(settings: CosmeticSettings) -> tuple[str, ...]:
    """All that a run tries, in the order of their numbers."""
    return COSMETIC_CHANGES + COSMETIC_PAIRS * settings.together


def _of_versions(settings: RunSettings) -> Mapping[Role, int]:
    """Of the original and every variant, which no model makes; of one with a new docstring only names are asked."""
    asked = settings.cosmetic
    variants = (len(cosmetic_changes(asked)) - 1) * asked.draws
    described = (1 + variants) * asked.describe
    return {
        Role.COMPLETE: (2 + variants) * asked.positions * asked.identifiers,
        Role.FORWARD: described,
        Role.BACKWARD: described,
    }


_ROUND_TRIP_ROLES = MappingProxyType(
    {
        Role.FORWARD: RoleName("description", "y"),
        Role.BACKWARD: RoleName("reconstruction", "x̂"),
        Role.BASELINE: RoleName("baseline", "ε"),
    }
)
_ROUND_TRIP_MEASURES = (
    Measure("rtc", "RTC", "Share of reconstructions that pass (RTC paper, Sec. 3)"),
    Measure("baseline", "baseline", "Share that passes without a description", higher_is_better=None),
    Measure("lift", "lift", "RTC less the baseline: what the descriptions are worth", -1.0, less=("rtc", "baseline")),
    Measure("cut", "prompts cut", "Share of prompts that show only part of the file", higher_is_better=None),
    Measure("shown", "file shown", "Share of the file around the item that its prompts show", higher_is_better=None),
    Measure("limited", "descriptions cut", "Share of descriptions that hit their limit", higher_is_better=None),
    Measure("passes", "passing", "Reconstructions that pass", count=True),
    Measure("judged", "judged", "Reconstructions that were judged", count=True),
)

CONDITIONS = ("cut", "shown", "limited")
"""The measures that say under what conditions an item was made, not what came of it."""

_KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="synthesis",
            title="Synthesis",
            tip="Describe a region of code, then write it again from the description and the code around it",
            noun="region",
            draws_from="region",
            needs_python=True,
            judged="the project's own tests judged the result",
            baseline="TODO: Implement.",
            roles=_ROUND_TRIP_ROLES,
            measures=_ROUND_TRIP_MEASURES,
            headline="rtc",
            tally=("passes", "judged"),
            samples=_round_trip,
            opens="core.trips.synthesis:open_synthesis",
            describable=True,
            analyses=("scores",),
            forward_temperature=0.8,
            backward_temperature=0.1,
            backward_max_tokens=256,
            selects_code=True,
            fills_gaps=True,
            groups_files=True,
            settings=(*_ROUND_TRIP, "region"),
        ),
        Kind(
            name="editing",
            title="Editing",
            tip="Describe an edit of the project's history, then apply it again to the old code from the description",
            noun="edit",
            draws_from="edit",
            needs_python=False,
            judged="the result was judged against the edit that people made",
            baseline="Edit.",
            roles=_ROUND_TRIP_ROLES,
            measures=(
                *_ROUND_TRIP_MEASURES,
                Measure("from_reference", "from people's words", "Share that passes when written from those"),
                Measure("description_bleu", "BLEU to people's words", "Mean over the model's descriptions"),
            ),
            headline="rtc",
            tally=("passes", "judged"),
            samples=_round_trip,
            opens="core.trips.editing:open_editing",
            describable=True,
            analyses=("scores",),
            forward_temperature=1.0,
            backward_temperature=0.0,
            backward_max_tokens=384,
            metrics={
                "exact_match_strict": "exact match, white space too",
                "unchanged": "old code came back unchanged",
            },
            settings=(*_ROUND_TRIP, "edit"),
            sandboxed=lambda settings: settings.edit.tests and settings.edit.file is None,
        ),
        Kind(
            name="benchmark",
            title="Benchmark",
            tip="Solve the problems of a benchmark, and describe and write again their reference solutions",
            noun="problem",
            draws_from="benchmark",
            needs_python=False,
            judged="the benchmark's own tests judged the result",
            baseline="TODO: Implement.",
            roles=MappingProxyType({Role.SOLVE: RoleName("solution", "s"), **_ROUND_TRIP_ROLES}),
            measures=(
                *_ROUND_TRIP_MEASURES,
                Measure("pass@1", "pass@1", "Chance that one program written from the docstring passes"),
                Measure("pass@5", "pass@5", "Chance that one of 5 such programs passes"),
                Measure("pass@10", "pass@10", "Chance that one of 10 such programs passes"),
            ),
            headline="rtc",
            tally=("passes", "judged"),
            samples=_solved_round_trip,
            opens="core.trips.benchmark:open_benchmark",
            describable=True,
            demo=("benchmark", "pocket.jsonl"),
            checks="core.trips.benchmark:check_benchmark",
            analyses=("benchmark", "scores"),
            forward_temperature=0.8,
            backward_temperature=0.1,
            backward_max_tokens=384,
            fills_gaps=True,
            settings=(*_ROUND_TRIP, "benchmark"),
        ),
        Kind(
            name="notebook",
            title="Notebook",
            tip="Describe a cell of a notebook, then write it again behind the cells before it",
            noun="cell",
            draws_from="cells",
            needs_python=False,
            judged="it was run behind the cells before it, as the original was",
            baseline="",
            roles=MappingProxyType({role: _ROUND_TRIP_ROLES[role] for role in (Role.FORWARD, Role.BACKWARD)}),
            measures=(
                *(each for each in _ROUND_TRIP_MEASURES if each.name not in ("baseline", "lift")),
                Measure("from_reference", "from people's words", "Share that passes when written from those"),
            ),
            headline="rtc",
            tally=("passes", "judged"),
            samples=_without_baseline,
            opens="core.trips.notebook:open_notebook",
            describable=True,
            demo=("benchmark", "tour.ipynb"),
            checks="core.trips.notebook:check_notebook",
            analyses=("scores",),
            forward_temperature=0.8,
            backward_temperature=0.1,
            backward_max_tokens=384,
            fills_gaps=True,
            settings=(*_ROUND_TRIP, "benchmark.file"),
        ),
        Kind(
            name="chain",
            title="Chain",
            tip="From words to code, to words, to code ...: does the program keep its meaning?",
            noun="problem",
            draws_from="benchmark",
            needs_python=False,
            judged="the outputs under the problem's tests were compared from program to program",
            baseline="",
            roles=MappingProxyType(
                {
                    Role.SOLVE: RoleName("first program", "pl₀"),
                    Role.FORWARD: RoleName("description", "nl"),
                    Role.BACKWARD: RoleName("program", "pl"),
                }
            ),
            measures=(
                Measure("sc", "SC", "Share of chains whose programs all behave alike (IdentityChain, Sec. 4)"),
                Measure("ssc", "SSC", "Share of those whose first program passes its tests as well"),
                Measure("pass@1", "pass@1", "Share of first programs that pass their tests"),
                Measure("tom", "TOM", "Mean share of tests with the same output from one program to the next"),
                Measure("pfm", "P/FM", "Mean share of steps that keep passing, or keep failing"),
                Measure(
                    "lost_in_words",
                    "lost in words",
                    "Share of the broken chains that were crossed whose description erred",
                    higher_is_better=None,
                ),
                Measure(
                    "lost_in_code",
                    "lost in code",
                    "Share of those whose program erred, written from words that said enough",
                    higher_is_better=None,
                ),
                Measure("kept", "steps kept", "Steps up to which the meaning was kept", count=True),
                Measure("steps", "steps known", "Steps of which that is known", count=True),
                Measure("fixed_after", "repeats from", "Step from which the chain repeats itself", count=True),
            ),
            headline="sc",
            tally=("kept", "steps"),
            samples=_chained,
            opens="core.trips.chain:open_chain",
            checks="core.trips.chain:check_chain",
            draws_functions=True,
            demo=("benchmark", "pocket.jsonl"),
            chained=True,
            remarks="core.trips.chain_tree:remarks",
            analyses=("chain", "scores"),
            forward_temperature=0.0,
            backward_temperature=0.0,
            backward_max_tokens=512,
            settings=("benchmark.file", "chain"),
        ),
        Kind(
            name="directive",
            title="Directive",
            tip="Write programs from a directive, summarise each, and hold the summary against the directive",
            noun="directive",
            draws_from="benchmark",
            needs_python=False,
            judged="the directive's tests judged the programs, and an embedding model their summaries",
            baseline="",
            roles=MappingProxyType({Role.SOLVE: RoleName("program", "p"), Role.FORWARD: RoleName("summary", "s")}),
            measures=(
                Measure(
                    "cosine",
                    "similarity",
                    "Mean cosine of summaries and directive, equal programs once",
                    -1.0,
                    solved=0.75,
                ),
                Measure("similar", "similar", "Share of programs whose summaries reach the threshold"),
                Measure("passing", "passing", "Share of programs that pass the directive's tests"),
                Measure("agreement", "agreement", "Share of programs of which tests and similarity say the same"),
                Measure(
                    "recited", "directive recited", "Share of the directive that code repeats", higher_is_better=None
                ),
                Measure("programs", "programs", "Programs that were written", count=True),
                Measure("distinct", "distinct", "Programs that differ", count=True),
            ),
            headline="cosine",
            measured_by=("directive.embedder_name", "directive.embedder_sha256"),
            samples=_programs_and_summaries,
            opens="core.trips.directive:open_directive",
            demo=("directives", "six.jsonl"),
            analyses=("directive", "scores"),
            forward_temperature=0.7,
            backward_temperature=0.0,
            backward_max_tokens=384,
            takes_words="core.source.directives:by_hand",
            settings=("forward_samples", "forward_temperature", "benchmark.file", "benchmark.mask_names", "directive"),
        ),
        Kind(
            name="cosmetic",
            title="Cosmetic variance",
            tip="Write functions otherwise without changing what they do: does the model do the same?",
            noun="function",
            draws_from="cosmetic",
            needs_python=True,
            judged="the project's own tests judged the result",
            baseline="",
            roles=MappingProxyType(
                {
                    Role.TRANSFORM: RoleName("variant", "v"),
                    Role.COMPLETE: RoleName("name", "n", judged=False),
                    Role.FORWARD: RoleName("description", "y"),
                    Role.BACKWARD: RoleName("reconstruction", "x̂"),
                }
            ),
            measures=(
                Measure("change", "change", "Score on variants less score on the original: below 0 is worse", -1.0),
                Measure("noise", "noise", "The same where nothing was changed", -1.0, higher_is_better=None),
                Measure("identifiers", "hidden names", "Share of hidden names that are guessed, in the original"),
                Measure("rtc", "RTC", "Share of originals written again from their description that pass"),
                Measure("rouge_synonym", "ROUGE-synonym", "Of the description to the docstring, in the original"),
                Measure("rouge_l", "ROUGE-L", "Of the description to the docstring, in the original"),
                Measure("same_meaning", "meaning kept", "Share of variants that the project's tests pass"),
            ),
            headline="change",
            samples=_of_versions,
            opens="core.trips.cosmetic:open_cosmetic",
            analyses=("marginals", "scores"),
            forward_temperature=0.8,
            backward_temperature=0.1,
            backward_max_tokens=256,
            fills_gaps=True,
            settings=("forward_temperature", "backward_temperature", "cosmetic"),
        ),
    )
}
TASKS: Mapping[str, Kind] = MappingProxyType(_KINDS)
"""What a person chooses among."""
IMPORTED = Kind(
    name="imported",
    title="Imported samples",
    tip="Programs that somebody else's system wrote for a benchmark",
    noun="problem",
    draws_from="samples",
    needs_python=False,
    judged="the benchmark's own tests judged the result, or the file's verdicts were taken",
    baseline="",
    roles=MappingProxyType({Role.SOLVE: RoleName("solution", "s")}),
    measures=(
        Measure("pass@1", "pass@1", "Chance that a program of the problem passes"),
        Measure("pass@5", "pass@5", "Chance that one of 5 such programs passes"),
        Measure("pass@10", "pass@10", "Chance that one of 10 such programs passes"),
        Measure("passes", "passing", "Programs that pass", count=True),
        Measure("judged", "judged", "Programs that were judged", count=True),
    ),
    headline="pass@1",
    tally=("passes", "judged"),
    samples=lambda settings: {Role.SOLVE: 1},
    opens="core.trips.imported:open_imported",
    analyses=("scores",),
    forward_temperature=0.0,
    backward_temperature=0.0,
    backward_max_tokens=512,
    models=False,
)
"""A run of what was found in a file; no model is asked, so nobody chooses it."""

FIRST_KIND = _KINDS["synthesis"]
"""Whose words the window uses before there is a run."""


def task(name: str) -> Kind:
    """The kind of that name. Raises UserError naming those there are."""
    if (kind := known(name)) is None:
        raise UserError(f"There is no task {name!r}.", f"Name one of these: {', '.join(TASKS)}.")
    return kind


def known(name: str) -> Kind | None:
    """The kind of a stored run, None where this version does not know it."""
    return IMPORTED if name == IMPORTED.name else TASKS.get(name)


def noun(name: str) -> str:
    """What one item of a stored run is called, whatever its task."""
    kind = known(name)
    return kind.noun if kind else "item"


def role_title(name: str, role: str) -> str:
    """What samples of a role are called in a task."""
    kind = known(name)
    names = kind.roles if kind else {}
    return names[Role(role)].title if role in names else role


def article(noun: str) -> str:
    """`a region`, `an edit`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """`1 region`, `40 regions`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def few(number: int, noun: str, more: str = "") -> str:
    """`Only 8 regions: few to judge by.` below FEW; `more` follows the noun. Empty from FEW on, and for none at all."""
    return f"Only {counted(number, noun)}{more}: few to judge by." if 0 < number < FEW else ""


def configured(settings: RunSettings, name: str) -> RunSettings:
    """The settings for a task, with its own temperatures and room. Raises UserError: no such task."""
    kind = task(name)
    return replace(
        settings,
        task=kind.name,
        forward_temperature=kind.forward_temperature,
        backward_temperature=kind.backward_temperature,
        backward_max_tokens=kind.backward_max_tokens,
    )


def for_selected_code(settings: RunSettings) -> RunSettings:
    """The settings as they are if their task takes selected code, else those of the first task that does."""
    if task(settings.task).selects_code:
        return settings
    return configured(settings, next(kind.name for kind in TASKS.values() if kind.selects_code))


def for_words(settings: RunSettings, words: str, header: str, tests: str) -> RunSettings:
    """The settings of a run on words that a person wrote down, for the first task that takes such."""
    kind = next(kind for kind in TASKS.values() if kind.takes_words)
    wanted = replace(settings.directive, words=words, header=header, tests=tests)
    return replace(configured(settings, kind.name), regions=1, directive=wanted)


def project_of(settings: RunSettings, project: Path | None) -> Path | None:
    """Where a run takes its items from: a file of items stands for its own folder where no project is named."""
    drawn = task(settings.task).draws_from
    file = {"region": None, "edit": settings.edit.file}.get(drawn, settings.benchmark.file)
    if task(settings.task).takes_words and settings.directive.words is not None:
        return project or Path.cwd()
    return project or (Path(file).resolve().parent if file else None)
