"""Opening what a run is made of: models, and the project for its task; and closing it again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from core.cores import share_cores, usable_cores
from core.generation import INFILL, Model, ModelInfo
from core.models.opening import check_machine, open_model
from core.models.styles import forward_only
from core.settings import EndpointSettings, ModelSettings, RunSettings
from core.trips.openers import opener
from core.trips.opening import Notify, Opened
from core.trips.protocol import FillsGaps, Report, Trip


@dataclass(frozen=True)
class Parts:
    """Everything a run works with."""

    opened: Opened
    forward: Model
    backward: Model

    @property
    def trip(self) -> Trip:
        """How the run's artefacts are chained."""
        return self.opened.trip

    def used(self, model: Model) -> ModelInfo:
        """What a run records of a model: where the task has no gap to fill, code is asked for as all else."""
        info = model.info
        fills = isinstance(self.trip, FillsGaps) or info.backward_style != INFILL
        return info if fills else replace(info, backward_style=info.prompt_style)


def open_parts(
    stack: ExitStack,
    project: Path,
    settings: RunSettings,
    notify: Notify,
    report: Report,
    on_model: Callable[[Model], None],
) -> Parts:
    """Open models first, since a bad model file should cost no test run. Raises any UserError, Cancelled.

    `on_model` sees each model once it is loaded; raising from `report` ends the loading.
    """
    settings = share_cores(settings, usable_cores())
    open_project = opener(settings.task)

    def beat() -> None:
        report("loading the model", 0, 1)

    def opened(path: str, endpoint: EndpointSettings | None, generation: ModelSettings) -> Model:
        model = open_model(path, endpoint, generation, beat)
        stack.callback(model.close)
        on_model(model)
        return model

    check_machine(settings, notify)
    generation = settings.generation
    forward_style = generation if settings.one_model else forward_only(generation)
    forward = backward = opened(settings.model, settings.endpoint, forward_style)
    if not settings.one_model:
        backward = opened(settings.backward_model or "", settings.backward_endpoint, generation)
    return Parts(open_project(stack, project, settings, notify, report), forward, backward)
