"""The sequences of the key-value cache: what each holds, and which one a job should build on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rtc_inspector.core.models.jobs import Job, Native, Shape
from rtc_inspector.core.models.textstream import Ending, TextStream

STEP = 32
"""Prompt tokens a batch where the batch's shape must not vary."""
WORTH_COPYING = 16
"""Tokens from which on copying a cached prefix beats evaluating it."""
SMALL_LOSS = 48
"""Cached tokens that are not worth an idle row between busy streams."""
DEAR_LOSS = 512
"""Cached tokens that are worth more than one more row in each step."""
FADING = 0.95
"""What a cached token is still worth after one more request."""


@dataclass(slots=True)
class Stream:
    """One sequence of the cache, and the job it serves.

    Attributes:
        held: tokens in the cache.
        written, thoughts: tokens drawn for the job so far, and how many of them were thoughts.
        clean: how many of them were evaluated as a prompt is, so that another prompt may build on them.
    """

    number: int
    held: list[int] = field(default_factory=list)
    clean: int = 0
    job: Job | None = None
    sampler: int = 0
    next_token: int = 0
    written: int = 0
    thoughts: int = 0
    started: float = 0.0
    answer: TextStream = field(default_factory=lambda: TextStream(Ending()))
    last_use: int = 0


class Streams:
    """All streams of one context. Only clean tokens are reused, so that no number depends on what was asked before."""

    def __init__(self, native: Native, count: int, shape: Shape | None) -> None:
        """`shape`: as for the engine."""
        self._native, self._shape = native, shape
        self.all = [Stream(n) for n in range(count)]
        self._clock = 0

    @property
    def busy(self) -> list[Stream]:
        """Return the streams that serve a job, by number."""
        return [s for s in self.all if s.job]

    @property
    def free(self) -> list[Stream]:
        """Return the streams that serve no job, by number."""
        return [s for s in self.all if s.job is None]

    def nearest(self, waiting: Sequence[Job]) -> tuple[Job, Stream, int]:
        """The waiting job that shares most with something evaluated, with what it shares."""
        best = (waiting[0], self.all[0], -1)
        for job in waiting:
            for stream in self.all:
                shared = self._reusable(stream, job)
                if shared > best[2]:
                    best = (job, stream, shared)
        return best

    def _reusable(self, stream: Stream, job: Job) -> int:
        """Tokens of the job's prompt that `stream` holds, usable without changing a number."""
        if not self._native.can_rewind:
            return 0
        most = min(len(job.tokens) - 1, stream.clean)
        shared = common_prefix(job.tokens, stream.held, most)
        return shared if self._shape else shared // STEP * STEP

    def place(self, job: Job, source: Stream, shared: int) -> Stream | None:
        """The stream the job will use, holding exactly the shared prefix.

        None when the job had better wait for a busy stream than drive out what the free ones hold.
        """
        target = self._target(job)
        if self.busy and self._loss(target, job) > DEAR_LOSS:
            return None
        self._clock += 1
        source.last_use = self._clock
        own = self._reusable(target, job)
        if shared > own + WORTH_COPYING:
            self._native.copy(source.number, target.number)
            target.held, target.clean = list(source.held), source.clean
            own = shared
        target.last_use = self._clock
        self._truncate(target, own)
        return target

    def _target(self, job: Job) -> Stream:
        """The free stream from which least is lost; of several, the one nearest to the busy ones."""
        busy = [s.number for s in self.busy]

        def cost(stream: Stream) -> tuple[int, int, int, int]:
            apart = min((abs(stream.number - n) for n in busy), default=0)
            return (int(self._loss(stream, job)) // SMALL_LOSS, apart, -self._reusable(stream, job), stream.last_use)

        return min(self.free, key=cost)

    def _loss(self, stream: Stream, job: Job) -> float:
        """Evaluated tokens that nobody else holds and that would be lost to the job, fading with age."""
        others = [common_prefix(stream.held, s.held, stream.clean) for s in self.all if s is not stream]
        kept = max(self._reusable(stream, job), *others, 0)
        return max(0, stream.clean - kept) * FADING ** (self._clock - stream.last_use)

    def _truncate(self, stream: Stream, length: int) -> None:
        if length < len(stream.held) or length == 0:
            self._native.forget(stream.number, length)
            del stream.held[length:]
            stream.clean = min(stream.clean, length)


def common_prefix(first: Sequence[int], second: Sequence[int], most: int) -> int:
    """Length of the shared beginning, at most `most`; slices compare in C, hence by halving."""
    low, high = 0, min(most, len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if tuple(first[low:middle]) == tuple(second[low:middle]):
            low = middle
        else:
            high = middle - 1
    return low
