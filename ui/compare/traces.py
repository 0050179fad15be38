"""Both runs' traces of one item side by side, and the way to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from core.comparison.values import Comparison, Pair
from ui.compare.keys import STEPS
from ui.compare.pair_model import place
from ui.compare.side import TraceSide
from ui.style.controls import BAR, ElidedLabel, bind, button, column, label, row, split
from ui.style.icons import icon


class Traces(QWidget):
    """`back_asked` to the summary; `wanted(pair)`: its samples are to be read; `left_for(run_id, item_id)`."""

    back_asked = Signal()
    wanted = Signal(object)
    left_for = Signal(int, int)

    def __init__(self, sides: Sequence[TraceSide]) -> None:
        """Empty until `show_pairs`; `sides` are the reference's and the other run's."""
        super().__init__()
        self._comparison: Comparison | None = None
        self._pairs: Sequence[Pair] = ()
        self._at = 0
        self.sides = sides
        self.title, self.count = ElidedLabel("title", Qt.TextElideMode.ElideLeft), label(role="muted")
        self.back = button("Summary", "Back to the summary (Escape)", self.back_asked.emit, flat=False)
        self.previous = button("", "Previous item", lambda: self.step(-1))
        self.next = button("", "Next item", lambda: self.step(1))
        self.previous.setIcon(icon("previous"))
        self.next.setIcon(icon("next"))
        for (name, words, keys), direction in zip(STEPS, (1, -1), strict=True):
            bind(self, keys, partial(self.step, direction), words, name)
        for at, side in enumerate(sides):
            side.left_for.connect(partial(self._leave, at))
        head = row(self.back, self.title, self.count, None, self.previous, self.next, margins=BAR, grows=self.title)
        column(head, split(Qt.Orientation.Horizontal, *sides, stretch=(1, 1)), owner=self)

    @property
    def pair(self) -> Pair | None:
        """What is shown."""
        return self._pairs[self._at] if self._at < len(self._pairs) else None

    def show_pairs(self, comparison: Comparison, pairs: Sequence[Pair], at: int) -> None:
        """Show one of `pairs`; the others can be stepped to."""
        self._comparison, self._pairs, self._at = comparison, pairs, at
        self._show()

    def step(self, direction: int) -> None:
        """Show the next (1) or previous (-1) item."""
        if 0 <= self._at + direction < len(self._pairs):
            self._at += direction
            self._show()

    def take_focus(self) -> None:
        """So that keys act at once."""
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

    def _leave(self, side: int, item_id: int) -> None:
        if self._comparison is not None:
            run = self._comparison.second if side else self._comparison.first
            self.left_for.emit(run.id, item_id)
