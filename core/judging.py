"""Judges code samples beside the model: verdicts come from the sandbox while the next sample is being written."""

from __future__ import annotations

from collections import deque
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from core.events import ScoresReady, VerdictReady
from core.run import Run
from core.types import Item, Verdict


class Judging:
    """A pool of judges; results are stored by the thread that calls `drain`, the only writer."""

    def __init__(self, run: Run) -> None:
        """Start as many judges as the oracle has workers."""
        self._run = run
        self._pool = ThreadPoolExecutor(run.settings.oracle.workers or 1, thread_name_prefix="judge")
        self._waiting: deque[tuple[int, int, Item, str, Future[Verdict]]] = deque()

    def __enter__(self) -> Judging:
        """Ready to judge."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drop what has not begun; wait for what has, but not after an error: closing the oracle ends that at once."""
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def submit(self, item_id: int, sample_id: int, item: Item, text: str) -> None:
        """Queue one code sample."""
        future = self._pool.submit(self._run.parts.trip.judge, item, text)
        self._waiting.append((item_id, sample_id, item, text, future))

    def drain(self, wait: bool = False) -> None:
        """Store the verdicts that have come; with `wait`, all of them. Raises Cancelled once stopped."""
        while self._waiting and (wait or self._waiting[0][-1].done()):
            item_id, sample_id, item, text, future = self._waiting[0]
            verdict = self._result(future)
            self._waiting.popleft()
            self.store(item_id, sample_id, verdict)
            self.compare(item_id, sample_id, item, text)

    def store(self, item_id: int, sample_id: int, verdict: Verdict) -> None:
        """Commit one verdict and tell."""
        run = self._run
        verdict_id = run.store.add_verdict(sample_id, verdict)
        run.emit(VerdictReady(run.id, item_id, sample_id, verdict_id, verdict))
        if not verdict.outcome.judged:
            run.problems.append(f"Sample {sample_id} could not be judged: {verdict.detail}")

    def compare(self, item_id: int, sample_id: int, item: Item, text: str) -> None:
        """Commit how similar one code sample is to the item, and tell."""
        scores = self._run.parts.trip.scores(item, text)
        self._run.store.add_scores(sample_id, scores)
        self._run.emit(ScoresReady(self._run.id, item_id, sample_id, scores))

    def _result(self, future: Future[Verdict]) -> Verdict:
        """Wait in short steps, so that a stop is heard."""
        while not futures.wait((future,), timeout=0.1).done:
            self._run.control.checkpoint()
        return future.result()
