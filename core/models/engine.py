"""Draw samples from one loaded model: shared prefixes, several sequences at a time, the same text every time.

Pure scheduling over the `Native` protocol. What makes the text repeatable whatever else is evaluated is explained in
docs/model-passes.md: streams of their own, and batches padded so that every row is computed by the same kernels.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from rtc_inspector.core.generation import Generation
from rtc_inspector.core.models.answers import FORMATS, Ending, Format, TextStream


class Aborted(Exception):
    """The abort flag was seen in mid-evaluation."""


class Row(NamedTuple):
    """One token of a batch. `wanted`: its logits are read."""

    token: int
    position: int
    stream: int
    wanted: bool


class Native(Protocol):
    """The part of llama.cpp that the scheduler needs."""

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
    """Batch sizes at which a row's numbers do not depend on its neighbours (found by `find_shape`)."""

    prompt: int  # prompt batches are padded to a multiple of this
    step: int  # batches of one token a stream are padded to a multiple of this

    def whole_steps(self, streams: int) -> int:
        return max(1, -(-streams // self.step)) * self.step


@dataclass(frozen=True, slots=True)
class Job:
    """One request as tokens."""

    id: str
    tokens: tuple[int, ...]
    temperature: float
    seed: int
    max_tokens: int
    ending: Ending = field(default_factory=Ending)
    thinks: bool = False  # the prompt has begun the model's thoughts for it
    thought_tokens: int = 0  # room for thoughts, beside `max_tokens` for the answer
    forms: Sequence[Format] = FORMATS  # in what form thoughts may come

    @property
    def room(self) -> int:
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


LONGEST_LOOP = 64  # tokens of the longest passage whose repetition is looked for
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


Tell = Callable[..., None]
"""Hears of one job: `started`, `text` or `progress`, the job's id, and the event's values by their names."""


@dataclass(slots=True)
class Counters:
    """Counts of what was evaluated, for benchmarks: the reason behind the speed."""

    evaluated: int = 0  # tokens of prompts
    padding: int = 0
    generated: int = 0


# ---- sequences of the cache


STEP = 32  # prompt tokens a batch where the batch's shape must not vary
WORTH_COPYING = 16  # tokens from which on copying a cached prefix beats evaluating it
SMALL_LOSS = 48  # cached tokens that are not worth an idle row between busy streams
DEAR_LOSS = 512  # cached tokens that are worth more than one more row in each step
FADING = 0.95  # what a cached token is still worth after one more request


@dataclass(slots=True)
class Stream:
    """One sequence of the cache, and the job it serves."""

    number: int
    held: list[int] = field(default_factory=list)  # tokens in the cache
    clean: int = 0  # how many of them were evaluated as a prompt is, so that another prompt may build on them
    job: Job | None = None
    sampler: int = 0
    next_token: int = 0
    # `written`, `thoughts`: tokens drawn for the job so far, and how many of them were thoughts
    written: int = 0
    thoughts: int = 0
    started: float = 0.0
    answer: TextStream = field(default_factory=lambda: TextStream(Ending()))
    last_use: int = 0


class Streams:
    """The streams of one context. Only clean tokens are reused, so that no number depends on what was asked before."""

    def __init__(self, native: Native, count: int, shape: Shape | None) -> None:
        self._native, self._shape = native, shape
        self.all = [Stream(n) for n in range(count)]
        self._clock = 0

    @property
    def busy(self) -> list[Stream]:
        return [s for s in self.all if s.job]

    @property
    def free(self) -> list[Stream]:
        return [s for s in self.all if s.job is None]

    def nearest(self, waiting: Sequence[Job]) -> tuple[Job, Stream, int]:
        """Return the waiting job that shares most with something evaluated, with what it shares."""
        pairs = ((job, stream, self._reusable(stream, job)) for job in waiting for stream in self.all)
        return max(pairs, key=lambda pair: pair[2])

    def _reusable(self, stream: Stream, job: Job) -> int:
        """Return how many tokens of the job's prompt `stream` holds, usable without changing a number."""
        if not self._native.can_rewind:
            return 0
        most = min(len(job.tokens) - 1, stream.clean)
        shared = common_prefix(job.tokens, stream.held, most)
        return shared if self._shape else shared // STEP * STEP

    def place(self, job: Job, source: Stream, shared: int) -> Stream | None:
        """Return the stream the job will use, holding exactly the shared prefix.

        It is None when the job had better wait for a busy stream than drive out what the free ones hold.
        """
        busy = [s.number for s in self.busy]

        def cost(stream: Stream) -> tuple[int, int, int, int]:
            apart = min((abs(stream.number - n) for n in busy), default=0)
            return (int(self._loss(stream, job)) // SMALL_LOSS, apart, -self._reusable(stream, job), stream.last_use)

        target = min(self.free, key=cost)  # from which least is lost; of several, the one nearest to the busy ones
        if busy and self._loss(target, job) > DEAR_LOSS:
            return None
        self._clock += 1
        source.last_use = self._clock
        own = self._reusable(target, job)
        if shared > own + WORTH_COPYING:
            self._native.copy(source.number, target.number)
            target.held, target.clean = list(source.held), source.clean
            own = shared
        target.last_use = self._clock
        if own < len(target.held) or own == 0:
            self._native.forget(target.number, own)
            del target.held[own:]
            target.clean = min(target.clean, own)
        return target

    def _loss(self, stream: Stream, job: Job) -> float:
        """Return how many evaluated tokens that nobody else holds would be lost to the job, fading with age."""
        others = [common_prefix(stream.held, s.held, stream.clean) for s in self.all if s is not stream]
        kept = max(self._reusable(stream, job), *others, 0)
        return max(0, stream.clean - kept) * FADING ** (self._clock - stream.last_use)


def common_prefix(first: Sequence[int], second: Sequence[int], most: int) -> int:
    """Return the length of the shared beginning, at most `most`; slices compare in C, hence by halving."""
    low, high = 0, min(most, len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if tuple(first[low:middle]) == tuple(second[low:middle]):
            low = middle
        else:
            high = middle - 1
    return low


# ---- scheduling


LOOKED_BACK = LONGEST_LOOP * LEAST_ROUNDS  # tokens that tell whether an answer repeats itself
MARGIN = 16  # cache cells of a stream kept free for padding rows
LEAST = 64  # prompt tokens a batch at least, where the batch's shape may vary: smaller ones cost a tenth more
MOST = 512  # prompt tokens a batch at most


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
        self._streams = Streams(native, count, shape)
        self._speed = 64.0
        self._held_back = False
        native.open_context(window + MARGIN, count)

    def run(self, jobs: Sequence[Job], tell: Tell) -> Iterator[Generation]:
        """Yield each job's answer as it ends. Raises Aborted after a cancel."""
        waiting = list(jobs)
        try:
            while waiting or self._streams.busy:
                if self.cancelled():
                    raise Aborted
                yield from self._admit(waiting, tell)
                yield from self._step(tell)
        finally:
            for stream in self._streams.busy:
                self._release(stream)

    def _admit(self, waiting: list[Job], tell: Tell) -> Iterator[Generation]:
        while waiting and self._streams.free and not self._held_back:
            job, source, shared = self._streams.nearest(waiting)
            if len(job.tokens) + 1 > self.window:
                waiting.remove(job)
                yield Generation(job.id, "", "", len(job.tokens), 0, 0.0, "context")
                continue
            stream = self._streams.place(job, source, shared)
            if stream is None:
                self._held_back = True
                return
            waiting.remove(job)
            tell("started", job.id)
            self._prefill(stream, job, tell)
            if (end := self._take(stream, self.native.sample(stream.sampler, -1), tell)) is not None:
                yield end

    def _prefill(self, stream: Stream, job: Job, tell: Tell) -> None:
        """Evaluate what of the prompt is not held yet; the last row's logits are ready after it."""
        stream.job, stream.started = job, time.monotonic()
        stream.written = stream.thoughts = 0
        stream.answer = TextStream(job.ending, job.thinks, job.forms)
        stream.sampler = self.native.open_sampler(job.temperature, job.seed)
        total = len(job.tokens)
        while (done := len(stream.held)) < total:
            if self.cancelled():
                raise Aborted
            tell("progress", job.id, done=done, total=total)
            # For about a third of a second, so that progress and cancel stay quick on slow models.
            chunk = max(LEAST, min(MOST, int(self._speed / 3) // STEP * STEP)) if self.shape else STEP
            self._evaluate(stream, job.tokens[done : done + chunk], last=total)
        tell("progress", job.id, done=total, total=total)

    def _evaluate(self, stream: Stream, tokens: Sequence[int], last: int) -> None:
        start = len(stream.held)
        # Rows of padding repeat the last token; what they leave in the cache is forgotten below.
        pad = -len(tokens) % self.shape.prompt if self.shape else 0
        rows = [Row(t, start + i, stream.number, start + i + 1 == last) for i, t in enumerate(tokens)]
        rows += [Row(tokens[-1], start + len(tokens) + i, stream.number, False) for i in range(pad)]
        began = time.monotonic()
        try:
            self.native.decode(rows)
        except Aborted:
            self.native.forget(stream.number, start)
            raise
        # A chunk that a fast graphics card takes no measurable time for must not divide by 0.
        self._speed = len(rows) / max(1e-4, time.monotonic() - began)
        stream.held += tokens
        # Without a shape only whole steps are computed alike each time, so that only they may be built upon.
        if self.shape or len(tokens) == STEP:
            stream.clean = len(stream.held)
        if pad:
            self.native.forget(stream.number, len(stream.held))
        self.counters.evaluated += len(tokens)
        self.counters.padding += pad

    def _step(self, tell: Tell) -> Iterator[Generation]:
        busy = self._streams.busy
        if not busy:
            return
        rows = self._step_rows(busy)
        idle = [r.stream for r in rows if self._streams.all[r.stream].job is None]
        try:
            self.native.decode(rows)
        except Aborted:
            for row in rows:
                self.native.forget(row.stream, row.position)
            raise
        for number in idle:
            self.native.forget(number, len(self._streams.all[number].held))
        self.counters.padding += len(idle)
        drawn = {}
        for i, row in enumerate(rows):
            stream = self._streams.all[row.stream]
            if stream.job:
                stream.held.append(stream.next_token)
                drawn[row.stream] = self.native.sample(stream.sampler, i)
        for stream in busy:
            if (end := self._take(stream, drawn[stream.number], tell)) is not None:
                yield end

    def _step_rows(self, busy: Sequence[Stream]) -> list[Row]:
        """Return rows for the busy streams, and for idle ones between them: llama.cpp splits a batch at a gap.

        A wide gap is left: then the split costs less than the idle rows. A step's multiple needs the whole range.
        """
        if self.shape is None or self.shape.step == 1:
            numbers = {s.number for s in busy}
            numbers |= {n + 1 for n in numbers if n + 2 in numbers}
        else:
            low, high = busy[0].number, busy[-1].number + 1
            width = self.shape.whole_steps(high - low)
            low = min(low, len(self._streams.all) - width)
            numbers = set(range(low, low + width))
        streams = [self._streams.all[number] for number in sorted(numbers)]
        return [Row(s.next_token if s.job else 0, len(s.held), s.number, True) for s in streams]

    def _take(self, stream: Stream, token: int, tell: Tell) -> Generation | None:
        job = stream.job
        assert job is not None
        if self.native.ends(token):
            return self._finish(stream, job, "stop", tell)
        stream.written += 1
        self.counters.generated += 1
        if new := stream.answer.push(self.native.piece(token)):
            tell("text", job.id, text=new)
        stream.next_token = token
        stream.thoughts += stream.answer.thinking
        reason = stream.answer.reason or self._reason_to_stop(stream, job)
        return self._finish(stream, job, reason, tell) if reason else None

    def _reason_to_stop(self, stream: Stream, job: Job) -> str:
        """Return why nothing more can come of an answer that its text does not end; empty while something can."""
        if stream.thoughts > job.thought_tokens or stream.written - stream.thoughts >= job.max_tokens:
            return "length"
        if loops([*stream.held[-LOOKED_BACK:], stream.next_token][-stream.written :]):
            return "loop"
        if len(stream.held) + 1 >= self.window:
            return "context"
        return ""

    def _finish(self, stream: Stream, job: Job, reason: str, tell: Tell) -> Generation:
        if rest := stream.answer.finish():
            tell("text", job.id, text=rest)
        seconds = time.monotonic() - stream.started
        end = Generation(job.id, stream.answer.text, "", len(job.tokens), stream.written, seconds, reason)
        self._release(stream)
        return end

    def _release(self, stream: Stream) -> None:
        if stream.job is not None:
            self.native.close_sampler(stream.sampler)
            stream.job = None
            # A stream that is free again may be the one that the job held back was waiting for.
            self._held_back = False


# ---- what a batch may look like


STREAMS = 8
LENGTH = 16
GROUPS = (1, 4, 8)
WIDTHS = (1, 3, 4, 8)
SHORTER = 5


def find_shape(native: Native, vocabulary: int) -> Shape | None:
    """Return the smallest batch groups that keep every row's numbers, or None when there are none up to 8."""
    # Any tokens will do, as long as they differ: rounding depends on the shape of a batch, not on what is in it.
    tokens = [(7 + 13 * i) % max(8, vocabulary - 1) for i in range(LENGTH)]
    native.open_context(LENGTH + 32, STREAMS)
    if not native.can_rewind:
        # What cannot be taken back cannot be padded either. It is evaluated all the same: a build that crashes at it is
        # found out while the parent can still load the model otherwise.
        _prompt(native, [tokens])
        return None
    # For prompts: one batch, batches of the group, and uneven batches all agree.
    whole, prompt = _prompt(native, [tokens]), None
    for group in GROUPS[1:]:
        small = [tokens[i : i + group] for i in range(0, LENGTH, group)]
        if _prompt(native, small) == whole == _prompt(native, [tokens[:group], tokens[group:]]):
            prompt = group
            break
    if prompt is None:
        return None
    # For single steps: a stream's logits do not change with its neighbours or its place.
    for stream in range(1, STREAMS):
        native.copy(0, stream)
        native.forget(stream, LENGTH - SHORTER * (stream % 3))
    for group in GROUPS:
        if len({_step(native, tokens, width) for width in WIDTHS if width % group == 0}) == 1:
            return Shape(prompt, group)
    return None


def _prompt(native: Native, parts: Sequence[Sequence[int]]) -> bytes:
    """Return the logits after the last token when the prompt is evaluated in `parts`."""
    native.forget(0, 0)
    position = 0
    for part in parts:
        rows = [Row(t, position + i, 0, position + i + 1 == LENGTH) for i, t in enumerate(part)]
        native.decode(rows)
        position += len(part)
    return native.logits(len(rows) - 1)


def _step(native: Native, tokens: Sequence[int], width: int) -> bytes:
    """Return the logits of stream 0 after one more token, with `width - 1` neighbours of other lengths."""
    lengths = [LENGTH - SHORTER * (s % 3) for s in range(width)]
    native.decode([Row(tokens[s], lengths[s], s, True) for s in range(width)])
    found = native.logits(0)
    for stream in range(width):
        native.forget(stream, lengths[stream])
    return found
