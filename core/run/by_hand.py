"""What a person tries: words of their own in the model's place, and round trips on lines they selected.

Both add to a stored run, are shown with it, and never count in its scores.
"""

from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import for_selected_code, task
from rtc_inspector.core.oracle.command.commands import settings_for
from rtc_inspector.core.run.events import Control, ItemReady, Notice
from rtc_inspector.core.run.growing import Growing, Work
from rtc_inspector.core.run.opening import Caller, Emit, Heard, Pace, Run, open_parts, record, reopen
from rtc_inspector.core.settings import OracleSettings, RunSettings
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.judged import open_judged, selected_item
from rtc_inspector.core.types import Item, Span
from rtc_inspector.core.waiting import patiently

TAKEN = frozenset({"model", "commit", "comment", "rewrite"})
"""Authors that stand for the models, for words that came with an item, and for transformations."""
NOBODY = "human"  # the author of words whose writer gave no name
NAME = "tried by hand"  # of a run made only to hold what a person tried


def describe(run_id: int, item_id: int, text: str, author: str, store: Store, emit: Emit, control: Control) -> None:
    """Store `text` as a description of an item by `author`, have the code written from it, and judge that.

    The run may be finished or interrupted. Raises UserError (nothing written, a name that is taken), ProjectError when
    the project or a model changed since the run began, Cancelled when stopped; the words stay stored once the backward
    pass began.
    """
    words, name = text.strip(), author.strip() or NOBODY
    if not words:
        raise UserError("The description is empty.", "Say what the code does, then try again.")
    if name.lower() in TAKEN:
        raise UserError(f"A person's description cannot be stored under the name {name!r}.", "Give another name.")
    with ExitStack() as stack:
        run = reopen(stack, run_id, store, emit, control)
        trip = run.parts.trip
        kind = task(run.settings.task)
        if not kind.describable:
            raise UserError(f"Nobody can describe {kind.nouns} of this run by hand.", "Choose a run of round trips.")
        item = store.reader.item(item_id)
        step = trip.description(item, store.reader.tree(item_id), words, name)
        Growing(run, Pace(run.settings.backward_samples, 0)).grow_from(Work(item_id, item, begun=True), step)
        for problem in run.problems:
            emit(Notice(problem))


def check(project: Path, path: str, span: Span, settings: OracleSettings, emit: Emit, control: Control) -> Item:
    """Return the statements around `span` with their tests, and whether deleting them is noticed; no model is asked.

    Raises UserError, Cancelled.
    """
    with ExitStack() as stack:
        caller = Caller(emit, control)
        settings = settings_for(project, path, settings)
        judged = open_judged(stack, project, settings, caller.notify, caller.report, python_only=False)
        control.checkpoint()
        return patiently(partial(selected_item, judged, path, span), control.checkpoint, stack.close)


def probe(run_id: int, path: str, span: Span, store: Store, emit: Emit, control: Control) -> Item:
    """Make the round trip on the statements around `span`, added to a stored run as an extra item.

    Extra items are never part of the run's scores; a region that the run sampled itself stays the run's own. An item
    that is not admitted is stored with its reason and no model is asked. Raises UserError, ProjectError when the
    project or a model changed since the run began, Cancelled; what is stored stays, and is not made again.
    """
    with ExitStack() as stack:
        return _try(reopen(stack, run_id, store, emit, control), path, span, stack)


def probe_alone(
    settings: RunSettings, project: Path, path: str, span: Span, store: Store, emit: Emit, control: Control
) -> Item:
    """Do the same in a new run that samples nothing itself. Raises UserError, Cancelled."""
    with ExitStack() as stack:
        settings = replace(for_selected_code(settings), regions=0, oracle=settings_for(project, path, settings.oracle))
        parts = open_parts(stack, project, settings, Caller(emit, control))
        run_id = record(store, parts)
        # Before anything is tried: whatever becomes of that, the run itself draws nothing and is done.
        store.finish_run(run_id, "finished", [])
        store.rename_run(run_id, NAME)
        heard = Heard(fresh=False)
        run = Run(run_id, parts.opened.settings, parts, store, emit, control, heard=heard)
        return _try(run, path, span, stack)


def _try(run: Run, path: str, span: Span, stack: ExitStack) -> Item:
    trip, settings = run.parts.trip, run.settings
    kind = task(settings.task)
    if not kind.source.selected:
        raise UserError(
            f"Run {run.id} is about {kind.nouns}: selected code is no {kind.noun}.", "Choose a run on regions of code."
        )
    item = patiently(partial(trip.select, path, span), run.control.checkpoint, stack.close)
    item_id = run.store.add_item(run.id, item)
    stored = run.store.reader.item(item_id)  # which may be the run's own
    run.emit(ItemReady(run.id, item_id, stored, run.store.change))
    if stored.admitted:
        Growing(run, Pace(trip.expected(stored), stored.made)).grow([Work(item_id, stored, begun=True)])
        for problem in run.problems:
            run.emit(Notice(problem))
    return Item(**{each.name: getattr(stored, each.name) for each in fields(Item)})
