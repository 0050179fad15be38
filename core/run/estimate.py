"""What a run will cost, before it begins: samples, tokens and minutes, from how fast such runs went before.

Where none was made, a trial of one item tells; nothing of the trial is kept. The window reads estimates before the
engine is loaded, so only the trial loads it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rtc_inspector.core.analyses.costs import money_words, price
from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.kinds import Kind, counted, task
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.run.events import Control, Event, ItemReady, Progress
from rtc_inspector.core.settings import RunSettings, share_cores
from rtc_inspector.core.store.rows import TRIAL, PaceRow
from rtc_inspector.core.types import Form

if TYPE_CHECKING:
    from rtc_inspector.core.run.opening import Emit

NEWEST = 3  # runs that are measured by: a machine does not stay what it was


@dataclass(frozen=True, slots=True)
class RunCost:
    """The cost of a run."""

    made: Mapping[str, int]  # by role, samples at most, if as many items are admitted as are wanted
    tokens: int | None = None  # read and written; None, as all that follows, where no such run was made before
    # `seconds`, `low`, `high`: from the first region drawn to the last verdict, and the range of the runs measured by
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 0  # how many those are
    like: bool = True  # whether they had the same number of samples a region, and the same limits
    measured: int = 0  # samples that this rests on
    trial: bool = False  # whether it rests on a trial of one item, since no such run was made
    money: float | None = None  # by the prices of the servers; None where none was given

    @property
    def samples(self) -> int:
        return sum(self.made.values())


def estimate(settings: RunSettings, paces: Sequence[PaceRow]) -> RunCost:
    """Estimate what a run with these settings costs, by the newest runs of the same models and task."""
    regions = settings.regions
    counts = RunCost({role: regions * each for role, each in task(settings.task).samples(settings).items()})
    same = [pace for pace in paces if _asked(pace.settings) == _asked(settings)]
    like = [pace for pace in same if _shape(pace.settings) == _shape(settings)]
    used = next((found for each in (like, same) for found in _stored_first(each) if found), [])[:NEWEST]
    if not used:
        return counts
    samples = sum(pace.samples for pace in used)
    drawing = regions * sum(pace.drawing for pace in used) / len(used)
    parts = [part for pace in used for part in pace.parts]
    return replace(
        counts,
        tokens=round(counts.samples * sum(pace.tokens for pace in used) / samples),
        seconds=drawing + counts.samples * sum(pace.seconds for pace in used) / samples,
        low=drawing + counts.samples * min(parts),
        high=drawing + counts.samples * max(parts),
        runs=len(used),
        like=bool(like),
        measured=samples,
        trial=used[0].run_id == TRIAL,
        money=_money(settings, counts, used),
    )


def _money(settings: RunSettings, counts: RunCost, used: Sequence[PaceRow]) -> float | None:
    """Return what the samples cost, or None where no price is known.

    Descriptions have the price of the forward model, the others that of the backward one.
    """
    samples = sum(pace.samples for pace in used)
    written = sum(pace.written for pace in used) / samples
    read = sum(pace.tokens for pace in used) / samples - written
    described = task(settings.task).roles
    forward = sum(count for role, count in counts.made.items() if described[role].form is Form.TEXT)
    sides = ((settings.forward, forward), (settings.backward, counts.samples - forward))
    prices = [price(model.endpoint, round(read * count), round(written * count)) for model, count in sides]
    known = [each for each in prices if each is not None]
    return sum(known) if known else None


def _stored_first(paces: Sequence[PaceRow]) -> tuple[list[PaceRow], list[PaceRow]]:
    """Return the paces of stored runs, then a trial's: a trial counts only where no run of its kind was made."""
    trials = [pace for pace in paces if pace.run_id == TRIAL]
    return [pace for pace in paces if pace.run_id != TRIAL], trials[:1]


def _asked(settings: RunSettings) -> tuple[object, ...]:
    """Return who is asked for what: another model, task or thread count goes at another speed.

    A stored run has the threads that it was given, settings of a run to come may leave them open.
    """
    models = (settings.model, settings.endpoint, settings.backward_model, settings.backward_endpoint)
    return (settings.task, *models, share_cores(settings, usable_cores()).generation.threads)


def _shape(settings: RunSettings) -> tuple[object, ...]:
    """Return what the models are asked for one region: the numbers of samples, and the limits in tokens."""
    limits = (settings.forward_max_tokens, settings.backward_max_tokens, settings.generation.context_size)
    return (settings.forward_samples, settings.backward_samples, *limits)


UNMEASURED = (
    "How long that takes was not measured yet with these models: the first run tells, or a trial of one {noun}."
)


def cost_words(cost: RunCost, kind: Kind, duration: Callable[[float], str], measured: bool = True) -> str:
    """Samples; below them tokens, minutes, money, and what they rest on. `measured`: stored runs were looked at."""
    noun = kind.noun
    *first, last = (counted(number, kind.roles[role].title) for role, number in cost.made.items())
    judged = counted(
        sum(number for role, number in cost.made.items() if kind.roles[role].form is not Form.TEXT), "candidate"
    )
    counts = f"{', '.join(first)} and {last}; {judged} to judge." if first else f"{last}; {judged} to judge."
    if not measured:
        return counts
    if cost.seconds is None or cost.low is None or cost.high is None or cost.tokens is None:
        return f"{counts}\n{UNMEASURED.format(noun=noun)}"
    ends = duration(cost.low), duration(cost.high)
    between = "" if ends[0] == ends[1] else f" ({ends[0]} to {ends[1]})"
    money = f" for {money_words(cost.money)}" if cost.money is not None else ""
    return (
        f"{counts}\nAbout {duration(cost.seconds)}{between} and {_count(cost.tokens)} tokens{money}, "
        f"going by {_basis(cost, noun)}. Loading the models comes on top, and at first the project's own tests."
    )


def _basis(cost: RunCost, noun: str) -> str:
    samples = counted(cost.measured, "sample")
    if cost.trial:
        return f"a trial of one {noun} ({samples}): take it as rough, for {noun}s differ"
    runs = "the last run" if cost.runs == 1 else f"the last {cost.runs} runs"
    rough = "" if cost.like else ", which sampled otherwise: take it as rough"
    return f"{runs} with these models ({samples}){rough}"


def _count(number: int) -> str:
    """Return two digits that count: more would claim too much."""
    if number >= 950_000:
        return f"{number / 1e6:.1f} million"
    return f"{round(number, -3):,}" if number >= 10_000 else f"{round(number, -2):,}"


LONGEST = 60.0  # seconds that the models are given from the item's admission on; what came by then is gone by


def try_pace(
    settings: RunSettings, project: Path, emit: Emit, control: Control, longest: float = LONGEST
) -> PaceRow | None:
    """Return the pace of one item's round trips, tests and all; None where no sample came in time.

    Loading the models and learning the project's tests come first and are not counted; what is learned of the tests
    is kept as ever. Only progress is emitted. Raises UserError, and Cancelled when stopped from outside.
    """
    from rtc_inspector.core.run import pipeline
    from rtc_inspector.core.run.results import open_store

    late = threading.Event()

    def end() -> None:
        late.set()
        control.stop()

    # Started once the item is admitted: loading the models and learning the tests may take minutes by themselves.
    clock = threading.Timer(longest, end)

    def pass_on(event: Event) -> None:
        if isinstance(event, ItemReady) and event.item.admitted:
            clock.start()
        if isinstance(event, Progress):
            emit(event)

    with TemporaryDirectory(prefix="rtc-inspector-") as folder, open_store(Path(folder, "trial.sqlite")) as store:
        try:
            with suppress(Cancelled):
                pipeline.start(replace(settings, regions=1, series=None), project, store, pass_on, control)
        finally:
            clock.cancel()
        if control.stopped and not late.is_set():
            raise Cancelled
        found = store.reader.paces()
    return replace(found[0], run_id=TRIAL) if found else None
