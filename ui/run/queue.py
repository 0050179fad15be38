"""The runs that wait for their turn, and the dialog that shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from rtc_inspector.core.kinds import counted
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import RunRow
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.run.control import RunControl
from rtc_inspector.ui.shell.model_options import backward_value, forward_value
from rtc_inspector.ui.shell.notices import Choice, Offer, OfferBar
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.controls import PAGE, PushButton, bind, column, label, push, row
from rtc_inspector.ui.style.fonts import open_at
from rtc_inspector.ui.style.theme import SPACE


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
        """Return in a line what the run is."""
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
    """In the order they will begin. `changed` says that it is another list now."""

    changed = Signal()

    def __init__(self, remembered: Remembered, parent: QObject | None = None) -> None:
        """Take up what was left when the window was closed."""
        super().__init__(parent)
        self._remembered = remembered
        self._last = 0
        self._begun: QueuedRun | None = None
        self.runs: list[QueuedRun] = []
        for data in remembered.queue():
            self._restore(data)

    def _restore(self, data: object) -> None:
        """Restore an entry; one that cannot be read any more counts as absent."""
        try:
            self.runs.append(QueuedRun.from_json(self._number(), data))  # type: ignore[arg-type]
        # Written by another version, or by hand.
        except (ValueError, TypeError, KeyError, AttributeError):
            return

    def add(self, project: Path, database: Path, settings: RunSettings, run_id: int | None = None) -> QueuedRun:
        run = QueuedRun(self._number(), project, database, settings, run_id)
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
        """Take the first one, to begin now; it stays remembered until `forget_begun`. Raises IndexError when empty."""
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

    def _number(self) -> int:
        self._last += 1
        return self._last

    def keep(self) -> None:
        """Remember what waits, and say that it changed."""
        begun = [self._begun] if self._begun else []
        self._remembered.keep_queue([run.to_json() for run in [*begun, *self.runs]])
        self.changed.emit()


def _name(value: str) -> str:
    """Return the name of a model file without its folder and ending, that of a server as it is."""
    return Path(value).stem if value.endswith(".gguf") else value


WAITED, UNFINISHED = "queue", "unfinished"
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
        goes_on, remembered.goes_on = remembered.goes_on, False
        self.held = bool(self.queue.runs) and not goes_on
        self.by_itself = False
        self._unfinished: Sequence[RunRow] = ()
        self._unfinished_in: Path | None = None
        self._show_all: Callable[[], object] = lambda: None
        self._next = QTimer(self, singleShot=True, interval=PAUSE)
        self._next.timeout.connect(self._begin_next)
        control.ended.connect(self._note_end)
        control.started.connect(lambda _: self.queue.forget_begun())
        control.coordinator.state_changed.connect(self._note_state)
        self.queue.changed.connect(self._note_queue)
        if self.held:
            self._offer_queue()
        elif self.queue.runs:
            self._next.start()

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
        """Begin nothing by itself until `go_on`."""
        self._next.stop()
        self._set_held(True)

    def go_on(self) -> None:
        """Begin the first one, now or when the run at work has ended."""
        self._offers.withdraw(WAITED)
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
        self._unfinished_in, self._show_all = database, show_all
        self.withdraw_unfinished()
        self._offer_to_resume(left)

    def withdraw_unfinished(self) -> None:
        """Offer nothing of a database that is not open any more."""
        self._offer_to_resume(())

    def note_runs(self, runs: Sequence[RunRow]) -> None:
        """Take the offer back once none of its runs is left as it was."""
        interrupted = {run.id for run in runs if run.status == "interrupted"}
        self._offer_to_resume([run for run in self._unfinished if run.id in interrupted])

    def _resume(self, run_id: int, database: Path, project: Path) -> bool:
        self._offer_to_resume([run for run in self._unfinished if run.id != run_id])
        return self._control.resume(run_id, database, project)

    def _offer_to_resume(self, left: Sequence[RunRow]) -> None:
        """Offer to go on with these unfinished runs; nothing is done where they were offered before."""
        if len(left) == len(self._unfinished):
            return
        self._unfinished = left
        if not left:
            self._offers.withdraw(UNFINISHED)
            return
        words = "Resume" if len(left) == 1 else f"Resume all {len(left)}"
        choices: list[Choice] = [
            (words, self._resume_all),
            ("All runs…", self._show_all),
            ("Not now", self._decline),
        ]
        self._offers.offer(Offer(UNFINISHED, _unfinished_words(left), choices))

    def _decline(self) -> None:
        if self._unfinished_in is not None:
            self._remembered.decline(self._unfinished_in, [run.id for run in self._unfinished])
        self._unfinished = []

    def _resume_all(self) -> None:
        # First, for each that begins would make the offer anew with one fewer.
        left, self._unfinished = self._unfinished, []
        for run in left:
            if self._unfinished_in is not None:
                self._line_up(run, self._unfinished_in)
        self.go_on()

    def _line_up(self, run: RunRow, database: Path) -> None:
        if all((each.database, each.run_id) != (database, run.id) for each in self.queue.runs):
            self.queue.add(Path(run.project_root), database, RunSettings(), run.id)

    def _offer_queue(self) -> None:
        runs = self.queue.runs
        text = f"{counted(len(runs), 'run')} waited when the window was closed: {runs[0].title}"
        text += f", and {len(runs) - 1} more." if len(runs) > 1 else "."
        self._offers.offer(Offer(WAITED, text, (("Start", self.go_on), ("Discard", self.queue.clear))))

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
            return self._resume(entry.run_id, entry.database, entry.project)
        return self._control.begin(entry.project, entry.database, entry.settings)

    def _note_end(self) -> None:
        """Go on to the next run, however this one ended: what stopped it was said."""
        self.queue.forget_begun()
        if self.queue.runs and not self.held:
            self._next.start()

    def _note_state(self, state: RunState) -> None:
        """Hold the queue when a run is stopped: whoever stops one does not want the next to begin at once."""
        if state is RunState.STOPPING and self.queue.runs:
            self._set_held(True)

    def _note_queue(self) -> None:
        """Hold an empty queue back no longer: what is added to it later begins by itself."""
        if self.held and not self.queue.runs:
            self._set_held(False)

    def _set_held(self, held: bool) -> None:
        self.held = held and bool(self.queue.runs)
        self.state_changed.emit()


def _unfinished_words(runs: Sequence[RunRow]) -> str:
    run = runs[0]
    wanted = run.items_expected
    done = f"{run.items_complete} of {wanted} done"
    text = f"Run {run.id} on {run.project_name} with {run.model_name} did not finish: {done}"
    return f"{text}." if len(runs) == 1 else f"{text}; {counted(len(runs) - 1, 'earlier run')} did not either."


HELD = "The queue waits. Nothing begins until you press “Go on”."
GOING = "The next one begins by itself when the run at work has ended."
EMPTY = "No run waits. Press Run while one is at work, and the next one waits here."


class QueueDialog(QDialog):
    """Stays up to date while runs end and begin."""

    def __init__(self, queueing: Queueing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Queue of runs")
        self._queueing = queueing
        self.said, self.list = label(role="muted", wrap=True), QListWidget()
        self.earlier, self.later, self.remove = (PushButton(text) for text in ("Earlier", "Later", "Remove"))
        self.hold = PushButton()
        self._build()
        self._lay_out()
        queueing.queue.changed.connect(self._show)
        queueing.state_changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        self.list.setAccessibleName("Runs that wait")
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.currentRowChanged.connect(self._offer)
        queue = self._queueing.queue
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
        self.hold.clicked.connect(self._toggle)

    def _lay_out(self) -> None:
        close = push("Close", "", self.reject)
        foot = row(self.earlier, self.later, self.remove, None, close, self.hold)
        column(self.said, self.list, foot, margins=PAGE, spacing=SPACE, owner=self, grows=self.list)
        open_at(self, 760, 380)

    def _chosen(self) -> int | None:
        item = self.list.currentItem()
        return item.data(Qt.ItemDataRole.UserRole) if item else None

    def _show(self) -> None:
        chosen, runs = self._chosen(), self._queueing.queue.runs
        self.list.clear()
        for place, run in enumerate(runs, 1):
            item = QListWidgetItem(f"{place}.  {run.title}")
            item.setData(Qt.ItemDataRole.UserRole, run.number)
            item.setToolTip(f"{run.project}\n{run.database}")
            self.list.addItem(item)
        row = next((row for row, run in enumerate(runs) if run.number == chosen), 0)
        self.list.setCurrentRow(min(row, len(runs) - 1))
        self.said.setText(EMPTY if not runs else HELD if self._queueing.held else GOING)
        self.hold.setText("Go on" if self._queueing.held else "Hold")
        self.hold.setEnabled(bool(runs))
        self._offer()

    def _offer(self) -> None:
        row, count = self.list.currentRow(), self.list.count()
        self.earlier.setEnabled(row > 0)
        self.later.setEnabled(0 <= row < count - 1)
        self.remove.setEnabled(row >= 0)

    def _toggle(self) -> None:
        self._queueing.go_on() if self._queueing.held else self._queueing.hold()
