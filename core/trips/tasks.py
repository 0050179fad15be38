"""The tasks there are: what each is called, its defaults, and what can be done in it.

Plain data, quick to import: the window reads it before the engine is loaded. `core.trips.openers` opens a project.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from core.errors import UserError
from core.settings import RunSettings
from core.types import Task


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One task (RTC paper, Table 1).

    Attributes:
        title, tip: for people to choose it by.
        noun: what one x is called; `nouns` are several.
        draws_from: the part of RunSettings that says which x are drawn: `region` or `edit`.
        needs_python: whether the project must hold Python files.
        selects_code: whether code that a person selects can be an x.
        judged: what became of a result, as the end of a sentence.
        baseline: the uninformative utterance as a person reads it.
        metrics: those shown beside the score, each with what it says.
        forward_temperature, backward_temperature: the paper's.
        backward_max_tokens: room for an answer.
    """

    name: str
    title: str
    tip: str
    noun: str
    draws_from: str
    needs_python: bool
    selects_code: bool
    judged: str
    baseline: str
    forward_temperature: float
    backward_temperature: float
    backward_max_tokens: int
    metrics: Mapping[str, str]

    @property
    def nouns(self) -> str:
        """What several x are called."""
        return f"{self.noun}s"


TASKS: Mapping[str, TaskKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            TaskKind(
                name=str(Task.SYNTHESIS),
                title="Synthesis",
                tip="Describe a region of code, then write it again from the description",
                noun="region",
                draws_from="region",
                needs_python=True,
                selects_code=True,
                judged="the project's own tests judged the result",
                baseline="TODO: Implement.",
                forward_temperature=0.8,
                backward_temperature=0.1,
                backward_max_tokens=256,
                metrics={},
            ),
            TaskKind(
                name=str(Task.EDITING),
                title="Editing",
                tip="Describe an edit of the project's history, then apply it again from the description",
                noun="edit",
                draws_from="edit",
                needs_python=False,
                selects_code=False,
                judged="the result was judged against the edit that people made",
                baseline="Edit.",
                forward_temperature=1.0,
                backward_temperature=0.0,
                backward_max_tokens=384,
                metrics={
                    "exact_match_strict": "exact match, white space too",
                    "unchanged": "old code came back unchanged",
                },
            ),
        )
    }
)


def task(name: str) -> TaskKind:
    """The task of that name. Raises UserError naming those there are."""
    if name not in TASKS:
        raise UserError(f"There is no task {name!r}.", f"Name one of these: {', '.join(TASKS)}.")
    return TASKS[name]


def noun(name: str) -> str:
    """What one x of a stored run is called, whatever its task."""
    return TASKS[name].noun if name in TASKS else "item"


def article(noun: str) -> str:
    """`a region`, `an edit`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """`1 region`, `40 regions`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def configured(settings: RunSettings, name: str) -> RunSettings:
    """The settings for a task, with its own temperatures and room. Raises UserError: no such task."""
    kind = task(name)
    return replace(
        settings,
        task=kind.name,
        forward_temperature=kind.forward_temperature,
        backward_temperature=kind.backward_temperature,
        backward_max_tokens=kind.backward_max_tokens,
    )


def for_selected_code(settings: RunSettings) -> RunSettings:
    """The settings as they are if their task takes selected code, else those of the first task that does."""
    if task(settings.task).selects_code:
        return settings
    return configured(settings, next(kind.name for kind in TASKS.values() if kind.selects_code))


def project_of(settings: RunSettings, project: Path | None) -> Path | None:
    """Where a run takes its x from: a file of edits stands for its own folder where no project is named."""
    drawn = task(settings.task).draws_from
    file = settings.edit.file if drawn == "edit" else None
    return project or (Path(file).resolve().parent if file else None)
