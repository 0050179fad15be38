"""RTC of each common item: the reference to the right, the other run upwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from core.comparison.values import Comparison, Pair
from ui.diff.controls import column, row
from ui.diff.elided import ElidedLabel
from ui.panels.plots import follow_plot, make_plot, paint_plot
from ui.theme import SPACE, Theme

SMALLEST, LARGEST = 9.0, 42.0
"""Pixels across."""
NEAR = 10
"""Pixels around a spot within which a click means it."""
MOST_NUMBERED = 60
"""Spots up to which the larger ones carry their number."""
FILLING = 0.45


@dataclass(frozen=True, slots=True)
class Spot:
    """All items at one point; its area grows with their number."""

    x: float
    y: float
    pairs: tuple[Pair, ...]


def spots(pairs: Sequence[Pair]) -> list[Spot]:
    """Items by where they lie: from the left, then from below."""
    at: dict[tuple[float, float], list[Pair]] = {}
    for pair in pairs:
        at.setdefault((round(pair.first.rtc or 0.0, 6), round(pair.second.rtc or 0.0, 6)), []).append(pair)
    return [Spot(x, y, tuple(at[x, y])) for x, y in sorted(at)]


class Scatter(QWidget):
    """Spots over a diagonal; above it the other run does better. A click, or Enter, opens a spot's items.

    `opened(pairs, place)`: the items of the spot, and the one to begin with.
    """

    opened = Signal(object, int)

    def __init__(self, theme: Theme) -> None:
        """Empty until `show_comparison`."""
        super().__init__()
        self.setProperty("role", "surface")
        self._theme = theme
        self._runs = (0, 0)
        self._at: int | None = None
        self.spots: list[Spot] = []
        self._said = ElidedLabel("muted")
        self.plot = make_plot("RTC", "RTC")
        self.plot.setAccessibleName("RTC of each item in both runs; arrow keys step through, Enter opens")
        self.plot.showGrid(x=True, y=True, alpha=0.12)
        for watched in (self.plot, self.plot.viewport()):
            watched.installEventFilter(self)
        self._diagonal = pg.PlotCurveItem([0, 1], [0, 1])
        self._marks = pg.ScatterPlotItem(pxMode=True)
        self._numbers: list[pg.TextItem] = []
        for item in (self._diagonal, self._marks):
            self.plot.addItem(item)
        self.plot.setRange(xRange=(-0.08, 1.08), yRange=(-0.08, 1.08), padding=0)
        column(row(self._said, margins=(SPACE + 4, SPACE // 2, SPACE + 4, 0)), self.plot, owner=self)
        self.set_theme(theme)

    @property
    def said(self) -> str:
        """The spot pointed at, else the sum, in words."""
        return self._said.text()

    def show_comparison(self, comparison: Comparison) -> None:
        """Show another comparison."""
        self._runs = comparison.first.id, comparison.second.id
        self.plot.setLabel("bottom", f"RTC in run {self._runs[0]}")
        self.plot.setLabel("left", f"RTC in run {self._runs[1]}")
        self.spots = spots(comparison.pairs)
        self._at = None
        self._draw()
        self._read(None)

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = theme
        paint_plot(self.plot, theme)
        self._diagonal.setPen(QPen(QColor(theme.muted), 0, Qt.PenStyle.DashLine))
        self._draw()

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802
        """Follow pointer and keys over the plot (called by Qt)."""
        return follow_plot(self.plot, watched, event, self._under, self._read, self._open, self._key)

    def _key(self, key: Qt.Key) -> bool:
        last, here = len(self.spots) - 1, -1 if self._at is None else self._at
        steps = {Qt.Key.Key_Right: here + 1, Qt.Key.Key_Left: here - 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        steps |= {Qt.Key.Key_Up: here + 1, Qt.Key.Key_Down: here - 1}
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open()
        elif key in steps and self.spots:
            self._read(min(max(steps[key], 0), last))
        else:
            return False
        return True

    def _sizes(self) -> list[float]:
        """Areas in proportion to numbers, as far as the bounds allow."""
        most = max((len(spot.pairs) for spot in self.spots), default=1)
        return [max(SMALLEST, LARGEST * math.sqrt(len(spot.pairs) / max(most, 8))) for spot in self.spots]

    def _draw(self) -> None:
        theme = self._theme
        colours = [theme.good if s.y > s.x else theme.bad if s.y < s.x else theme.neutral for s in self.spots]
        rings = [theme.text if at == self._at else colour for at, colour in enumerate(colours)]
        self._marks.setData(
            x=[spot.x for spot in self.spots],
            y=[spot.y for spot in self.spots],
            size=self._sizes(),
            brush=[QColor(theme.tint(colour, FILLING)) for colour in colours],
            pen=[pg.mkPen(ring, width=2 if at == self._at else 1) for at, ring in enumerate(rings)],
        )
        self._write_numbers()

    def _write_numbers(self) -> None:
        """How many lie at a spot, where there is room for it."""
        for text in self._numbers:
            self.plot.removeItem(text)
        self._numbers = []
        if len(self.spots) > MOST_NUMBERED:
            return
        for spot, size in zip(self.spots, self._sizes(), strict=True):
            if len(spot.pairs) > 1 and size >= 16:
                text = pg.TextItem(str(len(spot.pairs)), color=self._theme.text, anchor=(0.5, 0.5))
                text.setPos(spot.x, spot.y)
                self.plot.addItem(text, ignoreBounds=True)
                self._numbers.append(text)

    def _under(self, position: QPointF) -> int | None:
        """The nearest spot that the pointer touches."""
        best: tuple[float, int] | None = None
        for at, (spot, size) in enumerate(zip(self.spots, self._sizes(), strict=True)):
            middle = self.plot.mapFromScene(self.plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y)))
            away = math.dist((middle.x(), middle.y()), (position.x(), position.y()))
            if away <= max(size / 2, NEAR) and (best is None or away < best[0]):
                best = away, at
        return None if best is None else best[1]

    def _read(self, at: int | None) -> None:
        """Say one spot, or the sum."""
        if at != self._at:
            self._at = at
            self._draw()
        first, second = self._runs
        if at is not None:
            spot = self.spots[at]
            self._said.setText(f"{len(spot.pairs)} with RTC {spot.x:.2f} in run {first}, {spot.y:.2f} in run {second}")
            return
        better = sum(len(spot.pairs) for spot in self.spots if spot.y > spot.x)
        worse = sum(len(spot.pairs) for spot in self.spots if spot.y < spot.x)
        same = sum(len(spot.pairs) for spot in self.spots) - better - worse
        self._said.setText(f"{better} better in run {second}, {worse} in run {first}, {same} alike")

    def _open(self) -> None:
        if self._at is not None:
            self.opened.emit(self.spots[self._at].pairs, 0)
