"""One run after the other: what is asked for while a run is at work waits, and what was left over is offered again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from core.kinds import counted
from core.settings import RunSettings
from core.store.rows import RunRow
from ui.background.coordinator import RunState
from ui.run.control import RunControl
from ui.run.queue import QueuedRun, RunQueue
from ui.shell.offer_bar import Choice, Offer, OfferBar
from ui.shell.remembered import Remembered

LEFT, UNFINISHED = "queue", "unfinished"
PAUSE = 200
"""Milliseconds between the end of a run and the next one, in which its end is shown."""


class Queueing(QObject):
    """Begins runs: now, or when those before them have ended, well or not.

    `state_changed` says that the queue is held or goes on; `began` carries the QueuedRun whose turn came.
    """

    state_changed = Signal()
    began = Signal(object)

    def __init__(self, control: RunControl, remembered: Remembered, offers: OfferBar) -> None:
        """Take up the queue of the last time, held, and offer to go on with it."""
        super().__init__(control)
        self._control, self._remembered, self._offers = control, remembered, offers
        self.queue = RunQueue(remembered, self)
        self.held = bool(self.queue.runs)
        self.by_itself = False
        self._left: Sequence[RunRow] = ()
        self._left_in: Path | None = None
        self._show_all: Callable[[], object] = lambda: None
        self._next = QTimer(self, singleShot=True, interval=PAUSE)
        self._next.timeout.connect(self._begin_next)
        control.ended.connect(self._note_end)
        control.started.connect(lambda _: self.queue.forget_begun())
        control.coordinator.state_changed.connect(self._note_state)
        self.queue.changed.connect(self._note_queue)
        if self.held:
            self._offer_queue()

    def start(self, project: Path | None, database: Path | None, settings: RunSettings | None = None) -> bool:
        """Begin a run with these settings or the window's, or let it wait; False, and a notice, when neither can be."""
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
        return self._resume(run.id, database)

    def hold(self) -> None:
        """Begin nothing by itself until `go_on`."""
        self._next.stop()
        self._set_held(True)

    def go_on(self) -> None:
        """Begin the first one, now or when the run at work has ended."""
        self._offers.withdraw(LEFT)
        self._set_held(False)
        self._begin_next()

    def offer_unfinished(self, runs: Sequence[RunRow], database: Path, show_all: Callable[[], object]) -> None:
        """Offer to go on with runs that were interrupted, unless the user said no to them before."""
        known = {(each.database, each.run_id) for each in self.queue.runs}
        left = [
            run
            for run in sorted(runs, key=lambda run: -run.id)
            if run.status == "interrupted"
            and (database, run.id) not in known
            and not self._remembered.is_declined(database, run.id)
        ]
        self._left_in, self._show_all = database, show_all
        self._show_left(())
        self._show_left(left)

    def note_runs(self, runs: Sequence[RunRow]) -> None:
        """Take the offer back once none of its runs is left as it was."""
        interrupted = {run.id for run in runs if run.status == "interrupted"}
        self._show_left([run for run in self._left if run.id in interrupted])

    def _resume(self, run_id: int, database: Path) -> bool:
        self._show_left([run for run in self._left if run.id != run_id])
        return self._control.resume(run_id, database)

    def _show_left(self, left: Sequence[RunRow]) -> None:
        """Offer to go on with these; nothing is done where they were offered before."""
        if len(left) == len(self._left):
            return
        self._left = left
        if not left:
            self._offers.withdraw(UNFINISHED)
            return
        words = "Resume" if len(left) == 1 else f"Resume all {len(left)}"
        choices: list[Choice] = [
            (words, self._resume_all),
            ("All runs…", self._show_all),
            ("Not now", self._decline),
        ]
        self._offers.offer(Offer(UNFINISHED, _unfinished(left), choices))

    def _decline(self) -> None:
        if self._left_in is not None:
            self._remembered.decline(self._left_in, [run.id for run in self._left])
        self._left = []

    def _resume_all(self) -> None:
        # First, for each that begins would make the offer anew with one fewer.
        left, self._left = self._left, []
        for run in left:
            if self._left_in is not None:
                self._line_up(run, self._left_in)
        self.go_on()

    def _line_up(self, run: RunRow, database: Path) -> None:
        if all((each.database, each.run_id) != (database, run.id) for each in self.queue.runs):
            self.queue.add(Path(run.project_root), database, RunSettings(), run.id)

    def _offer_queue(self) -> None:
        runs = self.queue.runs
        text = f"{counted(len(runs), 'run')} waited when the window was closed: {runs[0].title}"
        text += f", and {len(runs) - 1} more." if len(runs) > 1 else "."
        self._offers.offer(Offer(LEFT, text, (("Start", self.go_on), ("Discard", self.queue.clear))))

    def _begin_next(self) -> None:
        if self.held or self._control.busy or not self.queue.runs:
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
            return self._resume(entry.run_id, entry.database)
        return self._control.begin(entry.project, entry.database, entry.settings)

    def _note_end(self) -> None:
        """However it ended: what stopped it was said."""
        self.queue.forget_begun()
        if self.queue.runs and not self.held:
            self._next.start()

    def _note_state(self, state: RunState) -> None:
        """Who stops a run does not want the next one to begin at once."""
        if state is RunState.STOPPING and self.queue.runs:
            self._set_held(True)

    def _note_queue(self) -> None:
        """An empty queue holds nothing back: what is added to it later begins by itself."""
        if self.held and not self.queue.runs:
            self._set_held(False)

    def _set_held(self, held: bool) -> None:
        self.held = held and bool(self.queue.runs)
        self.state_changed.emit()


def _unfinished(runs: Sequence[RunRow]) -> str:
    run = runs[0]
    wanted = run.items_expected
    done = f"{run.items_complete} of {wanted} done"
    text = f"Run {run.id} on {run.project_name} with {run.model_name} did not finish: {done}"
    return f"{text}." if len(runs) == 1 else f"{text}; {counted(len(runs) - 1, 'earlier run')} did not either."
