"""Which samples are labelled, and in what order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.store.rows import LabelRow, ReconstructionRow


class QueueKind(StrEnum):
    """What a queue is made of, in words for a menu."""

    FAILURES = "Failures"
    RANDOM = "Random"
    DISAGREEMENTS = "Disagreements"
    ALL = "All in order"


@dataclass
class LabelQueue:
    """Samples in turn. `items` gives the region of each; `at` is the place of the one on show."""

    samples: list[int] = field(default_factory=list)
    items: dict[int, int] = field(default_factory=dict)
    labelled: set[int] = field(default_factory=set)
    at: int = 0

    @property
    def current(self) -> int | None:
        """The sample on show."""
        return self.samples[self.at] if self.samples else None

    @property
    def done(self) -> int:
        """How many of them the annotator has labelled."""
        return sum(sample in self.labelled for sample in self.samples)

    def step(self, by: int) -> bool:
        """Go on or back; whether there was somewhere to go."""
        before, self.at = self.at, min(max(self.at + by, 0), max(len(self.samples) - 1, 0))
        return self.at != before

    def around(self) -> list[int]:
        """The samples that are wanted next."""
        return self.samples[max(self.at - 1, 0) : self.at + 4]

    def go_to(self, sample_id: int) -> None:
        """Show a sample; one that is not in the queue is put in here."""
        if sample_id not in self.samples:
            self.samples.insert(min(self.at + 1, len(self.samples)), sample_id)
        self.at = self.samples.index(sample_id)

    def go_to_first_open(self) -> None:
        """Show the first sample without a label."""
        self.at = next((at for at, sample in enumerate(self.samples) if sample not in self.labelled), 0)


def make_queue(
    rows: Sequence[ReconstructionRow],
    labels: Sequence[LabelRow],
    kind: QueueKind,
    seed: int,
    annotator: str,
    blind: bool,
) -> LabelQueue:
    """The queue of a kind; random by `seed`, and shuffled too while the annotator is blind."""
    disputed = _disputed(labels) if kind is QueueKind.DISAGREEMENTS else set()
    samples = [row.sample_id for row in rows if _wanted(row, kind, disputed)]
    if blind or kind is QueueKind.RANDOM:
        random.Random(seed).shuffle(samples)
    own = {label.sample_id for label in labels if label.annotator == annotator}
    queue = LabelQueue(samples, {row.sample_id: row.item_id for row in rows}, own)
    queue.go_to_first_open()
    return queue


def _wanted(row: ReconstructionRow, kind: QueueKind, disputed: set[int]) -> bool:
    if kind is QueueKind.FAILURES:
        return row.outcome not in ("", "pass", "infrastructure")
    return kind is not QueueKind.DISAGREEMENTS or row.sample_id in disputed


def _disputed(labels: Sequence[LabelRow]) -> set[int]:
    """Samples to which annotators gave different modes."""
    modes: dict[int, set[str]] = {}
    for label in labels:
        modes.setdefault(label.sample_id, set()).add(label.mode)
    return {sample for sample, said in modes.items() if len(said) > 1}
