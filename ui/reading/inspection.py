"""What the window looks at: a database, a run in it, a region of that run. Reads in the background, follows changes.

What this window's own run says that it has stored is taken as it was said (`heed`); what other programs write is read.
Each event names the change of the run that it is, so nothing is shown that reading it all anew would not show.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from rtc_inspector.core.kinds import kind_of
from rtc_inspector.core.run.events import (
    Event,
    ItemReady,
    MeasuresReady,
    SampleReady,
    ScoresReady,
    Stored,
    VerdictReady,
)
from rtc_inspector.core.store.rows import Answers, FileRow, ItemRow, RunRow, SampleRow, Tree
from rtc_inspector.core.types import NEAR_LIMIT, Item
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.style.region_state import UNFINISHED

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader


def by_file(items: Iterable[ItemRow]) -> Iterator[FileRow]:
    """Yield the files of items, by path: how many items are admitted and done, and means of what is known of them."""
    listed = sorted((item for item in items if not item.extra and item.path), key=attrgetter("path"))
    for path, found in groupby(listed, attrgetter("path")):
        rows = list(found)
        values: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            for name, value in row.measures.items():
                values[name].append(value)
        admitted, done = sum(row.admitted for row in rows), sum(row.state == "done" for row in rows)
        means = {name: sum(each) / len(each) for name, each in values.items()}
        yield FileRow(path, admitted, done, means, "" if rows[0].has_file else rows[0].key)


T = TypeVar("T")
OVERVIEW, TRACE, COMPARISON, FIGURES = LANES = "overview", "trace", "comparison", "figures"
"""A slow look at the whole run, or at several, never holds up the trace of a region."""
SHORTEST_PAUSE = 300  # milliseconds between two looks at the database
RETRY_PAUSE = 3000  # milliseconds until a database that could not be read is tried again
ABSENT = -1  # stands for the change count of a file that is not there
IDLE_LOOK = 3.0  # seconds after which runs are read even without a commit: a killed process commits nothing


@dataclass(frozen=True, slots=True)
class LookedAt:
    """The things that the window looks at; each of its parts shows this, and nothing of what was looked at before."""

    database: Path | None = None  # ids of runs, items and samples are ids in this file
    project: Path | None = None  # the folder that is open, or that the run was made on; it need not be on this machine
    run: int | None = None  # None where there is none, and until it is known which one
    item: int | None = None  # of that run; its row may still have to be read
    sample: int | None = None  # of that item
    file: str = ""  # what the code shows: a file of the project, or one of its history

    def same_run(self, other: LookedAt) -> bool:
        return (self.database, self.run) == (other.database, other.run)


@dataclass(frozen=True, slots=True)
class Overview:
    """One look at the database: its runs, and one of them with its regions. `run` is None where there is none.

    `heard`: how often it was told what is new since it was read.
    """

    change: int
    runs: tuple[RunRow, ...]
    run: RunRow | None = None
    items: tuple[ItemRow, ...] = ()
    files: tuple[FileRow, ...] = ()
    tried: int | None = None
    heard: int = 0

    def grown(self, heard: Iterable[Stored], reader: Reader) -> Overview | None:
        """Return this with what its run has stored since, or None where something else was stored in between."""
        if self.run is None or self.run.status != "running":
            return None
        growth = _Growth(self.run, self.items)
        if not all(growth.takes(event) for event in heard if event.run_id == self.run.id):
            return None
        scores = reader.scores_of(self.run.task, [each.measures for each in growth.own])
        items = tuple(growth.items.values())
        run = replace(growth.run, scores=scores)
        return replace(self, run=run, items=items, files=tuple(by_file(items)), heard=self.heard + 1)


class _Growth:
    """A run that is at work, and its items by id, after each of the events that tell what it has stored."""

    def __init__(self, run: RunRow, items: Iterable[ItemRow]) -> None:
        self.run = run
        self.items = {item.id: item for item in items}

    @property
    def own(self) -> list[ItemRow]:
        return [item for item in self.items.values() if item.admitted and not item.extra]

    def takes(self, event: Stored) -> bool:
        """Take what an event tells, unless it is known; False where it does not follow on what is known."""
        if event.change <= self.run.changes:
            return True
        item = self.items.get(event.item_id)
        if event.change != self.run.changes + 1 or (item is None) != isinstance(event, ItemReady):
            return False
        self.run = replace(self.run, changes=event.change)
        if isinstance(event, ItemReady):
            self._add(event)
        elif item is not None:
            self._note(item, event)
        return True

    def _add(self, event: ItemReady) -> None:
        item, run = event.item, self.run
        values = {each.name: getattr(item, each.name) for each in fields(Item)}
        state = "waiting" if item.admitted else "dropped"
        self.items[event.item_id] = ItemRow(**values, id=event.item_id, run_id=run.id, state=state, task=run.task)
        if not item.extra:
            admitted, dropped = run.items_admitted + item.admitted, run.items_dropped + (not item.admitted)
            self.run = replace(run, items_admitted=admitted, items_dropped=dropped)

    def _note(self, item: ItemRow, event: Stored) -> None:
        now, run, counts = item, self.run, item.admitted and not item.extra
        if isinstance(event, SampleReady):
            sample, more = event.sample, event.sample.counted and not event.again
            by_model = sample.author == "model" and not sample.error
            heard = sample.recitation if sample.counted else None
            state = "running" if item.state == "waiting" and sample.counted else item.state
            now = replace(
                item,
                state=state,
                samples=item.samples + more,
                made=item.made + by_model,
                recitation=max((each for each in (item.recitation, heard) if each is not None), default=None),
            )
            answers = Answers.of(sample, sample.form) if counts and by_model and sample.counted else Answers()
            run = replace(run, samples=run.samples + (more and not item.extra), answers=run.answers + answers)
        elif isinstance(event, VerdictReady) and counts and event.counted and NEAR_LIMIT in event.verdict.flags:
            run = replace(run, near_limit=run.near_limit + 1)
        elif isinstance(event, MeasuresReady):
            state = item.state
            if state in ("running", "done"):
                state = "done" if event.done else "running"
            now = replace(item, state=state, measures=event.measures)
            complete = (state == "done") - (item.state == "done")
            run = replace(run, items_complete=run.items_complete + (0 if item.extra else complete))
        self.items[item.id], self.run = now, run


@dataclass(frozen=True, slots=True)
class Trace:
    """The samples of one region."""

    item: ItemRow
    samples: tuple[SampleRow, ...]

    def grown(self, item: ItemRow, heard: Iterable[Stored]) -> Trace:
        """Return this with what was stored of the region since; what is known already changes nothing."""
        kind = kind_of(item.task)
        tree = Tree(self.samples, roles=kind.roles if kind is not None else ())
        for event in heard:
            match event:
                case SampleReady() if event.sample_id not in tree:
                    tree.add(event.sample)
                case VerdictReady() if event.sample_id in tree:
                    tree.judge(event.sample_id, replace(event.verdict, tests=()))
                case ScoresReady() if event.sample_id in tree:
                    tree.score(event.sample_id, event.scores, event.reference_id)
        return Trace(item, tuple(tree.samples))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The run to show: the one of this id, else the newest of the project at `root`, else the newest of all.

    `file`: what the project was generated from. Another version of this program may have generated it elsewhere.
    """

    run_id: int | None = None
    root: str | None = None
    file: str = ""

    def among(self, runs: Sequence[RunRow]) -> RunRow | None:
        if self.run_id is not None:
            return next((run for run in runs if run.id == self.run_id), None)
        return next((run for run in reversed(runs) if self._fits(run)), None)

    def _fits(self, run: RunRow) -> bool:
        if self.root in (None, run.project_root):
            return True
        return bool(self.file) and json.loads(run.config_json).get("benchmark", {}).get("file") == self.file


class Library:
    """Readers of one database file, by thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._readers: dict[int, Reader] = {}

    def ask(self, question: Callable[[Reader], T]) -> T:
        from rtc_inspector.core.run.results import open_reader  # in the background: the window stands sooner

        # SQLite lets a connection be used by the thread alone that opened it.
        thread = threading.get_ident()
        if thread not in self._readers:
            self._readers[thread] = open_reader(self.path)
        return question(self._readers[thread])

    def close_here(self) -> None:
        reader = self._readers.pop(threading.get_ident(), None)
        if reader is not None:
            reader.close()


def look(
    library: Library,
    wanted: Wanted,
    known: int | None,
    before: Overview | None = None,
    tried: int | None = None,
    heard: Sequence[Stored] = (),
) -> Overview | None:
    """Read the runs and the wanted one with its regions; None when still as `known`.

    What is as it was before is not read again, nor what was `heard` since. `tried`: an item that this window works on
    though its run has ended.

    A file that is not there yet has no runs: the first run makes it. Raises StoreError.
    """
    if not library.path.exists():
        return None if known == ABSENT else Overview(ABSENT, ())

    def read(reader: Reader) -> Overview | None:
        change = reader.change_count()
        if change == known and not heard:
            return None
        grown = before.grown(heard, reader) if before is not None and heard else None
        runs = tuple(reader.runs(at_hand=grown.run if grown is not None else None))
        chosen = wanted.among(runs)
        if grown is not None and grown.run is not None and chosen is not None and chosen.id == grown.run.id:
            return replace(grown, change=change, runs=runs, run=chosen)
        if chosen is None:
            return Overview(change, runs)
        # A run row counts its changes: an equal one means that nothing of this run was written.
        if before is not None and chosen == before.run and before.tried == tried:
            return replace(before, change=change, runs=runs)
        items = tuple(_settled(reader.items(chosen.id), chosen, tried))
        return Overview(change, runs, chosen, items, tuple(by_file(items)), tried)

    return library.ask(read)


def _settled(items: Sequence[ItemRow], run: RunRow, tried: int | None) -> Iterator[ItemRow]:
    """Yield the items; in a run that ended nothing is running any more, and such a region is unfinished."""
    for item in items:
        ended = run.status != "running" and item.state == "running" and item.id != tried
        yield replace(item, state=UNFINISHED) if ended else item


def read_trace(item_id: int, reader: Reader) -> Trace:
    """Read a region with its samples."""
    return Trace(reader.item(item_id), tuple(reader.samples(item_id)))


class Inspection(QObject):
    """Holds what is looked at (`looked_at`) and what was last read of it."""

    moved = Signal(object, object)  # two LookedAt, before and now, at once: before anything is read
    overview_changed = Signal(object)  # an Overview
    run_chosen = Signal(object)  # the RunRow when another run is shown
    item_chosen = Signal(object)  # an ItemRow or None, before its samples are read
    trace_changed = Signal(object)  # a Trace or None

    def __init__(self, gateway: Gateway, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._gateway = gateway
        self._library: Library | None = None
        self.looked_at = LookedAt()
        self.overview: Overview | None = None
        self.taking = False
        self._by_id: dict[int, ItemRow] = {}
        self._heard: list[Stored] = []
        self._news: list[Stored] = []
        self._trace: Trace | None = None
        self._wanted = Wanted()
        self._tried: int | None = None
        self._looking = False
        self._last_look = 0.0
        self._began = 0.0
        self._last_error = ""
        self._timer = QTimer(self, singleShot=True, interval=SHORTEST_PAUSE)
        self._timer.timeout.connect(self._look)

    @property
    def database(self) -> Path | None:
        return self._library.path if self._library else None

    @property
    def stored(self) -> bool:
        """Return whether there is anything to ask: the first run makes the file."""
        return self._library is not None and self._library.path.exists()

    @property
    def run(self) -> RunRow | None:
        return self.overview.run if self.overview else None

    @property
    def item(self) -> ItemRow | None:
        return None if self.looked_at.item is None else self._by_id.get(self.looked_at.item)

    def open(self, database: Path, wanted: Wanted | None = None) -> None:
        """Look at a database, and at the newest run in it unless another is wanted."""
        self._release()
        self._library, self._wanted = Library(database), wanted or Wanted()
        for lane in LANES:
            self._gateway.on_lane_end(lane, self._library.close_here)
        self._go(database)
        self._look()

    def close(self) -> None:
        self._release()
        self._go(None)

    def choose_run(self, wanted: Wanted, item: int | None = None, sample: int | None = None) -> None:
        # The first reading of this very run is under way: to begin again would only show it later.
        if wanted == self._wanted and self._looking and self.overview is None and item is None:
            return
        self._wanted = wanted
        self._go(self.database, item, sample)
        self.refresh()

    def _release(self) -> None:
        self._timer.stop()
        if self._library is not None:
            for lane in LANES:
                # A key for each database: two that are closed one after the other must both be.
                key = f"close {lane} {id(self._library)}"
                self._gateway.submit(key, self._library.close_here, lane=lane)
        self._library, self.overview, self._wanted = None, None, Wanted()
        self._looking, self._last_error = False, ""

    def _go(self, database: Path | None, item: int | None = None, sample: int | None = None) -> None:
        """Look at the wanted run as far as it is known already, and at none that is not wanted."""
        wanted, project = self._wanted, self.looked_at.project
        run = wanted.among(self.overview.runs) if self.overview is not None else None
        if run is not None:
            self._move(LookedAt(database, self._root_of(run), run.id, item, sample))
        else:
            # A run that has just begun was not read yet: it is one of the project that is open.
            root = Path(wanted.root) if wanted.root is not None else project
            self._move(LookedAt(database, root, wanted.run_id, item, sample))
        self._tell_item()

    def _move(self, now: LookedAt) -> None:
        before = self.looked_at
        if before.project == now.project and not now.file:
            now = replace(now, file=before.file)
        self.looked_at = now
        if now == before:
            return
        if not before.same_run(now):
            self._by_id, self._tried = {}, None
            if self.overview is not None:
                self.overview = replace(self.overview, run=None, items=(), files=(), tried=None)
        self.moved.emit(before, now)

    def knows(self, item_id: int) -> bool:
        return item_id in self._by_id

    def choose_item(self, item_id: int | None, sample_id: int | None = None) -> None:
        """Choose a region of the run that is shown, and a sample of it, else the first."""
        same = item_id == self.looked_at.item
        kept = sample_id if sample_id is not None or not same else self.looked_at.sample
        self._move(replace(self.looked_at, item=item_id, sample=kept))
        self._tell_item()

    def note_sample(self, sample_id: int | None) -> None:
        if self.looked_at.item is not None:
            self._move(replace(self.looked_at, sample=sample_id))

    def note_file(self, name: str) -> None:
        if name != self.looked_at.file:
            before, self.looked_at = self.looked_at, replace(self.looked_at, file=name)
            self.moved.emit(before, self.looked_at)

    def _tell_item(self) -> None:
        item = self.item
        self.item_chosen.emit(item)
        if item is None:
            self._gateway.cancel("trace")
            self.trace_changed.emit(None)
        else:
            self._read_trace(item.id)

    def heed(self, events: Sequence[Event]) -> None:
        """Take note of what this window's own run has stored in the open database; it is shown at the next look."""
        stored = [event for event in events if isinstance(event, Stored)]
        self._heard += stored
        self._news += [event for event in stored if event.item_id == self.looked_at.item]

    def work_on(self, item_id: int | None) -> None:
        """Note the item that this window tries now: it is being worked on, though its run may have ended."""
        if item_id != self._tried:
            self._tried = item_id
            self.refresh()

    def refresh(self) -> None:
        self._looking = False
        self._look(force=True)

    def ask(
        self,
        key: str,
        question: Callable[[Reader], T],
        on_result: Callable[[T], None],
        on_error: Callable[[Exception], None] | None = None,
        lane: str = TRACE,
        *,
        of_run: bool = True,
    ) -> None:
        """Ask the database something of one's own, if it is there; late answers are dropped by `key`.

        An answer is dropped, too, where another database is looked at meanwhile, or, of a question `of_run`, another
        run.
        """
        if self._library is None or not self.stored:
            return
        asked = self.looked_at

        def unless_moved(hear: Callable[[Any], None], answer: Any) -> None:
            now = self.looked_at
            if now.same_run(asked) if of_run else now.database == asked.database:
                hear(answer)

        fail = partial(unless_moved, on_error or self._gateway.failed.emit)
        self._gateway.submit(key, partial(self._library.ask, question), partial(unless_moved, on_result), fail, lane)

    def report(self, error: Exception) -> None:
        self._gateway.failed.emit(error)

    def forget(self, key: str) -> None:
        self._gateway.cancel(key)

    def _look(self, force: bool = False) -> None:
        if self._library is None or self._looking:
            return
        self._looking, self._began = True, time.monotonic()
        # Only a running run can be killed; one that ended is read again when something is committed.
        unfinished = self.overview is not None and any(run.status == "running" for run in self.overview.runs)
        stale = unfinished and self._began - self._last_look > IDLE_LOOK
        change = self.overview.change if self.overview and not (force or stale) else None
        heard, self._heard = self._heard, []
        work = partial(look, self._library, self._wanted, change, self.overview, self._tried, () if force else heard)
        self._gateway.submit("overview", work, self._take, self._fail, lane=OVERVIEW)

    def _take(self, overview: Overview | None) -> None:
        """Pass on what was read; look again after a pause that grows with the time reading took."""
        self._looking, self._last_error = False, ""
        took = time.monotonic() - self._began
        # Rests twice as long as it read: a database that takes seconds must not keep a core busy for good.
        self._timer.start(max(SHORTEST_PAUSE, int(took * 2000)))
        if overview is None:
            return
        self._last_look = time.monotonic()
        self.taking = True
        try:
            self._show(overview)
        finally:
            self.taking = False

    def _show(self, overview: Overview) -> None:
        before, old_items, shown = self.overview, self._by_id, self.item
        items = {item.id: item for item in overview.items}
        self._move(seen := self._seen(overview, items))
        self.overview, self._by_id = overview, items
        self.overview_changed.emit(overview)
        shown_run = before.run.id if before is not None and before.run is not None else None
        if overview.run is not None and shown_run != overview.run.id:
            self.run_chosen.emit(overview.run)
        if self.looked_at.item != seen.item:
            return  # who heard of the run chose a region of it
        # Only now are the regions of the other run known.
        if (shown is None) != (self.item is None):
            self._tell_item()
        else:
            self._follow_item(before, old_items)

    def _seen(self, overview: Overview, items: Mapping[int, ItemRow]) -> LookedAt:
        """Return what is looked at by what was read: of a run or an item that is not there, nothing."""
        now, run = self.looked_at, overview.run
        if run is None:
            return LookedAt(now.database, now.project)
        item, sample = (now.item, now.sample) if now.item in items else (None, None)
        return LookedAt(now.database, self._root_of(run), run.id, item, sample)

    def _root_of(self, run: RunRow) -> Path:
        """Return the project of a run; of a benchmark that was written elsewhere, the folder it has now."""
        root, wanted = Path(run.project_root), self._wanted
        return Path(wanted.root) if wanted.run_id is None and wanted.root and not root.is_dir() else root

    def _follow_item(self, before: Overview | None, items: dict[int, ItemRow]) -> None:
        """Read the chosen region's trace again when something may have come to it, counted or not."""
        item, run, now = self.item, self.run, self.overview
        all_heard = now is not None and before is not None and now.heard > before.heard
        if item is not None and self._trace is not None and self._trace.item.id == item.id and all_heard:
            if self._news or self._trace.item != item:
                self._show_trace(self._trace)
            return
        stored = run is not None and (before is None or before.run is None or before.run.changes != run.changes)
        if item is not None and (stored or items.get(item.id) != item or item.state == "running"):
            self._read_trace(item.id)

    def _fail(self, error: Exception) -> None:
        """Say it once, and try again now and then: a lock goes away."""
        self._looking = False
        self._timer.start(RETRY_PAUSE)
        # It is read every few seconds: the same notice each time would bury all others.
        if str(error) != self._last_error:
            self._last_error = str(error)
            self._gateway.failed.emit(error)

    def _read_trace(self, item_id: int) -> None:
        self._news, self._trace = [], None
        self.ask("trace", partial(read_trace, item_id), self._show_trace)

    def _show_trace(self, trace: Trace) -> None:
        """Show a trace; a region of a run that ended is as unfinished here as it is in the list."""
        if trace.item.id != self.looked_at.item:
            return
        listed = self._by_id.get(trace.item.id)
        trace = self._trace = trace.grown(listed or trace.item, self._news)
        self._news = []
        ended = listed is not None and listed.state == UNFINISHED and trace.item.state == "running"
        self.trace_changed.emit(replace(trace, item=replace(trace.item, state=UNFINISHED)) if ended else trace)


SHORTEST_REST = 500  # milliseconds between two readings


class Rereading(QObject):
    """One reading at a time, and a rest after each; `rested` when the next one may begin."""

    rested = Signal()

    def __init__(self, inspection: Inspection, parent: QObject, key: str, lane: str, times: int) -> None:
        """Questions of one `key` replace each other; a rest is so many `times` as long as the reading before it."""
        super().__init__(parent)
        self._inspection, self._key, self._lane, self._times = inspection, key, lane, times
        self._asking = False
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self.rested)
        # The answer of another database will never come.
        inspection.moved.connect(self._move)

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        if before.database != now.database:
            self.forget()

    @property
    def busy(self) -> bool:
        return self._asking or self._rest.isActive()

    def ask(
        self,
        question: Callable[[Reader], T],
        show: Callable[[T], None],
        fail: Callable[[Exception], None] | None = None,
    ) -> None:
        """Ask at once, even in a rest; an earlier question is dropped. `fail` None: a notice says why it failed."""
        self._rest.stop()
        self._asking = True
        began = time.monotonic()

        def rest() -> None:
            # The longer the longer the reading took: a run that goes on needs the processor too.
            self._asking = False
            self._rest.start(max(SHORTEST_REST, int((time.monotonic() - began) * 1000 * self._times)))

        def answer(found: T) -> None:
            rest()
            show(found)

        def refuse(error: Exception) -> None:
            rest()
            (fail or self._inspection.report)(error)

        self._inspection.ask(self._key, question, answer, refuse, lane=self._lane, of_run=False)

    def forget(self) -> None:
        self._inspection.forget(self._key)
        self._rest.stop()
        # Nobody will tell that the question that was dropped has ended.
        self._asking = False
