"""Opening what a run is made of: models, and the project for its task; and closing it again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from core.generation import Model
from core.models.opening import check_machine, open_model
from core.settings import EndpointSettings, RunSettings
from core.trips.openers import opener
from core.trips.opening import Notify, Opened
from core.trips.protocol import Report, Trip


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
    open_project = opener(settings.task)

    def beat() -> None:
        report("loading the model", 0, 1)

    def opened(path: str, endpoint: EndpointSettings | None) -> Model:
        model = open_model(path, endpoint, settings.generation, beat)
        stack.callback(model.close)
        on_model(model)
        return model

    check_machine(settings, notify)
    forward = backward = opened(settings.model, settings.endpoint)
    if not settings.one_model:
        backward = opened(settings.backward_model or "", settings.backward_endpoint)
    return Parts(open_project(stack, project, settings, notify, report), forward, backward)
