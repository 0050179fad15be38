"""The values between the scheduler and llama.cpp: rows, jobs, answers, and the protocol of the native layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from rtc_inspector.core.models.textstream import Ending
from rtc_inspector.core.models.thoughts import FORMATS, Format


class Aborted(Exception):
    """The abort flag was seen in mid-evaluation."""


class Row(NamedTuple):
    """One token of a batch. `wanted`: its logits are read."""

    token: int
    position: int
    stream: int
    wanted: bool


class Native(Protocol):
    """What the scheduler needs of llama.cpp."""

    @property
    def can_rewind(self) -> bool: ...

    def open_context(self, tokens: int, streams: int) -> None: ...
    def decode(self, rows: Sequence[Row]) -> None: ...
    def forget(self, stream: int, start: int) -> None: ...
    def copy(self, source: int, target: int) -> None: ...
    def logits(self, row: int) -> bytes: ...
    def open_sampler(self, temperature: float, seed: int) -> int: ...
    def sample(self, sampler: int, row: int) -> int: ...
    def close_sampler(self, sampler: int) -> None: ...
    def piece(self, token: int) -> bytes: ...
    def ends(self, token: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class Shape:
    """Batch sizes at which a row's numbers do not depend on its neighbours (found by core.models.probe).

    Attributes:
        prompt: prompt batches are padded to a multiple of this.
        step: batches of one token a stream are padded to a multiple of this.
    """

    prompt: int
    step: int

    def whole_steps(self, streams: int) -> int:
        """`streams` rounded up to what a step needs."""
        return max(1, -(-streams // self.step)) * self.step


@dataclass(frozen=True, slots=True)
class Job:
    """One request as tokens.

    Attributes:
        thinks: the prompt has begun the model's thoughts for it.
        thought_tokens: room for thoughts, beside `max_tokens` for the answer.
        known: in what form thoughts may come.
    """

    id: str
    tokens: tuple[int, ...]
    temperature: float
    seed: int
    max_tokens: int
    ending: Ending = field(default_factory=Ending)
    thinks: bool = False
    thought_tokens: int = 0
    known: Sequence[Format] = FORMATS

    @property
    def room(self) -> int:
        """Tokens that may be written."""
        return self.max_tokens + self.thought_tokens


def twinned(jobs: Sequence[Job]) -> tuple[list[Job], dict[str, list[str]]]:
    """Return one of each set of greedy jobs that must draw the same text, and the ids each returned job stands for."""
    firsts: dict[object, Job] = {}
    ids: dict[str, list[str]] = {}
    for job in jobs:
        greedy = job.temperature <= 0
        first = firsts.setdefault((job.tokens, job.max_tokens, job.ending) if greedy else job.id, job)
        ids.setdefault(first.id, []).append(job.id)
    return list(firsts.values()), ids


LONGEST_LOOP = 64
"""Tokens of the longest passage whose repetition is looked for."""
LEAST_ROUNDS, LEAST_LOOPED = 4, 64
"""A passage must have come so often, and all of it be so many tokens long, to be a loop: code has rows of zeros."""


def loops(tokens: Sequence[int]) -> bool:
    """Return whether the last tokens are one short passage over and over."""
    for period in range(1, LONGEST_LOOP + 1):
        length = max(period * LEAST_ROUNDS, LEAST_LOOPED)
        if length > len(tokens):
            return False
        tail = tokens[-length:]
        if tail[period:] == tail[:-period]:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Finished:
    """One answer. `finish_reason`: stop, length, loop (the same tokens over and over) or context."""

    id: str
    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish_reason: str


@dataclass(frozen=True, slots=True)
class Listener:
    """Callbacks of one run; each gets the job's id first."""

    started: Callable[[str], None]
    text: Callable[[str, str], None]
    progress: Callable[[str, int, int], None]


@dataclass(slots=True)
class Counters:
    """What was evaluated, for benchmarks: the reason behind the speed."""

    prompt_tokens: int = 0
    evaluated: int = 0
    padding: int = 0
    generated: int = 0
    steps: int = 0
