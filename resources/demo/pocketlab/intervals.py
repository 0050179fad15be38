"""Half-open spans on a line of whole numbers."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Span:
    """The numbers from `start` up to, but not including, `end`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"a span cannot end ({self.end}) before {self.start}")

    def __len__(self) -> int:
        return self.end - self.start

    def __contains__(self, point: int) -> bool:
        return self.start <= point < self.end

    def overlap(self, other: "Span") -> "Span | None":
        """Return what two spans share, or None if that is nothing."""
        start = max(self.start, other.start)
        end = min(self.end, other.end)
        return Span(start, end) if start < end else None


def merge(spans: Iterable[Span], tolerance: int = 0) -> list[Span]:
    """Join spans that overlap, touch, or lie at most `tolerance` apart.

    Empty spans are dropped before anything is joined.
    """
    merged: list[Span] = []
    for span in sorted(span for span in spans if len(span)):
        if merged and span.start <= merged[-1].end + tolerance:
            last = merged.pop()
            span = Span(last.start, max(last.end, span.end))
        merged.append(span)
    return merged


def gaps(within: Span, taken: Iterable[Span]) -> list[Span]:
    """Return the parts of a span that nothing covers, in order."""
    free = []
    position = within.start
    for span in merge(taken):
        if span.start >= within.end:
            break
        if span.start > position:
            free.append(Span(position, span.start))
        position = max(position, span.end)
    if position < within.end:
        free.append(Span(position, within.end))
    return free


def subtract(whole: Iterable[Span], holes: Iterable[Span]) -> list[Span]:
    """Return what is left of some spans when others are cut out of them."""
    cut = merge(holes)
    return [rest for span in merge(whole) for rest in gaps(span, cut)]


def common(left: Iterable[Span], right: Iterable[Span]) -> list[Span]:
    """Return the numbers that both sides cover, as spans."""
    others = merge(right)
    shared = []
    for span in merge(left):
        for other in others:
            piece = span.overlap(other)
            if piece is not None:
                shared.append(piece)
    return shared


def busiest(spans: Iterable[Span]) -> tuple[int, int]:
    """Return the earliest point that the most spans cover, and how many do.

    A span that ends where another starts does not count there any more.
    """
    changes = []
    for span in spans:
        if len(span):
            changes.append((span.start, 1))
            changes.append((span.end, -1))
    if not changes:
        raise ValueError("no span covers anything")
    best_point = depth = best = 0
    for point, change in sorted(changes):
        depth += change
        if depth > best:
            best_point, best = point, depth
    return best_point, best


def first_opening(
    day: Span, meetings: Iterable[Span], length: int, pause: int = 0
) -> int | None:
    """Return when a meeting can start, or None if the day is too full.

    `pause` keeps that much time free after every earlier meeting and before
    every later one. The day's own ends need no pause.
    """
    blocked = [Span(m.start - pause, m.end + pause) for m in meetings if len(m)]
    for free in gaps(day, blocked):
        if len(free) >= length:
            return free.start
    return None
