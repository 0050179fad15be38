"""What a run tells those who watch it (the terminal, JSON lines, the window), and how they pause and stop it.

Whatever tells of something stored carries the number of that `change` of the run (`runs.changes`), so that who has read
the run before knows what is new in it.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rtc_inspector.core.errors import Cancelled
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
    """The state of a run: `stage` short and readable, `eta` in seconds, `detail` on what goes on inside a step."""

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


class Control:
    """Shared by whoever asks and whoever works; thread-safe.

    The worker calls `checkpoint` between steps; `on_stop` callbacks (a model's `cancel`) reach a step in flight.
    """

    def __init__(self) -> None:
        self._go = threading.Event()
        self._go.set()
        self._stopped = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        # A signal handler may call `stop` while this very thread holds the lock.
        self._lock = threading.RLock()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def pause(self) -> None:
        """Hold the worker at its next checkpoint; the sample in flight is finished first."""
        self._go.clear()

    def resume(self) -> None:
        self._go.set()

    def stop(self) -> None:
        """End the run now; what is stored stays and can be resumed."""
        with self._lock:
            self._stopped.set()
            callbacks = tuple(self._callbacks)
        self._go.set()
        for callback in callbacks:
            callback()

    def on_stop(self, callback: Callable[[], None]) -> None:
        """Call `callback` when `stop` comes; at once if it came already."""
        with self._lock:
            self._callbacks.append(callback)
            stopped = self._stopped.is_set()
        if stopped:
            callback()

    def checkpoint(self) -> None:
        """Wait while paused. Raises Cancelled once stopped."""
        if not self._go.is_set():  # asking takes no lock that a `stop` in a signal handler would need
            self._go.wait()
        if self._stopped.is_set():
            raise Cancelled
