"""Name and notes of the run that is chosen in the list of runs."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from core.store.rows import RunRow
from ui.shell.fields import level_labels
from ui.style.theme import SPACE


class RunNotes(QWidget):
    """`renamed` and `noted` carry a run's id and the new text, once the field is left or Enter is pressed."""

    renamed = Signal(int, str)
    noted = Signal(int, str)

    def __init__(self) -> None:
        """Empty until `show_run`."""
        super().__init__()
        self._run: RunRow | None = None
        self.name, self.notes = QLineEdit(), QLineEdit()
        self.name.setPlaceholderText("A name to know it by")
        self.notes.setPlaceholderText("What this run was for, what came of it")
        for field, words in ((self.name, "Name of the run"), (self.notes, "Notes on the run")):
            field.setAccessibleName(words)
            field.editingFinished.connect(self.keep)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setSpacing(SPACE)
        form.addRow("&Name", self.name)
        form.addRow("No&tes", self.notes)
        level_labels(form)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Enter keeps what was typed and must not open the run (called by Qt)."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def show_run(self, run: RunRow | None) -> None:
        """Show another run; what was typed for the one before is kept."""
        self.keep()
        self._run = run
        self.setEnabled(run is not None)
        self.name.setText(run.name if run else "")
        self.notes.setText(run.notes if run else "")

    def keep(self) -> None:
        """Tell what changed."""
        run, name, notes = self._run, self.name.text().strip(), self.notes.text().strip()
        if run is None or (name, notes) == (run.name, run.notes):
            return
        self._run = None
        if name != run.name:
            self.renamed.emit(run.id, name)
        if notes != run.notes:
            self.noted.emit(run.id, notes)
