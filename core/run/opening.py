"""Opening what a run works with, models and project: for its start, and later to go on or to try something on it."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rtc_inspector.core import __version__
from rtc_inspector.core.analyses.costs import money_words, price
from rtc_inspector.core.errors import Bug, ModelError, NothingRead, ProjectError
from rtc_inspector.core.generation import INFILL, Generation, Model, ModelInfo, OnText, Prompt, Request, Sample
from rtc_inspector.core.kinds import task
from rtc_inspector.core.languages import PYTHON, Language
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.devices import slowed
from rtc_inspector.core.models.discovery import discover
from rtc_inspector.core.models.gguf import fingerprint
from rtc_inspector.core.models.loading import check_machine, model_file, open_endpoint
from rtc_inspector.core.models.styles import as_recorded
from rtc_inspector.core.oracle.command.commands import languages_of
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.run.events import Control, Event, Notice, Progress
from rtc_inspector.core.settings import ModelSettings, NamedModel, RunSettings, share_cores
from rtc_inspector.core.source.codebase import project_name
from rtc_inspector.core.store.rows import Answers
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.protocol import Opened, Step, Trip, check_source, opener
from rtc_inspector.core.types import Item, Notify, Report

LOCKED_NOTICE_SECONDS = 30.0  # time between two notices of a database that another program keeps locked

FIRST_ANSWERS = 8  # answers of a new run none of which says anything, after which it is held
ENOUGH_ANSWERS = 20  # answers from which on shares of them are worth a notice while the run goes on

Emit = Callable[[Event], None]


@dataclass(frozen=True)
class Caller:
    """Whoever had a run started: is told how far it is, and may stop it."""

    emit: Emit
    control: Control

    def notify(self, text: str) -> None:
        self.emit(Notice(text))

    def report(self, stage: str, done: int, total: int) -> None:
        """Say how far a step is. Raises Cancelled once stopped."""
        self.control.checkpoint()
        self.emit(Progress(stage, done, total))

    def reach(self, model: Model) -> None:
        self.control.on_stop(model.cancel)


Made = Callable[[str, Step], Sample | None]  # by an item's key and a step on it


@dataclass(frozen=True)
class Parts:
    """Everything a run works with."""

    opened: Opened
    forward: Model
    backward: Model

    @property
    def trip(self) -> Trip:
        return self.opened.trip

    @property
    def models(self) -> bool:
        """Return whether models make the run's samples, and not somebody else."""
        return self.opened.author is None

    @property
    def hosts(self) -> int:
        """On how many machines of a cluster models work at a time; 1 elsewhere."""
        return max(getattr(model, "hosts", 1) for model in (self.forward, self.backward))

    def used(self, model: Model) -> ModelInfo:
        """Return what a run records of a model: where the task has no gap to fill, code is asked for as all else."""
        info = model.info
        fills = task(self.opened.settings.task).fills_gaps or info.backward_style != INFILL
        return info if fills else replace(info, backward_style=info.prompt_style)


@dataclass
class Run:
    """A run's id and settings, its parts, and where its results go."""

    id: int
    settings: RunSettings
    parts: Parts
    store: Store
    emit: Emit
    control: Control
    # what could not be evaluated, a sentence each; makes the run `incomplete`
    problems: list[str] = field(default_factory=list)
    # what to keep in mind of how its items were drawn; stored with the problems, and no problem
    remarks: list[str] = field(default_factory=list)
    # items that another run of the same series drew, by key: they are not drawn and tried again
    known: Mapping[str, Item] = field(default_factory=dict)
    # gives a sample that another run of the series has, so that no model is asked for it again
    made: Made = lambda key, step: None
    heard: Heard = field(default_factory=lambda: Heard())  # how the answers of this part of the run could be read
    seconds: dict[str, float] = field(default_factory=dict)  # where its time went: `opening`, `items`, `samples`
    _told: float = 0.0  # for how long the database had been locked when that was last said

    def __post_init__(self) -> None:
        # A backup or another program's open transaction must not cost a run of a night.
        self.store.on_locked = self._wait

    def _wait(self, waited: float) -> None:
        """Say every half minute that another program keeps the database locked. Raises Cancelled once stopped."""
        if waited < self._told:  # another wait than the one that was told of
            self._told = 0.0
        self.control.checkpoint()
        if waited - self._told >= LOCKED_NOTICE_SECONDS or not self._told:
            self._told = waited
            self.emit(
                Notice(
                    f"The database {self.store.path} has been locked by another program for {waited:.0f} s. The run "
                    "waits and goes on when it is free; nothing is lost. Close the program that writes to it."
                )
            )


@dataclass
class Heard:
    """Counts the answers of one part of a run that could not be read, and says when they are too many."""

    answers: Answers = field(default_factory=Answers)
    fresh: bool = True  # the run had none before, so that its first ones may hold it: who resumes it has been told
    # whether each answer was empty or, of a model that is asked in turns, cut. One that writes a file on goes on by
    # nature until it is cut
    lost: int = 0
    told: set[str] = field(default_factory=set)  # of which shares a notice was given

    def take(self, sample: Sample, form: str, in_turns: bool) -> Iterator[str]:
        """Count one answer, and yield each notice for which it is time.

        Raises NothingRead once the first answers are enough and none of them says anything.
        """
        answer = Answers.of(sample, form)
        self.answers += answer
        self.lost += answer.empty or (answer.cut and in_turns)
        made = self.answers.made
        if self.fresh and self.lost == made == FIRST_ANSWERS:
            notices = self.answers.notices
            self.told |= set(notices)
            raise NothingRead(
                f"All of the first {made} answers were empty or cut at their limit, so the run was held.",
                f"{notices.get('empty') or notices['cut']} Resume the run to go on as it is.",
            )
        for name, text in self.answers.notices.items() if made >= ENOUGH_ANSWERS else ():
            if name not in self.told:
                self.told.add(name)
                yield text


class Budget:
    """The amount that a run may take before it pauses, what its earlier parts took included."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._spent = {row.model: (row.prompt_tokens, row.completion_tokens) for row in run.store.reader.spent(run.id)}
        self._told = False
        self._endpoints = {"forward": run.settings.forward.endpoint, "backward": run.settings.backward.endpoint}
        prices = [price(each, 1, 1) for each in self._endpoints.values()]
        if run.settings.budget_money is not None and prices == [None, None]:
            run.emit(Notice("--budget-money never pauses this run: give --price-read and --price-written as well."))

    def take(self, generation: Generation, model: str) -> None:
        """Count a sample of one of the run's models in, and stop the run once it took more than it may."""
        read, written = self._spent.get(model, (0, 0))
        self._spent[model] = read + generation.prompt_tokens, written + generation.completion_tokens
        if (words := self.over()) and not self._told:
            self._told = True
            self._run.remarks.append(words)
            self._run.emit(Notice(words))
            self._run.control.stop()

    def over(self) -> str:
        """Return a sentence on how the budget was used up; an empty one where it was not."""
        settings = self._run.settings
        tokens = sum(map(sum, self._spent.values()))
        if settings.budget_tokens is not None and tokens >= settings.budget_tokens:
            return f"Paused after {tokens:,} tokens, of {settings.budget_tokens:,}: resume it with --budget-tokens."
        money = sum(price(self._endpoints[side], *taken) or 0.0 for side, taken in self._spent.items())
        if settings.budget_money is not None and money >= settings.budget_money:
            most = money_words(settings.budget_money)
            return f"Paused after {money_words(money)} of money, of {most}: resume it with --budget-money."
        return ""


class Pace:
    """The progress and speed of a run: samples done, tokens a second of wall time, time left."""

    def __init__(self, total: int, done: int) -> None:
        """`done` samples of `total` exist already (a resumed run)."""
        self._total = total
        self._done = self._at_start = done
        self._started = time.monotonic()
        self._recent: deque[tuple[float, int]] = deque([(self._started, 0)], maxlen=20)

    def count(self, tokens: int) -> Progress:
        self._done += 1
        self._recent.append((time.monotonic(), tokens))
        return self.now()

    def now(self) -> Progress:
        made = self._done - self._at_start
        left = self._total - self._done
        eta = (time.monotonic() - self._started) / made * left if made else None
        (since, _), *later = self._recent
        speed = sum(tokens for _, tokens in later) / (later[-1][0] - since) if later else None
        return Progress("samples", self._done, self._total, eta, speed)


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
        """Do nothing: whoever loaded it closes it."""


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
    # The language of most of the project's kinds of files, Python for what is no project.
    regions = task(settings.task).source.selected and project.is_dir()
    language = languages_of(project, settings.oracle)[0] if regions else PYTHON
    models = open_models(stack, settings, caller, language)
    return Parts(opener(settings.task)(stack, project, settings, caller.notify, caller.report), *models)


def enter_cluster(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify) -> RunSettings:
    """Return the settings for the cluster that they name, connected as long as the stack.

    For this machine without one.
    """
    if not settings.cluster:
        if not settings.oracle.cluster:
            return settings
        # It began on a cluster and goes on without: it is judged here too, and has not that many judges.
        return share_cores(replace(settings, oracle=replace(settings.oracle, cluster="", workers=None)), usable_cores())
    from rtc_inspector.core.cluster.session import connected  # Ray is an extra

    return stack.enter_context(connected(project, settings, notify))


def open_models(
    stack: ExitStack, settings: RunSettings, caller: Caller, language: Language = PYTHON
) -> tuple[Model, Model]:
    """Return the forward and the backward model, which may be one. Raises ModelError, Cancelled.

    `language`: in which they are asked; the style that did best in it is taken.
    """

    def poll() -> None:
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
        if wanted.endpoint is not None:
            return open_endpoint(wanted.endpoint, generation, poll, caller.notify)
        if not settings.cluster:
            return LocalModel(model_file(wanted), generation, poll=poll, language=language)
        from rtc_inspector.core.cluster.remote import ClusterModel

        return ClusterModel(model_file(wanted), generation, settings, caller.notify, poll)

    if not settings.cluster:
        check_machine(settings, caller.notify)
    generation = settings.generation
    if settings.one_model:
        forward = backward = opened(settings.forward, generation)
    else:
        # Who only describes has no gap to fill.
        plain = replace(generation, prompt_style="auto") if generation.prompt_style == "fim" else generation
        forward = opened(settings.forward, plain)
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
    """Return a stored run with the models and the project it began with; `changed` are resumable settings, by path.

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
