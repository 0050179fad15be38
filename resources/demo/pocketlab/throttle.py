"""Limits on how often something may happen."""

import math
from collections import deque
from collections.abc import Callable

Clock = Callable[[], float]


class TokenBucket:
    """Lets bursts through, but no more than `rate` tokens a second in the long run.

    The bucket starts full and never holds more than `size` tokens.
    """

    def __init__(self, rate: float, size: float, clock: Clock) -> None:
        if rate <= 0 or size <= 0:
            raise ValueError("rate and size must be positive")
        self._rate = rate
        self._size = size
        self._clock = clock
        self._level = size
        self._seen = clock()

    def take(self, tokens: float = 1) -> bool:
        """Take tokens if there are enough, all or none; tell whether it was so."""
        self._refill()
        if tokens > self._level:
            return False
        self._level -= tokens
        return True

    def wait_for(self, tokens: float = 1) -> float:
        """Return the seconds until so many tokens will be there."""
        if tokens > self._size:
            return math.inf
        self._refill()
        missing = max(0.0, tokens - self._level)
        return missing / self._rate

    def give_back(self, tokens: float) -> None:
        """Return tokens that were not needed after all."""
        self._refill()
        self._level = min(self._size, self._level + tokens)

    def _refill(self) -> None:
        now = self._clock()
        # A clock that was set back must not take tokens away.
        passed = max(0.0, now - self._seen)
        self._level = min(self._size, self._level + passed * self._rate)
        self._seen = now


class SlidingWindow:
    """Lets through at most `limit` events in any `seconds`, for each caller alone."""

    def __init__(self, limit: int, seconds: float, clock: Clock) -> None:
        self._limit = limit
        self._seconds = seconds
        self._clock = clock
        self._events: dict[str, deque[float]] = {}

    def allow(self, caller: str) -> bool:
        """Count an event if it may happen now; a refused one does not count."""
        events = self._recent(caller)
        if len(events) >= self._limit:
            return False
        events.append(self._clock())
        return True

    def remaining(self, caller: str) -> int:
        """Return how many events may still happen at this moment."""
        return self._limit - len(self._recent(caller))

    def retry_after(self, caller: str) -> int:
        """Return whole seconds to wait for the next event, rounded up."""
        events = self._recent(caller)
        if len(events) < self._limit:
            return 0
        return math.ceil(events[0] + self._seconds - self._clock())

    def tidy(self) -> int:
        """Forget callers without recent events; say how many are left."""
        self._events = {name: self._recent(name) for name in self._events}
        quiet = [name for name, events in self._events.items() if not events]
        for name in quiet:
            del self._events[name]
        return len(self._events)

    def _recent(self, caller: str) -> deque[float]:
        oldest = self._clock() - self._seconds
        events = self._events.setdefault(caller, deque())
        kept = deque(moment for moment in events if moment > oldest)
        self._events[caller] = kept
        return kept
