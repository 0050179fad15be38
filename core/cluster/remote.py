"""Models and judges on the hosts of a cluster: what runs there, and the Model and Oracle that stand for them here.

Ray chooses the hosts by cores, memory and label, starts actors again whose host died, and makes their calls again. So a
call comes back with a result, or fails for good. Texts and verdicts depend on neither host nor company: seeds and
prompts are the driver's, and only the driver writes the store.
"""

from __future__ import annotations

import queue
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util import ActorPool

from core import __version__
from core.cluster.session import SANDBOX
from core.errors import Cancelled, InspectorError, ModelError, SandboxError
from core.generation import Generation, Model, ModelInfo, Prompt, Request
from core.models.client import LocalModel
from core.models.fingerprint import fingerprint
from core.models.gguf import read_header
from core.models.memory import memory_needed, window_of
from core.oracle.baseline import Baseline
from core.oracle.factory import open_oracle
from core.oracle.project_oracle import ProjectOracle
from core.settings import ModelSettings, OracleSettings
from core.source.codebase import open_codebase
from core.types import Candidate, Outcome, Suite, Verdict

STEP = 0.2
"""Seconds between two looks at whether a stop was asked for."""
FOREVER = -1
"""Of restarts and retries: a host that dies costs time, never a sample."""


@dataclass(frozen=True)
class Ready:
    """What an actor says once it is there: where, what it opened, or the problem why not.

    Attributes:
        missing: it lacks the model's file, which may be shipped.
    """

    host: str
    version: str
    info: ModelInfo | None = None
    problem: str = ""
    remedy: str = ""
    missing: bool = False


# ---- on the hosts


class ModelHost:
    """A local model on one host."""

    def __init__(self, path: str, sha256: str, settings: ModelSettings, shipped: Sequence[Any]) -> None:
        """Open the model at `path` if it is the one of that hash, else the shipped one."""
        self._model: LocalModel | None = None
        self._ready = Ready(socket.gethostname(), __version__)
        try:
            file = self._file(Path(path), sha256, shipped)
            if file is None:
                self._ready = replace(self._ready, missing=True)
                return
            self._model = LocalModel(file, settings)
            self._ready = replace(self._ready, info=self._model.info)
        except InspectorError as error:
            self._ready = replace(self._ready, problem=error.problem, remedy=error.remedy)

    def _file(self, path: Path, sha256: str, shipped: Sequence[Any]) -> Path | None:
        if path.is_file() and fingerprint(read_header(path).files) == sha256:
            return path
        if not shipped:
            return None
        self._folder = tempfile.TemporaryDirectory(prefix="rtc-model-")
        file = Path(self._folder.name, path.name)
        file.write_bytes(ray.get(shipped[0]))
        if fingerprint(read_header(file).files) != sha256:
            raise ModelError(f"The model {path.name} came damaged to {socket.gethostname()}.", "Start the run again.")
        return file

    def ready(self) -> Ready:
        """Whether it can be asked."""
        return self._ready

    def count_tokens(self, prompt: Prompt) -> int:
        """As `Model.count_tokens`."""
        assert self._model is not None
        return self._model.count_tokens(prompt)

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """All of them; after a restart on a host that lacks the model, the reason why not."""
        if self._model is None:
            why = self._ready.problem or f"{self._ready.host} does not have the model's file"
            return [Generation(each.id, "", "", 0, 0, 0.0, "failed", why) for each in requests]
        return list(self._model.generate(requests))


def _oracle_here(settings: OracleSettings) -> ProjectOracle:
    """The oracle of the project that travelled here. Raises SandboxError on a host that has no sandbox."""
    here = replace(settings, cluster="", workers=1)
    oracle = open_oracle(open_codebase(Path.cwd()), here, lambda text: None)
    assert isinstance(oracle, ProjectOracle)
    if oracle.name.endswith("/none") and settings.sandbox != "none":
        oracle.close()
        raise SandboxError(f"{socket.gethostname()} has no sandbox.", "Install bubblewrap or Docker there.")
    return oracle


@dataclass(frozen=True)
class Learned:
    """What one host learned of the suite, for all of them."""

    host: str
    name: str = ""
    image_digest: str = ""
    baseline: Any = None
    problem: tuple[str, str, str] | None = None
    said: tuple[str, ...] = ()


def learn_suite(settings: OracleSettings) -> Learned:
    """Run the suite on this host."""
    host, said = socket.gethostname(), list[str]()
    try:
        oracle = _oracle_here(settings)
        try:
            baseline = oracle.learn(lambda stage, done, total: None)
        finally:
            oracle.close()
    except InspectorError as error:
        return Learned(host, problem=(type(error).__name__, error.problem, error.remedy))
    return Learned(host, oracle.name, oracle.image_digest, baseline.to_json(), said=tuple(said))


class JudgeHost:
    """A judge on one host."""

    def __init__(self, settings: OracleSettings, learned: Learned) -> None:
        """Take over what was learned; nothing runs yet."""
        self._problem = ""
        try:
            self._oracle = _oracle_here(settings)
            self._oracle.adopt(Baseline.from_json(learned.baseline))
        except InspectorError as error:
            self._problem = f"{socket.gethostname()} cannot judge: {error.problem}"

    def ready(self) -> str:
        """Why it cannot judge; empty when it can."""
        return self._problem

    def judge(self, candidate: Candidate, tests: Sequence[str], every_test: bool) -> Verdict:
        """As `Oracle.judge`."""
        if self._problem:
            return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=self._problem)
        return self._oracle.judge(candidate, tests, every_test=every_test)


# ---- on the driver


def _wait(reference: Any, beat: Callable[[], None]) -> Any:
    """What a call gives; `beat` is called while it is waited for, and may raise."""
    while True:
        done, _ = ray.wait([reference], timeout=STEP)
        if done:
            return ray.get(done[0])
        beat()


class ClusterModel:
    """Implements `core.generation.Model` over as many hosts as have the cores and the memory for it."""

    def __init__(
        self,
        path: Path,
        settings: ModelSettings,
        most: int | None,
        notify: Callable[[str], None],
        beat: Callable[[], None],
    ) -> None:
        """Open it everywhere. Raises ModelError, and what `beat` raises."""
        header = read_header(path)
        self._cancelled = threading.Event()
        self._actors: list[Any] = []
        cores = settings.threads or 1
        memory = memory_needed(header, window_of(header, settings))
        places = _places(cores, memory) if most is None else most
        if not places:
            raise ModelError(
                f"No host of the cluster has {cores} cores and {memory >> 20} MiB for {header.label}.",
                "Choose a smaller model, fewer --threads, or start Ray with more resources.",
            )
        sha256 = fingerprint(header.files, beat=beat)
        try:
            found = self._open(places, path, sha256, settings, cores, memory, beat, ())
            if any(ready.missing for ready in found):
                lacking = ", ".join(sorted({ready.host for ready in found if ready.missing}))
                if len(header.files) > 1:
                    raise ModelError(
                        f"{lacking} lacks {path}, and a model of several files is not shipped.", "Copy the files there."
                    )
                notify(f"{path.name} ({header.file_bytes >> 20} MiB) goes to {lacking}, which lacks it.")
                self.close()
                shipped = (ray.put(path.read_bytes()),)
                found = self._open(places, path, sha256, settings, cores, memory, beat, shipped)
            self.info = self._agreed(found, path, notify)
        except BaseException:
            self.close()
            raise
        self._pool = ActorPool(self._actors)

    @property
    def hosts(self) -> int:
        """How many work at a time."""
        return len(self._actors)

    def _open(
        self,
        places: int,
        path: Path,
        sha256: str,
        settings: ModelSettings,
        cores: int,
        memory: int,
        beat: Callable[[], None],
        shipped: Sequence[Any],
    ) -> list[Ready]:
        needs: dict[str, Any] = {
            "num_cpus": cores,
            "memory": memory,
            "max_restarts": FOREVER,
            "max_task_retries": FOREVER,
            "scheduling_strategy": "SPREAD",
        }
        actor = ray.remote(ModelHost).options(**needs)
        # Ray does not look into a list for references, so only a host that lacks the file fetches it.
        self._actors = [actor.remote(str(path.resolve()), sha256, settings, list(shipped)) for _ in range(places)]
        return [_answered(_wait, each.ready.remote(), beat) for each in self._actors]

    def _agreed(self, found: Sequence[Ready], path: Path, notify: Callable[[str], None]) -> ModelInfo:
        for ready in found:
            if ready.version != __version__:
                raise ModelError(
                    f"{ready.host} has version {ready.version} of RTC Inspector, this machine {__version__}.",
                    "Install the same version on every host.",
                )
            if ready.info is None:
                raise ModelError(
                    f"{ready.host} cannot open {path.name}: {ready.problem or 'its file is missing'}",
                    ready.remedy or "Copy the file there.",
                )
        infos = [ready.info for ready in found if ready.info is not None]
        builds = sorted({info.build for info in infos})
        if len(builds) > 1:
            notify(
                f"Hosts run {len(builds)} builds of the engine, and texts may differ between them: {'; '.join(builds)}."
            )
        return replace(infos[0], path=str(path))

    # ---- the Model protocol

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt after its template."""
        return int(_answered(_wait, self._actors[0].count_tokens.remote(prompt), self._heed))

    def generate(
        self,
        requests: Sequence[Request],
        on_text: Callable[[str, str], None] | None = None,
        on_progress: Callable[[str, int, int], None] | None = None,
    ) -> Iterator[Generation]:
        """Requests on one item go to one host together, since they share most of their prompts. Nothing is streamed."""
        self._cancelled.clear()
        items = [list(part) for _, part in groupby(requests, key=_item)]
        share = -(-len(items) // max(1, self.hosts))  # of items: several at a time fill a model's batches
        return self._generate([list(chain(*items[at : at + share])) for at in range(0, len(items), share)])

    def _generate(self, parts: Sequence[list[Request]]) -> Iterator[Generation]:
        pool = self._pool
        for part in parts:
            pool.submit(lambda actor, value: actor.generate.remote(value), part)
        left = len(parts)
        try:
            while left:
                try:
                    made: list[Generation] = pool.get_next_unordered(timeout=STEP)
                except TimeoutError:
                    self._heed()
                    continue
                except RayError as error:
                    raise ModelError(f"The cluster failed: {_first_line(error)}", "Look at `ray status`.") from error
                left -= 1
                yield from made
        finally:
            if left:  # what is in flight is given up: another pool knows nothing of it
                self._pool = ActorPool(self._actors)

    def _heed(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """Wait no longer."""
        self._cancelled.set()

    def close(self) -> None:
        """End the models on all hosts; idempotent."""
        _kill(self._actors)
        self._actors = []


class ClusterOracle:
    """Implements `core.types.Oracle`: judges on hosts that are labelled to have a sandbox. Thread-safe."""

    def __init__(self, settings: OracleSettings, notify: Callable[[str], None], beat: Callable[[], None]) -> None:
        """Have one host learn the suite. Raises what that raises there, and what `beat` raises."""
        self._settings = settings
        place = {"label_selector": {SANDBOX: "yes"}, "num_cpus": 0}
        learn = ray.remote(learn_suite).options(max_retries=FOREVER, **place)
        learned: Learned = _answered(_wait, learn.remote(settings), beat)
        if learned.problem is not None:
            kind, problem, remedy = learned.problem
            known: Mapping[str, type[InspectorError]] = {
                each.__name__: each for each in InspectorError.__subclasses__()
            }
            raise _error(kind, known)(f"{learned.host}: {problem}", remedy)
        self.name, self.image_digest = learned.name, learned.image_digest
        self._suite = Baseline.from_json(learned.baseline).suite
        actor = ray.remote(JudgeHost).options(
            max_restarts=FOREVER,
            max_task_retries=FOREVER,
            memory=settings.memory_mib << 20,
            scheduling_strategy="SPREAD",
            **place,
        )
        self._learned = ray.put(learned)  # held as long as a judge may be started again
        self._actors = [actor.remote(settings, self._learned) for _ in range(settings.workers or 1)]
        self._free: queue.Queue[Any] = queue.Queue()
        self._closed = threading.Event()
        for each in self._actors:
            if problem := _answered(_wait, each.ready.remote(), beat):
                self.close()
                raise SandboxError(f"{problem}", f"Mend that, or start Ray there without the label {SANDBOX}.")
            self._free.put(each)

    def suite(self, progress: Callable[[str, int, int], None]) -> Suite:
        """See `core.types.Oracle`; learned when it was opened."""
        progress("learning the tests", 1, 1)
        return self._suite

    def judge(self, candidate: Candidate, tests: Sequence[str], *, every_test: bool = False) -> Verdict:
        """See `core.types.Oracle`."""
        started = time.monotonic()
        actor = self._free.get()
        try:
            verdict: Verdict = ray.get(actor.judge.remote(candidate, list(tests), every_test))
            return verdict
        except RayError as error:
            seconds = time.monotonic() - started
            return Verdict(Outcome.INFRASTRUCTURE, seconds, detail=_first_line(error), oracle=self.name)
        finally:
            self._free.put(actor)

    def close(self) -> None:
        """End all judges; idempotent."""
        if not self._closed.is_set():
            self._closed.set()
            _kill(self._actors)


def open_cluster_model(
    path: Path, settings: ModelSettings, most: int | None, notify: Callable[[str], None], beat: Callable[[], None]
) -> Model:
    """A model on the cluster that this process is connected to."""
    return ClusterModel(path, settings, most, notify, beat)


def _places(cores: int, memory: int) -> int:
    """How many such models the cluster has room for."""
    resources = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return sum(int(min(each.get("CPU", 0) // cores, each.get("memory", 0) // memory)) for each in resources)


def _item(request: Request) -> str:
    return request.id.partition("/")[0]


def _answered(wait: Callable[[Any, Callable[[], None]], Any], reference: Any, beat: Callable[[], None]) -> Any:
    try:
        return wait(reference, beat)
    except RayError as error:
        raise ModelError(f"The cluster failed: {_first_line(error)}", "Look at `ray status`.") from error


def _error(kind: str, known: Mapping[str, type[InspectorError]]) -> type[InspectorError]:
    classes = {**known, **{each.__name__: each for base in known.values() for each in base.__subclasses__()}}
    return classes.get(kind, SandboxError)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1]


def _kill(actors: Sequence[Any]) -> None:
    for actor in actors:
        if ray.is_initialized():
            ray.kill(actor)
