"""Judges code beside the model: verdicts come from the sandbox while the next sample is being written."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from core.types import Verdict
from core.waiting import Beat, result_of

Key = TypeVar("Key")


class Judging(Generic[Key]):
    """A pool of judges. `Key` says, to whoever submits, what a verdict is about."""

    def __init__(self, workers: int, checkpoint: Beat) -> None:
        """`checkpoint` is called while a verdict is waited for; it may raise."""
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="judge")
        self._checkpoint = checkpoint
        self._waiting: deque[tuple[Key, Future[Verdict | None]]] = deque()

    def __enter__(self) -> Judging[Key]:
        """Ready to judge."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Drop what has not begun; wait for what has, but not after an error: closing the oracle ends that at once."""
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def submit(self, key: Key, judge: Callable[[], Verdict | None]) -> None:
        """Queue one judgement."""
        self._waiting.append((key, self._pool.submit(judge)))

    def take(self, wait: bool = False) -> tuple[Key, Verdict | None] | None:
        """The next verdict in the order of submission, if it has come; with `wait`, once it has. None: there is none.

        Raises what `checkpoint` raises while waiting.
        """
        if not self._waiting:
            return None
        key, future = self._waiting[0]
        # In order of submission, though a later one may be done: what is stored then does not depend on which judge was
        # faster.
        if not wait and not future.done():
            return None
        verdict = result_of(future, self._checkpoint)
        self._waiting.popleft()
        return key, verdict
