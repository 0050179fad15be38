"""What a person tries: words of their own in the model's place, and round trips on lines they selected.

Both add to a stored run, are shown with it, and never count in its scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import for_selected_code, task
from rtc_inspector.core.oracle.command.commands import find_command, settings_for
from rtc_inspector.core.oracle.command.oracle import CommandOracle
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.run.control import Control
from rtc_inspector.core.run.events import ItemReady, Notice
from rtc_inspector.core.run.growing import Growing, Work
from rtc_inspector.core.run.opening import Caller, Emit, Heard, Pace, Run, open_parts, record, reopen
from rtc_inspector.core.settings import OracleSettings, RegionSettings, RunSettings, with_workers
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.syntax import NEWLINE
from rtc_inspector.core.trips.judged import learn, open_judged, open_named, selected_item
from rtc_inspector.core.trips.opening import opener
from rtc_inspector.core.trips.protocol import SelectsCode, TakesDescriptions
from rtc_inspector.core.types import (
    Candidate,
    Codebase,
    Item,
    LearnsLater,
    Notify,
    Region,
    Report,
    SourceFile,
    Span,
    Verdict,
    counted_tests,
)
from rtc_inspector.core.waiting import patiently

TAKEN = frozenset({"model", "commit", "comment", "rewrite"})
"""Authors that stand for the models, for words that came with an item, and for transformations."""
NOBODY = "human"
"""The author of words whose writer gave no name."""
NAME = "tried by hand"
"""Of a run made only to hold what a person tried."""


def describe(run_id: int, item_id: int, text: str, author: str, store: Store, emit: Emit, control: Control) -> None:
    """Store `text` as a description of an item by `author`, have the code written from it, and judge that.

    The run may be finished or interrupted. Raises UserError (nothing written, a name that is taken), ProjectError when
    the project or a model changed since the run began, Cancelled when stopped; the words stay stored once the backward
    pass began.
    """
    words, name = _words(text), _name(author)
    with ExitStack() as stack:
        run = reopen(stack, run_id, store, emit, control)
        trip = run.parts.trip
        if not isinstance(trip, TakesDescriptions):
            kind = task(run.settings.task)
            raise UserError(f"Nobody can describe {kind.nouns} of this run by hand.", "Choose a run of round trips.")
        item = store.reader.item(item_id)
        step = trip.description(item, store.reader.tree(item_id), words, name)
        Growing(run, Pace(run.settings.backward_samples, 0)).grow_from(Work(item_id, item, begun=True), step)
        for problem in run.problems:
            emit(Notice(problem))


def _words(text: str) -> str:
    if not text.strip():
        raise UserError("The description is empty.", "Say what the code does, then try again.")
    return text.strip()


def _name(author: str) -> str:
    name = author.strip() or NOBODY
    if name.lower() in TAKEN:
        raise UserError(f"A person's description cannot be stored under the name {name!r}.", "Give another name.")
    return name


def check(project: Path, path: str, span: Span, settings: OracleSettings, emit: Emit, control: Control) -> Item:
    """The statements around `span` with their tests, and whether deleting them is noticed; no model is asked.

    Raises UserError, Cancelled.
    """
    with ExitStack() as stack:
        caller = Caller(emit, control)
        settings = settings_for(project, path, settings)
        judged = open_judged(stack, project, settings, caller.notify, caller.report, python_only=False)
        control.checkpoint()
        return patiently(partial(selected_item, judged, path, span), control.checkpoint, stack.close)


def probe(run_id: int, path: str, span: Span, store: Store, emit: Emit, control: Control) -> Item:
    """The round trip on the statements around `span`, added to a stored run as an extra item.

    Extra items are never part of the run's scores; a region that the run sampled itself stays the run's own. An item
    that is not admitted is stored with its reason and no model is asked. Raises UserError, ProjectError when the
    project or a model changed since the run began, Cancelled; what is stored stays, and is not made again.
    """
    with ExitStack() as stack:
        return _try(reopen(stack, run_id, store, emit, control), path, span, stack)


def probe_alone(
    settings: RunSettings, project: Path, path: str, span: Span, store: Store, emit: Emit, control: Control
) -> Item:
    """The same in a new run that samples nothing itself. Raises UserError, Cancelled."""
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
    if not isinstance(trip, SelectsCode):
        kind = task(settings.task)
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


# ---- without a run


def sample_items(project: Path, settings: RunSettings, notify: Notify, report: Report) -> Iterator[Item]:
    """Draw and admit items as a run with these settings would. Raises UserError; ProjectError when none is admitted."""
    settings = replace(settings, oracle=with_workers(settings.oracle, usable_cores()))
    with ExitStack() as stack:
        opened = opener(settings.task)(stack, project, settings, notify, report)
        admitted = 0
        for item in opened.trip.items(settings.regions, opened.settings.seed, {}, report):
            admitted += item.admitted
            yield item
        for text in opened.trip.shortfall(admitted, settings.regions):
            notify(text)


def try_tests(project: Path, settings: OracleSettings, report: Report) -> str:
    """Run a project's own test command on the untouched project, and say what it gave. Raises UserError."""
    said: list[str] = []
    command = find_command(project, settings)
    if command is None:
        return "The tests of a Python project are run when a run begins."
    with ExitStack() as stack:
        codebase = open_named(project, lambda _: None, command)
        judged = learn(stack, codebase, replace(settings, cache=False), said.append, report, command)
        suite, oracle = judged.suite, judged.oracle
        count = oracle.trusted if isinstance(oracle, CommandOracle) else 0
    lines = sum(bool(tests) for by_line in suite.coverage.lines.values() for tests in by_line.values())
    passed = f"{counted_tests(count)} passed" if count else "The command ended well"
    covered = f"{lines:,} lines run" if suite.coverage.traced else "which lines run is not known"
    left = f", {len(suite.excluded)} set aside" if suite.excluded else ""
    told = [text for text in said if text not in said[:1]]  # what is first names the command, which is known
    return " ".join([f"{passed} in {suite.seconds:.1f} s{left}; {covered}.", *told])


def judge_span(
    project: Path,
    path: str,
    span: Span,
    replacement: str,
    oracle_settings: OracleSettings,
    notify: Notify,
    report: Report,
) -> Verdict:
    """Judge `path` with `span` replaced, by the tests that cover the span. Raises UserError, before any test runs."""
    oracle_settings = settings_for(project, path, oracle_settings)
    command = find_command(project, oracle_settings)
    codebase = open_named(project, notify, command)
    source = _source(codebase, path)
    region = _region(source, span)
    with ExitStack() as stack:
        judged = learn(stack, codebase, oracle_settings, notify, report, command)
        covered = cover([region], judged.suite.coverage, RegionSettings(coverage="any"), source)
        tests = covered[0].tests if covered else ()
        oracle = judged.oracle
        how = oracle.judge_now if isinstance(oracle, LearnsLater) else oracle.judge
        judge = partial(how, Candidate(source, span, replacement), tests, every_test=True)
        return patiently(judge, partial(report, "judging", 0, 1), stack.close)


def _source(codebase: Codebase, path: str) -> SourceFile:
    """The project's file at `path`, given relative to its root or to the working folder. Raises UserError."""
    given = Path(path)
    with suppress(KeyError):
        return codebase.file(given.as_posix())
    inside = given.resolve().relative_to(codebase.root) if given.resolve().is_relative_to(codebase.root) else given
    with suppress(KeyError):
        return codebase.file(inside.as_posix())
    reasons = {skipped.path: skipped.reason for skipped in codebase.skipped}
    if inside.as_posix() in reasons:
        raise UserError(f"{path} was left out: {reasons[inside.as_posix()]}.", "Mend the file, or name another one.")
    raise UserError(
        f"The project has no file {path} whose code its tests judge.",
        "Give --path relative to the project's folder, as `sample` prints it.",
    )


def _region(source: SourceFile, span: Span) -> Region:
    """The span as it stands, whether or not it holds whole statements. Raises UserError when out of the file."""
    if not 0 <= span.start <= span.end <= len(source.text):
        raise UserError(
            f"Characters {span.start} to {span.end} do not lie in {source.path}, which has {len(source.text)}.",
            "Give --start and --end as character offsets, 0 <= start <= end <= length.",
        )
    text = source.text[span.start : span.end]
    first = 1 + len(NEWLINE.findall(source.text[: span.start]))
    return Region(source.path, span, first, first + len(NEWLINE.findall(text)), text)
