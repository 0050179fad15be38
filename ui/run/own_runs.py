"""The runs of one window: those that wait for their turn with the dialog that shows them, and the one at work."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from rtc_inspector.core.kinds import counted, task
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.run.estimate import estimate
from rtc_inspector.core.run.events import Event, Progress, SampleReady, TextStreamed
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import PaceRow, RunRow
from rtc_inspector.core.types import Codebase, Item, Span
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.code.selecting import QUEUED
from rtc_inspector.ui.reading.inspection import Inspection, LookedAt, Wanted
from rtc_inspector.ui.reading.open_project import OpenProject
from rtc_inspector.ui.run.control import RunControl
from rtc_inspector.ui.shell.bars import Answer, NoticeText, Offer, OfferBar, duration
from rtc_inspector.ui.shell.fields import show_modal
from rtc_inspector.ui.shell.model_options import backward_value, forward_value
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.controls import PAGE, PushButton, bind, called, column, label, push, row
from rtc_inspector.ui.style.fonts import open_at
from rtc_inspector.ui.style.theme import SPACE
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.window_parts import WindowParts


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to come: a new one with its settings, or a stored one (`run_id`) that is to be gone on with."""

    number: int
    project: Path
    database: Path
    settings: RunSettings
    run_id: int | None = None

    @property
    def title(self) -> str:
        settings = self.settings
        if self.run_id is not None:
            return f"Resume run {self.run_id} · {self.project.name}"
        model = _name(forward_value(settings)) or "bundled model"
        other = _name(backward_value(settings))
        backward = f" → {other}" if other else ""
        count = f"{settings.regions:,} × {settings.forward_samples} × {settings.backward_samples}"
        others = f" and {settings.series.runs - 1} more" if settings.series is not None else ""
        return f"{self.project.name} · {settings.task} · {model}{backward}{others} · {count} · seed {settings.seed}"

    def to_json(self) -> dict[str, Any]:
        return {
            "project": str(self.project),
            "database": str(self.database),
            "settings": self.settings.to_json(),
            "run": self.run_id,
        }

    @classmethod
    def from_json(cls, number: int, data: Mapping[str, Any]) -> Self:
        """Read back what `to_json` gave. Raises ValueError, TypeError, KeyError, AttributeError for anything else."""
        settings = RunSettings.from_json(data["settings"])
        return cls(number, Path(data["project"]), Path(data["database"]), settings, data["run"])


class RunQueue(QObject):
    """In the order they will begin. `changed` says that it is another list now, or is held, or goes on."""

    changed = Signal()

    def __init__(self, remembered: Remembered, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._remembered = remembered
        self._numbers = count(1)
        self.held = False
        self._begun: QueuedRun | None = None
        self.runs: list[QueuedRun] = []
        for data in remembered.queue():
            with suppress(ValueError, TypeError, KeyError, AttributeError):  # of another version, or written by hand
                self.runs.append(QueuedRun.from_json(next(self._numbers), data))  # type: ignore[arg-type]

    def add(self, project: Path, database: Path, settings: RunSettings, run_id: int | None = None) -> QueuedRun:
        run = QueuedRun(next(self._numbers), project, database, settings, run_id)
        self.runs.append(run)
        self.keep()
        return run

    def remove(self, number: int | None) -> None:
        self.runs = [run for run in self.runs if run.number != number]
        self.keep()

    def move(self, number: int | None, step: int) -> None:
        at = next((at for at, run in enumerate(self.runs) if run.number == number), None)
        if at is not None and 0 <= at + step < len(self.runs):
            self.runs[at], self.runs[at + step] = self.runs[at + step], self.runs[at]
            self.keep()

    def take(self) -> QueuedRun:
        # Kept in the settings until it is in the database: a window killed in between would lose it.
        self._begun = self.runs.pop(0)
        self.keep()
        return self._begun

    def forget_begun(self) -> None:
        """Forget the one taken last: it is in the database, or came to nothing and said why."""
        if self._begun is not None:
            self._begun = None
            self.keep()

    def clear(self) -> None:
        self.runs = []
        self.keep()

    def hold(self, held: bool) -> None:
        self.held = held and bool(self.runs)
        self.changed.emit()

    def keep(self) -> None:
        # An empty one is held back no longer: what is added to it later begins by itself.
        self.held = self.held and bool(self.runs)
        begun = [self._begun] if self._begun else []
        self._remembered.keep_queue([run.to_json() for run in [*begun, *self.runs]])
        self.changed.emit()


def _name(value: str) -> str:
    return Path(value).stem if value.endswith(".gguf") else value


WAITED, UNFINISHED, NEXT = "queue", "unfinished", "next"
PAUSE = 200  # milliseconds between the end of a run and the next one, in which its end is shown


class Queueing(QObject):
    """Begins runs: now, or when those before them have ended, well or not."""

    began = Signal(object)  # the QueuedRun whose turn came

    def __init__(self, control: RunControl, remembered: Remembered, offers: OfferBar) -> None:
        """Take up the queue of the last time, held, and offer to go on with it."""
        super().__init__(control)
        self._control, self._remembered, self._offers = control, remembered, offers
        self.queue = RunQueue(remembered, self)
        goes_on, remembered.goes_on = remembered.goes_on, False
        self.queue.held = bool(self.queue.runs) and not goes_on
        self.by_itself = False
        self._project: Path | None = None
        self._unfinished: Sequence[RunRow] = ()  # on any project
        self._offered: Sequence[RunRow] = ()  # on the project that is open
        self._unfinished_in: Path | None = None
        self._show_all: Callable[[], object] = lambda: None
        self._next = QTimer(self, singleShot=True, interval=PAUSE)
        self._next.timeout.connect(self._begin_next)
        control.ended.connect(self._note_end)
        control.started.connect(lambda _: self.queue.forget_begun())
        control.coordinator.state_changed.connect(self._note_state)
        if self.queue.held:
            runs = self.queue.runs
            text = f"{counted(len(runs), 'run')} waited when the window was closed: {runs[0].title}"
            text += f", and {len(runs) - 1} more." if len(runs) > 1 else "."
            self._offers.offer(Offer(WAITED, text, (("Start", self.go_on), ("Discard", self.queue.clear))))
        elif self.queue.runs:
            self._next.start()

    def start(self, project: Path | None, database: Path | None, settings: RunSettings | None = None) -> bool:
        settings = settings or self._control.settings
        if not self._control.busy:
            self.by_itself = False
            return self._control.begin(project, database, settings)
        place = self._control.place(project, database, settings)
        if place is None:
            return False
        self.queue.add(*place, settings)
        return True

    def resume(self, run: RunRow, database: Path) -> bool:
        """Go on with a stored run, now or when its turn comes; whether it began now."""
        if self._control.busy:
            self._line_up(run, database)
            return False
        self.by_itself = False
        return self._resume(run.id, database, Path(run.project_root))

    def go_on_next_time(self) -> None:
        """Have the run at work, and what waits behind it, go on by itself when the window opens next."""
        number, project, database = self._control.coordinator.run_id, self._control.run_on, self._control.database
        if number is not None and project is not None and database is not None:
            self.queue.add(project, database, RunSettings(), number)
            self.queue.runs.insert(0, self.queue.runs.pop())
            self.queue.keep()
            self._remembered.goes_on = True

    def hold(self) -> None:
        self._next.stop()
        self.queue.hold(True)

    def go_on(self) -> None:
        """Begin the first one, now or when the run at work has ended."""
        self._offers.withdraw(WAITED)
        self.queue.hold(False)
        self._begin_next()

    def offer_unfinished(self, runs: Sequence[RunRow], database: Path, show_all: Callable[[], object]) -> None:
        """Offer to go on with runs that were interrupted, unless the user said no to them before."""
        queued = {(each.database, each.run_id) for each in self.queue.runs}
        left = [
            run
            for run in sorted(runs, key=lambda run: -run.id)
            if run.status == "interrupted"
            and (database, run.id) not in queued
            and not self._remembered.is_declined(database, run.id)
        ]
        self._unfinished_in, self._show_all = database, show_all
        self.withdraw_unfinished()
        self._offer_to_resume(left)

    def withdraw_unfinished(self) -> None:
        self._offer_to_resume(())

    def look_at(self, project: Path | None) -> None:
        self._project = project
        self._offer_to_resume(self._unfinished)

    def note_runs(self, runs: Sequence[RunRow]) -> None:
        interrupted = {run.id for run in runs if run.status == "interrupted"}
        self._offer_to_resume([run for run in self._unfinished if run.id in interrupted])

    def _resume(self, run_id: int, database: Path, project: Path) -> bool:
        self._offer_to_resume([run for run in self._unfinished if run.id != run_id])
        return self._control.resume(run_id, database, project)

    def _offer_to_resume(self, left: Sequence[RunRow]) -> None:
        """Offer to go on with those of these runs that are on the open project, unless they are on offer already."""
        self._unfinished = left
        left = [run for run in left if Path(run.project_root) == self._project]
        if [run.id for run in left] == [run.id for run in self._offered]:
            return
        self._offered = left
        if not left:
            self._offers.withdraw(UNFINISHED)
            return
        words = "Resume" if len(left) == 1 else f"Resume all {len(left)}"
        choices: list[Answer] = [(words, self._resume_all), ("All runs…", self._show_all), ("Not now", self._decline)]
        run, others = left[0], counted(len(left) - 1, "earlier run")
        text = f"Run {run.id} on {run.project_name} with {run.model_name} did not finish: "
        text += f"{run.items_complete} of {run.items_expected} done"
        text += "." if len(left) == 1 else f"; {others} did not either."
        self._offers.offer(Offer(UNFINISHED, text, choices))

    def _decline(self) -> None:
        if self._unfinished_in is not None:
            self._remembered.decline(self._unfinished_in, [run.id for run in self._offered])
        self._forget_offered()

    def _forget_offered(self) -> None:
        self._unfinished = [run for run in self._unfinished if run not in self._offered]
        self._offered = ()

    def _resume_all(self) -> None:
        left = self._offered
        # First, for each that begins would make the offer anew with one fewer.
        self._forget_offered()
        for run in left:
            if self._unfinished_in is not None:
                self._line_up(run, self._unfinished_in)
        self.go_on()

    def _line_up(self, run: RunRow, database: Path) -> None:
        if all((each.database, each.run_id) != (database, run.id) for each in self.queue.runs):
            self.queue.add(Path(run.project_root), database, RunSettings(), run.id)

    def _begin_next(self) -> None:
        if self.queue.held or self._control.busy or not self.queue.runs:
            return
        self.by_itself = True
        entry = self.queue.take()
        self.began.emit(entry)
        # It could not begin, e.g. since its project is gone; a notice said so. The others need not wait.
        if not self._begin(entry):
            self.queue.forget_begun()
            self._next.start()

    def _begin(self, entry: QueuedRun) -> bool:
        if entry.run_id is not None:
            return self._resume(entry.run_id, entry.database, entry.project)
        return self._control.begin(entry.project, entry.database, entry.settings)

    def _note_end(self) -> None:
        """Go on to the next run, however this one ended: what stopped it was said."""
        self.queue.forget_begun()
        if self.queue.runs and not self.queue.held:
            self._next.start()

    def _note_state(self, state: RunState) -> None:
        """Hold the queue when a run is stopped: whoever stops one does not want the next to begin at once."""
        if state is RunState.STOPPING and self.queue.runs:
            self.queue.hold(True)


HELD = "The queue waits. Nothing begins until you press “Go on”."
GOING = "The next one begins by itself when the run at work has ended."
EMPTY = "No run waits. Press Run while one is at work, and the next one waits here."


class QueueDialog(QDialog):
    """Stays up to date while runs end and begin."""

    def __init__(self, queueing: Queueing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Queue of runs")
        self._queue = queue = queueing.queue
        self.said, self.list = label(role="muted", wrap=True), called(QListWidget(), "Runs that wait")
        self.earlier, self.later, self.remove = (PushButton(text) for text in ("Earlier", "Later", "Remove"))
        self.hold = PushButton()
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.currentRowChanged.connect(self._offer)
        acts = (
            (self.earlier, "Alt+Up", lambda: queue.move(self._chosen(), -1), "Begin this run earlier (Alt+Up)"),
            (self.later, "Alt+Down", lambda: queue.move(self._chosen(), 1), "Begin this run later (Alt+Down)"),
            (self.remove, "Delete", lambda: queue.remove(self._chosen()), "Take this run out of the queue (Delete)"),
        )
        for button, key, act, tip in acts:
            button.setToolTip(tip)
            # The default value keeps this turn's act; `_` takes what the signal says.
            button.clicked.connect(lambda _=False, act=act: act())
            bind(self.list, key, act, tip)
        self.hold.clicked.connect(lambda: queueing.go_on() if queue.held else queueing.hold())
        close = push("Close", "", self.reject)
        foot = row(self.earlier, self.later, self.remove, None, close, self.hold)
        column(self.said, self.list, foot, margins=PAGE, spacing=SPACE, owner=self, grows=self.list)
        open_at(self, 760, 380)
        queue.changed.connect(self._show)
        self._show()

    def _chosen(self) -> int | None:
        item = self.list.currentItem()
        return item.data(Qt.ItemDataRole.UserRole) if item else None

    def _show(self) -> None:
        chosen, runs = self._chosen(), self._queue.runs
        self.list.clear()
        for place, run in enumerate(runs, 1):
            item = QListWidgetItem(f"{place}.  {run.title}")
            item.setData(Qt.ItemDataRole.UserRole, run.number)
            item.setToolTip(f"{run.project}\n{run.database}")
            self.list.addItem(item)
        row = next((row for row, run in enumerate(runs) if run.number == chosen), 0)
        self.list.setCurrentRow(min(row, len(runs) - 1))
        self.said.setText(EMPTY if not runs else HELD if self._queue.held else GOING)
        self.hold.setText("Go on" if self._queue.held else "Hold")
        self.hold.setEnabled(bool(runs))
        self._offer()

    def _offer(self) -> None:
        row, count = self.list.currentRow(), self.list.count()
        self.earlier.setEnabled(row > 0)
        self.later.setEnabled(0 <= row < count - 1)
        self.remove.setEnabled(row >= 0)


class OwnRun(QObject):
    """Joins run and queue of one window with its bars and views."""

    def __init__(
        self,
        parts: WindowParts,
        control: RunControl,
        queueing: Queueing,
        inspection: Inspection,
        project: OpenProject,
        browsing: Browsing,
        follow: QAction,
    ) -> None:
        """`follow` is the action that is on while the views go along with the run."""
        super().__init__(parts)
        self._parts, self._control, self._queueing, self._follow = parts, control, queueing, follow
        self._inspection, self._project, self._browsing = inspection, project, browsing
        self._wrote = False
        self._paces: Sequence[PaceRow] = ()
        self._there: int | None = None  # how many items there are to draw from, as far as that is known
        coordinator = control.coordinator
        parts.bar.task.chosen.connect(control.choose_task)
        control.started.connect(self._show_started)
        control.adopted.connect(self._show_task)
        control.progressed.connect(self._show_progress)
        control.batch.connect(self._take_events)
        control.ended.connect(inspection.refresh)
        coordinator.state_changed.connect(lambda _: self._show_state())
        inspection.moved.connect(self._move)
        inspection.overview_changed.connect(lambda _: self._show_preparing())
        parts.preparing.left.connect(self._leave_preparing)
        for view in (parts.tree, parts.regions.table):
            view.clicked.connect(self._leave_preparing)
        parts.tree.file_chosen.connect(lambda _: self._leave_preparing())
        coordinator.finished.connect(parts.roundtrip.end_writing)
        queueing.queue.changed.connect(self._count_queue)
        queueing.began.connect(self._announce)
        for signal in (control.ended, queueing.queue.changed):
            signal.connect(lambda: None if control.busy else parts.notices.withdraw(NEXT))
        project.opened.connect(lambda _: self._ask_paces())
        for signal in (project.opened, control.adopted):
            signal.connect(lambda _: self._count_items())
        for signal in (inspection.overview_changed, control.adopted, coordinator.state_changed):
            signal.connect(lambda _: self._offer_run())
        self._show_task(control.settings)
        self._count_queue()

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {"queue": self.show_queue, "follow": lambda: self._set_follow(self._follow.isChecked())}

    def show_queue(self) -> None:
        show_modal(QueueDialog(self._queueing, self._parts.window()))

    def _announce(self, run: QueuedRun) -> None:
        """Say whose turn has come, until it has ended."""
        notice = NoticeText(f"Next in the queue: {run.title}.", topic=NEXT, everywhere=True)
        self._parts.notices.say(notice)

    def _show_started(self, run_id: int) -> None:
        """Show the run that began, unless its turn came by itself while the user looks at something else."""
        elsewhere, blind = self._control.database != self._inspection.database, self._parts.labels.blind.isChecked()
        # A run that is shown tells its model, which an annotator must not know.
        if elsewhere or blind or (self._queueing.by_itself and not self._browsing.follow):
            return
        self._project.reload()
        self._inspection.choose_run(Wanted(run_id))
        self._set_follow(True)

    def _show_progress(self, progress: Progress) -> None:
        self._parts.status.show_progress(progress)
        self._parts.preparing.note(progress)
        self._parts.roundtrip.say_stage(self._parts.preparing.words)

    def _leave_preparing(self) -> None:
        self._wrote = True
        self._show_preparing()

    def _show_preparing(self) -> None:
        """Say what a run on this very project does, until its model begins to write."""
        control, now, run = self._control, self._inspection.looked_at, self._inspection.run
        root, number = control.run_on, control.coordinator.run_id
        here = root is not None and root in (now.project, self._project.root) and control.database == now.database
        mine = now.run is None or now.run == number
        done = run is not None and run.id == number and run.items_complete > 0
        self._parts.prepare(here and mine and not done and not self._wrote)

    def _take_events(self, events: Sequence[Event]) -> None:
        self._wrote = self._wrote or any(isinstance(event, TextStreamed | SampleReady) for event in events)
        self._show_preparing()
        self._show_state()  # the run's number may have come
        # Numbers of items mean others in another database.
        if self._control.database == self._inspection.database:
            self._inspection.heed(events)
            self._browsing.take(events)
        self._follow.setChecked(self._browsing.follow)

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        self._show_preparing()
        self._offer_run()
        if not before.same_run(now):
            self._show_state()
            if now.run is None:
                self._parts.set_kind(task(self._control.settings.task))

    def _set_follow(self, follow: bool) -> None:
        self._browsing.follow = follow
        self._follow.setChecked(follow)

    def _show_task(self, settings: RunSettings) -> None:
        self._parts.bar.task.choose(settings.task)
        if self._inspection.run is None:
            self._parts.set_kind(task(settings.task))

    def _show_state(self) -> None:
        state, database = self._control.coordinator.state, self._control.database
        elsewhere = database.name if database is not None and database != self._inspection.database else ""
        preparing = self._parts.preparing
        if self._control.run_on is None:
            preparing.end()
            self._parts.roundtrip.say_stage("")
        elif not preparing.begun:
            self._wrote = False
            preparing.begin(task(self._control.settings.task))
        self._show_preparing()
        self._parts.bar.show_state(state)
        self._parts.status.show_state(state, self._control.coordinator.run_id, elsewhere)

    # ---- a project without a run

    def _ask_paces(self) -> None:
        if self._inspection.looked_at.run is None and self._inspection.stored:
            self._inspection.ask("first run", lambda reader: reader.paces(), self._set_paces, of_run=False)
        self._offer_run()

    def _count_items(self) -> None:
        """Count what a first run can draw from: in a file of problems or cells all, in code as far as is wanted."""
        settings, codebase = self._control.settings, self._project.codebase
        source, self._there = task(settings.task).source, None
        if codebase is None or self._inspection.looked_at.run is not None:
            return
        if source.name in ("problems", "cells"):
            self._there = len(origin_of(codebase.root).keys) or None
            self._offer_run()
        elif source.selected:
            count = partial(_how_many, codebase, settings)
            self._project.gateway.submit("items to draw from", count, self._set_there)

    def _set_there(self, number: int) -> None:
        self._there = number or None
        self._offer_run()

    def _set_paces(self, paces: Sequence[PaceRow]) -> None:
        self._paces = paces
        self._offer_run()

    def _offer_run(self) -> None:
        """Have one button that goes on, with what it costs, where a project has no run and none is at work."""
        run, settings = self._inspection.run, self._control.settings
        stopped = run is not None and run.status == "interrupted"
        progress = f"{run.items_complete} of {run.items_expected}" if run is not None and stopped else ""
        self._parts.bar.offer_resume(progress)
        ready = self._project.codebase is not None and self._inspection.looked_at.run is None
        words = ""
        if ready and not self._control.busy:
            settings = replace(settings, regions=min(settings.regions, self._there or settings.regions))
            seconds = estimate(settings, self._paces).seconds
            cost = "" if seconds is None else f", about {duration(seconds)}"
            words = f"Run on {counted(settings.regions, task(settings.task).noun)}{cost}"
        self._parts.roundtrip.offer_run(words, self._parts.bar.run.click)

    def _count_queue(self) -> None:
        self._parts.status.show_queue(len(self._queueing.queue.runs), self._queueing.queue.held)


def _how_many(codebase: Codebase, settings: RunSettings) -> int:
    from rtc_inspector.core.regions.candidates import how_many  # in the background: the window stands sooner

    return how_many(codebase.files, settings.region, settings.regions)


class ByHand(QObject):
    """Has what a person tries by hand carried out, and shows what comes of it where it was asked for."""

    def __init__(
        self, parts: WindowParts, control: RunControl, inspection: Inspection, project: OpenProject, browsing: Browsing
    ) -> None:
        super().__init__(control)
        self._control, self._inspection, self._project, self._browsing = control, inspection, project, browsing
        self._own, self._selecting, self._bar = parts.roundtrip.own, parts.code.selecting, parts.code.probe_bar
        self._then: tuple[Path | None, tuple[str, int, int]] | None = None  # what waits, and on which project
        parts.roundtrip.description_written.connect(self.describe)
        self._selecting.check_asked.connect(self.check)
        self._selecting.probe_asked.connect(self.probe)
        control.coordinator.answered.connect(self._take_answer)
        control.ended.connect(self._end)
        control.coordinator.state_changed.connect(self._note_state)

    def describe(self, item_id: int, text: str) -> None:
        run, database = self._inspection.run, self._inspection.database
        if run is not None and database is not None and self._control.describe(run.id, item_id, text, database):
            self._own.leave()
            self._browsing.trace.answer_of = item_id

    def check(self, path: str, start: int, end: int) -> None:
        codebase = self._project.codebase
        if codebase is None or not self._control.check(codebase.root, path, Span(start, end)):
            self._selecting.settle()

    def probe(self, path: str, start: int, end: int) -> None:
        run, codebase, database = self._inspection.run, self._project.codebase, self._inspection.database
        if codebase is None or database is None:
            return
        if self._control.checks:
            # Of two that were asked for meanwhile the last is meant.
            self._then = self._inspection.looked_at.project, (path, start, end)
            self._bar.say(QUEUED)
            return
        # A run on another project, or one whose task draws no code, has no place for it: it gets a run of its own.
        fits = run is not None and run.project_root == str(codebase.root) and task(run.task).source.selected
        run_id = run.id if run is not None and fits else None
        begun = self._control.probe(run_id, codebase.root, path, Span(start, end), database)
        self._browsing.await_item(begun)
        if not begun:
            self._selecting.settle()

    def _note_state(self, state: RunState) -> None:
        """Forget the round trip that waits: who stops a check wants none after it."""
        if state is RunState.STOPPING:
            self._then = None

    def _take_answer(self, answer: object) -> None:
        if isinstance(answer, Item):
            self._selecting.show_answer(answer)

    def _end(self) -> None:
        self._browsing.await_item(False)
        self._browsing.trace.answer_of = None
        then, self._then = self._then, None
        if then is None:
            self._selecting.settle()
        elif then[0] == self._inspection.looked_at.project:
            # In a turn of its own: others hear of this end, and what has ended is not at work.
            QTimer.singleShot(0, self, lambda: self.probe(*then[1]))
