"""RTC and lift as regions are completed, with their intervals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPen
from PySide6.QtWidgets import QWidget

from core.kinds import counted
from core.store.rows import RunningPoint
from core.types import Score
from ui.diff.controls import column, label, row
from ui.diff.elided import ElidedLabel
from ui.panels.flow import Flow
from ui.panels.plots import make_plot, paint_plot
from ui.panels.series import Series
from ui.theme import SPACE, Theme

NEAR = 24
"""Pixels around a point within which a click means it."""

SETTLED = 0.08
"""Share of the regions before which intervals are too wide to be worth the chart's height."""


class RunningChart(QWidget):
    """Two lines with bands. The pointer, or the arrow keys, read off values; a click or Enter goes to the region.

    `region_activated(item_id)` carries the region that completed the point.
    """

    region_activated = Signal(int)

    def __init__(self, theme: Theme) -> None:
        """Empty until `set_points`."""
        super().__init__()
        self._points: Sequence[RunningPoint] = ()
        self._at: int | None = None
        self._said = ElidedLabel("muted")
        self._said.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._noun = "region"
        self._plot = make_plot("", "")
        self._plot.setAccessibleName("Running RTC and lift; arrow keys read off values, Enter opens")
        self._plot.viewport().installEventFilter(self)
        self._plot.installEventFilter(self)
        self._zero = pg.InfiniteLine(0, angle=0)
        self._cursor = pg.InfiniteLine(0, angle=90)
        self._cursor.hide()
        for line in (self._zero, self._cursor):
            self._plot.addItem(line, ignoreBounds=True)
        self.rtc, self.lift = Series(self._plot, "RTC"), Series(self._plot, "lift")
        self._names = {each: label() for each in (self.rtc, self.lift)}
        self.set_noun("region")
        head = row(margins=(SPACE + 4, SPACE, SPACE + 4, 0))
        head.addLayout(Flow(tuple(self._names.values()), 16), 2)
        head.addWidget(self._said, 1)
        column(head, self._plot, owner=self)
        self.set_theme(theme)

    @property
    def said(self) -> str:
        """The values under the pointer, else the last ones, in words."""
        return " · ".join(each.text() for each in (*self._names.values(), self._said))

    def set_noun(self, noun: str) -> None:
        """Call what a run samples by its name."""
        self._noun = noun
        self._plot.setLabel("bottom", f"{noun}s completed")
        self._plot.setLabel("left", f"mean over {noun}s")
        for name in self._names.values():
            name.setToolTip(f"Mean over {noun}s; the band is its 95 % interval")

    def set_points(self, points: Sequence[RunningPoint]) -> None:
        """Show other points; the items drawn stay the same ones, so nothing flickers."""
        if points == self._points:
            return
        self._points = points
        self.rtc.show_points([(point.items, point.rtc) for point in points])
        self.lift.show_points([(point.items, point.lift) for point in points])
        last = points[-1] if points else None
        self._plot.setXRange(0, max(5, last.items) if last else 5, padding=0.01)
        self._plot.setYRange(*self._range(), padding=0.03)
        self._read(None)

    def csv(self) -> str:
        """The points as a table; an empty field for no value."""
        heads = [f"{self._noun}s", *(f"{name}{end}" for name in ("rtc", "lift") for end in ("", "_low", "_high"))]
        lines = [",".join(heads)]
        for point in self._points:
            numbers = (y for score in (point.rtc, point.lift) for y in (score.value, score.low, score.high))
            lines.append(",".join([str(point.items), *("" if y is None else f"{y:.6f}" for y in numbers)]))
        return "\n".join([*lines, ""])

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        paint_plot(self._plot, theme)
        self._zero.setPen(QPen(QColor(theme.muted), 0, Qt.PenStyle.DashLine))
        self._cursor.setPen(QPen(QColor(theme.muted), 0))
        for series, colour, style in (
            (self.rtc, theme.accent, Qt.PenStyle.SolidLine),
            (self.lift, theme.good, Qt.PenStyle.DashLine),
        ):
            series.colour(colour, style)
            self._names[series].setStyleSheet(f"color: {colour}; font-weight: 600;")

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802
        """Follow pointer and keys over the plot (called by Qt)."""
        if isinstance(event, QMouseEvent):
            return watched is self._plot.viewport() and self._mouse(event)
        if event.type() == QEvent.Type.Leave:
            self._read(None)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched is self._plot:
            return self._key(Qt.Key(event.key()))
        return False

    def _mouse(self, event: QMouseEvent) -> bool:
        kind = QEvent.Type
        if event.type() == kind.MouseMove:
            self._read(self._near(event.position()))
        elif event.type() == kind.MouseButtonRelease and event.button() is Qt.MouseButton.LeftButton:
            self._read(self._near(event.position()))
            self._activate()
        return False

    def _key(self, key: Qt.Key) -> bool:
        """Left and Right step through the points, Home and End jump, Enter opens the region."""
        last, here = len(self._points) - 1, self._at if self._at is not None else len(self._points)
        steps = {Qt.Key.Key_Left: here - 1, Qt.Key.Key_Right: here + 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate()
        elif key in steps and self._points:
            self._read(min(max(steps[key], 0), last))
        else:
            return False
        return True

    def _near(self, position: QPointF) -> int | None:
        """The point whose count of regions is nearest to the pointer."""
        if not self._points:
            return None
        view = self._plot.getViewBox()
        wanted = view.mapSceneToView(self._plot.mapToScene(position.toPoint())).x()
        after = bisect_left(self._points, wanted, key=lambda point: point.items)
        around = [place for place in (after - 1, after) if 0 <= place < len(self._points)]
        place = min(around, key=lambda near: abs(self._points[near].items - wanted))
        far = abs(self._points[place].items - wanted) / max(1e-9, view.viewPixelSize()[0]) > NEAR
        return None if far else place

    def _read(self, place: int | None) -> None:
        """Say the values of one point; of the last one while none is pointed at."""
        self._at = place
        self._cursor.setVisible(place is not None)
        point = self._points[-1 if place is None else place] if self._points else RunningPoint(0, 0, {})
        self._cursor.setPos(point.items)
        self._names[self.rtc].setText(f"━━ RTC {in_words(point.rtc)}")
        self._names[self.lift].setText(f"╍╍ lift {in_words(point.lift, '+')}")
        self._said.setText(f"after {counted(point.items, self._noun)}")

    def _activate(self) -> None:
        if self._at is not None:
            self.region_activated.emit(self._points[self._at].item_id)

    def _range(self) -> tuple[float, float]:
        """All values and, once they have settled, all bounds; 0 always in sight."""
        settled = self._points[-1].items * SETTLED if self._points else 0
        scores = [(point.items, score) for point in self._points for score in (point.rtc, point.lift)]
        seen = [score.value for _, score in scores if score.value is not None]
        for items, score in scores:
            if items >= settled and score.low is not None and score.high is not None:
                seen += [score.low, score.high]
        return min([0.0, *seen]), max([0.2, *seen])


def in_words(score: Score, sign: str = "") -> str:
    """`0.21 (0.12 to 0.33)`."""
    if score.value is None:
        return "–"
    text = f"{score.value:{sign}.2f}"
    if score.low is None or score.high is None:
        return text
    return f"{text} ({score.low:{sign}.2f} to {score.high:{sign}.2f})"
