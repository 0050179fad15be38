"""One line of a chart with the band of its interval, made once and moved in place."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QPen

from core.types import Score

BAND = 0.16
"""Opacity."""


class Series:
    """A mean and its bounds over x."""

    def __init__(self, plot: pg.PlotWidget, name: str) -> None:
        """Add empty items to the plot."""
        self.name = name
        none = QPen(Qt.PenStyle.NoPen)
        self.low, self.high = (pg.PlotCurveItem(pen=none) for _ in range(2))
        self.band = pg.FillBetweenItem(self.low, self.high)
        self.band.setZValue(-10)
        self.line = pg.PlotDataItem(symbol="o", symbolSize=4)
        for item in (self.low, self.high, self.band, self.line):
            plot.addItem(item)

    def colour(self, colour: str, style: Qt.PenStyle) -> None:
        """Draw in another colour; the style tells lines apart without colour."""
        self.line.setPen(QPen(QColor(colour), 0, style))
        pen = pg.mkPen(colour, width=2, style=style)
        self.line.setPen(pen)
        self.line.setSymbolBrush(QColor(colour))
        self.line.setSymbolPen(None)
        thin = QColor(colour)
        thin.setAlphaF(BAND)
        self.band.setBrush(QBrush(thin))

    def show_points(self, points: Sequence[tuple[int, Score]]) -> None:
        """Move the items to other points; those without a value are left out."""
        means = [(x, score.value) for x, score in points if score.value is not None]
        bounds = [(x, s.low, s.high) for x, s in points if s.low is not None and s.high is not None]
        self.line.setData([x for x, _ in means], [y for _, y in means])
        self.line.setSymbolSize(5 if len(means) <= 60 else 0)
        self.low.setData([x for x, _, _ in bounds], [y for _, y, _ in bounds])
        self.high.setData([x for x, _, _ in bounds], [y for _, _, y in bounds])
