"""The methods there are, as plain data. A new method is one entry here, with its trip and its analysis."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType

from rtc_inspector.core.generation import Role
from rtc_inspector.core.kinds.kind import HIDDEN, METHODS, Kind, Measure, RoleName, Source
from rtc_inspector.core.settings import CosmeticSettings, RunSettings
from rtc_inspector.core.types import Form

_ROUND_TRIP = ("forward_samples", "backward_samples", "forward_temperature", "backward_temperature", "prompts")


def _round_trip(settings: RunSettings) -> Mapping[str, int]:
    forward, backward = settings.forward_samples, settings.backward_samples
    return {Role.FORWARD: forward, Role.BACKWARD: forward * backward, Role.BASELINE: backward}


def _solved_round_trip(settings: RunSettings) -> Mapping[str, int]:
    return {Role.SOLVE: settings.benchmark.solve_samples, **_round_trip(settings)}


def _without_baseline(settings: RunSettings) -> Mapping[str, int]:
    return {role: each for role, each in _round_trip(settings).items() if role is not Role.BASELINE}


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


_ROUND_TRIP_ROLES = MappingProxyType(
    {
        Role.FORWARD: RoleName("description", "y", Form.TEXT),
        Role.BACKWARD: RoleName("reconstruction", "x̂"),
        Role.BASELINE: RoleName("baseline", "ε"),
    }
)
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

CONDITIONS = ("cut", "shown", "limited")
"""The measures that say under what conditions an item was made, not what came of it."""

METHODS |= {
    kind.name: kind
    for kind in (
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
            describable=True,
            forward_temperature=0.8,
            backward_temperature=0.1,
            backward_max_tokens=256,
            fills_gaps=True,
            settings=(*_ROUND_TRIP, "region"),
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
            describable=True,
            forward_temperature=1.0,
            backward_temperature=0.0,
            backward_max_tokens=384,
            metrics={"exact_match_strict": "exact match, white space too", "unchanged": "old code came back unchanged"},
            settings=(*_ROUND_TRIP, "edit"),
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
            roles=MappingProxyType(
                {
                    Role.FORWARD: _ROUND_TRIP_ROLES[Role.FORWARD],
                    Role.BACKWARD: _ROUND_TRIP_ROLES[Role.BACKWARD],
                    Role.SOLVE: RoleName("solution", "s"),
                    Role.BASELINE: _ROUND_TRIP_ROLES[Role.BASELINE],
                }
            ),
            measures=(
                *_ROUND_TRIP_MEASURES,
                Measure("pass@1", "pass@1", "Chance that one program written from the docstring passes"),
                Measure("pass@5", "pass@5", "Chance that one of 5 such programs passes"),
                Measure("pass@10", "pass@10", "Chance that one of 10 such programs passes"),
            ),
            headline="rtc",
            tally=("passes", "judged"),
            samples=_solved_round_trip,
            opens="rtc_inspector.core.trips.benchmark:open_benchmark",
            describable=True,
            demo=("benchmark", "pocket.jsonl"),
            checks="rtc_inspector.core.trips.benchmark:check_benchmark",
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
            source=Source("cells", "benchmark.file"),
            judged="it was run behind the cells before it, as the original was",
            roles=MappingProxyType({role: _ROUND_TRIP_ROLES[role] for role in (Role.FORWARD, Role.BACKWARD)}),
            measures=(
                *(each for each in _ROUND_TRIP_MEASURES if each.name not in ("baseline", "lift")),
                Measure("from_reference", "from people's words", "Share that passes when written from those"),
            ),
            headline="rtc",
            tally=("passes", "judged"),
            samples=_without_baseline,
            opens="rtc_inspector.core.trips.notebook:open_notebook",
            describable=True,
            demo=("benchmark", "tour.ipynb"),
            checks="rtc_inspector.core.trips.notebook:check_notebook",
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
            source=Source("problems", "benchmark.file", folder=True, functions=True),
            judged="the outputs under the problem's tests were compared from program to program",
            roles=MappingProxyType(
                {
                    Role.SOLVE: RoleName("first program", "pl₀", by_round=True),
                    Role.FORWARD: RoleName("description", "nl", Form.TEXT, by_round=True),
                    Role.BACKWARD: RoleName("program", "pl", by_round=True),
                }
            ),
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
            source=Source(
                "problems", "benchmark.file", folder=True, words="rtc_inspector.core.source.directives:by_hand"
            ),
            judged="the directive's tests judged the programs, and an embedding model their summaries",
            roles=MappingProxyType(
                {Role.SOLVE: RoleName("program", "p"), Role.FORWARD: RoleName("summary", "s", Form.TEXT)}
            ),
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
            roles=MappingProxyType(
                {
                    Role.TRANSFORM: RoleName("variant", "v", answers=False, by_author=True),
                    Role.FORWARD: RoleName("description", "y", Form.TEXT),
                    Role.COMPLETE: RoleName("name", "n", judged=False, answers=False),
                    Role.BACKWARD: RoleName("reconstruction", "x̂"),
                }
            ),
            measures=(
                Measure(
                    "change",
                    "change",
                    "Score on variants less score on the original: below 0 is worse",
                    -1.0,
                    continuous=True,
                ),
                Measure(
                    "noise",
                    "noise",
                    "The same where nothing was changed",
                    -1.0,
                    higher_is_better=None,
                    continuous=True,
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
            forward_temperature=0.8,
            backward_temperature=0.1,
            backward_max_tokens=256,
            fills_gaps=True,
            settings=("forward_temperature", "backward_temperature", "cosmetic"),
        ),
    )
}
IMPORTED = Kind(
    name="imported",
    title="Imported samples",
    tip="Programs that somebody else's system wrote for a benchmark",
    noun="problem",
    source=Source("samples", "samples.file"),
    judged="the benchmark's own tests judged the result, or the file's verdicts were taken",
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
    samples=lambda settings: {},
    opens="rtc_inspector.core.trips.benchmark:open_imported",
    forward_temperature=0.0,
    backward_temperature=0.0,
    backward_max_tokens=512,
    settings=("benchmark.file", "benchmark.mask_names", "samples"),
)
"""A run of what was found in a file; no model is asked, so nobody chooses it."""
HIDDEN[IMPORTED.name] = IMPORTED

FIRST_KIND = METHODS["synthesis"]
"""Whose words the window uses before there is a run."""
