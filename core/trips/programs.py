"""The programs that were written for one item, equal ones taken together, with the summaries of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtc_inspector.core.generation import Role
from rtc_inspector.core.store.rows import SampleRow

COSINE = "cosine"
"""The score of a summary against the item's own words; of a program the mean over its summaries."""


@dataclass(frozen=True, slots=True)
class Program:
    """Equal programs of one directive, and the summaries of one of them.

    Attributes:
        rows: their samples, as they were drawn.
        summaries: of whichever of them was summarised, by index.
    """

    rows: tuple[SampleRow, ...]
    summaries: tuple[SampleRow, ...]

    @property
    def cosines(self) -> list[float]:
        """Return the cosines of the summaries that have one: an empty summary has none."""
        return [row.scores[COSINE] for row in self.summaries if COSINE in row.scores]

    @property
    def cosine(self) -> float | None:
        """Return the mean over its summaries; None where none of them has a cosine."""
        return sum(self.cosines) / len(self.cosines) if self.cosines else None

    @property
    def passes(self) -> bool | None:
        """Return whether it passes all tests; None before it is judged, and where nothing judges it."""
        return next((row.passes for row in self.rows if row.passes is not None), None)

    def similar(self, threshold: float) -> bool | None:
        """Return whether it is taken to mean the directive; None before it is summarised.

        A program without code, and one whose summaries say nothing, do not mean it.
        """
        if not self.summaries and self.rows[0].text.strip():
            return None
        return self.cosine is not None and self.cosine >= threshold


def programs(samples: Sequence[SampleRow]) -> list[Program]:
    """Return the programs of an item with their summaries, each once, in the order they were drawn."""
    groups: dict[str, list[SampleRow]] = {}
    summaries: dict[int | None, list[SampleRow]] = {}
    for row in sorted(samples, key=lambda row: (row.index, row.id)):
        if row.error:
            continue
        if row.role == Role.SOLVE:
            groups.setdefault("\n".join(line.rstrip() for line in row.text.splitlines()), []).append(row)
        elif row.role == Role.FORWARD:
            summaries.setdefault(row.parent_id, []).append(row)
    return [Program(tuple(g), tuple(s for row in g for s in summaries.get(row.id, ()))) for g in groups.values()]
