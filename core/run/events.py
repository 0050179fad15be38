"""What a run tells those who watch it: the terminal, JSON lines, the window.

Whatever tells of something stored carries the number of that `change` of the run (`runs.changes`), so that who has read
the run before knows what is new in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rtc_inspector.core.store.rows import Answers, SampleRow, VerdictRow
from rtc_inspector.core.types import Estimate, Item


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began, or was taken up again."""

    run_id: int
    resumed: bool
    task: str
    project: str
    model: str
    sandbox: str
    regions: int
    notices: tuple[str, ...] = ()
    backward_model: str = ""


@dataclass(frozen=True, slots=True)
class ItemReady:
    """An item was stored: admitted, or dropped with its reason."""

    run_id: int
    item_id: int
    item: Item
    change: int = 0


@dataclass(frozen=True, slots=True)
class SampleReady:
    """A sample was stored."""

    run_id: int
    item_id: int
    sample_id: int
    parent_id: int | None
    sample: SampleRow
    change: int = 0
    again: bool = False  # whether it takes the place of one that failed


@dataclass(frozen=True, slots=True)
class VerdictReady:
    """A verdict was stored."""

    run_id: int
    item_id: int
    sample_id: int
    verdict_id: int
    verdict: VerdictRow
    change: int = 0
    counted: bool = True  # whether the sample counts in the run's figures


@dataclass(frozen=True, slots=True)
class ScoresReady:
    """Scores of one sample were stored: against another sample, or the item's own text where that is None."""

    run_id: int
    item_id: int
    sample_id: int
    scores: Mapping[str, float]
    reference_id: int | None = None
    change: int = 0


@dataclass(frozen=True, slots=True)
class MeasuresReady:
    """The figures of an item were stored, and whether nothing more is to come of it."""

    run_id: int
    item_id: int
    measures: Mapping[str, float]
    done: bool
    change: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands; `stage` is short and readable; `eta` in seconds when known.

    `detail`: what is going on inside a step, e.g. how much of a long prompt is read.
    """

    stage: str
    done: int
    total: int
    eta: float | None = None
    tokens_per_second: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """New text of a sample still being written. `parent`: id of the stored sample it is made from, if any."""

    item_id: int
    role: str
    index: int
    text: str
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know; the run goes on."""

    text: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The end of a run."""

    run_id: int
    status: str  # `finished`, `incomplete` (not everything could be evaluated), `interrupted` or `failed`
    measures: Mapping[str, Estimate]  # the run's figures by name, each with its 95 % interval
    items: int
    samples: int
    problems: tuple[str, ...] = field(default=())  # what could not be evaluated, a sentence each
    not_asked: str = ""  # how many tests that pass under plain pytest judged nothing; empty where all did
    remarks: tuple[str, ...] = ()  # what is to be known of the figures, as lists of runs say it
    answers: Answers = field(default_factory=Answers)  # how what models answered could be read
    # where the time went: `opening` (models, project, what its tests show), `items` (drawn and admitted), `samples`
    # (written and judged)
    seconds: Mapping[str, float] = field(default_factory=dict)


Stored = ItemReady | SampleReady | VerdictReady | ScoresReady | MeasuresReady
Event = RunStarted | Stored | Progress | TextStreamed | Notice | RunFinished
