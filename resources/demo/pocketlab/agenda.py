"""A list of things to do at certain times, on a clock that is only simulated."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

Action = Callable[["Agenda"], None]


@dataclass(order=True)
class Event:
    """Something due; events compare by time, then urgency, then age."""

    time: float
    urgency: int
    number: int
    action: Action = field(compare=False)
    cancelled: bool = field(default=False, compare=False)


class Agenda:
    """Runs actions in the order in which they are due.

    At one and the same time the more urgent action (the lower number) runs
    first, then the one that was planned first.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[tuple[float, str]] = []
        self._events: list[Event] = []
        self._numbers = count()

    def __len__(self) -> int:
        return sum(not event.cancelled for event in self._events)

    def at(self, time: float, action: Action, urgency: int = 5) -> Event:
        """Plan an action for a time that has not passed yet."""
        if time < self.now:
            raise ValueError(f"{time} is over, it is {self.now}")
        event = Event(time, urgency, next(self._numbers), action)
        heapq.heappush(self._events, event)
        return event

    def after(self, delay: float, action: Action, urgency: int = 5) -> Event:
        """Plan an action for so much later than now."""
        return self.at(self.now + delay, action, urgency)

    def every(self, period: float, action: Action, times: int) -> None:
        """Plan an action again and again, first after one period.

        The next time is planned only when the action has run, and an action
        that raises StopIteration is not repeated.
        """
        if period <= 0:
            raise ValueError("a period must be positive")

        def run(agenda: Agenda) -> None:
            try:
                action(agenda)
            except StopIteration:
                return
            self.every(period, action, times - 1)

        if times > 0:
            self.after(period, run)

    def cancel(self, event: Event) -> bool:
        """Take an event off the list; tell whether it still was on it."""
        waiting = not event.cancelled and event in self._events
        event.cancelled = True
        return waiting

    def note(self, text: str) -> None:
        """Write a line into the log, with the time."""
        self.log.append((self.now, text))

    def next_time(self) -> float | None:
        """Return when the next event is due, or None if there is none."""
        while self._events and self._events[0].cancelled:
            heapq.heappop(self._events)
        return self._events[0].time if self._events else None

    def run(self, until: float) -> int:
        """Run what is due up to and including a time, and set the clock to it.

        Returns how many actions ran, those planned on the way included.
        """
        done = 0
        due = self.next_time()
        while due is not None and due <= until:
            event = heapq.heappop(self._events)
            self.now = event.time
            event.action(self)
            done += 1
            due = self.next_time()
        self.now = max(self.now, until)
        return done

    def postpone(self, event: Event, delay: float) -> Event:
        """Move an event to a later time and to the end of what is due then."""
        if not self.cancel(event):
            raise LookupError("the event is not on the list any more")
        return self.at(event.time + delay, event.action, event.urgency)
