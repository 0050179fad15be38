"""Which samples are labelled and in what order; what was given since one began, to be undone, and how fast."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from rtc_inspector.core.store.rows import LabelRow, ReconstructionRow


class QueueKind(StrEnum):
    """Choices of what a queue is made from, in words for a menu."""

    FAILURES = "Failures"
    RANDOM = "Random"
    DISAGREEMENTS = "Disagreements"
    ADJUDICATION = "Adjudication"
    ALL = "All in order"


TELLING = frozenset({QueueKind.FAILURES})  # kinds that tell the verdict by being chosen: not to be had while blind
DISPUTED = frozenset({QueueKind.DISAGREEMENTS, QueueKind.ADJUDICATION})


@dataclass(frozen=True, slots=True)
class Asked:
    """What the annotator asked for. `size`: samples in the queue, 0 for all; `blind` shuffles by `seed`."""

    kind: QueueKind = QueueKind.FAILURES
    seed: int = 0
    size: int = 0
    annotator: str = ""
    blind: bool = False


@dataclass(frozen=True, slots=True)
class Stock:
    """Samples that a queue is made from, with the labels and decisions that hold for them."""

    rows: Sequence[ReconstructionRow]
    labels: Sequence[LabelRow] = ()
    decisions: Sequence[LabelRow] = ()
    names: Mapping[str, str] = field(default_factory=dict)  # of all error modes that were ever used, by id


@dataclass
class LabelQueue:
    """Samples in turn; `at` is the place of the one on show, `labelled` those that are labelled (or decided)."""

    samples: list[int] = field(default_factory=list)
    labelled: set[int] = field(default_factory=set)
    at: int = 0

    @property
    def done(self) -> int:
        return sum(sample in self.labelled for sample in self.samples)

    @property
    def current(self) -> int | None:
        return self.samples[self.at] if self.samples else None

    def mark(self, sample_id: int, labelled: bool) -> None:
        (self.labelled.add if labelled else self.labelled.discard)(sample_id)

    def step(self, by: int) -> bool:
        before, self.at = self.at, min(max(self.at + by, 0), max(len(self.samples) - 1, 0))
        return self.at != before

    def around(self) -> list[int]:
        return self.samples[max(self.at - 1, 0) : self.at + 4]

    def go_to(self, sample_id: int) -> None:
        if sample_id not in self.samples:
            self.samples.insert(min(self.at + 1, len(self.samples)), sample_id)
        self.at = self.samples.index(sample_id)


def make_queue(stock: Stock, asked: Asked) -> LabelQueue:
    """Return the queue that was asked for: the same seed and size give every annotator the same samples."""
    disputed = disputed_samples(stock.labels) if asked.kind in DISPUTED else set()
    samples = [row.sample_id for row in stock.rows if _wanted(row, asked.kind, disputed)]
    if asked.blind or asked.kind is QueueKind.RANDOM:
        # A generator of its own: the module's is shared, and whoever draws from it would change the order.
        random.Random(asked.seed).shuffle(samples)
    own = (
        {label.sample_id for label in stock.decisions if label.mode}
        if asked.kind is QueueKind.ADJUDICATION
        else {label.sample_id for label in stock.labels if label.annotator == asked.annotator and label.mode}
    )
    samples = samples[: asked.size or None]
    return LabelQueue(samples, own, next((at for at, sample in enumerate(samples) if sample not in own), 0))


def disputed_samples(labels: Sequence[LabelRow]) -> set[int]:
    """Return samples on which annotators' labels that hold differ."""
    modes: dict[int, set[frozenset[str]]] = {}
    for label in labels:
        if label.mode:
            modes.setdefault(label.sample_id, set()).add(frozenset(label.modes))
    return {sample for sample, said in modes.items() if len(said) > 1}


def _wanted(row: ReconstructionRow, kind: QueueKind, disputed: set[int]) -> bool:
    if kind is QueueKind.FAILURES:
        # Nothing failed where the sandbox did, or where no verdict came yet.
        return row.outcome not in ("", "pass", "infrastructure")
    return kind not in DISPUTED or row.sample_id in disputed


# ---- what was given

WINDOW = 20  # labels the pace is taken over

PAUSE = 120.0  # seconds between two labels that count as a break and are left out


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """A label as it is asked for: with the run that its sample was shown as one of, so that no other can get it.

    `mode` as in LabelRow: none, one or several ids; without mode and note a label is taken back.
    """

    run_id: int
    sample_id: int
    mode: str
    note: str


class LabelSession:
    """The labels that one annotator gave on the samples of one queue, the last one first to be undone, and how fast."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._progress = ""
        self.forget()

    @property
    def text(self) -> str:
        """Return how far the queue is, how many labels were given and, from the third on, how many an hour."""
        count = sum(counts for _, counts in self._before)
        gaps = [now - before for before, now in pairwise(self._times) if now - before <= PAUSE][-WINDOW:]
        rate = f" · {3600 * len(gaps) / sum(gaps):.0f} an hour" if len(gaps) >= 2 and sum(gaps) > 0 else ""
        return f"{self._progress}{count} labelled{rate}"

    def set_progress(self, done: int, total: int) -> None:
        self._progress = f"{done:,} of {total:,} · "

    def add(self, given: LabelRequest, own: LabelRow | None, *, counts: bool) -> None:
        before = replace(given, mode=own.mode if own else "", note=own.note if own else "")
        self._before.append((before, counts))
        if counts:
            self._times.append(self._clock())

    def take_back(self) -> LabelRequest | None:
        return self._before.pop()[0] if self._before else None

    def forget(self) -> None:
        self._before: list[tuple[LabelRequest, bool]] = []  # with whether what came after counts as a label given
        self._times: list[float] = []  # at which labels were given

    def __bool__(self) -> bool:
        return bool(self._before)
