"""Opening what a run works with, models and project: for its start, and later to go on or to try something on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from core import __version__
from core.errors import Bug, ProjectError
from core.generation import Generation, Model, ModelInfo, OnText, Prompt, Request
from core.kinds import task
from core.models.discovery import bundled_model
from core.models.opening import check_machine, open_model
from core.models.styles import forward_only, told_as_before
from core.run.control import Control
from core.run.events import Notice, Progress
from core.run.state import Emit, Parts, Run
from core.settings import EndpointSettings, ModelSettings, RunSettings
from core.settings.cores import share_cores, usable_cores
from core.source.codebase import project_name
from core.store.writer import Store
from core.trips.opening import Notify, Opened, check_source, opener
from core.types import Report


class Nobody:
    """In the place of a model, where all samples are given: it says whose they are, and is never asked."""

    def __init__(self, author: ModelInfo | None) -> None:
        """Raises Bug: a method without models must say who wrote its samples."""
        if author is None:
            raise Bug("A run without models says nobody as its author.")
        self.info = author

    def count_tokens(self, prompt: Prompt) -> int:
        """Raises Bug."""
        raise Bug("A run without models was asked for a prompt.")

    def generate(
        self, requests: Sequence[Request], on_text: OnText | None = None, on_progress: Report | None = None
    ) -> Iterator[Generation]:
        """Raises Bug."""
        raise Bug("A run without models was asked for a sample.")

    def cancel(self) -> None:
        """Nothing is in flight."""

    def close(self) -> None:
        """Nothing is open."""


def open_parts(
    stack: ExitStack,
    project: Path,
    settings: RunSettings,
    notify: Notify,
    report: Report,
    on_model: Callable[[Model], None],
) -> Parts:
    """Open models first, since a bad model file should cost no test run. Raises any UserError, Cancelled.

    A file of items is only read before, since a bad one should cost no loading of a model.

    `on_model` sees each model once it is loaded; raising from `report` ends the loading.
    """
    settings = enter_cluster(stack, project, share_cores(settings, usable_cores()), notify)
    if not task(settings.task).models:
        opened = opener(settings.task)(stack, project, settings, notify, report)
        nobody = Nobody(opened.author)
        return Parts(opened, nobody, nobody)
    check_source(settings)
    models = open_models(stack, settings, notify, report, on_model)
    return Parts(opener(settings.task)(stack, project, settings, notify, report), *models)


def enter_cluster(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify) -> RunSettings:
    """The settings for the cluster that they name, connected as long as the stack; for this machine without one."""
    if not settings.cluster:
        if not settings.oracle.cluster:
            return settings
        # It began on a cluster and goes on without: it is judged here too, and has not that many judges.
        return share_cores(replace(settings, oracle=replace(settings.oracle, cluster="", workers=None)), usable_cores())
    from core.cluster.session import connected  # Ray is an extra

    return stack.enter_context(connected(project, settings, notify))


def open_models(
    stack: ExitStack, settings: RunSettings, notify: Notify, report: Report, on_model: Callable[[Model], None]
) -> tuple[Model, Model]:
    """The forward and the backward model, which may be one. Raises ModelError, and what `report` raises."""

    def beat() -> None:
        report("loading the model", 0, 1)

    def opened(path: str, endpoint: EndpointSettings | None, generation: ModelSettings) -> Model:
        model = placed(path, endpoint, generation)
        stack.callback(model.close)
        on_model(model)
        info = model.info
        # A server has no hash and cannot be calibrated.
        if generation.prompt_style == "auto" and info.sha256 and not info.calibration:
            notify(
                f"{info.name} was never calibrated and is asked by guess, in the style {info.prompt_style}: "
                "`rtc-inspector models --calibrate` finds out what it does best in."
            )
        return model

    def placed(path: str, endpoint: EndpointSettings | None, generation: ModelSettings) -> Model:
        if not settings.cluster or endpoint is not None:
            return open_model(path, endpoint, generation, beat)
        from core.cluster.remote import ClusterModel

        return ClusterModel(Path(path) if path else bundled_model(), generation, settings, notify, beat)

    if not settings.cluster:
        check_machine(settings, notify)
    generation = settings.generation
    forward_style = generation if settings.one_model else forward_only(generation)
    forward = backward = opened(settings.model, settings.endpoint, forward_style)
    if not settings.one_model:
        backward = opened(settings.backward_model or "", settings.backward_endpoint, generation)
    return forward, backward


def open_source(stack: ExitStack, project: Path, settings: RunSettings, emit: Emit, control: Control) -> Opened:
    """What a run draws from, opened for its task, without any model. Raises UserError, Cancelled."""
    settings = share_cores(settings, usable_cores())
    notify, report = (lambda text: emit(Notice(text))), reporter(emit, control)
    return opener(settings.task)(stack, project, settings, notify, report)


def open_run_parts(stack: ExitStack, project: Path, settings: RunSettings, emit: Emit, control: Control) -> Parts:
    """Models and project, telling how far it is and stopping when `control` says so. Raises UserError, Cancelled."""

    def notify(text: str) -> None:
        emit(Notice(text))

    def cancel_with(model: Model) -> None:
        control.on_stop(model.cancel)

    return open_parts(stack, project, settings, notify, reporter(emit, control), cancel_with)


def reporter(emit: Emit, control: Control) -> Report:
    """Tells every step and is where a stop is heard."""

    def report(stage: str, done: int, total: int) -> None:
        control.checkpoint()
        emit(Progress(stage, done, total))

    return report


def record(store: Store, parts: Parts) -> int:
    """Store the project and a new run with all that is needed to know it again; claims the run."""
    opened = parts.opened
    project_id = store.add_project(opened.root, project_name(opened.root), opened.revision, opened.dirty)
    return store.start_run(
        project_id,
        opened.settings,
        parts.used(parts.forward),
        parts.used(parts.backward),
        sandbox=opened.oracle,
        image_digest=opened.image_digest,
        app_version=__version__,
        fingerprint=opened.fingerprint,
        suite=opened.suite,
    )


def reopen(
    stack: ExitStack,
    run_id: int,
    store: Store,
    emit: Emit,
    control: Control,
    changed: Mapping[str, Any] = MappingProxyType({}),
) -> Run:
    """A stored run with the models and the project it began with; `changed` are resumable settings, by path.

    Raises StoreError when unknown, ProjectError when the project or a model changed since, and any UserError.
    """
    settings = store.reader.settings(run_id).resumed(changed)
    row = store.reader.run(run_id)
    models = json.loads(row.model_json)
    as_before = replace(settings, generation=told_as_before(settings.generation, models))
    parts = open_run_parts(stack, Path(row.project_root), as_before, emit, control)
    require_same(parts, settings, store, run_id)
    return Run(run_id, settings, parts, store, emit, control)


def require_same(parts: Parts, settings: RunSettings, store: Store, run_id: int) -> None:
    """Raise ProjectError where what was opened is not what the stored run began with."""
    require_same_prompts(settings, parts.opened.settings, run_id)
    models = json.loads(store.reader.run(run_id).model_json)
    _require_same(parts, store.reader.fingerprint(run_id), models, run_id)


def require_same_prompts(before: RunSettings, now: RunSettings, run_id: int) -> None:
    """Raise ProjectError when models would be asked otherwise than the run's were."""
    if before.prompt_version != now.prompt_version:
        raise ProjectError(
            f"Run {run_id} was made with version {before.prompt_version} of the prompts; now it is "
            f"{now.prompt_version}.",
            "Start a new run: answers to different prompts do not compare.",
        )


def _require_same(parts: Parts, fingerprint: str, models: dict[str, dict[str, str]], run_id: int) -> None:
    """What is added to a run must come of the same code and the same models."""
    if parts.opened.fingerprint != fingerprint:
        raise ProjectError(
            f"The project's files have changed since run {run_id} began.",
            "Bring back the files as they were (the run's revision is stored with it), or start a new run.",
        )
    for role, model in (("forward", parts.forward), ("backward", parts.backward)):
        _require_same_model(role, models[role], parts.used(model), run_id)


def _require_same_model(role: str, before: dict[str, str], now: ModelInfo, run_id: int) -> None:
    if before["sha256"] != now.sha256:
        raise ProjectError(
            f"The {role} model file is not the one run {run_id} began with.",
            "Put the same file back, or start a new run.",
        )
    if before.get("backward_style", now.backward_style) != now.backward_style:
        raise ProjectError(
            f"Run {run_id} asked the {role} model by {before['backward_style']}, and now it would be asked by "
            f"{now.backward_style}.",
            "Start a new run.",
        )
    told = (before["name"], before.get("served", ""))
    if not now.sha256 and told != (now.name, now.served):
        raise ProjectError(
            f"The server at {now.path} serves another {role} model than run {run_id} began with: "
            f"{now.name} ({now.served or 'nothing said of it'}), not {told[0]} ({told[1] or 'nothing said of it'}).",
            "Have it serve the same model again, or start a new run.",
        )
