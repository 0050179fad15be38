"""The runs there are: in the menu, in the dialog that lists all of them, and what is done with one from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QDialog, QFormLayout, QHeaderView, QMenu, QWidget

from rtc_inspector.core.comparison.comparison import bounded
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import CONDITIONS, task
from rtc_inspector.core.store.rows import NOTHING, RunRow
from rtc_inspector.ui.background.gateway import Scribe
from rtc_inspector.ui.reading.inspection import Inspection, Overview, Wanted
from rtc_inspector.ui.shell.fields import level_labels, show_modal
from rtc_inspector.ui.style.controls import PAGE, FilterField, PushButton, bind, column, field, has_words, push, row
from rtc_inspector.ui.style.fonts import open_at
from rtc_inspector.ui.style.region_state import number
from rtc_inspector.ui.style.tables import Cell, CellModel, Head, table, widths
from rtc_inspector.ui.style.theme import SPACE
from rtc_inspector.ui.window.pages import Auditing, Comparing, proposed
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.store.writer import Store

HEADINGS = ("Run", "Name", "Project", "Task", "Model", "Status", "Done", "Score", "Lift", "n", "Started")
_TIPS = (
    "", "", "", "", "", "", "Items done of those that are wanted",
    "The headline of the run's task, with the bounds of its interval",
    "How much that is above the task's baseline, with the bounds of its interval",
    "Items that the score rests on", "",
)  # fmt: skip
_FIGURES = HEADINGS.index("Done")  # the first column whose cells are figures, aligned right
RESUMABLE = frozenset({"interrupted", "incomplete", "failed"})


def run_title(run: RunRow) -> str:
    """Return the words for a run in a menu entry."""
    name = f" “{run.name}”" if run.name else ""
    kind = task(run.task)
    figure = f"{kind.measure(kind.headline).title} {number(run.headline.value)}"
    return f"Run {run.id}{name} · {run.project_name} · {run.model_name} · {run.status} · {figure}"


def _texts(run: RunRow) -> tuple[str, ...]:
    done = f"{run.items_complete}/{run.items_expected}"
    started = run.started_at[:16].replace("T", " ")
    kind = task(run.task)
    score = f"{kind.measure(kind.headline).title} {bounded(run.headline, sign='')}{' ⚠' if run.remarks else ''}"
    other = "" if kind.difference is None or kind.difference.name == "lift" else f"{kind.difference.title} "
    lift = f"{other}{bounded(run.secondary)}" if kind.difference is not None else ""
    seen = f"{run.headline.n or ''}{' few' if run.headline.few else ''}"
    words = (str(run.id), run.name, run.project_name, kind.title, run.models, run.status)
    return (*words, done, score, lift, seen, started)


def _beside(run: RunRow) -> str:
    kind, told = task(run.task), []
    if kind.difference is not None:
        less = kind.difference.less
        base = run.scores.get(less[1], NOTHING).value if less is not None else None
        over = f" over {kind.measure(less[1]).title} {base:.2f}" if less is not None and base is not None else ""
        told.append(f"{kind.difference.title} {bounded(run.secondary)}{over}")
    told += [f"{kind.measure(name).title} {bounded(run.scores.get(name, NOTHING), sign='')}" for name in kind.beside]
    cut = ((kind.measure(name).title, run.scores[name].value) for name in ("cut", "limited") if name in run.scores)
    return "\n".join([*told, *(f"{title} {share:.2f}" for title, share in cut if share), *run.remarks])


def _cells(run: RunRow) -> list[Cell]:
    words = " · ".join(
        f"{measure.title} {run.scores[measure.name].value or 0.0:.2f}"
        for measure in task(run.task).averaged
        if measure.name in CONDITIONS and run.scores.get(measure.name, NOTHING).n
    )
    words += f"\nseed {run.seed} · {run.sandbox} · version {run.app_version}"
    more = "\n".join(text for text in (_beside(run), run.project_root, words, run.notes) if text)
    return [
        Cell(text, tip=f"{text}\n{more}" if text else more, end=at >= _FIGURES) for at, text in enumerate(_texts(run))
    ]


class RunNotes(QWidget):
    """`noted` carries a run's id, its name and its notes, once a field is left or Enter is pressed."""

    noted = Signal(int, str, str)

    def __init__(self) -> None:
        super().__init__()
        self._run: RunRow | None = None
        self.name = field("Name of the run", "A name to know it by")
        self.notes = field("Notes on the run", "What this run was for, what came of it")
        for each in (self.name, self.notes):
            each.editingFinished.connect(self.keep)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setSpacing(SPACE)
        form.addRow("&Name", self.name)
        form.addRow("No&tes", self.notes)
        level_labels(form)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def show_run(self, run: RunRow | None) -> None:
        self.keep()
        self._run = run
        self.setEnabled(run is not None)
        self.name.setText(run.name if run else "")
        self.notes.setText(run.notes if run else "")

    def keep(self) -> None:
        run, name, notes = self._run, self.name.text().strip(), self.notes.text().strip()
        if run is not None and (name, notes) != (run.name, run.notes):
            # Kept once: leaving the field and choosing another run both come here.
            self._run = None
            self.noted.emit(run.id, name, notes)


WIDTHS = (40, 0, 110, 104, 0, 74, 52, 190, 172, 52, 124)  # pixels of the columns; those of 0 share what room is left
WHOLE = ("Task", "Status", "Done", "Score", "Lift", "n")  # columns as wide as what they hold


class RunsDialog(QDialog):
    """The runs of a database, and what can be done with them.

    A deleted run stays in the database and is listed under "Deleted" until it is brought back.
    """

    opened = Signal(int)  # run
    resumed = Signal(int)  # run
    compared = Signal(object)  # ids of the selected runs, the oldest first
    audited = Signal(object)  # the same; one will do
    noted = Signal(int, str, str)  # run, its name and its notes, one of which is new
    hidden = Signal(int)  # run
    restored = Signal(int)  # run

    def __init__(self, runs: Sequence[RunRow], current: int | None, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Runs")
        self._listed, self._deleted = list(runs), list[RunRow]()
        self.words = FilterField("Filter by name, project, model or status", "Filter runs")
        self.table, self.runs = table("Runs"), CellModel([Head(*each) for each in zip(HEADINGS, _TIPS, strict=True)])
        self.runs.figures = _FIGURES
        self.shown: list[RunRow] = []
        self.open_button, self.resume_button = PushButton("Open"), PushButton("Resume")
        self.compare_button, self.audit_button = PushButton("Compare"), PushButton("Audit metrics")
        self.delete_button, self.undo_button = PushButton("Delete"), PushButton("Undo delete")
        self.bin = PushButton("Deleted (0)")
        self.bin.setCheckable(True)
        self.notes = RunNotes()
        self.words.textChanged.connect(lambda: self._list_runs(None))
        view = self.table
        view.setModel(self.runs)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        widths(view, *WIDTHS)
        for name in WHOLE:
            view.horizontalHeader().setSectionResizeMode(HEADINGS.index(name), QHeaderView.ResizeMode.ResizeToContents)
        view.selectionModel().currentRowChanged.connect(self._offer)
        view.selectionModel().selectionChanged.connect(self._offer)
        view.doubleClicked.connect(lambda _: self._go_on(self.opened))
        self._list_runs(current)  # before the window has its size: on a small screen a model keeps room for its name
        several = "Select two runs or more (Shift or Ctrl with a click or an arrow key)"
        for button, act, tip in (
            (self.open_button, partial(self._go_on, self.opened), ""),
            (self.resume_button, partial(self._go_on, self.resumed), ""),
            (self.compare_button, partial(self._go_on, self.compared, 2), several),
            (
                self.audit_button,
                partial(self._go_on, self.audited, 1),
                "Which similarity could stand in for the tests of the selected runs",
            ),
            (self.delete_button, self._delete, "Take the run out of the list (Delete); it can be brought back"),
            (self.undo_button, self._undo, "Bring back the run that was deleted last (Ctrl+Z)"),
        ):
            button.clicked.connect(lambda _=False, act=act: act())
            button.setToolTip(tip)
        self.open_button.setDefault(True)
        self.open_button.setProperty("role", "primary")
        self.notes.noted.connect(self._note)
        self.bin.toggled.connect(self._show_list)
        bind(view, "Delete", self._delete, "Delete run")
        bind(view, "F2", lambda: self.notes.name.setFocus(Qt.FocusReason.ShortcutFocusReason), "Rename run")
        bind(view, "Ctrl+Z", self._undo, "Undo delete")
        close = push("Close", "", self.reject)
        at_left = (self.delete_button, self.undo_button, self.bin)
        at_right = (self.audit_button, self.compare_button, self.resume_button, close, self.open_button)
        parts = (self.words, self.table, self.notes, row(*at_left, None, *at_right))
        column(*parts, margins=PAGE, spacing=SPACE, owner=self, grows=self.table)
        open_at(self, 1240, 540)

    def set_deleted(self, runs: Sequence[RunRow]) -> None:
        # The database is asked in the background: runs may have been deleted here meanwhile.
        self._deleted = [*runs, *(run for run in self._deleted if run.id not in {each.id for each in runs})]
        if self.bin.isChecked():
            self._show_list()
        else:
            self._offer()

    def preselect(self, run_ids: Sequence[int]) -> None:
        flag = QItemSelectionModel.SelectionFlag
        rows = [at for at, run in enumerate(self.shown) if run.id in run_ids]
        for place, at in enumerate(rows):
            how = flag.Select if place else flag.ClearAndSelect
            self.table.selectionModel().setCurrentIndex(self.runs.index(at, 0), how | flag.Rows)
        self.compare_button.setFocus()

    def _list_runs(self, current: int | None) -> None:
        """List what has the words, the newest first, and choose a run, else the first."""
        runs = sorted(self._deleted if self.bin.isChecked() else self._listed, key=lambda run: -run.id)
        # What is searched is what is read in the row, e.g. `finished qwen`.
        shown = [run for run in runs if has_words(" ".join(_texts(run)), self.words.text())]
        self.runs.fill([(_cells(run), run.id) for run in shown])
        self.shown = shown  # only now: rows that go are still asked for
        self.table.setColumnHidden(HEADINGS.index("Name"), not any(run.name for run in shown))
        self._select(current)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Let the arrows reach the list from the filter, as in any list that narrows while one types."""
        step = {int(Qt.Key.Key_Down): 1, int(Qt.Key.Key_Up): -1}.get(event.key(), 0)
        if not step or self.focusWidget() is not self.words:
            super().keyPressEvent(event)
            return
        at = min(max(self.table.currentIndex().row() + step, 0), len(self.shown) - 1)
        self.table.setCurrentIndex(self.runs.index(at, 0))
        self.table.setFocus(Qt.FocusReason.TabFocusReason)

    def _select(self, run_id: int | None) -> None:
        row = next((row for row, run in enumerate(self.shown) if run.id == run_id), 0)
        self.table.setCurrentIndex(self.runs.index(row, 0))
        self._offer()

    def _chosen(self) -> RunRow | None:
        row = self.table.currentIndex().row()
        return self.shown[row] if 0 <= row < len(self.shown) else None

    def _offer(self) -> None:
        run, binned = self._chosen(), self.bin.isChecked()
        self.notes.show_run(run)
        several = len(self._selected()) > 1
        self.open_button.setEnabled(run is not None and not binned and not several)
        self.compare_button.setEnabled(several and not binned)
        self.audit_button.setEnabled(run is not None and not binned)
        resumable = run is not None and run.status in RESUMABLE and not (binned or several)
        self.resume_button.setEnabled(resumable)
        self.delete_button.setText("Bring back" if binned else "Delete")
        self.delete_button.setEnabled(not several and run is not None and (binned or run.status != "running"))
        self.undo_button.setEnabled(bool(self._deleted))
        self.bin.setText(f"Deleted ({len(self._deleted)})")
        self.bin.setEnabled(bool(self._deleted) or binned)

    def _show_list(self) -> None:
        run = self._chosen()
        self.notes.show_run(None)
        self._list_runs(run.id if run else None)

    def _note(self, run_id: int, name: str, notes: str) -> None:
        chosen = self._chosen()
        for runs in (self._listed, self._deleted):
            runs[:] = [replace(run, name=name, notes=notes) if run.id == run_id else run for run in runs]
        self._list_runs(chosen.id if chosen else run_id)
        self.noted.emit(run_id, name, notes)

    def _delete(self) -> None:
        run = self._chosen()
        if run is not None and self.delete_button.isEnabled():
            if self.bin.isChecked():
                self._bring_back(run)
                return
            self._listed.remove(run)
            self._deleted.append(run)
            self.hidden.emit(run.id)
            self._show_list()

    def _undo(self) -> None:
        if self._deleted:
            self._bring_back(self._deleted[-1])

    def _bring_back(self, run: RunRow) -> None:
        self._deleted.remove(run)
        self._listed.append(run)
        self.restored.emit(run.id)
        self._show_list()
        if not self.bin.isChecked():
            self._select(run.id)

    def done(self, result: int) -> None:
        self.notes.keep()
        super().done(result)

    def _selected(self) -> list[int]:
        rows = self.table.selectionModel().selectedRows()
        return sorted(self.shown[row.row()].id for row in rows)

    def _go_on(self, tell: SignalInstance, least: int = 0) -> None:
        """Tell of the current run, or of all that are selected if they are at `least` so many."""
        run, chosen = self._chosen(), self._selected()
        if run is not None and len(chosen) >= least:
            # The dialog goes first: what opens the run wants the focus in the window.
            self.accept()
            tell.emit(chosen if least else run.id)


RUNS_IN_MENU = 12


class RunLists(QObject):
    """`resume_asked(run_id)`: go on with a stored run."""

    resume_asked = Signal(int)

    def __init__(
        self, parts: WindowParts, inspection: Inspection, scribe: Scribe, comparing: Comparing, auditing: Auditing
    ) -> None:
        super().__init__(parts)
        self._parts, self._inspection, self._scribe = parts, inspection, scribe
        self._comparing, self._auditing = comparing, auditing
        self._runs: Sequence[RunRow] = ()
        comparing.choose_asked.connect(self.ask_comparison)
        auditing.choose_asked.connect(lambda: self.show_all(auditing.runs))

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {"runs": self.show_all, "resume": self._resume_shown, "compare": self.ask_comparison}

    def note(self, overview: Overview, resume: QAction) -> None:
        self._runs = overview.runs
        run = overview.run
        resume.setEnabled(run is not None and run.status in RESUMABLE)
        resume.setText(f"Res&ume run {run.id}" if run is not None and resume.isEnabled() else "Res&ume this run")

    def fill(self, menu: QMenu, *further: QAction | QMenu) -> None:
        current = self._inspection.run
        menu.clear()
        for run in sorted(self._runs, key=lambda run: -run.id)[:RUNS_IN_MENU]:
            action = menu.addAction(run_title(run))
            action.setCheckable(True)
            action.setChecked(current is not None and run.id == current.id)
            action.triggered.connect(lambda _=False, run_id=run.id: self._open(run_id))
        menu.addSeparator()
        for each in further:
            menu.addMenu(each) if isinstance(each, QMenu) else menu.addAction(each)

    def ask_comparison(self) -> None:
        if len(self._runs) < 2:
            remedy = "Start another one, with another model, quantization or seed, then compare them."
            self._parts.notices.report(UserError("A comparison needs two runs.", remedy))
        else:
            self.show_all(proposed(self._runs, self._inspection.run, self._comparing.runs))

    def show_all(self, chosen: Sequence[int] = ()) -> None:
        current = self._inspection.run
        dialog = RunsDialog(self._runs, current.id if current else None, self._parts.window())
        dialog.opened.connect(self._open)
        dialog.resumed.connect(self.resume_asked)
        dialog.compared.connect(self._comparing.compare)
        dialog.audited.connect(self._auditing.audit)
        dialog.noted.connect(self._note)
        dialog.hidden.connect(self.hide)
        dialog.restored.connect(lambda run_id: self.change(lambda store: store.restore_run(run_id)))
        self._inspection.ask("deleted runs", lambda reader: reader.runs(hidden=True), dialog.set_deleted, of_run=False)
        if chosen:
            dialog.preselect(chosen)
        show_modal(dialog)
        # The answer would come to a dialog that is gone.
        self._inspection.forget("deleted runs")

    def _note(self, run_id: int, name: str, notes: str) -> None:
        self.change(lambda store: store.rename_run(run_id, name))
        self.change(lambda store: store.note_run(run_id, notes))

    def hide(self, run_id: int) -> None:
        self.change(lambda store: store.hide_run(run_id))
        shown = self._inspection.run
        if shown is not None and shown.id == run_id:
            self._inspection.choose_run(Wanted(root=shown.project_root))

    def change(self, change: Callable[[Store], None]) -> None:
        database = self._inspection.database
        if database is not None:
            self._scribe.write(database, change, lambda _: self._inspection.refresh(), wait=False)

    def _open(self, run_id: int) -> None:
        self._parts.leave_page()
        self._inspection.choose_run(Wanted(run_id))

    def _resume_shown(self) -> None:
        run = self._inspection.run
        if run is not None and run.status in RESUMABLE:
            self.resume_asked.emit(run.id)
