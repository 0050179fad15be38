"""Where a run's regions stand in a file that may have changed since: found by their text, never guessed.

A region is taken where it was, if its text is there. The others are looked for together: what was inserted or removed
above moves many regions by the same distance, and none past another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from core.store.rows import ItemRow


def anchors(items: Sequence[ItemRow], text: str) -> dict[int, int]:
    """Offsets by item id; a region whose text is gone, or could be several places, is left out."""
    found = {item.id: item.start for item in items if item.text and text.startswith(item.text, item.start)}
    while True:
        possible = {item: _possible(item, items, found, text) for item in items if item.id not in found}
        distance = _distance(possible)
        if distance is None:
            return found
        found |= {
            item.id: item.start + distance for item, starts in possible.items() if item.start + distance in starts
        }


def _distance(possible: Mapping[ItemRow, Sequence[int]]) -> int | None:
    """The distance that brings most regions to their text; None when what is left would be a guess."""
    votes = Counter(start - item.start for item, starts in possible.items() for start in starts)
    if not votes:
        return None
    best = min(votes, key=lambda distance: (-votes[distance], abs(distance)))
    sure = {starts[0] - item.start for item, starts in possible.items() if len(starts) == 1}
    if votes[best] >= 2 or best in sure:
        return best
    return min(sure, key=abs, default=None)


def _possible(item: ItemRow, items: Sequence[ItemRow], found: Mapping[int, int], text: str) -> list[int]:
    """Where the text stands without overtaking a region that was found."""
    lowest, highest = 0, len(text)
    for other in items:
        if other.id not in found:
            continue
        if other.end <= item.start:
            lowest = max(lowest, found[other.id] + len(other.text))
        elif other.start >= item.end:
            highest = min(highest, found[other.id])
    return list(_occurrences(item.text, text, lowest, highest))


def _occurrences(wanted: str, text: str, lowest: int, highest: int) -> Iterator[int]:
    start = text.find(wanted, lowest, highest) if wanted else -1
    while start >= 0:
        yield start
        start = text.find(wanted, start + 1, highest)
