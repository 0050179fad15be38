"""This window's own run as its parts show it, the queue behind it, and what a person tries by hand beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.kinds import counted, task
from rtc_inspector.core.run.estimate import estimate
from rtc_inspector.core.run.events import Event, Progress, SampleReady, TextStreamed
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import PaceRow
from rtc_inspector.core.types import Item, Span
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.labels.labelling import Labelling
from rtc_inspector.ui.reading.inspection import Inspection, LookedAt, Wanted
from rtc_inspector.ui.reading.open_project import OpenProject
from rtc_inspector.ui.run.control import RunControl
from rtc_inspector.ui.run.queue import QueueDialog, QueuedRun, Queueing
from rtc_inspector.ui.shell.fields import show_modal
from rtc_inspector.ui.shell.notices import NoticeText
from rtc_inspector.ui.shell.status_line import duration
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.window_parts import WindowParts


class OwnRun(QObject):
    """Joins run and queue of one window with its bars and views. `resume_asked(id)` for the stopped run on show."""

    resume_asked = Signal(int)

    def __init__(
        self,
        window: QWidget,
        parts: WindowParts,
        control: RunControl,
        queueing: Queueing,
        inspection: Inspection,
        project: OpenProject,
        browsing: Browsing,
        labelling: Labelling,
        follow: QAction,
    ) -> None:
        """`follow` is the action that is on while the views go along with the run."""
        super().__init__(window)
        self._window, self._parts, self._control, self._queueing = window, parts, control, queueing
        self._inspection, self._project, self._browsing, self._labelling = inspection, project, browsing, labelling
        self._follow = follow
        self._wrote = False
        self._paces: Sequence[PaceRow] = ()
        coordinator = control.coordinator
        parts.bar.pause_asked.connect(coordinator.toggle_pause)
        parts.bar.stop_asked.connect(coordinator.stop)
        parts.bar.task.chosen.connect(control.choose_task)
        parts.status.queue_asked.connect(self.show_queue)
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
        queueing.state_changed.connect(self._count_queue)
        queueing.began.connect(self._say_began)
        project.opened.connect(lambda _: self._ask_paces())
        for signal in (inspection.overview_changed, control.adopted, coordinator.state_changed):
            signal.connect(lambda _: self._offer_run())
        parts.bar.resume_asked.connect(self._ask_resume)
        self._show_task(control.settings)
        self._count_queue()

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {"queue": self.show_queue, "follow": lambda: self._set_follow(self._follow.isChecked())}

    def show_queue(self) -> None:
        show_modal(QueueDialog(self._queueing, self._window))

    def _show_started(self, run_id: int) -> None:
        """Show the run that began, unless its turn came by itself while the user looks at something else."""
        elsewhere = self._control.database != self._inspection.database
        # A run that is shown tells its model, which an annotator must not know.
        if elsewhere or self._labelling.blind or (self._queueing.by_itself and not self._browsing.follow):
            return
        self._project.reload()
        self._inspection.choose_run(Wanted(run_id))
        self._set_follow(True)

    def _show_progress(self, progress: Progress) -> None:
        self._parts.status.show_progress(progress)
        self._parts.preparing.note(progress)
        self._parts.roundtrip.say_stage(self._parts.preparing.words)

    def _leave_preparing(self) -> None:
        """Show the code and all beside it from now on, however long the run takes to get ready."""
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
        """Say whether the run at work is the one on show; without one, speak of what the next run draws."""
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

    def _say_began(self, run: QueuedRun) -> None:
        self._parts.notices.say(NoticeText(f"Next in the queue: {run.title}.", everywhere=True))

    # ---- a project without a run

    def _ask_paces(self) -> None:
        """Ask how fast runs went before, then offer the first one of the project that was opened."""
        if self._inspection.looked_at.run is None and self._inspection.stored:
            self._inspection.ask("first run", lambda reader: reader.paces(), self._set_paces, of_run=False)
        self._offer_run()

    def _set_paces(self, paces: Sequence[PaceRow]) -> None:
        self._paces = paces
        self._offer_run()

    def _ask_resume(self) -> None:
        if self._inspection.run is not None:
            self.resume_asked.emit(self._inspection.run.id)

    def _offer_run(self) -> None:
        """Have one button that goes on, with what it costs, where a project has no run and none is at work."""
        run, settings = self._inspection.run, self._control.settings
        stopped = run is not None and run.status == "interrupted"
        progress = f"{run.items_complete} of {run.items_expected}" if run is not None and stopped else ""
        self._parts.bar.offer_resume(progress)
        ready = self._project.codebase is not None and self._inspection.looked_at.run is None
        words = ""
        if ready and not self._control.busy:
            seconds = estimate(settings, self._paces).seconds
            cost = "" if seconds is None else f", about {duration(seconds)}"
            words = f"Run on {counted(settings.regions, task(settings.task).noun)}{cost}"
        self._parts.roundtrip.offer_run(words, self._parts.bar.run.click)

    def _count_queue(self) -> None:
        self._parts.status.show_queue(len(self._queueing.queue.runs), self._queueing.held)


class ByHand(QObject):
    """Has what a person tries by hand carried out, and shows what comes of it where it was asked for."""

    def __init__(
        self, parts: WindowParts, control: RunControl, inspection: Inspection, project: OpenProject, browsing: Browsing
    ) -> None:
        super().__init__(control)
        self._control, self._inspection, self._project, self._browsing = control, inspection, project, browsing
        self._own, self._selecting = parts.roundtrip.own, parts.code.selecting
        self._then: tuple[str, int, int] | None = None
        self._then_project: Path | None = None
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
            self._browsing.trace.await_answer(item_id)

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
            self._then, self._then_project = (path, start, end), self._inspection.looked_at.project
            self._selecting.say_queued()
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
        self._browsing.trace.await_answer(None)
        then, self._then = self._then, None
        if then is None:
            self._selecting.settle()
        elif self._then_project == self._inspection.looked_at.project:
            # In a turn of its own: others hear of this end, and what has ended is not at work.
            QTimer.singleShot(0, self, lambda: self.probe(*then))
