"""How RTC is spread over the regions of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from core.kinds import article
from core.store.rows import ItemRow
from ui.diff.controls import column, row
from ui.diff.elided import ElidedLabel
from ui.panels.plots import follow_plot, make_plot, paint_plot
from ui.theme import SPACE, Theme

MOST_VALUES = 13
"""Distinct values up to which each gets a bar of its own; else ten equal bins."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Regions whose RTC lies in `low..high` (both in, for a single value they are equal)."""

    low: float
    high: float
    items: tuple[int, ...]

    @property
    def text(self) -> str:
        """The range in words."""
        return f"{self.low:.2f}" if self.low == self.high else f"{self.low:.1f} to {self.high:.1f}"


def bins(items: Sequence[ItemRow]) -> list[Bin]:
    """Judged regions by RTC."""
    judged = [(round(item.rtc, 6), item.id) for item in items if item.rtc is not None]
    by_value: dict[float, list[int]] = {}
    for value, number in judged:
        by_value.setdefault(value, []).append(number)
    if len(by_value) <= MOST_VALUES:
        return [Bin(value, value, tuple(by_value[value])) for value in sorted(by_value)]
    placed: list[list[int]] = [[] for _ in range(10)]
    for value, number in judged:
        placed[min(9, int(value * 10))].append(number)
    return [Bin(at / 10, (at + 1) / 10, tuple(numbers)) for at, numbers in enumerate(placed)]


class Histogram(QWidget):
    """One bar a value. A click, or Enter, opens the bar's regions one after the other (`region_activated`)."""

    region_activated = Signal(int)

    def __init__(self, theme: Theme) -> None:
        """Empty until `set_items`."""
        super().__init__()
        self.bins: list[Bin] = []
        self._at: int | None = None
        self._turn = 0
        self._theme = theme
        self._said = ElidedLabel("muted")
        self._plot = make_plot("", "")
        self.set_noun("region")
        self._plot.installEventFilter(self)
        self._plot.viewport().installEventFilter(self)
        self._bars = pg.BarGraphItem(x=[], height=[], width=0.1)
        self._plot.addItem(self._bars)
        head = row(self._said, margins=(SPACE + 4, SPACE, SPACE + 4, 0))
        column(head, self._plot, owner=self)
        self.set_theme(theme)

    @property
    def said(self) -> str:
        """The bar pointed at, else the sum, in words."""
        return self._said.text()

    def set_noun(self, noun: str) -> None:
        """Call what a run samples by its name."""
        self._noun = noun
        self._plot.setLabel("bottom", f"RTC of {article(noun)}")
        self._plot.setLabel("left", f"{noun}s")
        said = f"{noun}s by RTC; arrow keys step through the bars, Enter opens what is in one".capitalize()
        self._plot.setAccessibleName(said)

    def set_items(self, items: Sequence[ItemRow]) -> None:
        """Show other regions; the bars are moved, not made anew."""
        found = bins(items)
        if found != self.bins:
            self.bins = found
            self._draw()
            self._read(None)

    def csv(self) -> str:
        """The bars as a table."""
        lines = [f"{each.low:.6f},{each.high:.6f},{len(each.items)}" for each in self.bins]
        return "\n".join([f"rtc_low,rtc_high,{self._noun}s", *lines, ""])

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = theme
        paint_plot(self._plot, theme)
        self._draw()

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802
        """Follow pointer and keys over the plot (called by Qt)."""
        return follow_plot(self._plot, watched, event, self._under, self._read, self._activate, self._key)

    def _key(self, key: Qt.Key) -> bool:
        last = len(self.bins) - 1
        here = -1 if self._at is None else self._at
        steps = {Qt.Key.Key_Right: here + 1, Qt.Key.Key_Left: here - 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate()
        elif key in steps and self.bins:
            self._read(min(max(steps[key], 0), last))
        else:
            return False
        return True

    def _middles(self) -> list[float]:
        return [(each.low + each.high) / 2 for each in self.bins]

    def _width(self) -> float:
        """Of a bar: most of the smallest distance between two."""
        middles = self._middles()
        gaps = [b - a for a, b in pairwise(middles)]
        return 0.86 * min([0.2, *gaps])

    def _draw(self) -> None:
        self._bars.setVisible(bool(self.bins))
        if not self.bins:
            return
        colours = [QColor(self._theme.heat(value)) for value in self._middles()]
        heights = [len(each.items) for each in self.bins]
        edge = QPen(QColor(self._theme.surface), 0)
        pens = [QPen(QColor(self._theme.text), 0) if at == self._at else edge for at in range(len(self.bins))]
        self._bars.setOpts(x=self._middles(), height=heights, width=self._width(), brushes=colours, pens=pens)
        self._plot.setXRange(-0.1, 1.1, padding=0)
        self._plot.setYRange(0, max([4, *heights]) * 1.05, padding=0)

    def _under(self, position: QPointF) -> int | None:
        """The bar whose column the pointer is in."""
        x = self._plot.getViewBox().mapSceneToView(self._plot.mapToScene(position.toPoint())).x()
        half = self._width() / 2
        return next((at for at, middle in enumerate(self._middles()) if abs(middle - x) <= half), None)

    def _read(self, at: int | None) -> None:
        """Say one bar, or the sum."""
        if at != self._at:
            self._at, self._turn = at, 0
            self._draw()
        judged = sum(len(each.items) for each in self.bins)
        if at is None:
            self._said.setText(f"{judged} judged {self._noun}s by RTC")
            return
        count = len(self.bins[at].items)
        self._said.setText(f"RTC {self.bins[at].text}: {count} of {judged} {self._noun}s ({count / judged:.0%})")

    def _activate(self) -> None:
        """Open the next region of the bar."""
        if self._at is None or not self.bins[self._at].items:
            return
        items = self.bins[self._at].items
        self.region_activated.emit(items[self._turn % len(items)])
        self._turn += 1
