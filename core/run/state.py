"""One run in progress: what its stages share."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rtc_inspector.core.analyses.costs import money_words, price
from rtc_inspector.core.errors import NothingRead
from rtc_inspector.core.generation import INFILL, Generation, Model, ModelInfo, Sample
from rtc_inspector.core.kinds import task
from rtc_inspector.core.run.control import Control
from rtc_inspector.core.run.events import Event, Notice, Progress
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import Answers
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.opening import Opened
from rtc_inspector.core.trips.protocol import Step, Trip
from rtc_inspector.core.types import Item

LOCKED_NOTICE_SECONDS = 30.0
"""Time between two notices of a database that another program keeps locked."""

FIRST_ANSWERS = 8
"""Answers of a new run none of which says anything, after which it is held."""
ENOUGH_ANSWERS = 20
"""Answers from which on shares of them are worth a notice while the run goes on."""

Emit = Callable[[Event], None]


@dataclass(frozen=True)
class Caller:
    """Whoever had a run started: is told how far it is, and may stop it."""

    emit: Emit
    control: Control

    def notify(self, text: str) -> None:
        """Say what a person should know."""
        self.emit(Notice(text))

    def report(self, stage: str, done: int, total: int) -> None:
        """Say how far a step is. Raises Cancelled once stopped."""
        self.control.checkpoint()
        self.emit(Progress(stage, done, total))

    def reach(self, model: Model) -> None:
        """Have a stop reach what the model is writing."""
        self.control.on_stop(model.cancel)


Made = Callable[[str, Step], Sample | None]
"""By an item's key and a step on it."""


@dataclass(frozen=True)
class Parts:
    """Everything a run works with."""

    opened: Opened
    forward: Model
    backward: Model

    @property
    def trip(self) -> Trip:
        """Return the trip, which says how the run's artefacts are chained."""
        return self.opened.trip

    @property
    def models(self) -> bool:
        """Return whether models make the run's samples, and not somebody else."""
        return self.opened.author is None

    @property
    def hosts(self) -> int:
        """On how many machines of a cluster models work at a time; 1 elsewhere."""
        return max(getattr(model, "hosts", 1) for model in (self.forward, self.backward))

    def used(self, model: Model) -> ModelInfo:
        """Return what a run records of a model: where the task has no gap to fill, code is asked for as all else."""
        info = model.info
        fills = task(self.opened.settings.task).fills_gaps or info.backward_style != INFILL
        return info if fills else replace(info, backward_style=info.prompt_style)


@dataclass
class Run:
    """A run's id and settings, its parts, and where its results go.

    Attributes:
        problems: what could not be evaluated, a sentence each; makes the run `incomplete`.
        remarks: what to keep in mind of how its items were drawn; stored with the problems, and no problem.
        known: items that another run of the same series drew, by key: they are not drawn and tried again.
        heard: how the answers of this part of the run could be read.
        made: gives a sample that another run of the series has, so that no model is asked for it again.
        seconds: where its time went: `opening`, `items`, `samples`.
    """

    id: int
    settings: RunSettings
    parts: Parts
    store: Store
    emit: Emit
    control: Control
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    known: Mapping[str, Item] = field(default_factory=dict)
    made: Made = lambda key, step: None
    heard: Heard = field(default_factory=lambda: Heard())
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A backup or another program's open transaction must not cost a run of a night.
        self.store.on_locked = _Patience(self.store.path, self.emit, self.control)


@dataclass
class Heard:
    """Counts the answers of one part of a run that could not be read, and says when they are too many.

    Attributes:
        fresh: the run had none before, so that its first ones may hold it: who resumes it has been told.
        lost: whether each answer was empty or, of a model that is asked in turns, cut. One that writes a file on goes
            on by nature until it is cut.
        told: of which shares a notice was given.
    """

    answers: Answers = field(default_factory=Answers)
    fresh: bool = True
    lost: int = 0
    told: set[str] = field(default_factory=set)

    def take(self, sample: Sample, form: str, in_turns: bool) -> Iterator[str]:
        """Count one answer, and yield each notice for which it is time.

        Raises NothingRead once the first answers are enough and none of them says anything.
        """
        answer = Answers.of(sample, form)
        self.answers += answer
        self.lost += answer.empty or (answer.cut and in_turns)
        made = self.answers.made
        if self.fresh and self.lost == made == FIRST_ANSWERS:
            notices = self.answers.notices
            self.told |= set(notices)
            raise NothingRead(
                f"All of the first {made} answers were empty or cut at their limit, so the run was held.",
                f"{notices.get('empty') or notices['cut']} Resume the run to go on as it is.",
            )
        for name, text in self.answers.notices.items() if made >= ENOUGH_ANSWERS else ():
            if name not in self.told:
                self.told.add(name)
                yield text


class _Patience:
    """Waits for a database that another program keeps locked, saying so every half minute; a stop ends it."""

    def __init__(self, database: Path, emit: Emit, control: Control) -> None:
        self._database, self._emit, self._control = database, emit, control
        self._told = 0.0

    def __call__(self, waited: float) -> None:
        if waited < self._told:  # another wait than the one that was told of
            self._told = 0.0
        self._control.checkpoint()
        if waited - self._told >= LOCKED_NOTICE_SECONDS or not self._told:
            self._told = waited
            self._emit(
                Notice(
                    f"The database {self._database} has been locked by another program for {waited:.0f} s. The run "
                    "waits and goes on when it is free; nothing is lost. Close the program that writes to it."
                )
            )


class Budget:
    """How much a run may take before it pauses, what its earlier parts took included."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._spent = {row.model: (row.prompt_tokens, row.completion_tokens) for row in run.store.reader.spent(run.id)}
        self._told = False
        settings = run.settings
        ends = (settings.forward.endpoint, settings.backward.endpoint)
        if settings.budget_money is not None and all(price(each, 1, 1) is None for each in ends):
            run.emit(Notice("--budget-money never pauses this run: give --price-read and --price-written as well."))

    def take(self, generation: Generation, model: str) -> None:
        """Count a sample of one of the run's models in, and stop the run once it took more than it may."""
        read, written = self._spent.get(model, (0, 0))
        self._spent[model] = read + generation.prompt_tokens, written + generation.completion_tokens
        if (words := self.over()) and not self._told:
            self._told = True
            self._run.remarks.append(words)
            self._run.emit(Notice(words))
            self._run.control.stop()

    def over(self) -> str:
        """Return a sentence on how the budget was used up; an empty one where it was not."""
        settings = self._run.settings
        tokens = sum(map(sum, self._spent.values()))
        if settings.budget_tokens is not None and tokens >= settings.budget_tokens:
            return f"Paused after {tokens:,} tokens, of {settings.budget_tokens:,}: resume it with --budget-tokens."
        endpoints = {"forward": settings.forward.endpoint, "backward": settings.backward.endpoint}
        money = sum(price(endpoints[side], *taken) or 0.0 for side, taken in self._spent.items())
        if settings.budget_money is not None and money >= settings.budget_money:
            most = money_words(settings.budget_money)
            return f"Paused after {money_words(money)} of money, of {most}: resume it with --budget-money."
        return ""


class Pace:
    """How far a run is and how fast: samples done, tokens a second of wall time, time left."""

    def __init__(self, total: int, done: int) -> None:
        """`done` samples of `total` exist already (a resumed run)."""
        self._total = total
        self._done = self._at_start = done
        self._started = time.monotonic()
        self._recent: deque[tuple[float, int]] = deque([(self._started, 0)], maxlen=20)

    def count(self, tokens: int) -> Progress:
        """One more sample is there, for which the model wrote so many tokens."""
        self._done += 1
        self._recent.append((time.monotonic(), tokens))
        return self.now()

    def now(self) -> Progress:
        """Samples done and the seconds left, judged by this run's own speed."""
        made = self._done - self._at_start
        left = self._total - self._done
        eta = (time.monotonic() - self._started) / made * left if made else None
        (since, _), *later = self._recent
        speed = sum(tokens for _, tokens in later) / (later[-1][0] - since) if later else None
        return Progress("samples", self._done, self._total, eta, speed)
