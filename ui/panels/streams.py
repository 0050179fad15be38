"""Text still being written, kept until its sample is stored."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtc_inspector.core.store.rows import SampleRow

MOST = 256
"""Unfinished texts kept at a time; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text belongs. `parent`: id of the stored sample it is made from, if it was told."""

    item_id: int
    role: str
    index: int
    parent: int | None = None


class Streams:
    """What the model has written so far, by place."""

    def __init__(self) -> None:
        self._texts: OrderedDict[Place, str] = OrderedDict()
        self._stored: dict[Place, int] = {}

    def append(self, place: Place, text: str) -> str:
        """Add new text; the whole text so far comes back."""
        self._texts[place] = self._texts.get(place, "") + text
        self._texts.move_to_end(place)
        # Texts of items that nobody looks at are never settled: their samples are not read.
        while len(self._texts) > MOST:
            self._texts.popitem(last=False)
        return self._texts[place]

    def settle(self, item_id: int, samples: Sequence[SampleRow]) -> None:
        """Forget what has become a stored sample of the item.

        Where a stream did not name its parent, it ends as soon as one more sample of its role and index is stored.
        """
        counts: dict[Place, int] = {}
        for sample in samples:
            loose = Place(item_id, sample.role, sample.index)
            counts[loose] = counts.get(loose, 0) + 1
            if sample.parent_id is not None:
                self._texts.pop(replace(loose, parent=sample.parent_id), None)
        for loose, count in counts.items():
            if count > self._stored.get(loose, 0):
                self._texts.pop(loose, None)
        # A stream without a parent ends when one more sample is there than before.
        self._stored |= counts

    def end(self) -> None:
        """Forget all: nobody writes any more."""
        self._texts.clear()

    def of(self, item_id: int) -> list[tuple[Place, str]]:
        """Return everything being written for an item, in the order it was begun."""
        return [(place, text) for place, text in self._texts.items() if place.item_id == item_id]
