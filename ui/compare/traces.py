"""Both runs' traces of one item side by side, and the way to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.comparison.comparison import Comparison, Pair
from rtc_inspector.core.comparison.words import run_words
from rtc_inspector.core.store.rows import ItemRow, RunRow, SampleRow
from rtc_inspector.ui.compare import STEPS
from rtc_inspector.ui.compare.summary import place
from rtc_inspector.ui.panels.diff import DiffPanel
from rtc_inspector.ui.panels.roundtrip import RoundTripPanel
from rtc_inspector.ui.presenters import describes, diff_title, rebuilt, scored_against
from rtc_inspector.ui.style.controls import BAR, ElidedLabel, bind, button, column, label, row, split
from rtc_inspector.ui.style.theme import SPACE


class TraceSide(QWidget):
    """`left_for(run_id, item_id)`: the user wants the item in the main view."""

    left_for = Signal(int, int)

    def __init__(self, name: str) -> None:
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
        if self._item is None or item.id != self._item.id:
            return
        fresh, self._item = not self._samples, item
        self._samples = {sample.id: sample for sample in samples}
        self._below.start()
        self.roundtrip.set_trace(item, samples)
        if fresh and self._passing is not None:
            self._choose(self._passing)

    def _show_chosen(self) -> None:
        """Show the code once the cards are drawn: cards and code of both sides at once would hold the window up."""
        self._show_code(self.roundtrip.selected)

    def _show_code(self, sample_id: int | None) -> None:
        """Show the chosen code, or the first made from the chosen description."""
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
        """Choose the first reconstruction that tells why the runs disagree."""
        judged = ((each.id, each.verdict) for each in self._samples.values() if rebuilt(each))
        fitting = (number for number, verdict in judged if verdict and (verdict.outcome == "pass") == passing)
        first = next(fitting, None)
        if first is not None:
            self.roundtrip.select(first)

    def _leave(self) -> None:
        if self._item is not None:
            self.left_for.emit(self._item.run_id, self._item.id)


class Traces(QWidget):
    """`back_asked` to the summary; `wanted(pair)`: its samples are to be read; `left_for(run_id, item_id)`."""

    back_asked = Signal()
    wanted = Signal(object)
    left_for = Signal(int, int)

    def __init__(self, sides: Sequence[TraceSide]) -> None:
        super().__init__()
        self._comparison: Comparison | None = None
        self._pairs: Sequence[Pair] = ()
        self._at = 0
        self.sides = sides
        self.title, self.count = ElidedLabel("title", Qt.TextElideMode.ElideLeft), label(role="muted")
        self.back = button("Summary", "Back to the summary (Escape)", self.back_asked.emit, flat=False)
        self.previous = button("", "Previous item (Alt+Left)", lambda: self.step(-1), icon="previous")
        self.next = button("", "Next item (Alt+Right)", lambda: self.step(1), icon="next")
        for (words, keys), direction in zip(STEPS, (1, -1), strict=True):
            bind(self, keys, partial(self.step, direction), words)
        for side in sides:
            side.left_for.connect(self.left_for)
        head = row(self.back, self.title, self.count, None, self.previous, self.next, margins=BAR, grows=self.title)
        column(head, split(Qt.Orientation.Horizontal, *sides, stretch=(1, 1)), owner=self)

    @property
    def pair(self) -> Pair | None:
        return self._pairs[self._at] if self._at < len(self._pairs) else None

    def show_pairs(self, comparison: Comparison, pairs: Sequence[Pair], at: int) -> None:
        self._comparison, self._pairs, self._at = comparison, pairs, at
        self._show()

    def step(self, direction: int) -> None:
        if 0 <= self._at + direction < len(self._pairs):
            self._at += direction
            self._show()

    def take_focus(self) -> None:
        self.sides[0].roundtrip.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        pair, comparison = self.pair, self._comparison
        if pair is None or comparison is None:
            return
        self.title.setText(
            f"{place(pair)}: {comparison.title} {pair.first.headline:.2f} against {pair.second.headline:.2f}"
        )
        self.count.setText(f"{self._at + 1:,} of {len(self._pairs):,}")
        self.previous.setEnabled(self._at > 0)
        self.next.setEnabled(self._at + 1 < len(self._pairs))
        gain = pair.difference * comparison.better
        better = None if not gain else gain > 0
        self.sides[0].show_item(comparison.first, pair.first, None if better is None else not better)
        self.sides[1].show_item(comparison.second, pair.second, better)
        self.wanted.emit(pair)
