"""Several models on the same items: a series of runs, one model loaded after the other, the source opened once.

A series is known by its id in the settings of each of its runs. What was interrupted goes on with any of them: stored
runs are completed in the order of the models, and those that never began are begun.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from rtc_inspector.core.analyses.ranking import runs_of
from rtc_inspector.core.errors import Cancelled, ModelError
from rtc_inspector.core.generation import Model, ModelInfo, Sample
from rtc_inspector.core.models.gguf import check_generative, read_header
from rtc_inspector.core.models.loading import local_files
from rtc_inspector.core.models.styles import as_recorded
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.run import opening, pipeline
from rtc_inspector.core.run.events import Control, RunFinished
from rtc_inspector.core.settings import NamedModel, RunSettings, share_cores
from rtc_inspector.core.settings.setting import check
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import RunRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.protocol import Ask, Opened, Step, opener
from rtc_inspector.core.types import Item


@dataclass
class SeriesFinished:
    """The end of a series, or of a single run."""

    runs: list[RunFinished] = field(default_factory=list)  # those that this call worked on
    ranked: list[int] = field(default_factory=list)  # ids of all stored runs of the series; empty for a single run
    problems: list[str] = field(default_factory=list)  # models that could not be run, a sentence each
    stopped: bool = False  # whether it was stopped before its end


def start(settings: RunSettings, project: Path, store: Store, emit: opening.Emit, control: Control) -> SeriesFinished:
    """Begin a run for each model of the settings' series, or the one run of settings without a series.

    Raises what `pipeline.start` raises; a model that cannot be loaded costs its own run only.
    """
    if settings.series is None:
        return _single(pipeline.start(settings, project, store, emit, control))
    settings = replace(settings, series=replace(settings.series, id=uuid4().hex))  # the same models: another series
    return _Series(settings, project, store, opening.Caller(emit, control), {}).work()


def resume(
    run_id: int, store: Store, emit: opening.Emit, control: Control, changed: Mapping[str, Any] = MappingProxyType({})
) -> SeriesFinished:
    """Go on with a stored run; where it is one of a series, with the whole series. Raises as `pipeline.resume`."""
    settings = store.reader.settings(run_id)
    if settings.series is None:
        return _single(pipeline.resume(run_id, store, emit, control, changed))
    store.check_free(run_id)
    return _Series(
        settings, store.reader.run_project_root(run_id), store, opening.Caller(emit, control), changed
    ).work()


def _single(finished: RunFinished) -> SeriesFinished:
    return SeriesFinished([finished], stopped=finished.status == "interrupted")


def planned(settings: RunSettings) -> list[RunSettings]:
    """Return the settings of every run of a series, in the order in which they are made.

    Crossed, each model first runs alone. Then each writer is loaded once more, for the descriptions of all others.
    """
    series = settings.series
    if series is None:
        return [settings]
    alone = [replace(settings, model=each.file, endpoint=each.endpoint) for each in series.models]
    if not series.cross:
        return alone
    pairs = ((describer, writer) for writer in series.models for describer in series.models if describer != writer)
    return [*map(settings.asking, series.models), *(settings.asking(*pair) for pair in pairs)]


class _Series:
    """Works a series off; the thread that calls it writes all its runs."""

    def __init__(
        self, settings: RunSettings, project: Path, store: Store, caller: opening.Caller, changed: Mapping[str, Any]
    ) -> None:
        check(settings)
        settings = share_cores(settings.resumed(changed), usable_cores())
        self._changed = changed
        self._settings, self._project = settings, project
        self._store, self._caller = store, caller
        self._plan = planned(settings)
        self._writer: tuple[NamedModel, Model] | None = None
        self._loaded = ExitStack()
        self._finished = SeriesFinished()

    def work(self) -> SeriesFinished:
        """See the runs through, one after the other.

        Raises UserError where the source cannot be opened, Cancelled when stopped before any run began.
        """
        # A file that no run can use is refused before anything is loaded, not in the middle of the night.
        for path in dict.fromkeys(path for settings in self._plan for path in local_files(settings)):
            check_generative(read_header(path))
        with ExitStack() as stack, self._loaded:
            self._settings = opening.enter_cluster(stack, self._project, self._settings, self._caller.notify)
            self._plan = planned(self._settings)
            opened: Opened | None = None
            for settings in self._plan:
                stored = self._stored(settings)
                if stored is not None and stored.status == "finished":
                    continue
                try:
                    opened = self._run(stack, settings, opened, stored)
                except ModelError as error:
                    self._note(f"{settings.forward.label} could not be run: {error.problem}")
                except Cancelled:
                    self._finished.stopped = True
                    if not self._all():
                        raise
                if self._finished.stopped:
                    break
        self._finished.ranked = [run.id for run in self._all()]
        if not self._finished.ranked and self._finished.problems:
            raise ModelError("None of the models could be run.", self._finished.problems[0])
        return self._finished

    def _all(self) -> list[RunRow]:
        series = self._settings.series
        return runs_of(self._store.reader, series.id) if series else []

    def _stored(self, settings: RunSettings) -> RunRow | None:
        for run in self._all():
            known = self._store.reader.settings(run.id)
            if (known.forward, known.backward) == (settings.forward, settings.backward):
                return run
        return None

    def _note(self, text: str) -> None:
        self._finished.problems.append(text)
        self._caller.notify(text)

    def _run(self, stack: ExitStack, settings: RunSettings, opened: Opened | None, stored: RunRow | None) -> Opened:
        """See one run to its end; return the source, for the runs after it."""
        if stored is not None:
            self._store.check_free(stored.id)
            settings = self._store.reader.settings(stored.id).resumed(self._changed)
            generation = as_recorded(settings.generation, json.loads(stored.model_json))
            settings = replace(settings, generation=generation, oracle=self._settings.oracle)
        caller = self._caller
        with ExitStack() as loaded:
            models = self._models(loaded, settings)  # before the source: a bad model should cost no test run
            if opened is None:
                shared = share_cores(settings, usable_cores())
                opened = opener(settings.task)(stack, self._project, shared, caller.notify, caller.report)
            # The source was opened with another run's settings, and is the same but for the models.
            chosen = {name: getattr(settings, name) for name in _MODELS}
            mine = replace(opened, settings=replace(opened.settings, **chosen))
            parts = opening.Parts(mine, *models)
            if stored is None:
                run_id = opening.record(self._store, parts)
            else:
                run_id = stored.id
                opening.require_same(parts, self._store.reader.settings(run_id), self._store, run_id)
                self._store.take_up(run_id)
            run = opening.Run(run_id, mine.settings, parts, self._store, caller.emit, caller.control)
            run.known, run.made = self._drawn(run_id), self._made(settings)
            finished = pipeline.see_through(run, resumed=stored is not None)
        self._finished.runs.append(finished)
        self._finished.stopped = finished.status == "interrupted"
        return opened

    def _models(self, loaded: ExitStack, settings: RunSettings) -> tuple[Model, Model]:
        """Return the models of a run.

        Crossed, a describer whose words another run of the series has is loaded only when needed, and a writer stays
        loaded for all of its describers.
        """
        describer = None if settings.one_model else self._alone_with(settings.forward)
        writer = settings.backward
        if self._writer is not None and (describer is None or self._writer[0] != writer):
            self._loaded.close()
            self._writer = None
        if describer is None:
            return opening.open_models(loaded, settings, self._caller)
        if self._writer is None:
            self._writer = writer, opening.open_models(self._loaded, settings.asking(writer), self._caller)[1]
        info = ModelInfo(**json.loads(describer.model_json)["forward"])
        forward = settings.asking(settings.forward)
        return opening.WhenNeeded(info, lambda: opening.open_models(loaded, forward, self._caller)[0]), self._writer[1]

    def _drawn(self, run_id: int) -> Mapping[str, Item]:
        """Return the items of the run of the series that drew most."""
        others = [run for run in self._all() if run.id != run_id]
        fullest = max(others, key=lambda run: run.items_admitted, default=None)
        return self._store.reader.drawn(fullest.id) if fullest is not None else {}

    def _alone_with(self, model: NamedModel) -> RunRow | None:
        """Return the run in which a model both describes and writes.

        None outside a cross, where nothing is made twice.
        """
        if not (self._settings.series and self._settings.series.cross):
            return None
        return self._stored(self._settings.asking(model))

    def _made(self, settings: RunSettings) -> opening.Made:
        """Return a lookup of the samples of a crossed run that the runs of both models alone have already.

        These are descriptions, and code from no description.
        """
        if settings.one_model:
            return lambda key, step: None
        sides = {"forward": settings.forward, "backward": settings.backward}
        known = {
            side: _StoredSamples(self._store.reader, run.id)
            for side, model in sides.items()
            if (run := self._alone_with(model)) is not None
        }

        def made(key: str, step: Step) -> Sample | None:
            side = step.source.model if isinstance(step.source, Ask) else ""
            return known[side].sample(key, step) if side in known and step.parent is None else None

        return made


_MODELS = ("model", "endpoint", "backward_model", "backward_endpoint", "generation")
"""Fields of the settings in which the runs of a series differ."""


class _StoredSamples:
    """Samples of a stored run that were made from an item itself: the model's alone, whoever else took part."""

    def __init__(self, reader: Reader, run_id: int) -> None:
        self._reader = reader
        self._items = {row.key: row.id for row in reader.items(run_id)}
        self._samples = lru_cache(1)(reader.samples)

    def sample(self, key: str, step: Step) -> Sample | None:
        item_id = self._items.get(key)
        if item_id is None:
            return None
        place = (step.role, None, step.index, step.round)
        for row in self._samples(item_id):
            if (row.role, row.parent_id, row.index, row.step) == place and row.author == "model" and not row.error:
                return replace(row, prompt_text=self._reader.prompt(row.prompt_hash))
        return None
