"""What a method is to the engine: items, and the steps by which the tree of artefacts on each of them grows.

A run of any method is a forest. An item is its root; every node below it is a sample, code or text, made from its
parent by a model, a person or a transformation. A trip looks at what is stored of an item and says which steps may be
made now; when it names none and nothing is being judged any more, the item is done. The engine makes the steps, stores
them, has code judged, and asks again: so resuming a run is the same question asked of what the database holds.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal, Protocol, runtime_checkable

from rtc_inspector.core.errors import Bug
from rtc_inspector.core.generation import Extraction, Fits, Generation, ModelInfo, Prompt
from rtc_inspector.core.kinds import task
from rtc_inspector.core.models.answers import answer_of
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.words import words_of
from rtc_inspector.core.store.rows import SampleRow as SampleRow
from rtc_inspector.core.store.rows import Tree as Tree
from rtc_inspector.core.types import CoverageMap, Item, LearnsLater, Notify, Report, Span, Suite, Verdict


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a model for the text of a step."""

    # makes the prompt for a model, in the style its record names, so that it fits the model's window. Raises ModelError
    # when not even the shortest one does
    prompt: Callable[[ModelInfo, Fits], Prompt]
    temperature: float
    max_tokens: int  # room for the answer
    model: Literal["forward", "backward"]  # which of the run's two models is asked


@dataclass(frozen=True, slots=True)
class FixedText:
    """The text of a step that no model of the run makes."""

    text: str
    author: str  # whose text it is: a person's name, `commit`, `comment`, `rewrite`, or the system it was imported from
    counted: bool = False  # whether it, and what is made from it, counts in the run's scores
    # what came, where the text was taken from it; `how` says in what ways, as an extraction does
    raw: str | None = None
    how: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One sample to be made: an edge of an item's tree from `parent` to a new node."""

    role: str
    index: int  # among its siblings of that role
    source: Ask | FixedText  # where its text comes from
    parent: int | None = None  # id of the stored sample it is made from; None when it is made from the item
    round: int = 0  # how many rounds from the item, in a chain; 0 elsewhere


@dataclass(frozen=True, slots=True)
class PairScore:
    """One number for a sample: against another sample, or against the item's own text where `reference` is None."""

    sample: int
    metric: str
    value: float
    reference: int | None = None


def passing(rows: Iterable[SampleRow]) -> list[bool]:
    """Return whether each of them passes, of those that are judged."""
    return [passes for row in rows if (passes := row.passes) is not None]


class Trip(Protocol):
    """One method on one opened source. All of it is pure but `items` and `judge`.

    What has a body here is what most methods do: a trip says only what it does otherwise.
    """

    settings: RunSettings

    def items(self, wanted: int, seed: int, stored: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Yield items, dropped ones with their reason, until `wanted` are admitted or none is left.

        The order depends on `seed` alone. `stored` holds items stored by an earlier part of the run, by key:
        they are yielded as they are, without judging them again.
        """

    @property
    def available(self) -> int | None:
        """Return how many items there are to draw from, those that will be dropped too; None where nobody knows.

        It is right once `items` has yielded or ended.
        """
        return None

    def select(self, path: str, span: Span) -> Item:
        """Return the item around code that a person selected, admitted or with its reason.

        Asked where the kind's source says that code can be selected. Raises UserError, ProjectError.
        """
        raise Bug("No code can be selected for this method.")

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        """Return what to tell the user about how many items were admitted. Raises ProjectError when none was."""

    def expected(self, item: Item) -> int:
        """Return how many samples the item takes at most, for progress and the time left."""
        return sum(task(self.settings.task).samples(self.settings).values())

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        """Return every step that may be made now and is not stored whole yet; empty when nothing can follow for now.

        It is asked again after each sample and each verdict of the item, so what depends on a verdict is named once
        that verdict is there. A step is made once a run; what failed is named again and made when the run is resumed.
        """

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        """Take the text of a step from a model's answer to `prompt`, without its thoughts (`read`)."""

    def recitation(self, item: Item, text: str) -> float | None:
        """Return the share of the item that a text made from it repeats verbatim, 0..1; None where it says nothing."""
        return None

    def description(self, item: Item, tree: Tree, text: str, author: str) -> Step:
        """Return a person's words as a step: after every description there is, and those the run may still make.

        Asked where the kind says that its items are describable.
        """
        raise Bug("Nobody can describe an item of this method.")

    def judge(self, item: Item, sample: SampleRow) -> Verdict | None:
        """Judge code; None when nothing judges it. Called from several threads; never raises for what the code does."""

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        """Return the scores that can be told now that `sample` is stored and, if it is code, judged."""

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        """Return the figures of the item, by the names its kind declares; one that is not defined is left out."""


def read(trip: Trip, item: Item, step: Step, generation: Generation, prompt: Prompt, tag: str) -> Extraction:
    """Take the text of a step from what a model wrote: its thoughts off first, the rest by the trip."""
    answer = answer_of(generation, prompt, tag)
    found = trip.read(item, step, answer.text, answer.prompt)
    return replace(found, steps=(*answer.steps, *found.steps))


@runtime_checkable
class ChoosesNext(Protocol):
    """What a trip has beside the others' when what is known so far may say which item is worth working on next."""

    def learn(self, item: Item, measures: Mapping[str, float]) -> None:
        """Take note of an item's figures, also of one that an earlier part of the run worked on."""

    def next(self, waiting: Sequence[Item]) -> int:
        """Return the place of the item to work on next among those drawn and not begun, which are at least one."""


# --------------------------------------------------------------------------- opening a project for a task

NOTHING_TESTED = Suite((), {}, CoverageMap((), {}, {}), 0.0, "")


@dataclass(frozen=True)
class Opened:
    """A project opened for one task.

    A copy with other settings (`dataclasses.replace`) is the same source for other models: nothing is opened again.
    """

    make_trip: Callable[[RunSettings], Trip]  # makes the trip for settings; a trip serves one run
    settings: RunSettings  # those asked for, with what the project decides filled in: they open the same thing again
    root: Path
    fingerprint: str  # of everything that items are taken from; a run is resumed on the same only
    oracle: str  # name of what judges, recorded with every verdict
    suite: Suite = NOTHING_TESTED  # the project's trusted tests; empty where no test judges
    revision: str | None = None
    dirty: bool = False
    image_digest: str = ""
    learner: LearnsLater | None = None  # what learns more of the suite while models write
    author: ModelInfo | None = None  # who wrote what a run without models holds, recorded in a model's place

    @cached_property
    def trip(self) -> Trip:
        return self.make_trip(self.settings)


Opener = Callable[[ExitStack, Path, RunSettings, Notify, Report], Opened]
"""Opens a project for one task; what must be closed again goes on the stack. Raises UserError."""


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
