"""Draws samples from one loaded model: shared prefixes, several sequences at a time, the same text every time.

Pure scheduling over the `Native` protocol. What makes the text repeatable whatever else is evaluated is explained in
docs/model-passes.md: streams of their own, and batches padded so that every row is computed by the same kernels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from core.models.textstream import TextStream

MARGIN = 16
"""Cache cells of a stream kept free for padding rows."""
STEP = 32
"""Prompt tokens a batch where the batch's shape must not vary."""
MOST = 512
"""Prompt tokens a batch at most."""
SMALL_LOSS = 48
"""Cached tokens that are not worth an idle row between busy streams."""
FADING = 0.95
"""What a cached token is still worth after one more request."""
WORTH_COPYING = 16
"""Tokens from which on copying a cached prefix beats evaluating it."""


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
    def can_rewind(self) -> bool: ...  # noqa: D102

    def open_context(self, tokens: int, streams: int) -> None: ...  # noqa: D102
    def decode(self, rows: Sequence[Row]) -> None: ...  # noqa: D102
    def forget(self, stream: int, start: int) -> None: ...  # noqa: D102
    def copy(self, source: int, target: int) -> None: ...  # noqa: D102
    def logits(self, row: int) -> bytes: ...  # noqa: D102
    def open_sampler(self, temperature: float, seed: int) -> int: ...  # noqa: D102
    def sample(self, sampler: int, row: int) -> int: ...  # noqa: D102
    def close_sampler(self, sampler: int) -> None: ...  # noqa: D102
    def piece(self, token: int) -> bytes: ...  # noqa: D102
    def ends(self, token: int) -> bool: ...  # noqa: D102


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
    """One request as tokens."""

    id: str
    tokens: tuple[int, ...]
    temperature: float
    seed: int
    max_tokens: int
    stop: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """One answer. `finish_reason`: stop, length or context."""

    id: str
    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish_reason: str


@dataclass(slots=True)
class Stream:
    """One sequence of the cache, and the job it serves.

    Attributes:
        held: tokens in the cache.
        clean: how many of them were evaluated as a prompt is, so that another prompt may build on them.
    """

    number: int
    held: list[int] = field(default_factory=list)
    clean: int = 0
    job: Job | None = None
    sampler: int = 0
    next_token: int = 0
    written: int = 0
    started: float = 0.0
    answer: TextStream = field(default_factory=lambda: TextStream(()))
    last_use: int = 0


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


class Engine:
    """Runs jobs on one model. Not thread-safe; `cancelled` may be set from any thread."""

    def __init__(self, native: Native, window: int, streams: int, shape: Shape | None, counters: Counters) -> None:
        """Open the context.

        Args:
            window: tokens of one sequence.
            streams: sequences at a time.
            shape: None when the backend's numbers depend on what else is in a batch: then one sequence at a time,
                evaluated in fixed steps.
            counters: counted on.
        """
        self.native = native
        self.window = window
        self.shape = shape
        self.counters = counters
        self.cancelled: Callable[[], bool] = lambda: False
        count = shape.whole_steps(streams) if shape else 1
        self._streams = [Stream(n) for n in range(count)]
        self._clock = 0
        self._speed = 64.0
        native.open_context(window + MARGIN, len(self._streams))

    # ------------------------------------------------------------------ running jobs

    def run(self, jobs: Sequence[Job], listener: Listener) -> Iterator[Finished]:
        """Yield each job's answer as it ends. Raises Aborted after a cancel."""
        waiting = list(jobs)
        try:
            while waiting or any(s.job for s in self._streams):
                if self.cancelled():
                    raise Aborted
                yield from self._admit(waiting, listener)
                yield from self._step(listener)
        finally:
            for stream in self._streams:
                self._release(stream)

    def _admit(self, waiting: list[Job], listener: Listener) -> Iterator[Finished]:
        """Give every free stream a job and evaluate its prompt."""
        while waiting and (free := [s for s in self._streams if s.job is None]):
            job, source, shared = self._nearest(waiting)
            waiting.remove(job)
            if len(job.tokens) + 1 > self.window:
                yield Finished(job.id, "", len(job.tokens), 0, 0.0, "context")
                continue
            stream = self._place(job, free, source, shared)
            listener.started(job.id)
            self._prefill(stream, job, listener)
            if (end := self._take(stream, self._draw(stream, -1), listener)) is not None:
                yield end

    def _nearest(self, waiting: Sequence[Job]) -> tuple[Job, Stream, int]:
        """The waiting job that shares most with something evaluated, with what it shares."""
        best = (waiting[0], self._streams[0], -1)
        for job in waiting:
            for stream in self._streams:
                shared = self._reusable(stream, job)
                if shared > best[2]:
                    best = (job, stream, shared)
        return best

    def _reusable(self, stream: Stream, job: Job) -> int:
        """Tokens of the job's prompt that `stream` holds, usable without changing a number."""
        if not self.native.can_rewind:
            return 0
        most = min(len(job.tokens) - 1, stream.clean)
        shared = common_prefix(job.tokens, stream.held, most)
        return shared if self.shape else shared // STEP * STEP

    def _place(self, job: Job, free: Sequence[Stream], source: Stream, shared: int) -> Stream:
        """The stream the job will use, holding exactly the shared prefix."""
        self._clock += 1
        source.last_use = self._clock
        busy = [s.number for s in self._streams if s.job]

        def cost(stream: Stream) -> tuple[int, int, int, int]:
            apart = min((abs(stream.number - n) for n in busy), default=0)
            return (int(self._loss(stream, job)) // SMALL_LOSS, apart, -self._reusable(stream, job), stream.last_use)

        target = min(free, key=cost)
        own = self._reusable(target, job)
        if shared > own + WORTH_COPYING:
            self.native.copy(source.number, target.number)
            target.held, target.clean = list(source.held), source.clean
            own = shared
        self._truncate(target, own)
        return target

    def _loss(self, stream: Stream, job: Job) -> float:
        """Evaluated tokens that nobody else holds and that would be lost to the job, fading with age."""
        others = [common_prefix(stream.held, s.held, stream.clean) for s in self._streams if s is not stream]
        kept = max(self._reusable(stream, job), *others, 0)
        return max(0, stream.clean - kept) * FADING ** (self._clock - stream.last_use)

    def _truncate(self, stream: Stream, length: int) -> None:
        if length < len(stream.held) or length == 0:
            self.native.forget(stream.number, length)
            del stream.held[length:]
            stream.clean = min(stream.clean, length)

    # ------------------------------------------------------------------ prompts

    def _prefill(self, stream: Stream, job: Job, listener: Listener) -> None:
        """Evaluate what of the prompt is not held yet; the last row's logits are ready after it."""
        stream.job, stream.last_use, stream.started, stream.written = job, self._clock, time.monotonic(), 0
        stream.answer = TextStream(job.stop)
        stream.sampler = self.native.open_sampler(job.temperature, job.seed)
        self.counters.prompt_tokens += len(job.tokens)
        total = len(job.tokens)
        while (done := len(stream.held)) < total:
            if self.cancelled():
                raise Aborted
            listener.progress(job.id, done, total)
            self._evaluate(stream, job.tokens[done : done + self._chunk()], last=total)
        listener.progress(job.id, total, total)

    def _chunk(self) -> int:
        """Tokens for about a third of a second, so that progress and cancel stay quick on slow models."""
        if self.shape is None:
            return STEP
        return max(STEP, min(MOST, int(self._speed / 3) // STEP * STEP))

    def _evaluate(self, stream: Stream, tokens: Sequence[int], last: int) -> None:
        start = len(stream.held)
        pad = -len(tokens) % self.shape.prompt if self.shape else 0
        rows = [Row(t, start + i, stream.number, start + i + 1 == last) for i, t in enumerate(tokens)]
        rows += [Row(tokens[-1], start + len(tokens) + i, stream.number, False) for i in range(pad)]
        began = time.monotonic()
        try:
            self.native.decode(rows)
        except Aborted:
            self.native.forget(stream.number, start)
            raise
        self._speed = len(rows) / max(1e-4, time.monotonic() - began)
        stream.held += tokens
        if self.shape or len(tokens) == STEP:
            stream.clean = len(stream.held)
        if pad:
            self.native.forget(stream.number, len(stream.held))
        self.counters.evaluated += len(tokens)
        self.counters.padding += pad

    # ------------------------------------------------------------------ answers

    def _step(self, listener: Listener) -> Iterator[Finished]:
        """One more token for every busy stream."""
        busy = [s for s in self._streams if s.job]
        if not busy:
            return
        rows = self._step_rows(busy)
        idle = [r.stream for r in rows if self._streams[r.stream].job is None]
        try:
            self.native.decode(rows)
        except Aborted:
            for row in rows:
                self.native.forget(row.stream, row.position)
            raise
        for number in idle:
            self.native.forget(number, len(self._streams[number].held))
        self.counters.steps += 1
        self.counters.padding += len(idle)
        drawn = {}
        for i, row in enumerate(rows):
            stream = self._streams[row.stream]
            if stream.job:
                stream.held.append(stream.next_token)
                drawn[row.stream] = self._draw(stream, i)
        for stream in busy:
            if (end := self._take(stream, drawn[stream.number], listener)) is not None:
                yield end

    def _step_rows(self, busy: Sequence[Stream]) -> list[Row]:
        """Rows for the busy streams, and for idle ones between them: llama.cpp splits a batch at a gap.

        A wide gap is left: then the split costs less than the idle rows. A step's multiple needs the whole range.
        """
        if self.shape is None or self.shape.step == 1:
            numbers = {s.number for s in busy}
            numbers |= {n + 1 for n in numbers if n + 2 in numbers}
            return [self._step_row(self._streams[n]) for n in sorted(numbers)]
        low, high = busy[0].number, busy[-1].number + 1
        width = self.shape.whole_steps(high - low)
        low = min(low, len(self._streams) - width)
        return [self._step_row(s) for s in self._streams[low : low + width]]

    def _step_row(self, stream: Stream) -> Row:
        token = stream.next_token if stream.job else 0
        return Row(token, len(stream.held), stream.number, True)

    def _draw(self, stream: Stream, row: int) -> int:
        return self.native.sample(stream.sampler, row)

    def _take(self, stream: Stream, token: int, listener: Listener) -> Finished | None:
        """Add one drawn token to the answer; the answer when it ended."""
        job = stream.job
        assert job is not None
        if self.native.ends(token):
            return self._finish(stream, job, "stop", listener)
        stream.written += 1
        self.counters.generated += 1
        if new := stream.answer.push(self.native.piece(token)):
            listener.text(job.id, new)
        stream.next_token = token
        if stream.answer.stopped:
            return self._finish(stream, job, "stop", listener)
        if stream.written >= job.max_tokens:
            return self._finish(stream, job, "length", listener)
        if len(stream.held) + 1 >= self.window:
            return self._finish(stream, job, "context", listener)
        return None

    def _finish(self, stream: Stream, job: Job, reason: str, listener: Listener) -> Finished:
        if rest := stream.answer.finish():
            listener.text(job.id, rest)
        seconds = time.monotonic() - stream.started
        end = Finished(job.id, stream.answer.text, len(job.tokens), stream.written, seconds, reason)
        self._release(stream)
        return end

    def _release(self, stream: Stream) -> None:
        if stream.job is not None:
            self.native.close_sampler(stream.sampler)
            stream.job = None


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
