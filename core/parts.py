"""Opening what a run is made of: models, and the project for its task; and closing it again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from core.generation import Model
from core.models.client import LocalModel
from core.models.discovery import bundled_model
from core.settings import RunSettings
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

    def opened(path: str | None) -> Model:
        model = LocalModel(Path(path) if path else bundled_model(), settings.generation, beat=beat)
        stack.callback(model.close)
        on_model(model)
        return model

    forward = opened(settings.model)
    other = settings.backward_model
    backward = forward if other in (None, settings.model) else opened(other)
    return Parts(open_project(stack, project, settings, notify, report), forward, backward)
