"""One run's trace of an item: descriptions, verdicts, and the chosen reconstruction against the original."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from core.comparison.words import run_words
from core.store.rows import ItemRow, RunRow, SampleRow
from ui.panels.diff import DiffPanel
from ui.panels.roundtrip import RoundTripPanel
from ui.presenters import describes, diff_title, rebuilt, scored_against
from ui.style.controls import ElidedLabel, button, column, row, split
from ui.style.theme import SPACE


class TraceSide(QWidget):
    """`left_for(item_id)`: the user wants the item in the main view."""

    left_for = Signal(int)

    def __init__(self, name: str) -> None:
        """Empty until `show_item`; `name` is for screen readers."""
        super().__init__()
        self.setProperty("role", "surface")
        self.setAccessibleName(name)
        self._item: ItemRow | None = None
        self._samples: dict[int, SampleRow] = {}
        self._passing: bool | None = None
        self._below = QTimer(self, singleShot=True, interval=0)
        self._below.timeout.connect(self._show_chosen)
        self.title = ElidedLabel("title")
        tip = "Leave the comparison and show this in the main view"
        self.show_there = button("Show in the code", tip, self._leave)
        self.roundtrip, self.diff = RoundTripPanel(), DiffPanel(unified=True)
        self.roundtrip.describe.hide()
        self.diff.view.title.hide()  # no room, and the heading below says it too
        self.roundtrip.sample_selected.connect(self._show_code)
        body = split(Qt.Orientation.Vertical, self.roundtrip, self.diff, sizes=(450, 300))
        head = row(self.title, self.show_there, margins=(SPACE + 4, SPACE // 2, SPACE, SPACE // 2), grows=self.title)
        column(head, body, owner=self)

    def show_item(self, run: RunRow, item: ItemRow, passing: bool | None = None) -> None:
        """Show an item's head at once; `show_samples` follows when they are read.

        `passing`: whether to choose a reconstruction that passes, or one that does not; None leaves it open.
        """
        self._passing = passing
        self.title.setText(f"R{run_words(run)[1:]}")
        if self._item is None or item.id != self._item.id:
            self._below.stop()
            self._item, self._samples = item, {}
            self.roundtrip.set_trace(item, [])
            self.diff.clear()

    def show_samples(self, item: ItemRow, samples: Sequence[SampleRow]) -> None:
        """Show its samples, unless another item is shown by now."""
        if self._item is None or item.id != self._item.id:
            return
        fresh, self._item = not self._samples, item
        self._samples = {sample.id: sample for sample in samples}
        self._below.start()
        self.roundtrip.set_trace(item, samples)
        if fresh and self._passing is not None:
            self._choose(self._passing)

    def _show_chosen(self) -> None:
        """Once the cards are drawn: both sides' cards and code at once would hold the window up."""
        self._show_code(self.roundtrip.selected)

    def _show_code(self, sample_id: int | None) -> None:
        """The chosen code, or the first made from the chosen description."""
        # `show_samples` will show the code in the next turn of the loop anyhow.
        if self._below.isActive():
            return
        item, sample = self._item, self._samples.get(sample_id) if sample_id is not None else None
        if sample is not None and describes(sample):
            sample = next((each for each in self._samples.values() if each.parent_id == sample_id), None)
        before = scored_against(sample, self._samples) if sample is not None else None
        title = diff_title(item.task, sample, before) if item is not None and sample is not None else ""
        self.diff.show_code(item, sample, title, before=before)

    def _choose(self, passing: bool) -> None:
        """The first reconstruction that tells why the runs disagree."""
        judged = ((each.id, each.verdict) for each in self._samples.values() if rebuilt(each))
        fitting = (number for number, verdict in judged if verdict and (verdict.outcome == "pass") == passing)
        first = next(fitting, None)
        if first is not None:
            self.roundtrip.select(first)

    def _leave(self) -> None:
        if self._item is not None:
            self.left_for.emit(self._item.id)
