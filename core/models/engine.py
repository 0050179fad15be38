"""Draws samples from one loaded model: shared prefixes, several sequences at a time, the same text every time.

Pure scheduling over the `Native` protocol. What makes the text repeatable whatever else is evaluated is explained in
docs/model-passes.md: streams of their own, and batches padded so that every row is computed by the same kernels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from rtc_inspector.core.models.jobs import (
    LEAST_ROUNDS,
    LONGEST_LOOP,
    Aborted,
    Counters,
    Finished,
    Job,
    Listener,
    Native,
    Row,
    Shape,
    loops,
)
from rtc_inspector.core.models.streams import STEP, Stream, Streams
from rtc_inspector.core.models.textstream import TextStream

LOOKED_BACK = LONGEST_LOOP * LEAST_ROUNDS
"""Tokens that tell whether an answer repeats itself."""
MARGIN = 16
"""Cache cells of a stream kept free for padding rows."""
LEAST = 64
"""Prompt tokens a batch at least, where the batch's shape may vary: smaller ones cost a tenth more."""
MOST = 512
"""Prompt tokens a batch at most."""


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

    # ------------------------------------------------------------------ running jobs

    def run(self, jobs: Sequence[Job], listener: Listener) -> Iterator[Finished]:
        """Yield each job's answer as it ends. Raises Aborted after a cancel."""
        waiting = list(jobs)
        try:
            while waiting or self._streams.busy:
                if self.cancelled():
                    raise Aborted
                yield from self._admit(waiting, listener)
                yield from self._step(listener)
        finally:
            for stream in self._streams.busy:
                self._release(stream)

    def _admit(self, waiting: list[Job], listener: Listener) -> Iterator[Finished]:
        """Give free streams a job each and evaluate its prompt."""
        while waiting and self._streams.free and not self._held_back:
            job, source, shared = self._streams.nearest(waiting)
            if len(job.tokens) + 1 > self.window:
                waiting.remove(job)
                yield Finished(job.id, "", len(job.tokens), 0, 0.0, "context")
                continue
            stream = self._streams.place(job, source, shared)
            if stream is None:
                self._held_back = True
                return
            waiting.remove(job)
            listener.started(job.id)
            self._prefill(stream, job, listener)
            if (end := self._take(stream, self._draw(stream, -1), listener)) is not None:
                yield end

    # ------------------------------------------------------------------ prompts

    def _prefill(self, stream: Stream, job: Job, listener: Listener) -> None:
        """Evaluate what of the prompt is not held yet; the last row's logits are ready after it."""
        stream.job, stream.started, stream.written = job, time.monotonic(), 0
        stream.thoughts = 0
        stream.answer = TextStream(job.ending, job.thinks, job.known)
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
        return max(LEAST, min(MOST, int(self._speed / 3) // STEP * STEP))

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

    # ------------------------------------------------------------------ answers

    def _step(self, listener: Listener) -> Iterator[Finished]:
        """Draw one more token for every busy stream, and yield the samples that end with it."""
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
        self.counters.steps += 1
        self.counters.padding += len(idle)
        drawn = {}
        for i, row in enumerate(rows):
            stream = self._streams.all[row.stream]
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
            return [self._step_row(self._streams.all[n]) for n in sorted(numbers)]
        low, high = busy[0].number, busy[-1].number + 1
        width = self.shape.whole_steps(high - low)
        low = min(low, len(self._streams.all) - width)
        return [self._step_row(s) for s in self._streams.all[low : low + width]]

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
        if stream.answer.thinking:
            stream.thoughts += 1
        reason = stream.answer.reason or self._reason_to_stop(stream, job)
        return self._finish(stream, job, reason, listener) if reason else None

    def _reason_to_stop(self, stream: Stream, job: Job) -> str:
        """Why nothing more can come of an answer that its text does not end; empty while something can."""
        if stream.thoughts > job.thought_tokens or stream.written - stream.thoughts >= job.max_tokens:
            return "length"
        if loops([*stream.held[-LOOKED_BACK:], stream.next_token][-stream.written :]):
            return "loop"
        if len(stream.held) + 1 >= self.window:
            return "context"
        return ""

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
            # A stream that is free again may be the one that the job held back was waiting for.
            self._held_back = False
