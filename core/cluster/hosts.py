"""What runs on the hosts of a cluster: models, judges, and the one task that learns a project's suite.

Ray starts these processes from this module, again where a host died, so each can come to be at any time, and says what
it lacks when it is asked rather than by failing.
"""

from __future__ import annotations

import io
import socket
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray

from rtc_inspector.core import __version__
from rtc_inspector.core.errors import InspectorError, ModelError, SandboxError
from rtc_inspector.core.generation import Generation, ModelInfo, Prompt, Request
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.gguf import fingerprint, read_header
from rtc_inspector.core.oracle.baseline import Baseline
from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.oracle.project_oracle import ProjectOracle
from rtc_inspector.core.settings import ModelSettings, OracleSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.source.walk import every_file
from rtc_inspector.core.types import Candidate, Outcome, Verdict


@dataclass(frozen=True)
class Ready:
    """What a model says once it is there: where, what it opened, or the problem why not.

    Attributes:
        missing: it lacks the model's file, which may be shipped.
    """

    host: str
    version: str
    info: ModelInfo | None = None
    problem: str = ""
    remedy: str = ""
    missing: bool = False


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
        """Return whether it can be asked."""
        return self._ready

    def count_tokens(self, prompt: Prompt) -> int:
        """Return the number of tokens in a prompt, as `Model.count_tokens` does."""
        assert self._model is not None
        return self._model.count_tokens(prompt)

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Return a sample of each request; after a restart on a host that lacks the model, failed ones that say why."""
        if self._model is None:
            why = self._ready.problem or f"{self._ready.host} does not have the model's file"
            return [each.failed(why) for each in requests]
        return list(self._model.generate(requests))


def packed(project: Path) -> bytes:
    """The files of a project as one archive, for hosts where it is not."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        for each in every_file(project):
            archive.add(project / each, f"{project.name}/{each}", recursive=False)
    return stream.getvalue()


class _Project:
    """The oracle of a project on this host: of the one that this process was started in, or of one that was packed."""

    def __init__(self, settings: OracleSettings, sent: bytes | None) -> None:
        """Raises SandboxError on a host that has no sandbox, TargetError."""
        root = Path.cwd() if sent is None else self._unpacked(sent)
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

    def _unpacked(self, sent: bytes) -> Path:
        # Held as long as the oracle, and open to the sandbox's own user, which a folder of `tempfile` is not.
        self._folder = tempfile.TemporaryDirectory(prefix="rtc-project-")
        folder = Path(self._folder.name)
        folder.chmod(0o755)
        with tarfile.open(fileobj=io.BytesIO(sent), mode="r:gz") as archive:
            archive.extractall(folder, filter="data")
        return next(folder.iterdir())


@dataclass(frozen=True)
class Learned:
    """What one host learned of the suite, for all of them."""

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
    return Learned(host, project.oracle.name, project.oracle.image_digest, baseline.to_json())


class JudgeHost:
    """A judge on one host."""

    def __init__(self, settings: OracleSettings, learned: Learned, sent: bytes | None) -> None:
        """Take over what was learned; nothing runs yet."""
        self._problem = ""
        try:
            self._project = _Project(settings, sent)
            self._project.oracle.adopt(Baseline.from_json(learned.baseline))
        except InspectorError as error:
            self._problem = f"{socket.gethostname()} cannot judge: {error.problem}"

    def ready(self) -> str:
        """Why it cannot judge; empty when it can."""
        return self._problem

    def judge(
        self, candidate: Candidate, tests: Sequence[str], every_test: bool, again: bool, confirm: bool
    ) -> Verdict:
        """Judge a candidate as `Oracle.judge` does; where this host cannot, the verdict blames the infrastructure."""
        if self._problem:
            return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=self._problem)
        return self._project.oracle.judge(candidate, tests, every_test=every_test, again=again, confirm=confirm)
