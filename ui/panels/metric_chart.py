"""A similarity metric against the verdict: passing code above the line, failing code below."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPen, QShowEvent
from PySide6.QtWidgets import QComboBox, QWidget

from ui.diff.controls import column, row
from ui.diff.elided import ElidedLabel
from ui.panels.metric_values import BINS, MetricBin, MetricValues, metric_bins
from ui.panels.metrics import metric_heading
from ui.panels.plots import follow_plot, make_plot, paint_plot
from ui.theme import SPACE, Theme


class MetricChart(QWidget):
    """Two histograms back to back. A click, or Enter, opens a bar's reconstructions one after the other.

    `sample_activated(item_id, sample_id)`; `values_asked(metric)` while it is on show and lacks them.
    """

    sample_activated = Signal(int, int)
    values_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        """Empty until `set_values`."""
        super().__init__()
        self._theme = theme
        self._values = MetricValues(-1, "", (), ())
        self.bins: list[MetricBin] = []
        self._at: int | None = None
        self._turn = 0
        self._stale = True
        self.choice = QComboBox()
        self.choice.setAccessibleName("Metric")
        self.choice.activated.connect(lambda _: self._ask())
        self._said = ElidedLabel("muted")
        self.plot = make_plot("value", "share")
        self.plot.setAccessibleName("A metric against the verdict; arrow keys step through the bars, Enter opens")
        for watched in (self.plot, self.plot.viewport()):
            watched.installEventFilter(self)
        self._bars = pg.BarGraphItem(x=[], height=[], width=0.9 / BINS)
        self._zero = pg.InfiniteLine(0, angle=0)
        for item in (self._bars, self._zero):
            self.plot.addItem(item)
        head = row(self._said, self.choice, margins=(SPACE + 4, SPACE // 2, SPACE, 0))
        head.setStretch(0, 1)
        column(head, self.plot, owner=self)
        self.set_theme(theme)

    @property
    def said(self) -> str:
        """The bar pointed at, else how well the metric tells, in words."""
        return self._said.text()

    def invalidate(self) -> None:
        """What is shown may no longer hold: ask again, now or when this is looked at."""
        self._stale = True
        if self.isVisible():
            self._ask()

    def set_values(self, values: MetricValues) -> None:
        """Show other values."""
        if values.known != self._values.known:
            self.choice.clear()
            for name in values.known:
                self.choice.addItem(metric_heading(name), name)
        self.choice.setCurrentIndex(self.choice.findData(values.metric))
        self.choice.setEnabled(bool(values.known))
        self._values = values
        self.bins = metric_bins(values.rows)
        self._at = None
        self.plot.setLabel("bottom", metric_heading(values.metric) or "no metric stored")
        self._draw()
        self._read(None)

    def csv(self) -> str:
        """Every reconstruction with its value and whether it passed."""
        heads = f"item_id,sample_id,{self._values.metric or 'value'},passed"
        lines = [f"{row.item_id},{row.sample_id},{row.value:.6f},{int(row.passed)}" for row in self._values.rows]
        return "\n".join([heads, *lines, ""])

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = theme
        paint_plot(self.plot, theme)
        self._zero.setPen(QPen(QColor(theme.muted), 0))
        self._draw()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Qt: ask for what is missing."""
        super().showEvent(event)
        if self._stale:
            self._ask()

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802
        """Follow pointer and keys over the plot (called by Qt)."""
        return follow_plot(self.plot, watched, event, self._under, self._read, self._activate, self._key)

    def _ask(self) -> None:
        self._stale = False
        self.values_asked.emit(self.choice.currentData() or "")

    def _key(self, key: Qt.Key) -> bool:
        """Left and Right step through the bars, Up and Down change to passing and to failing ones."""
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate()
            return True
        chosen = self.bins[self._at] if self._at is not None else None
        side = chosen.passed if chosen else True
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            side = key is Qt.Key.Key_Up
        elif key not in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End):
            return False
        beside = [at for at, each in enumerate(self.bins) if each.passed == side]
        if beside:
            self._read(_step(beside, [self.bins[at].low for at in beside], chosen.low if chosen else None, key))
        return True

    def _draw(self) -> None:
        self._bars.setVisible(bool(self.bins))
        if not self.bins:
            return
        theme = self._theme
        edge, ring = QPen(QColor(theme.surface), 0), QPen(QColor(theme.text), 0)
        self._bars.setOpts(
            x=[(each.low + each.high) / 2 for each in self.bins],
            height=[each.share if each.passed else -each.share for each in self.bins],
            width=0.9 / BINS,
            brushes=[QColor(theme.region_pass if each.passed else theme.region_fail) for each in self.bins],
            pens=[ring if at == self._at else edge for at in range(len(self.bins))],
        )
        most = max(each.share for each in self.bins) * 1.08
        self.plot.setXRange(-0.02, 1.02, padding=0)
        self.plot.setYRange(-most, most, padding=0)
        ticks = [(each * most / 1.08, f"{abs(each) * most / 1.08:.0%}") for each in (-1.0, -0.5, 0.0, 0.5, 1.0)]
        self.plot.getAxis("left").setTicks([ticks])
        self.plot.setLabel("left", "failed ← share → passed")

    def _under(self, position: QPointF) -> int | None:
        """The bar whose column the pointer is in, on its side of the line."""
        spot = self.plot.getViewBox().mapSceneToView(self.plot.mapToScene(position.toPoint()))
        places = enumerate(self.bins)
        return next((at for at, b in places if b.low <= spot.x() < b.high and b.passed == (spot.y() >= 0)), None)

    def _read(self, at: int | None) -> None:
        """Say one bar, or the whole."""
        if at != self._at:
            self._at, self._turn = at, 0
            self._draw()
        if at is None:
            self._said.setText(self._values.said if self._values.rows else "No judged reconstruction has a metric yet")
            return
        each = self.bins[at]
        verdict = "passing" if each.passed else "failing"
        count = f"{len(each.rows):,} {verdict} reconstructions, {each.share:.0%} of those"
        self._said.setText(f"{each.low:.2f} to {each.high:.2f}: {count}")

    def _activate(self) -> None:
        """Open the next reconstruction of the bar."""
        if self._at is not None:
            rows = self.bins[self._at].rows
            chosen = rows[self._turn % len(rows)]
            self._turn += 1
            self.sample_activated.emit(chosen.item_id, chosen.sample_id)


def _step(bars: Sequence[int], lows: Sequence[float], here: float | None, key: Qt.Key) -> int:
    """Which of `bars` a key leads to: from value `here`, or from before the first."""
    last = len(bars) - 1
    if key is Qt.Key.Key_End:
        return bars[last]
    if key is Qt.Key.Key_Home or here is None:
        return bars[0]
    nearest = min(range(len(bars)), key=lambda place: abs(lows[place] - here))
    moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
    return bars[min(max(nearest + moves.get(key, 0), 0), last)]
