"""Models and judges on the hosts of a cluster, as the run sees them: a Model and an Oracle over Ray actors.

Ray chooses the hosts by cores, memory, GPUs and label, starts actors again whose host died, and makes their calls
again. So a call comes back with a result, or fails for good. Texts and verdicts depend on neither host nor company:
seeds and prompts are the driver's, and only the driver writes the store.
"""

import io
import queue
import socket
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util import ActorPool

from rtc_inspector.core import __version__, errors
from rtc_inspector.core.cluster.session import SANDBOX, live_nodes, may_judge, read_address, say_shipping, travels
from rtc_inspector.core.errors import Cancelled, InspectorError, ModelError, SandboxError
from rtc_inspector.core.generation import Generation, ModelInfo, OnText, Prompt, Request
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.devices import needed_together
from rtc_inspector.core.models.gguf import GgufHeader, fingerprint, read_header
from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.oracle.interpreter import find_interpreter
from rtc_inspector.core.oracle.project_oracle import ProjectOracle
from rtc_inspector.core.settings import ModelSettings, OracleSettings, RunSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.source.walk import every_file
from rtc_inspector.core.types import Candidate, Notify, Outcome, Report, Suite, Verdict
from rtc_inspector.core.waiting import STEP, Poll, wait_for


@dataclass(frozen=True)
class Ready:
    """A model once it is there: where, what it opened, or why not; `missing`: its file may be shipped."""

    host: str
    version: str
    info: ModelInfo | None = None
    problem: str = ""
    remedy: str = ""
    missing: bool = False


class ModelHost:
    """A local model on one host."""

    def __init__(self, path: str, sha256: str, settings: ModelSettings, shipped: Sequence[Any]) -> None:
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
        return self._ready

    def count_tokens(self, prompt: Prompt) -> int:
        assert self._model is not None
        return self._model.count_tokens(prompt)

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Return a sample of each request; after a restart on a host that lacks the model, failed ones that say why."""
        if self._model is None:
            why = self._ready.problem or f"{self._ready.host} does not have the model's file"
            return [each.failed(why) for each in requests]
        return list(self._model.generate(requests))


def packed(project: Path) -> bytes:
    """Return the files of a project as one archive, for hosts where it is not."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        for each in every_file(project):
            archive.add(project / each, f"{project.name}/{each}", recursive=False)
    return stream.getvalue()


class _Project:
    """The oracle of a project on this host: of the one that this process was started in, or of one that was packed."""

    def __init__(self, settings: OracleSettings, sent: bytes | None) -> None:
        """Open it. Raises SandboxError on a host that has no sandbox, TargetError."""
        root = Path.cwd()
        if sent is not None:
            # Held as long as the oracle, and open to the sandbox's own user, which a folder of `tempfile` is not.
            self._folder = tempfile.TemporaryDirectory(prefix="rtc-project-")
            folder = Path(self._folder.name)
            folder.chmod(0o755)
            with tarfile.open(fileobj=io.BytesIO(sent), mode="r:gz") as archive:
                archive.extractall(folder, filter="data")
            root = next(folder.iterdir())
        here = replace(settings, cluster="", workers=1)
        oracle = open_oracle(open_codebase(root), here, lambda text: None)
        assert isinstance(oracle, ProjectOracle)
        self.oracle = oracle
        if oracle.name.endswith("/none") and settings.sandbox != "none":
            oracle.close()
            raise SandboxError(
                f"{socket.gethostname()} has no sandbox.",
                "Install bubblewrap or Docker there, or use a kernel with Landlock.",
            )


@dataclass(frozen=True)
class Learned:
    """Knowledge of the suite that one host gathered for all of them."""

    host: str
    name: str = ""
    image_digest: str = ""
    baseline: Any = None
    problem: tuple[str, str, str] | None = None


def learn_suite(settings: OracleSettings, sent: bytes | None) -> Learned:
    """Run the suite on this host."""
    host = socket.gethostname()
    try:
        project = _Project(settings, sent)
        try:
            baseline = project.oracle.learn(lambda stage, done, total: None)
        finally:
            project.oracle.close()
    except InspectorError as error:
        return Learned(host, problem=(type(error).__name__, error.problem, error.remedy))
    return Learned(host, project.oracle.name, project.oracle.image_digest, baseline)


class JudgeHost:
    """A judge on one host."""

    def __init__(self, settings: OracleSettings, learned: Learned, sent: bytes | None) -> None:
        self._problem = ""
        try:
            self._project = _Project(settings, sent)
            self._project.oracle.adopt(learned.baseline)
        except InspectorError as error:
            self._problem = f"{socket.gethostname()} cannot judge: {error.problem}"

    def ready(self) -> str:
        """Return why it cannot judge; empty when it can."""
        return self._problem

    def judge(
        self, candidate: Candidate, tests: Sequence[str], every_test: bool, again: bool, confirm: bool
    ) -> Verdict:
        """Judge a candidate as `Oracle.judge` does; where this host cannot, the verdict blames the infrastructure."""
        if self._problem:
            return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=self._problem)
        return self._project.oracle.judge(candidate, tests, every_test=every_test, again=again, confirm=confirm)


# ---- what the run sees

PATIENCE = 30.0  # seconds after which it is said that Ray has not found a place yet
FOREVER = -1  # of restarts and retries: a host that dies costs time, never a sample


def _answer(reference: Any, poll: Poll) -> Any:
    """Return the answer of a call; `poll` is called while it is waited for, and may raise. Raises ModelError."""
    try:
        wait_for(lambda step: ray.wait([reference], timeout=step)[0] or None, poll)
        return ray.get(reference)
    except RayError as error:
        raise _failure(error) from error


def _failure(error: RayError) -> ModelError:
    return ModelError(f"The cluster failed: {_first_line(error)}", "Look at `ray status`.")


def _patiently(poll: Poll, what: str, notify: Notify) -> Poll:
    """Return `poll`, made to say once that a place is still waited for: Ray itself waits forever and says nothing."""
    started, noticed = time.monotonic(), False

    def heard() -> None:
        nonlocal noticed
        poll()
        if not noticed and time.monotonic() - started > PATIENCE:
            noticed = True
            notify(f"Still waiting for the cluster to place {what}: `ray status` says what is free.")

    return heard


@dataclass(frozen=True)
class Needs:
    """The needs of one copy of a model, as Ray is asked for them, and how many copies the cluster has room for."""

    cores: float
    memory: int
    gpus: float
    places: int


def needs_of(header: GgufHeader, generation: ModelSettings, settings: RunSettings) -> Needs:
    """Return what each copy of a model needs, by the settings of the model and of the run.

    A run's other model and its judges need room on the same hosts. Two models of a run take turns, so each asks
    for half of the cores. Else the first would take all that there is, and Ray would wait forever for room for the
    second.
    """
    nodes = live_nodes()
    most = read_address(settings.cluster).workers
    models = 2 if (settings.series and settings.series.cross) or not settings.one_model else 1
    memory = needed_together([header], generation)
    cores = (generation.threads or 1) / models
    has = sum(node["Resources"].get("GPU", 0.0) for node in nodes)
    share = min(1.0, has / most) if most else 1.0  # copies on one machine share its GPUs
    gpus = round(share / models, 3) if has and generation.gpu_layers else 0.0
    judging = [node for node in nodes if may_judge(node)] if settings.oracle.cluster else []
    kept = -(-(settings.oracle.workers or 1) // len(judging)) * settings.oracle.memory_mib << 20 if judging else 0
    places = 0
    for node in nodes:
        free = node["Resources"].get("memory", 0) - (kept if node in judging else 0)
        rooms = [node["Resources"].get("CPU", 0) / cores, free / models / memory]
        rooms += [node["Resources"].get("GPU", 0) / gpus] if gpus else []
        places += max(0, int(min(rooms)))
    return Needs(cores, memory, gpus, min(places, most or places))


class ClusterModel:
    """Implements `core.generation.Model` over as many hosts as have the cores, the memory and the GPUs for it."""

    def __init__(
        self, path: Path, generation: ModelSettings, settings: RunSettings, notify: Notify, poll: Poll
    ) -> None:
        """Open it everywhere. Raises ModelError, and what `poll` raises."""
        header = read_header(path)
        self._cancelled = threading.Event()
        self._actors: list[Any] = []
        needs = needs_of(header, generation, settings)
        if not needs.places:
            gpu = " and a GPU" if needs.gpus else ""
            raise ModelError(
                f"No host of the cluster has {needs.cores:g} cores, {needs.memory >> 20} MiB beside its judges{gpu} "
                f"for {header.label}.",
                "Choose a smaller model, fewer --threads, less --memory, or start Ray with more resources.",
            )
        wanted = (str(path.resolve()), fingerprint(header.files, poll=poll), generation)
        heard = _patiently(poll, header.label, notify)
        try:
            found = self._open(needs, (*wanted, []), heard)
            if any(ready.missing for ready in found):
                lacking = ", ".join(sorted({ready.host for ready in found if ready.missing}))
                if len(header.files) > 1:
                    raise ModelError(
                        f"{lacking} lacks {path}, and a model of several files is not shipped.", "Copy the files there."
                    )
                notify(f"{path.name} ({header.file_bytes >> 20} MiB) goes to {lacking}, which lacks it.")
                self.close()
                # Ray does not look into a list for references, so only a host that lacks the file fetches it.
                found = self._open(needs, (*wanted, [ray.put(path.read_bytes())]), heard)
            self.info = self._agreed(found, path, notify)
        except BaseException:
            self.close()
            raise
        self._pool = ActorPool(self._actors)

    @property
    def hosts(self) -> int:
        """Return the number of copies of the model that work at a time."""
        return len(self._actors)

    def _open(self, needs: Needs, arguments: Sequence[Any], poll: Poll) -> list[Ready]:
        actor = ray.remote(ModelHost).options(
            num_cpus=needs.cores,
            num_gpus=needs.gpus,
            memory=needs.memory,
            max_restarts=FOREVER,
            max_task_retries=FOREVER,
            scheduling_strategy="SPREAD",
        )
        self._actors = [actor.remote(*arguments) for _ in range(needs.places)]
        return [_answer(each.ready.remote(), poll) for each in self._actors]

    def _agreed(self, found: Sequence[Ready], path: Path, notify: Notify) -> ModelInfo:
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

    def count_tokens(self, prompt: Prompt) -> int:
        return int(_answer(self._actors[0].count_tokens.remote(prompt), self._heed))

    def generate(
        self, requests: Sequence[Request], on_text: OnText | None = None, on_progress: Report | None = None
    ) -> Iterator[Generation]:
        """Generate on all hosts, an item on one, as its requests share most of their prompts. Nothing is streamed."""
        self._cancelled.clear()
        items = [list(part) for _, part in groupby(requests, key=lambda request: request.id.partition("/")[0])]
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
                    samples: list[Generation] = pool.get_next_unordered(timeout=STEP)
                except TimeoutError:
                    self._heed()
                    continue
                except RayError as error:
                    raise _failure(error) from error
                left -= 1
                yield from samples
        finally:
            if left:  # what is in flight is given up: another pool knows nothing of it
                self._pool = ActorPool(self._actors)

    def _heed(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    def cancel(self) -> None:
        self._cancelled.set()

    def close(self) -> None:
        _kill(self._actors)
        self._actors = []


class ClusterOracle:
    """Implements `core.types.Oracle`: judges on hosts that are labelled to have a sandbox. Thread-safe."""

    def __init__(self, project: Path, settings: OracleSettings, notify: Notify, poll: Poll) -> None:
        """Have one host learn the suite. Raises what that raises there, and what `poll` raises."""
        if settings.python is None and settings.image is None:
            # Found here, looked for at the same path there: what travels has no environment of its own.
            settings = replace(settings, python=str(find_interpreter(project, None, notify).executable))
        self._actors: list[Any] = []
        place = {"label_selector": {SANDBOX: "yes"}, "num_cpus": 0}
        self._sent: Any = None
        if not travels(project):  # what a method wrote itself, after the cluster was joined
            say_shipping(project, settings.cluster, notify)
            self._sent = ray.put(packed(project))
        heard = _patiently(poll, "a judge", notify)
        learn = ray.remote(learn_suite).options(max_retries=FOREVER, **place)
        learned: Learned = _answer(learn.remote(settings, self._sent), heard)
        if learned.problem is not None:
            kind, problem, remedy = learned.problem
            # By its name, since Ray itself would wrap what a host raised, host and trace and all.
            raise getattr(errors, kind, SandboxError)(f"{learned.host}: {problem}", remedy)
        self.name, self.image_digest = learned.name, learned.image_digest
        self._suite: Suite = learned.baseline.suite
        actor = ray.remote(JudgeHost).options(
            max_restarts=FOREVER,
            max_task_retries=FOREVER,
            memory=settings.memory_mib << 20,
            scheduling_strategy="SPREAD",
            **place,
        )
        self._learned = ray.put(learned)  # held, as what was sent is, as long as a judge may be started again
        self._actors = [actor.remote(settings, self._learned, self._sent) for _ in range(settings.workers or 1)]
        self._free: queue.Queue[Any] = queue.Queue()
        try:
            for each in self._actors:
                if problem := _answer(each.ready.remote(), heard):
                    raise SandboxError(problem, f"Mend that, or start Ray there without the label {SANDBOX}.")
                self._free.put(each)
        except BaseException:
            self.close()
            raise

    def suite(self, progress: Report) -> Suite:
        progress("learning the tests", 1, 1)
        return self._suite

    def judge(
        self,
        candidate: Candidate,
        tests: Sequence[str],
        *,
        every_test: bool = False,
        again: bool = False,
        confirm: bool = True,
    ) -> Verdict:
        started = time.monotonic()
        actor = self._free.get()
        try:
            verdict: Verdict = ray.get(actor.judge.remote(candidate, list(tests), every_test, again, confirm))
            return verdict
        except RayError as error:
            seconds = time.monotonic() - started
            return Verdict(Outcome.INFRASTRUCTURE, seconds, detail=_first_line(error), oracle=self.name)
        finally:
            self._free.put(actor)

    def close(self) -> None:
        _kill(self._actors)
        self._actors = []


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1]


def _kill(actors: Sequence[Any]) -> None:
    for actor in actors:
        if ray.is_initialized():
            ray.kill(actor)
