"""Opening what a run works with, models and project: for its start, and later to go on or to try something on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rtc_inspector.core import __version__
from rtc_inspector.core.errors import Bug, ModelError, ProjectError
from rtc_inspector.core.generation import Generation, Model, ModelInfo, OnText, Prompt, Request
from rtc_inspector.core.kinds import task
from rtc_inspector.core.languages import PYTHON, Language
from rtc_inspector.core.models.devices import slowed
from rtc_inspector.core.models.discovery import discover
from rtc_inspector.core.models.gguf import fingerprint
from rtc_inspector.core.models.loading import check_machine, model_file, open_model
from rtc_inspector.core.models.styles import as_recorded, forward_only
from rtc_inspector.core.oracle.command.commands import languages_of
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.run.control import Control
from rtc_inspector.core.run.state import Caller, Emit, Heard, Parts, Run
from rtc_inspector.core.settings import ModelSettings, NamedModel, RunSettings, share_cores
from rtc_inspector.core.source.codebase import project_name
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.opening import check_source, opener
from rtc_inspector.core.types import Notify, Report


class WhenNeeded:
    """A `Model` that is loaded only when something is asked of it."""

    def __init__(self, info: ModelInfo, load: Callable[[], Model]) -> None:
        self.info = info
        self._load = load
        self._model: Model | None = None

    def _loaded(self) -> Model:
        if self._model is None:
            self._model = self._load()
        return self._model

    def count_tokens(self, prompt: Prompt) -> int:
        """Return the model's own count; the model is loaded first where it is not yet."""
        return self._loaded().count_tokens(prompt)

    def generate(
        self, requests: Sequence[Request], on_text: OnText | None = None, on_progress: Report | None = None
    ) -> Iterator[Generation]:
        """Return the model's own answers; the model is loaded first where it is not yet."""
        return self._loaded().generate(requests, on_text, on_progress)

    def cancel(self) -> None:
        """Cancel what is in flight: nothing, before something was asked."""
        if self._model is not None:
            self._model.cancel()

    def close(self) -> None:
        """Whoever loaded it closes it."""


def located(
    settings: RunSettings,
    recorded: Mapping[str, Mapping[str, str]],
    notify: Notify,
    models: Mapping[str, NamedModel] = MappingProxyType({}),
) -> RunSettings:
    """Return the settings of a stored run with each model where it is now: where `models` says, where it was, or found.

    `recorded`: what the run records of its models. Raises ModelError where one is nowhere.
    """
    forward = models.get("forward") or _found(settings.forward, recorded["forward"], notify)
    if all(recorded["forward"][name] == recorded["backward"][name] for name in ("path", "sha256", "name")):
        return settings.asking(forward)
    return settings.asking(forward, models.get("backward") or _found(settings.backward, recorded["backward"], notify))


def _found(model: NamedModel, recorded: Mapping[str, str], notify: Notify) -> NamedModel:
    """Return the file at its place, else the one of the recorded hash where models are kept. Raises ModelError."""
    if model.endpoint is not None or not model.file or Path(model.file).is_file():
        return model
    for entry in discover():
        if entry.header is not None and entry.header.label == recorded["name"]:
            notify(f"{model.file} is not there; {entry.path} is read to see whether it is the same model.")
            if fingerprint(entry.header.files) == recorded["sha256"]:
                return NamedModel(str(entry.path))
    raise ModelError(
        f"The model {recorded['name']} is neither at {model.file} nor where models are kept on this machine.",
        f"Name its file with --model; its SHA-256 is {recorded['sha256']}.",
    )


def _no_model() -> Model:
    raise Bug("A run without models was asked for a sample.")


def open_parts(stack: ExitStack, project: Path, settings: RunSettings, caller: Caller) -> Parts:
    """Open models first, since a bad model file should cost no test run. Raises any UserError, Cancelled.

    A file of items is only read before, since a bad one should cost no loading of a model.
    """
    settings = enter_cluster(stack, project, share_cores(settings, usable_cores()), caller.notify)
    if not task(settings.task).samples(settings):
        opened = opener(settings.task)(stack, project, settings, caller.notify, caller.report)
        if opened.author is None:
            raise Bug("A run without models says nobody as its author.")
        nobody = WhenNeeded(opened.author, _no_model)
        return Parts(opened, nobody, nobody)
    check_source(settings)
    models = open_models(stack, settings, caller, language_asked(project, settings))
    return Parts(opener(settings.task)(stack, project, settings, caller.notify, caller.report), *models)


def enter_cluster(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify) -> RunSettings:
    """The settings for the cluster that they name, connected as long as the stack; for this machine without one."""
    if not settings.cluster:
        if not settings.oracle.cluster:
            return settings
        # It began on a cluster and goes on without: it is judged here too, and has not that many judges.
        return share_cores(replace(settings, oracle=replace(settings.oracle, cluster="", workers=None)), usable_cores())
    from rtc_inspector.core.cluster.session import connected  # Ray is an extra

    return stack.enter_context(connected(project, settings, notify))


def language_asked(project: Path, settings: RunSettings) -> Language:
    """Return the language of most of the project's kinds of files, Python for what is no project. Raises UserError."""
    regions = settings.task == "synthesis" and project.is_dir()
    return languages_of(project, settings.oracle)[0] if regions else PYTHON


def open_models(
    stack: ExitStack, settings: RunSettings, caller: Caller, language: Language = PYTHON
) -> tuple[Model, Model]:
    """Return the forward and the backward model, which may be one. Raises ModelError, Cancelled.

    `language`: in which they are asked; the style that did best in it is taken.
    """

    def beat() -> None:
        caller.report("loading the model", 0, 1)

    def opened(wanted: NamedModel, generation: ModelSettings) -> Model:
        model = placed(wanted, generation)
        stack.callback(model.close)
        caller.reach(model)
        info = model.info
        # A server has no hash and cannot be calibrated.
        if generation.prompt_style == "auto" and info.sha256 and not info.calibration:
            caller.notify(
                f"{info.name} was never calibrated and is asked by guess, in the style {info.prompt_style}: "
                "`rtc-inspector models --calibrate` finds out what it does best in."
            )
        return model

    def placed(wanted: NamedModel, generation: ModelSettings) -> Model:
        if not settings.cluster or wanted.endpoint is not None:
            return open_model(wanted, generation, beat, caller.notify, language)
        from rtc_inspector.core.cluster.remote import ClusterModel

        return ClusterModel(model_file(wanted), generation, settings, caller.notify, beat)

    if not settings.cluster:
        check_machine(settings, caller.notify)
    generation = settings.generation
    if settings.one_model:
        forward = backward = opened(settings.forward, generation)
    else:
        forward = opened(settings.forward, forward_only(generation))
        backward = opened(settings.backward, generation)
    if said := slowed(forward.info.build) or slowed(backward.info.build):
        caller.notify(said)
    return forward, backward


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
    models, caller = json.loads(row.model_json), Caller(emit, control)
    as_before = replace(settings, generation=as_recorded(settings.generation, models))
    if task(settings.task).samples(settings):
        as_before = located(as_before, models, caller.notify)
    parts = open_parts(stack, Path(row.project_root), as_before, caller)
    require_same(parts, settings, store, run_id)
    return Run(run_id, settings, parts, store, emit, control, heard=Heard(fresh=False))


def require_same(parts: Parts, settings: RunSettings, store: Store, run_id: int) -> None:
    """Raise ProjectError unless what was opened is the code and the models that the stored run began with."""
    require_same_prompts(settings, parts.opened.settings, run_id)
    if parts.opened.fingerprint != store.reader.fingerprint(run_id):
        raise ProjectError(
            f"The project's files have changed since run {run_id} began.",
            "Bring back the files as they were (the run's revision is stored with it), or start a new run.",
        )
    before = json.loads(store.reader.run(run_id).model_json)
    for role, model in (("forward", parts.forward), ("backward", parts.backward)):
        _require_same_model(role, before[role], parts.used(model), run_id)


def require_same_prompts(before: RunSettings, now: RunSettings, run_id: int) -> None:
    """Raise ProjectError when models would be asked otherwise than the run's were."""
    if before.prompt_version != now.prompt_version:
        raise ProjectError(
            f"Run {run_id} was made with version {before.prompt_version} of the prompts; now it is "
            f"{now.prompt_version}.",
            "Start a new run: answers to different prompts do not compare.",
        )


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
