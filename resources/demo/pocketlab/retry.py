"""Trying again what failed, with patience that has its limits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class Busy(Exception):
    """The other side asks to be left alone for some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"busy for {seconds} s")
        self.seconds = seconds


class GaveUp(Exception):
    """Every attempt failed, or there was no time for another one."""

    def __init__(self, attempts: int) -> None:
        super().__init__(f"gave up after {attempts} attempts")
        self.attempts = attempts


@dataclass(frozen=True)
class Policy:
    """How often to try, and how long to wait in between.

    The first wait is `first` seconds, every later one `factor` times as long
    as the one before, none longer than `longest`. All waits together never
    exceed `patience`.
    """

    attempts: int = 4
    first: float = 1.0
    factor: float = 2.0
    longest: float = 30.0
    patience: float = 120.0
    retried: tuple[type[Exception], ...] = (ConnectionError, TimeoutError, Busy)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError("at least one attempt is needed")
        if self.factor < 1:
            raise ValueError("waits must not grow shorter")

    def waits(self) -> Iterator[float]:
        """Yield the waits between attempts, one fewer than there are attempts."""
        wait = self.first
        for _ in range(self.attempts - 1):
            yield min(wait, self.longest)
            wait *= self.factor

    def call(self, action: Callable[[], T], sleep: Callable[[float], None]) -> T:
        """Run an action until it succeeds; other errors than the retried pass.

        Who is busy is waited for as long as it says, if that is longer than
        the wait that was due, and even beyond the longest.
        """
        spent = 0.0
        for attempt, wait in enumerate(self.waits(), start=1):
            try:
                return action()
            except self.retried as error:
                if isinstance(error, Busy):
                    wait = max(wait, error.seconds)
                spent += wait
                if spent > self.patience:
                    raise GaveUp(attempt) from error
                sleep(wait)
        try:
            return action()
        except self.retried as error:
            raise GaveUp(self.attempts) from error


class Breaker:
    """Stops calling what keeps failing, and tries it carefully after a rest.

    After `failures` in a row every call is refused for `rest` seconds. Then a
    single call is let through: its success closes the breaker, its failure
    starts another rest.
    """

    def __init__(self, failures: int, rest: float, clock: Callable[[], float]) -> None:
        self._limit = failures
        self._rest = rest
        self._clock = clock
        self._failed = 0
        self._opened_at: float | None = None

    @property
    def state(self) -> str:
        """One of 'closed', 'open' and 'trial'."""
        if self._opened_at is None:
            return "closed"
        rested = self._clock() - self._opened_at >= self._rest
        return "trial" if rested else "open"

    def call(self, action: Callable[[], T]) -> T:
        """Run an action unless the breaker is open."""
        before = self.state
        if before == "open":
            raise Busy(self._rest)
        try:
            result = action()
        except Exception:
            self._failed += 1
            if before == "trial" or self._failed >= self._limit:
                self._opened_at = self._clock()
            raise
        self._failed = 0
        self._opened_at = None
        return result
