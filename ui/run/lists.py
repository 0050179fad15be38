"""The runs there are: in the menu, in the dialog that lists all of them, and what is done with one from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.store.rows import RunRow
from rtc_inspector.ui.background.scribe import Scribe
from rtc_inspector.ui.reading.inspection import Inspection, Overview, Wanted
from rtc_inspector.ui.shell.fields import show_modal
from rtc_inspector.ui.shell.runs_dialog import RESUMABLE, RunsDialog, run_title
from rtc_inspector.ui.window.auditing import Auditing
from rtc_inspector.ui.window.comparing import Comparing, proposed
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.store.writer import Store

RUNS_IN_MENU = 12


class RunLists(QObject):
    """`resume_asked(run_id)`: go on with a stored run."""

    resume_asked = Signal(int)

    def __init__(
        self,
        window: QWidget,
        parts: WindowParts,
        inspection: Inspection,
        scribe: Scribe,
        comparing: Comparing,
        auditing: Auditing,
    ) -> None:
        """Dialogs stand over `window`; the runs selected there are compared or audited."""
        super().__init__(window)
        self._window, self._parts, self._inspection, self._scribe = window, parts, inspection, scribe
        self._comparing, self._auditing = comparing, auditing
        self._runs: Sequence[RunRow] = ()
        comparing.choose_asked.connect(self.ask_comparison)
        auditing.choose_asked.connect(lambda: self.show_all(auditing.runs))

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """Return the handlers of the actions on lists of runs, by the actions' names."""
        return {"runs": self.show_all, "resume": self._resume_shown, "compare": self.ask_comparison}

    def note(self, overview: Overview, resume: QAction) -> None:
        """Remember the runs there are; `resume` is for the one on show, where it can be taken up again."""
        self._runs = overview.runs
        run = overview.run
        resume.setEnabled(run is not None and run.status in RESUMABLE)
        resume.setText(f"Res&ume run {run.id}" if run is not None and resume.isEnabled() else "Res&ume this run")

    def fill(self, menu: QMenu, *further: QAction | QMenu) -> None:
        """Fill the menu with the newest runs, then further entries."""
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
        """List every run, with those selected that can be compared."""
        if len(self._runs) < 2:
            remedy = "Start another one, with another model, quantization or seed, then compare them."
            self._parts.notices.report(UserError("A comparison needs two runs.", remedy))
        else:
            self.show_all(proposed(self._runs, self._inspection.run, self._comparing.runs))

    def show_all(self, chosen: Sequence[int] = ()) -> None:
        """List every run of the database, with some of them selected."""
        current = self._inspection.run
        dialog = RunsDialog(self._runs, current.id if current else None, self._window)
        dialog.opened.connect(self._open)
        dialog.resumed.connect(self.resume_asked)
        dialog.compared.connect(self._comparing.compare)
        dialog.audited.connect(self._auditing.audit)
        dialog.renamed.connect(lambda run_id, name: self.change(lambda store: store.rename_run(run_id, name)))
        dialog.noted.connect(lambda run_id, notes: self.change(lambda store: store.note_run(run_id, notes)))
        dialog.hidden.connect(self.hide)
        dialog.restored.connect(lambda run_id: self.change(lambda store: store.restore_run(run_id)))
        self._inspection.ask("deleted runs", lambda reader: reader.runs(hidden=True), dialog.set_deleted, of_run=False)
        if chosen:
            dialog.preselect(chosen)
        show_modal(dialog)
        # The answer would come to a dialog that is gone.
        self._inspection.forget("deleted runs")

    def hide(self, run_id: int) -> None:
        """Delete a run so that it can come back; another one is shown if this one was on show."""
        self.change(lambda store: store.hide_run(run_id))
        shown = self._inspection.run
        if shown is not None and shown.id == run_id:
            self._inspection.choose_run(Wanted(root=shown.project_root))

    def change(self, change: Callable[[Store], None]) -> None:
        """Write something about a run."""
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
