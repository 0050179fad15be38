"""The tasks there are: what each is called, its defaults, and how a project is opened for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from core.errors import UserError
from core.settings import RunSettings
from core.trips.editing import open_editing
from core.trips.opening import Opener
from core.trips.synthesis import open_synthesis
from core.types import Task


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One task (RTC paper, Table 1).

    Attributes:
        noun: what one x is called.
        baseline: the uninformative utterance as a person reads it.
        metrics: those shown beside the score, each with what it says.
        forward_temperature, backward_temperature: the paper's.
        backward_max_tokens: room for an answer.
    """

    name: str
    noun: str
    baseline: str
    forward_temperature: float
    backward_temperature: float
    backward_max_tokens: int
    metrics: Mapping[str, str]
    open: Opener


TASKS: Mapping[str, TaskKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            TaskKind(
                name=str(Task.SYNTHESIS),
                noun="region",
                baseline="TODO: Implement.",
                forward_temperature=0.8,
                backward_temperature=0.1,
                backward_max_tokens=256,
                metrics={},
                open=open_synthesis,
            ),
            TaskKind(
                name=str(Task.EDITING),
                noun="edit",
                baseline="Edit.",
                forward_temperature=1.0,
                backward_temperature=0.0,
                backward_max_tokens=384,
                metrics={
                    "exact_match_strict": "exact match, white space too",
                    "unchanged": "old code came back unchanged",
                },
                open=open_editing,
            ),
        )
    }
)


def task(name: str) -> TaskKind:
    """The task of that name. Raises UserError naming those there are."""
    if name not in TASKS:
        raise UserError(f"There is no task {name!r}.", f"Name one of these: {', '.join(TASKS)}.")
    return TASKS[name]


def configured(settings: RunSettings, name: str | None = None) -> RunSettings:
    """The settings for a task, with its own temperatures and room.

    Without a name it is editing where a file of edits is named, else synthesis. Raises UserError: no such task, or one
    that takes no file of edits.
    """
    kind = task(name or (Task.EDITING if settings.edit.file else Task.SYNTHESIS))
    if settings.edit.file and kind.name != Task.EDITING:
        raise UserError("--edits is for the task editing.", "Leave --task out, or say --task editing.")
    return replace(
        settings,
        task=kind.name,
        forward_temperature=kind.forward_temperature,
        backward_temperature=kind.backward_temperature,
        backward_max_tokens=kind.backward_max_tokens,
    )
