"""Probe this: what the tests say of lines a person selected, and the whole round trip on them now."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from core.control import Control
from core.errors import UserError
from core.events import ItemReady, Notice
from core.judging import Judging
from core.passes import Passes, Work
from core.reopening import open_run_parts, record, reopen, reporter
from core.run import Emit, Pace, Run
from core.settings import OracleSettings, RunSettings
from core.store.writer import Store
from core.trips.ahead import patiently
from core.trips.judged import open_judged
from core.trips.protocol import SelectsCode
from core.trips.selected import selected_item
from core.trips.tasks import for_selected_code, task
from core.types import Item, Span

NAME = "tried by hand"
"""Of a run made only to hold what a person tried."""


def check(project: Path, path: str, span: Span, settings: OracleSettings, emit: Emit, control: Control) -> Item:
    """The statements around `span` with their tests, and whether deleting them is noticed; no model is asked.

    Raises UserError, Cancelled.
    """
    with ExitStack() as stack:
        report = reporter(emit, control)
        judged = open_judged(stack, project, settings, lambda text: emit(Notice(text)), report)
        control.checkpoint()
        files = {source.path: source for source in judged.codebase.files}
        select = partial(selected_item, files, judged.suite, judged.oracle, path, span)
        return patiently(select, control.checkpoint)


def probe(run_id: int, path: str, span: Span, store: Store, emit: Emit, control: Control) -> Item:
    """The round trip on the statements around `span`, added to a stored run as an extra item.

    Extra items are never part of the run's scores; a region that the run sampled itself stays the run's own. An item
    that is not admitted is stored with its reason and no model is asked. Raises UserError, ProjectError when the
    project or a model changed since the run began, Cancelled; what is stored stays, and is not made again.
    """
    with ExitStack() as stack:
        return _try(reopen(stack, run_id, store, emit, control), path, span)


def probe_alone(
    settings: RunSettings, project: Path, path: str, span: Span, store: Store, emit: Emit, control: Control
) -> Item:
    """The same in a new run that samples nothing itself. Raises UserError, Cancelled."""
    with ExitStack() as stack:
        parts = open_run_parts(stack, project, replace(for_selected_code(settings), regions=0), emit, control)
        run_id = record(store, parts)
        store.finish_run(run_id, "finished", [])
        store.rename_run(run_id, NAME)
        return _try(Run(run_id, parts.opened.settings, parts, store, emit, control), path, span)


def _try(run: Run, path: str, span: Span) -> Item:
    trip, settings = run.parts.trip, run.settings
    if not isinstance(trip, SelectsCode):
        kind = task(settings.task)
        raise UserError(
            f"Run {run.id} is about {kind.nouns}: selected code is no {kind.noun}.", "Choose a run on regions of code."
        )
    item = patiently(partial(trip.select, path, span), run.control.checkpoint)
    item_id = run.store.add_item(run.id, item)
    found = run.store.reader.existing_item(item_id)
    run.emit(ItemReady(run.id, item_id, found.item))
    if found.item.admitted:
        _draw(run, Work(item_id, found.item, found.samples), settings)
    return found.item


def _draw(run: Run, work: Work, settings: RunSettings) -> None:
    """Every sample that is missing, judged."""
    total = settings.forward_samples + (settings.forward_samples + 1) * settings.backward_samples
    with Judging(run) as judging:
        Passes(run, judging, Pace(total, sum(row.author == "model" for row in work.samples))).draw([work])
        judging.drain(wait=True)
    for problem in run.problems:
        run.emit(Notice(problem))
