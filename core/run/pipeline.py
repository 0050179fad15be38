"""One run, start to end: draw items, grow their trees, store. Resumable at any point.

Every finished sample and verdict is committed as it comes. What exists is never made again, and every seed depends
on the sample's place alone, so a resumed run has the results the uninterrupted one would have had.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rtc_inspector.core.errors import Cancelled, InspectorError, NothingRead, StoreError
from rtc_inspector.core.kinds import task
from rtc_inspector.core.run.events import Control, ItemReady, Notice, RunFinished, RunStarted
from rtc_inspector.core.run.growing import Growing, Work
from rtc_inspector.core.run.opening import Caller, Emit, Pace, Run, open_parts, record, reopen
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.setting import check
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.protocol import ChoosesNext
from rtc_inspector.core.types import Item

AHEAD = 2  # items at a time for each host of a cluster


def start(settings: RunSettings, project: Path, store: Store, emit: Emit, control: Control) -> RunFinished:
    """Begin a new run and see it to its end.

    Raises UserError when something must be mended first, Cancelled when stopped; what is stored can be resumed.
    """
    check(settings)
    with ExitStack() as stack:
        begun = time.monotonic()
        parts = open_parts(stack, project, settings, Caller(emit, control))
        run = Run(record(store, parts), parts.opened.settings, parts, store, emit, control)
        run.seconds["opening"] = time.monotonic() - begun
        return see_through(run, resumed=False)


def resume(
    run_id: int, store: Store, emit: Emit, control: Control, changed: Mapping[str, Any] = MappingProxyType({})
) -> RunFinished:
    """Go on with a stored run; `changed` are resumable settings that are others from now on, by path.

    Raises StoreError when it is unknown or somebody works on it, ProjectError when the project changed since.
    """
    store.check_free(run_id)  # before models are loaded beside those of whoever works on it
    with ExitStack() as stack:
        begun = time.monotonic()
        run = reopen(stack, run_id, store, emit, control, changed)
        run.seconds["opening"] = time.monotonic() - begun
        store.take_up(run_id)
        return see_through(run, resumed=True)


def see_through(run: Run, resumed: bool) -> RunFinished:
    """Run to the end and record how it ended, whatever happens."""
    run.emit(_started(run, resumed))
    run.heard.fresh = not resumed
    try:
        _work(run)
        status = "incomplete" if run.problems else "finished"
    except Cancelled:
        status = "interrupted"
    except NothingRead as held:
        run.problems.append(f"{held.problem} {held.remedy}")
        status = "incomplete"
    except InspectorError as error:
        # The error that ended the run is the one to be told, also where the disk is what failed.
        with suppress(StoreError):
            _end(run, "failed", [*run.problems, error.problem])
        raise
    _end(run, status, [*run.problems, *run.remarks])
    finished = _finished(run, status)
    for name, text in finished.answers.notices.items():
        if name not in run.heard.told:
            run.emit(Notice(text))
    run.emit(finished)
    return finished


def _end(run: Run, status: str, problems: Sequence[str]) -> None:
    """Record how the run ended, and under which conditions its servers answered, which only asking tells."""
    models = [run.parts.used(model) for model in (run.parts.forward, run.parts.backward)]
    if any(model.conditions for model in models):
        run.store.note_models(run.id, *models)
    learner = run.parts.opened.learner
    if learner is not None and (suite := learner.known()) is not None:  # when it began, the tests had run once
        run.store.note_suite(run.id, suite)
    run.store.finish_run(run.id, status, problems)


def _work(run: Run) -> None:
    trip = run.parts.trip
    run.seconds |= {"items": 0.0, "samples": 0.0}
    items, begun = _items(run), time.monotonic()
    admitted, expected, made, works = 0, 0, 0, list[Work]()
    for item, row, work in chain(_first_light(run, items), items):
        admitted += 1
        stored = 0 if row is None else row.made if run.parts.models else row.samples
        made += stored
        expected += trip.expected(item) if work is not None else stored
        works += [work] if work is not None else []
    run.seconds["items"] = time.monotonic() - begun - run.seconds["samples"]
    if trip.available is not None:
        run.store.note_available(run.id, trip.available)
    if task(run.settings.task).source.by_file:
        works = files_together(works)
    for text in trip.shortfall(admitted, run.settings.regions):
        run.remarks.append(text)
        if not run.known:  # else the first run of the series has said it of the same items
            run.emit(Notice(text))
    pace = Pace(expected, made)
    run.emit(pace.now())
    at_a_time = run.settings.together
    if run.parts.hosts > 1:  # none of them is to wait for another's last sample
        at_a_time = max(at_a_time, AHEAD * run.parts.hosts)
    _grow(run, Growing(run, pace), works, at_a_time)


def _grow(run: Run, growing: Growing, works: Sequence[Work], together: int = 1) -> None:
    begun = time.monotonic()
    try:
        growing.grow(works, together)
    finally:
        run.seconds["samples"] += time.monotonic() - begun


_Drawn = tuple[Item, ItemRow | None, Work | None]
"""An admitted item, its row where it was stored before, and what is to be done on it; None where it is done."""


def _first_light(run: Run, items: Iterator[_Drawn]) -> Iterator[_Drawn]:
    """Yield the first admitted item, seen through before others are drawn.

    Whoever waits for a verdict need not wait for all. Its samples are the same in any company, so nothing depends on it
    but when they come. Others are admitted meanwhile.
    """
    settings = run.settings
    served = settings.endpoint is not None or settings.backward_endpoint is not None
    # A server takes many requests at a time, more than one item has: that is worth it only where others take long to
    # be admitted, as regions of a project do.
    if not run.parts.models or (served and not task(settings.task).source.by_file):
        return
    for item, row, work in items:
        if work is not None:
            _grow(run, Growing(run, Pace(run.parts.trip.expected(item), row.made if row is not None else 0)), [work])
        yield item, row, work
        return


def files_together(works: Sequence[Work]) -> list[Work]:
    """Return items of one file one after the other, files as they were drawn: what a model has read serves them all."""
    place = {path: i for i, path in enumerate(dict.fromkeys(work.item.path for work in works))}
    return sorted(works, key=lambda work: place[work.item.path])


def _items(run: Run) -> Iterator[_Drawn]:
    trip, reader = run.parts.trip, run.store.reader
    own = reader.drawn(run.id)
    measures = reader.measures(run.id) if own and isinstance(trip, ChoosesNext) else {}
    report = Caller(run.emit, run.control).report
    for item in trip.items(run.settings.regions, run.settings.seed, {**run.known, **own}, report):
        row = own.get(item.key)
        item_id = run.store.add_item(run.id, item) if row is None else row.id
        run.emit(ItemReady(run.id, item_id, item, run.store.change if row is None else 0))
        if not item.admitted:
            continue
        if (learner := run.parts.opened.learner) is not None:
            learner.prepare()  # while the model writes: a first admission needs no more than one run of the tests
        done = row is not None and row.state == "done"
        if done and isinstance(trip, ChoosesNext):
            trip.learn(item, measures.get(item_id, {}))
        yield item, row, None if done else Work(item_id, item, begun=row is not None)


def _started(run: Run, resumed: bool) -> RunStarted:
    parts = run.parts
    return RunStarted(
        run_id=run.id,
        resumed=resumed,
        task=run.settings.task,
        project=str(parts.opened.root),
        model=parts.forward.info.name,
        backward_model=parts.backward.info.name,
        sandbox=parts.opened.oracle,
        regions=run.settings.regions,
    )


def _finished(run: Run, status: str) -> RunFinished:
    row = run.store.reader.run(run.id)
    return RunFinished(
        run_id=run.id,
        status=status,
        measures=row.scores,
        items=row.items_admitted,
        samples=row.samples,
        problems=tuple(run.problems),
        not_asked=row.not_asked,
        remarks=tuple(row.remarks),
        answers=row.answers,
        seconds=run.seconds,
    )
