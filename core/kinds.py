"""The methods there are, as plain data: what each is called, makes and measures, its defaults, where its parts are.

Quick to import: the window reads it before the engine is loaded. A new method is one entry here, with its trip and its
analysis; nothing outside this module and the method's own names a method.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.generation import Role
from rtc_inspector.core.settings import CosmeticSettings, RunSettings
from rtc_inspector.core.settings.setting import value_of
from rtc_inspector.core.types import FEW, Form

# --------------------------------------------------------------------------- what a method is


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that a method gives every item; its mean over items, with an interval, is a figure of the run."""

    name: str  # as it is stored and printed, e.g. `rtc`
    title: str  # for a column or a label
    tip: str  # one sentence: what it says
    lowest: float = 0.0  # that an item's value can be; the highest is 1
    higher_is_better: bool | None = True  # None where neither is better
    count: bool = False  # a number of things, shown as it is, never averaged
    continuous: bool = False  # a likeness, say, and no share of outcomes: how its mean is bounded (docs/statistics.md)
    # the two measures, from 0 to 1, whose difference this is; its interval comes from both of them
    less: tuple[str, str] | None = None
    # the least value that counts as solved where halfway between worst and best says nothing
    solved: float | None = None
    remark: str = ""  # what is to be said of an item for which this is 1; empty where nothing is

    def solves(self, value: float) -> bool:
        """Return whether a value counts as solved: one more than halfway to the best, unless `solved` says."""
        return self.goodness(value) > 0.5 if self.solved is None else value >= self.solved

    def goodness(self, value: float) -> float:
        """Return where a value stands between the worst, 0, and the best, 1."""
        share = (value - self.lowest) / (1.0 - self.lowest)
        return 1.0 - share if self.higher_is_better is False else share

    def correctness(self, value: float) -> float | None:
        """Return how right a value is, for its colour; None of a likeness or a change, neither right nor wrong."""
        return None if self.continuous else self.goodness(value)


@dataclass(frozen=True, slots=True)
class RoleName:
    """Names and form of the samples of a role in one method."""

    # `title`, `sign`: in a sentence, and as the paper's sign
    title: str
    sign: str
    form: Form = Form.CODE  # whether they are code or text
    judged: bool = True  # whether tests judge its code; a word that was guessed is scored only
    answers: bool = True  # whether its code stands for the item's own text, so that the two can be compared
    # whether several are told apart by the round that they are of, in a chain, not by their index
    by_round: bool = False
    by_author: bool = False  # whether they are called by who made them, e.g. a transformation


@dataclass(frozen=True, slots=True)
class Source:
    """Place that the items of a method are drawn from."""

    name: str  # `code`, `history`, `problems`, `cells` or `samples`
    file: str = ""  # path of the setting that names a file of them, e.g. `benchmark.file`; empty where there is none
    folder: bool = False  # whether, without such a file, a folder of the user's is judged as it is
    python: bool = False  # whether the project must hold Python files
    functions: bool = False  # whether a project's own functions are taken where no file is named
    selected: bool = False  # whether code that a person selects can be an item
    by_file: bool = False  # whether items of one file are worked on one after the other, since the model has read it
    # where the function stands that takes words a person writes down for an item, `module:name`; it is given the words,
    # the head of their function and tests, and raises what is wrong. Empty where none does
    words: str = ""

    def named(self, settings: RunSettings) -> str | None:
        found: str | None = value_of(settings, self.file) if self.file else None
        return found

    def by_hand(self, settings: RunSettings) -> bool:
        return bool(self.words) and settings.directive.words is not None


@dataclass(frozen=True)
class Kind:
    """One method."""

    name: str
    # `title`, `tip`: for people to choose it by
    title: str
    tip: str
    noun: str  # what one item is called; `nouns` are several
    source: Source  # what its items are drawn from
    judged: str  # what became of a result, as the end of a sentence
    roles: Mapping[str, RoleName]  # the roles its trees have, with their names, in the order in which they are shown
    measures: tuple[Measure, ...]  # its figures; `headline` names the one that lists, status line and comparisons show
    headline: str
    # by role, how many samples of it models make of one item at most; empty where all are given
    samples: Callable[[RunSettings], Mapping[str, int]]
    opens: str  # where the function that opens a source for it stands, `module:name`; loaded when a run begins
    # `forward_temperature`, `backward_temperature`: the paper's
    forward_temperature: float = 0.8
    backward_temperature: float = 0.1
    backward_max_tokens: int = 256  # room for an answer
    baseline: str = ""  # the uninformative utterance as a person reads it; empty where none is made
    fills_gaps: bool = False  # whether a model with the tokens for it may fill in the middle of a file
    analyses: tuple[str, ...] = ("scores",)  # names of the analyses that apply to its runs (`core.analyses.analyse`)
    beside: tuple[str, ...] = ()  # names of the measures that lists show beside the headline
    # names of two counts, good and all, that sum up an item, e.g. passes of judged reconstructions
    tally: tuple[str, str] | None = None
    # paths of the settings without which two runs' headlines do not compare; the first is a name
    measured_by: tuple[str, ...] = ()
    # pair scores of reconstructions shown beside the headline, each with what it says
    metrics: Mapping[str, str] = field(default_factory=dict)
    # where the function stands, `module:name`, that says in words what is to be known of single samples of an item
    # beside their scores; empty where there is nothing to say
    remarks: str = ""
    # the same of one that reads a file of items and refuses a bad one, before a model is loaded for it
    checks: str = ""
    # paths of the settings, or parts of settings, that some methods have and others have not, e.g. `chain` or
    # `benchmark.file`. What no method names all of them have
    settings: tuple[str, ...] = ()
    demo: tuple[str, ...] = ()  # the file in `resources` that its demonstration runs on; empty for the demo project
    # whether a run with these settings runs target code
    sandboxed: Callable[[RunSettings], bool] = lambda settings: True

    def has(self, path: str) -> bool:
        """Return whether the setting of that path says something to its runs."""

        named = {path, path.partition(".")[0]}  # the setting itself, or the part that it belongs to
        others = (*TASKS.values(), IMPORTED)
        return not named.isdisjoint(self.settings) or all(named.isdisjoint(kind.settings) for kind in others)

    @property
    def describable(self) -> bool:
        """Whether a person may describe an item in the model's place: where all comes from its descriptions."""
        return self.headline == "rtc"

    @property
    def nouns(self) -> str:
        return f"{self.noun}s"

    @property
    def averaged(self) -> tuple[Measure, ...]:
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
        return self.difference.name if self.difference else ""

    @cached_property
    def _named(self) -> Mapping[str, Measure]:
        return {measure.name: measure for measure in self.measures}

    def measure(self, name: str) -> Measure:
        return self._named[name]


# --------------------------------------------------------------------------- the methods

_ROUND_TRIP_SETTINGS = ("forward_samples", "backward_samples", "forward_temperature", "backward_temperature", "prompts")


def _round_trip(settings: RunSettings) -> Mapping[str, int]:
    forward, backward = settings.forward_samples, settings.backward_samples
    return {Role.FORWARD: forward, Role.BACKWARD: forward * backward, Role.BASELINE: backward}


def _chained(settings: RunSettings) -> Mapping[str, int]:
    first = 0 if settings.chain.start == "reference" else 1
    words, code = (1, 2) if settings.chain.cross else (0, 0)
    return {Role.SOLVE: first, Role.FORWARD: settings.chain.steps + words, Role.BACKWARD: settings.chain.steps + code}


def _programs_and_summaries(settings: RunSettings) -> Mapping[str, int]:
    wanted = settings.directive
    programs = sum(wanted.draws if heat else 1 for heat in wanted.temperatures)
    return {Role.SOLVE: programs, Role.FORWARD: programs * settings.forward_samples}


IDENTITY = "identity"
COSMETIC_CHANGES = (IDENTITY, "rename", "logging", "swap", "permute", "document")
"""How functions are written otherwise, in the order of their numbers; `core/rewrites` has one file for each."""
TOGETHER = " + "
COSMETIC_PAIRS = tuple(TOGETHER.join(pair) for pair in combinations(("rename", "logging", "swap", "permute"), 2))
"""Two of them, the second of what the first has made."""


TOLD_ALREADY = frozenset({"rouge_l"})
"""Cosmetic scores of what another score tells, ROUGE-synonym here: they stand beside it and count in no average."""


def cosmetic_changes(settings: CosmeticSettings) -> tuple[str, ...]:
    """Return all changes that a run tries, in the order of their numbers."""
    return COSMETIC_CHANGES + COSMETIC_PAIRS * settings.together


def _of_versions(settings: RunSettings) -> Mapping[str, int]:
    """Return how many samples of each role a function takes at most.

    They are of the original and every variant, which no model makes; of one with a new docstring only names are asked.
    """
    asked = settings.cosmetic
    variants = (len(cosmetic_changes(asked)) - 1) * asked.draws
    described = (1 + variants) * asked.describe
    return {
        Role.COMPLETE: (2 + variants) * asked.positions * asked.identifiers,
        Role.FORWARD: described,
        Role.BACKWARD: described,
    }


_ROUND_TRIP_ROLES = {
    Role.FORWARD: RoleName("description", "y", Form.TEXT),
    Role.BACKWARD: RoleName("reconstruction", "x̂"),
    Role.BASELINE: RoleName("baseline", "ε"),
}
_ROUND_TRIP_MEASURES = (
    Measure("rtc", "RTC", "Share of reconstructions that pass (RTC paper, Sec. 3)"),
    Measure("baseline", "baseline", "Share that passes without a description", higher_is_better=None),
    Measure("lift", "lift", "RTC less the baseline: what the descriptions are worth", -1.0, less=("rtc", "baseline")),
    Measure("cut", "prompts cut", "Share of prompts whose file had no room in the context", higher_is_better=None),
    Measure("shown", "file shown", "Share of the file around the item that its prompts show", higher_is_better=None),
    Measure("limited", "descriptions cut", "Share of descriptions that hit their limit", higher_is_better=None),
    Measure("passes", "passing", "Reconstructions that pass", count=True),
    Measure("judged", "judged", "Reconstructions that were judged", count=True),
)

ROUND_TRIP = ("rtc", "lift")  # the measures of round trips that the headless contract names beside the others
CONDITIONS = ("cut", "shown", "limited")
"""The measures that say under what conditions an item was made, not what came of it."""

_KINDS = (
    Kind(
        name="synthesis",
        title="Synthesis",
        tip="Describe a region of code, then write it again from the description and the code around it",
        noun="region",
        source=Source("code", folder=True, python=True, selected=True, by_file=True),
        judged="the project's own tests judged the result",
        baseline="TODO: Implement.",
        roles=_ROUND_TRIP_ROLES,
        measures=_ROUND_TRIP_MEASURES,
        headline="rtc",
        tally=("passes", "judged"),
        samples=_round_trip,
        opens="rtc_inspector.core.trips.synthesis:open_synthesis",
        fills_gaps=True,
        settings=(*_ROUND_TRIP_SETTINGS, "region"),
    ),
    Kind(
        name="editing",
        title="Editing",
        tip="Describe an edit of the project's history, then apply it again to the old code from the description",
        noun="edit",
        source=Source("history", "edit.file"),
        judged="the result was judged against the edit that people made",
        baseline="Edit.",
        roles=_ROUND_TRIP_ROLES,
        measures=(
            *_ROUND_TRIP_MEASURES,
            Measure("from_reference", "from people's words", "Share that passes when written from those"),
            Measure(
                "description_bleu",
                "BLEU to people's words",
                "Mean over the descriptions drawn (the paper: of one at temperature 0)",
                continuous=True,
            ),
        ),
        headline="rtc",
        tally=("passes", "judged"),
        samples=_round_trip,
        opens="rtc_inspector.core.trips.editing:open_editing",
        forward_temperature=1.0,
        backward_temperature=0.0,
        backward_max_tokens=384,
        metrics={"exact_match_strict": "exact match, white space too", "unchanged": "old code came back unchanged"},
        settings=(*_ROUND_TRIP_SETTINGS, "edit"),
        sandboxed=lambda settings: settings.edit.tests and settings.edit.file is None,
    ),
    Kind(
        name="benchmark",
        title="Benchmark",
        tip="Solve the problems of a benchmark, and describe and write again their reference solutions",
        noun="problem",
        source=Source("problems", "benchmark.file", folder=True),
        judged="the benchmark's own tests judged the result",
        baseline="TODO: Implement.",
        roles={
            Role.FORWARD: _ROUND_TRIP_ROLES[Role.FORWARD],
            Role.BACKWARD: _ROUND_TRIP_ROLES[Role.BACKWARD],
            Role.SOLVE: RoleName("solution", "s"),
            Role.BASELINE: _ROUND_TRIP_ROLES[Role.BASELINE],
        },
        measures=(
            *_ROUND_TRIP_MEASURES,
            Measure("pass@1", "pass@1", "Chance that one program written from the docstring passes"),
            Measure("pass@5", "pass@5", "Chance that one of 5 such programs passes"),
            Measure("pass@10", "pass@10", "Chance that one of 10 such programs passes"),
        ),
        headline="rtc",
        tally=("passes", "judged"),
        samples=lambda settings: {Role.SOLVE: settings.benchmark.solve_samples, **_round_trip(settings)},
        opens="rtc_inspector.core.trips.benchmark:open_benchmark",
        demo=("benchmark", "pocket.jsonl"),
        checks="rtc_inspector.core.trips.benchmark:check_benchmark",
        analyses=("benchmark", "scores"),
        backward_max_tokens=384,
        fills_gaps=True,
        settings=(*_ROUND_TRIP_SETTINGS, "benchmark"),
    ),
    Kind(
        name="notebook",
        title="Notebook",
        tip="Describe a cell of a notebook, then write it again behind the cells before it",
        noun="cell",
        source=Source("cells", "benchmark.file"),
        judged="it was run behind the cells before it, as the original was",
        roles={role: _ROUND_TRIP_ROLES[role] for role in (Role.FORWARD, Role.BACKWARD)},
        measures=(
            *(each for each in _ROUND_TRIP_MEASURES if each.name not in ("baseline", "lift")),
            Measure("from_reference", "from people's words", "Share that passes when written from those"),
        ),
        headline="rtc",
        tally=("passes", "judged"),
        samples=lambda settings: {role: n for role, n in _round_trip(settings).items() if role != Role.BASELINE},
        opens="rtc_inspector.core.trips.notebook:open_notebook",
        demo=("benchmark", "tour.ipynb"),
        checks="rtc_inspector.core.trips.notebook:check_notebook",
        backward_max_tokens=384,
        fills_gaps=True,
        settings=(*_ROUND_TRIP_SETTINGS, "benchmark.file"),
    ),
    Kind(
        name="chain",
        title="Chain",
        tip="From words to code, to words, to code ...: does the program keep its meaning?",
        noun="problem",
        source=Source("problems", "benchmark.file", folder=True, functions=True),
        judged="the outputs under the problem's tests were compared from program to program",
        roles={
            Role.SOLVE: RoleName("first program", "pl0", by_round=True),
            Role.FORWARD: RoleName("description", "nl", Form.TEXT, by_round=True),
            Role.BACKWARD: RoleName("program", "pl", by_round=True),
        },
        measures=(
            Measure(
                "ssc",
                "SSC",
                "Share of chains whose first program passes and the others behave like it (IdentityChain, Sec. 4)",
            ),
            Measure("sc", "SC", "Share of chains whose programs all behave alike, be they right or wrong"),
            Measure("sc_parsing", "SC of programs that parse", "SC of the chains whose first program parses"),
            Measure(
                "none_parses",
                "none parses",
                "Share of chains none of whose programs parses: that they are alike says nothing",
                higher_is_better=False,
                remark="no program of the chain parses",
            ),
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
            Measure("ssc_steps", "steps right", "Steps up to which a program that passes was kept", count=True),
            Measure("kept", "steps kept", "Steps up to which the meaning was kept", count=True),
            Measure("steps", "steps known", "Steps of which that is known", count=True),
            Measure("fixed_after", "repeats from", "Step from which the chain repeats itself", count=True),
        ),
        headline="ssc",
        beside=("sc", "sc_parsing"),
        tally=("ssc_steps", "steps"),
        samples=_chained,
        opens="rtc_inspector.core.trips.chain:open_chain",
        checks="rtc_inspector.core.trips.chain:check_chain",
        demo=("benchmark", "pocket.jsonl"),
        remarks="rtc_inspector.core.trips.trees:remarks",
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
        source=Source("problems", "benchmark.file", folder=True, words="rtc_inspector.core.source.directives:by_hand"),
        judged="the directive's tests judged the programs, and an embedding model their summaries",
        roles={Role.SOLVE: RoleName("program", "p"), Role.FORWARD: RoleName("summary", "s", Form.TEXT)},
        measures=(
            Measure(
                "cosine",
                "similarity",
                "Mean cosine of summaries and directive, equal programs once",
                -1.0,
                continuous=True,
                solved=0.75,
            ),
            Measure("similar", "similar", "Share of programs whose summaries reach the threshold"),
            Measure("passing", "passing", "Share of programs that pass the directive's tests"),
            Measure("agreement", "agreement", "Share of programs of which tests and similarity say the same"),
            Measure(
                "recited",
                "directive recited",
                "Share of the directive that code repeats",
                higher_is_better=None,
                continuous=True,
            ),
            Measure("programs", "programs", "Programs that were written", count=True),
            Measure("distinct", "distinct", "Programs that differ", count=True),
        ),
        headline="cosine",
        measured_by=("directive.embedder_name", "directive.embedder_sha256"),
        samples=_programs_and_summaries,
        opens="rtc_inspector.core.trips.directive:open_directive",
        demo=("directives", "six.jsonl"),
        analyses=("directive", "scores"),
        forward_temperature=0.7,
        backward_temperature=0.0,
        backward_max_tokens=384,
        settings=("forward_samples", "forward_temperature", "benchmark.file", "benchmark.mask_names", "directive"),
    ),
    Kind(
        name="cosmetic",
        title="Cosmetic variance",
        tip="Write functions otherwise without changing what they do: does the model do the same?",
        noun="function",
        source=Source("code", folder=True, python=True),
        judged="the project's own tests judged the result",
        roles={
            Role.TRANSFORM: RoleName("variant", "v", answers=False, by_author=True),
            Role.FORWARD: RoleName("description", "y", Form.TEXT),
            Role.COMPLETE: RoleName("name", "n", judged=False, answers=False),
            Role.BACKWARD: RoleName("reconstruction", "x̂"),
        },
        measures=(
            Measure(
                "change",
                "change",
                "Score on variants less score on the original: below 0 is worse",
                -1.0,
                continuous=True,
            ),
            Measure(
                "noise", "noise", "The same where nothing was changed", -1.0, higher_is_better=None, continuous=True
            ),
            Measure("identifiers", "hidden names", "Share of hidden names that are guessed, in the original"),
            Measure("rtc", "RTC", "Share of originals written again from their description that pass"),
            Measure(
                "rouge_synonym",
                "ROUGE-synonym",
                "Of the description to the docstring, in the original",
                continuous=True,
            ),
            Measure("rouge_l", "ROUGE-L", "Of the description to the docstring, in the original", continuous=True),
            Measure("same_meaning", "meaning kept", "Share of variants that the project's tests pass"),
        ),
        headline="change",
        samples=_of_versions,
        opens="rtc_inspector.core.trips.cosmetic:open_cosmetic",
        analyses=("marginals", "scores"),
        fills_gaps=True,
        settings=("forward_temperature", "backward_temperature", "cosmetic"),
    ),
)
TASKS = {kind.name: kind for kind in _KINDS}  # what can be chosen, by name
IMPORTED = Kind(
    name="imported",
    title="Imported samples",
    tip="Programs that somebody else's system wrote for a benchmark",
    noun="problem",
    source=Source("samples", "samples.file"),
    judged="the benchmark's own tests judged the result, or the file's verdicts were taken",
    roles={Role.SOLVE: RoleName("solution", "s")},
    measures=(
        Measure("pass@1", "pass@1", "Chance that a program of the problem passes"),
        Measure("pass@5", "pass@5", "Chance that one of 5 such programs passes"),
        Measure("pass@10", "pass@10", "Chance that one of 10 such programs passes"),
        Measure("passes", "passing", "Programs that pass", count=True),
        Measure("judged", "judged", "Programs that were judged", count=True),
    ),
    headline="pass@1",
    tally=("passes", "judged"),
    samples=lambda settings: {},
    opens="rtc_inspector.core.trips.benchmark:open_imported",
    forward_temperature=0.0,
    backward_temperature=0.0,
    backward_max_tokens=512,
    settings=("benchmark.file", "benchmark.mask_names", "samples"),
)
"""A run of what was found in a file; no model is asked, so nobody chooses it."""
FIRST_KIND = TASKS["synthesis"]  # whose words the window uses before there is a run


# --------------------------------------------------------------------------- what is asked of them


def task(name: str) -> Kind:
    """Return the kind of that name. Raises UserError naming those there are."""
    if (kind := kind_of(name)) is None:
        raise UserError(f"There is no task {name!r}.", f"Name one of these: {', '.join(TASKS)}.")
    return kind


def kind_of(name: str) -> Kind | None:
    """Return the kind of a stored run, None where this version does not know it."""
    return IMPORTED if name == IMPORTED.name else TASKS.get(name)


def noun(name: str) -> str:
    """Return the noun for one item of a stored run, whatever its task."""
    kind = kind_of(name)
    return kind.noun if kind else "item"


def role_title(name: str, role: str) -> str:
    """Return the title of a role's samples in a task."""
    kind = kind_of(name)
    names = kind.roles if kind else {}
    return names[role].title if role in names else role


def article(noun: str) -> str:
    """Return `a region`, `an edit`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """Return `1 region`, `40 regions`."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def few(number: int, noun: str, more: str = "") -> str:
    """Return `Only 8 regions: few to judge by.` below FEW, else an empty text; `more` follows the noun."""
    return f"Only {counted(number, noun)}{more}: few to judge by." if 0 < number < FEW else ""


def configured(settings: RunSettings, name: str) -> RunSettings:
    """Return the settings for a task, with its own temperatures and room. Raises UserError: no such task."""
    kind = task(name)
    return replace(
        settings,
        task=kind.name,
        forward_temperature=kind.forward_temperature,
        backward_temperature=kind.backward_temperature,
        backward_max_tokens=kind.backward_max_tokens,
    )


def for_selected_code(settings: RunSettings) -> RunSettings:
    """Return the settings as they are if their task takes selected code, else those of the first task that does."""
    if task(settings.task).source.selected:
        return settings
    return configured(settings, next(kind.name for kind in TASKS.values() if kind.source.selected))


def for_words(settings: RunSettings, words: str, header: str, tests: str) -> RunSettings:
    """Return the settings of a run on words that a person wrote down, for the first task that takes such."""
    kind = next(kind for kind in TASKS.values() if kind.source.words)
    wanted = replace(settings.directive, words=words, header=header, tests=tests)
    return replace(configured(settings, kind.name), regions=1, directive=wanted)


def project_of(settings: RunSettings, project: Path | None) -> Path | None:
    """Return the folder that a run takes its items from, or None where none is known.

    A file of items stands for its own folder where no project is named, and words typed in for the working directory.
    """
    source = task(settings.task).source
    if source.by_hand(settings):
        return project or Path.cwd()
    file = source.named(settings)
    return project or (Path(file).resolve().parent if file else None)
