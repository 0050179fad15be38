"""Opening what a run is made of: codebase, models, oracle, trip; and closing it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from core.errors import UserError
from core.models.client import LocalModel
from core.models.discovery import bundled_model
from core.oracle.factory import open_oracle
from core.settings import OracleSettings, RunSettings
from core.source.codebase import open_codebase
from core.trips.protocol import Report, Trip
from core.trips.synthesis import SynthesisTrip
from core.types import Codebase, Model, Oracle, Suite, Task

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Judged:
    """A codebase with its oracle and trusted tests: enough to sample regions and to judge."""

    codebase: Codebase
    oracle: Oracle
    suite: Suite


@dataclass(frozen=True)
class Parts:
    """Everything a run works with."""

    judged: Judged
    forward: Model
    backward: Model
    trip: Trip


def open_judged(stack: ExitStack, project: Path, settings: OracleSettings, notify: Notify, report: Report) -> Judged:
    """Open the project and run its own tests. Raises ProjectError, TargetError, SandboxError."""
    codebase = open_codebase(project)
    _name("Left out", {skipped.path: skipped.reason for skipped in codebase.skipped}, notify)
    oracle = open_oracle(codebase, settings, notify)
    stack.callback(oracle.close)
    suite = oracle.suite(report)
    _name("Set aside", suite.excluded, notify)
    return Judged(codebase, oracle, suite)


def open_parts(
    stack: ExitStack,
    project: Path,
    settings: RunSettings,
    notify: Notify,
    report: Report,
    on_model: Callable[[Model], None],
) -> Parts:
    """Open models first, since a bad model file should cost no test run. Raises any UserError.

    `on_model` sees each model before it loads, so that loading can be cancelled.
    """
    if settings.task != Task.SYNTHESIS:
        raise UserError(
            f"The task {settings.task!r} is not there yet.",
            "Use --task synthesis; editing comes with a later release.",
        )
    report("loading the model", 0, 1)
    forward = _open_model(stack, settings.model, settings, on_model)
    other = settings.backward_model
    backward = forward if other in (None, settings.model) else _open_model(stack, other, settings, on_model)
    judged = open_judged(stack, project, settings.oracle, notify, report)
    trip = SynthesisTrip(judged.codebase, judged.suite, judged.oracle, settings.region)
    return Parts(judged, forward, backward, trip)


def _name(verb: str, reasons: Mapping[str, str], notify: Notify) -> None:
    """One notice each for the first few, and the count of the others."""
    shown = 5
    for name, reason in list(reasons.items())[:shown]:
        notify(f"{verb} {name}: {reason}.")
    if len(reasons) > shown:
        notify(f"{verb} {len(reasons) - shown} more; `rtc-inspector sample PROJECT --verbose` lists all.")


def _open_model(stack: ExitStack, path: str | None, settings: RunSettings, on_model: Callable[[Model], None]) -> Model:
    model = LocalModel(Path(path) if path else bundled_model(), settings.generation)
    stack.callback(model.close)
    on_model(model)
    return model
