"""The tasks there are: what each is called, its defaults, and how a project is opened for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from core.errors import UserError
from core.settings import RunSettings
from core.trips.opening import Opener
from core.trips.synthesis import open_synthesis
from core.types import Task


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One task (RTC paper, Table 1).

    Attributes:
        noun: what one x is called.
        baseline: the uninformative utterance as a person reads it.
        forward_temperature, backward_temperature: the paper's.
        backward_max_tokens: room for an answer.
    """

    name: str
    noun: str
    baseline: str
    forward_temperature: float
    backward_temperature: float
    backward_max_tokens: int
    open: Opener


TASKS: Mapping[str, TaskKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (TaskKind(str(Task.SYNTHESIS), "region", "TODO: Implement.", 0.8, 0.1, 256, open_synthesis),)
    }
)


def task(name: str) -> TaskKind:
    """The task of that name. Raises UserError naming those there are."""
    if name not in TASKS:
        raise UserError(f"There is no task {name!r}.", f"Name one of these: {', '.join(TASKS)}.")
    return TASKS[name]


def configured(settings: RunSettings, name: str) -> RunSettings:
    """The settings for another task, with its own temperatures and room. Raises UserError when unknown."""
    kind = task(name)
    return replace(
        settings,
        task=kind.name,
        forward_temperature=kind.forward_temperature,
        backward_temperature=kind.backward_temperature,
        backward_max_tokens=kind.backward_max_tokens,
    )
