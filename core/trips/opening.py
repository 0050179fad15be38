"""What opening a project for a task gives: its trip, and all that a run records of where it came from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol

from rtc_inspector.core.generation import ModelInfo
from rtc_inspector.core.kinds import task
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.words import words_of
from rtc_inspector.core.trips.protocol import Trip
from rtc_inspector.core.types import CoverageMap, LearnsLater, Notify, Report, Suite

NOTHING_TESTED = Suite((), {}, CoverageMap((), {}, {}), 0.0, "")


@dataclass(frozen=True)
class Opened:
    """A project opened for one task.

    A copy with other settings (`dataclasses.replace`) is the same source for other models: nothing is opened again.

    Attributes:
        make_trip: makes the trip for settings; a trip serves one run.
        settings: those asked for, with what the project decides filled in: they open the same thing again.
        fingerprint: of everything that items are taken from; a run is resumed on the same only.
        oracle: name of what judges, recorded with every verdict.
        suite: the project's trusted tests; empty where no test judges.
        learner: what learns more of the suite while models write.
        author: who wrote what a run without models holds, recorded in a model's place.
    """

    make_trip: Callable[[RunSettings], Trip]
    settings: RunSettings
    root: Path
    fingerprint: str
    oracle: str
    suite: Suite = NOTHING_TESTED
    revision: str | None = None
    dirty: bool = False
    image_digest: str = ""
    learner: LearnsLater | None = None
    author: ModelInfo | None = None

    @cached_property
    def trip(self) -> Trip:
        return self.make_trip(self.settings)


class Opener(Protocol):
    """Opens a project for one task; what must be closed again goes on the stack."""

    def __call__(
        self, stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report
    ) -> Opened:
        """Open the project. Raises UserError."""


def check_source(settings: RunSettings) -> None:
    """Refuse a bad file of items, or words of prompts that lack something, before anything is loaded or runs.

    Raises UserError.
    """
    if settings.prompts:
        words_of(settings.task, settings.prompts)
    if checks := task(settings.task).checks:
        resolve_name(checks)(settings)


def opener(name: str) -> Opener:
    """Load and return what opens a project for the task `name`; its parser takes half a second. Raises UserError."""
    found: Opener = resolve_name(task(name).opens)
    return found
