"""The runs that wait for their turn: look, put in another order, take out, hold or go on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QPushButton, QWidget

from rtc_inspector.ui.run.queue import Queueing
from rtc_inspector.ui.style.controls import PAGE, bind, column, label, row
from rtc_inspector.ui.style.text_size import open_at
from rtc_inspector.ui.style.theme import SPACE

HELD = "The queue waits. Nothing begins until you press “Go on”."
GOING = "The next one begins by itself when the run at work has ended."
EMPTY = "No run waits. Press Run while one is at work, and the next one waits here."


class QueueDialog(QDialog):
    """Stays up to date while runs end and begin."""

    def __init__(self, queueing: Queueing, parent: QWidget | None = None) -> None:
        """Show the queue as it stands."""
        super().__init__(parent)
        self.setWindowTitle("Queue of runs")
        self._queueing = queueing
        self.said, self.list = label(role="muted", wrap=True), QListWidget()
        self.earlier, self.later, self.remove = (QPushButton(text) for text in ("Earlier", "Later", "Remove"))
        self.hold = QPushButton()
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
            button.setAutoDefault(False)
            # The default value keeps this turn's act; `_` takes what the signal says.
            button.clicked.connect(lambda _=False, act=act: act())
            bind(self.list, key, act, tip)
        self.hold.clicked.connect(self._toggle)

    def _lay_out(self) -> None:
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
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
