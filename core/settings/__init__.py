"""Typed settings, versioned and passed in; never a global.

Each field says what its option, its row in the run dialog and its check are made from (`core/settings/setting.py`).
A method's own settings are a class of their own in `core/settings/parts.py`, a part of `RunSettings`; `core/kinds`
says which it has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rtc_inspector.core.settings.parts import DEFAULT_CONTEXT as DEFAULT_CONTEXT
from rtc_inspector.core.settings.parts import SERVER_CONTEXT as SERVER_CONTEXT
from rtc_inspector.core.settings.parts import BenchmarkSettings as BenchmarkSettings
from rtc_inspector.core.settings.parts import ChainSettings as ChainSettings
from rtc_inspector.core.settings.parts import CosmeticSettings as CosmeticSettings
from rtc_inspector.core.settings.parts import DirectiveSettings as DirectiveSettings
from rtc_inspector.core.settings.parts import EditSettings as EditSettings
from rtc_inspector.core.settings.parts import EndpointSettings as EndpointSettings
from rtc_inspector.core.settings.parts import ModelSettings as ModelSettings
from rtc_inspector.core.settings.parts import NamedModel as NamedModel
from rtc_inspector.core.settings.parts import RegionSettings as RegionSettings
from rtc_inspector.core.settings.parts import SamplesSettings as SamplesSettings
from rtc_inspector.core.settings.parts import SeriesSettings as SeriesSettings
from rtc_inspector.core.settings.setting import check, part, read_back, setting, with_values

SETTINGS_VERSION = 1
FORMER_TRUNCATION = {"top_k": 40, "top_p": 0.95}
"""What runs drew with whose settings do not say it."""
MOST_OF_SEED = 10**18 - 1
"""More digits a database would not hold."""
SLOTS = 16
"""Requests that a server is taken to work on at a time where nobody says."""
UNPROTECTED = (
    "Without a sandbox, code that the model writes runs with all your rights: it can read and delete your files."
)


@dataclass(frozen=True, slots=True)
class OracleSettings:
    """Limits on target code, and how long to wait for it."""

    sandbox: str = setting(
        "auto",
        "where target code runs",
        label="Sandbox",
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
        "interpreter that has the project's dependencies and pytest",
        label="Interpreter",
        unset="the project's own",
        form="program",
    )
    image: str | None = setting(
        None,
        "Docker image, or rootfs tar, whose system folders and interpreter are used",
        label="Image",
        sign="IMAGE",
        unset="this machine's own system",
        rare=True,
    )
    install: bool = setting(
        False,
        "have pip install what the project requires, over the network; kept for later",
        label="Install what the project requires",
    )
    requirements: str | None = setting(
        None,
        "install what this file lists",
        label="Listed in",
        unset="what the project declares",
        form="file",
        needs="oracle.install",
    )
    wheels: str | None = setting(
        None,
        "install from these wheels only, without network",
        label="Wheels in",
        unset="the package index",
        form="folder",
        needs="oracle.install",
    )
    test_command: str = setting(
        "",
        "shell command that tests a project in another language; `{tests}` in it stands for chosen test files",
        label="Test command",
        sign="COMMAND",
        unset="what package.json, go.mod or Cargo.toml say",
    )
    build_command: str = setting(
        "",
        "shell command that is run before it, for each piece of code that is judged",
        label="Build command",
        sign="COMMAND",
        unset="none",
        rare=True,
    )
    test_results: str = setting(
        "",
        "report in JUnit's XML that the test command writes, below the project",
        label="Results in",
        sign="PATH",
        unset="what the runner prints",
        rare=True,
    )
    coverage_report: str = setting(
        "",
        "lcov or Go profile that the test command writes, below the project",
        label="Coverage in",
        sign="PATH",
        unset="asked of Node and Go themselves",
        rare=True,
    )
    language: str = setting(
        "",
        "only code in this language, or several with commas between",
        label="Language",
        sign="NAME",
        unset="Python, else what the project's test command is for",
    )
    workers: int | None = setting(
        None,
        "pieces of code judged at a time",
        label="Judged at a time",
        unset="on the cores that the model leaves",
        resumable=True,
        rare=True,
    )
    memory_mib: int = setting(
        2048, "memory that tests may take", label="Memory, MiB", option="--memory", sign="MIB", least=64, rare=True
    )
    """Below 64 MiB not even a small project's tests start."""
    processes: int = 256  # that tests may have at a time
    scratch_mib: int = setting(
        256, "that tests may write", label="Files, MiB", option="--scratch", sign="MIB", rare=True
    )
    output_kib: int = 256  # of their output
    identity_runs: int = 3  # runs of the unmodified suite that each test must pass
    repeat_seconds: float = 120.0  # of each such run after the first; tests too slow for it are not trusted
    test_timeout_floor: float = setting(
        2.0,
        "that any test may take; more where ten times what it took is more",
        label="Seconds of a test",
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
        "that the unmodified tests may take together",
        label="Seconds of the suite",
        option="--suite-seconds",
        sign="S",
        rare=True,
    )
    confirm_whole_suite: bool = setting(
        True,
        "trust the covering tests alone, without the whole suite",
        label="Confirm by the whole suite",
        option="--no-whole-suite",
        rare=True,
    )
    confirm_seconds: float = setting(
        0.0,
        "of tests that confirm a pass, those nearest to the code first; 0: the whole suite",
        label="Seconds of a confirmation",
        least=0,
        sign="S",
        rare=True,
    )
    cache: bool = setting(
        True,
        "run the project's own tests again even if unchanged",
        label="Reuse what is known of an unchanged suite",
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

    Attributes:
        model: path of a GGUF file; empty is the bundled one.
        backward_model: the same; None is the forward model.
        endpoint: a server to ask instead of the forward model's file.
        backward_endpoint: the same for the backward model.
        series: the other models that are run on the same items, where there are any.
        prompt_version: of the task's prompts, set when a run begins; runs that say nothing were made with version 1.
    """

    task: str = "synthesis"
    model: str = ""
    backward_model: str | None = None
    endpoint: EndpointSettings | None = None
    backward_endpoint: EndpointSettings | None = None
    series: SeriesSettings | None = None
    regions: int = setting(100, "how many regions, edits, problems or cells are drawn", label="Items")
    forward_samples: int = setting(3, "descriptions of each item", label="Descriptions each", most=10_000)
    backward_samples: int = setting(
        1,
        "reconstructions from each description",
        label="Reconstructions each",
        most=10_000,
        same_row="reconstructions each",
    )
    forward_temperature: float = setting(0.8, "of descriptions", label="Temperature", sign="T", least=0, most=2)
    backward_temperature: float = setting(
        0.1, "of code", label="Temperature of code", sign="T", least=0, most=2, same_row="of code"
    )
    forward_max_tokens: int = setting(128, "room for a description", label="Tokens at most")
    backward_max_tokens: int = setting(256, "room for the code", label="Tokens of code at most", same_row="for code")
    seed: int = setting(0, "of every random choice", label="Seed", sign="S", least=-MOST_OF_SEED, most=MOST_OF_SEED)
    wave: int = 2  # items worked on together: more fill the model's batches better
    budget_tokens: int | None = setting(
        None,
        "tokens read and written after which the run pauses; resume it with more",
        label="Pause after tokens",
        unset="no limit",
        resumable=True,
        rare=True,
    )
    budget_money: float | None = setting(
        None,
        "money after which the run pauses, by the prices that its servers have",
        label="Pause after money",
        sign="MONEY",
        least=0,
        unset="no limit",
        resumable=True,
        rare=True,
    )
    cluster: str = setting(
        "",
        "run models and tests on this Ray cluster: local, local:N or ray://HOST:PORT",
        label="Cluster",
        sign="ADDRESS",
        unset="this machine alone",
        resumable=True,
        rare=True,
    )
    prompts: str = setting(
        "",
        "ask in the words of this TOML file, whose keys are those of resources/prompts/",
        label="Words of the prompts",
        form="words",
        unset="the program's own",
    )
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
        """Return whether one model makes both passes."""
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
        # Runs of before that setting were drawn with llama.cpp's own limits, and are resumed with them.
        if "top_k" not in data.get("generation", {}):
            data = {**data, "generation": data.get("generation", {}) | FORMER_TRUNCATION}
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
