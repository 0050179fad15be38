"""The charts of a run, one at a time, with their export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QWidget

from core.store.rows import ItemRow, RunningPoint
from ui.diff.controls import column, label, row, switch
from ui.panels.chart import RunningChart
from ui.panels.exporting import ExportButton
from ui.panels.histogram import Histogram
from ui.panels.metric_chart import MetricChart
from ui.theme import SPACE, Theme


class Parts:
    """The charts themselves, made one by one: each takes a while."""

    def __init__(self, theme: Theme) -> None:
        """None is made yet."""
        self._theme, self._left = theme, [self._running, self._spread, self._by_metric]

    def step(self) -> None:
        """Make one more, if one is left."""
        if self._left:
            self._left.pop(0)()

    def finish(self) -> None:
        """Make all that are left."""
        while self._left:
            self.step()

    def _running(self) -> None:
        self.running = RunningChart(self._theme)

    def _spread(self) -> None:
        self.spread = Histogram(self._theme)

    def _by_metric(self) -> None:
        self.by_metric = MetricChart(self._theme)


class Charts(QWidget):
    """Running scores, their spread, and metrics against the verdict.

    `region_activated(item_id)`, `sample_activated(item_id, sample_id)` when a mark is clicked; `metric_asked(metric)`:
    its values are wanted; `export_failed(problem)` when a file cannot be written.
    """

    region_activated = Signal(int)
    sample_activated = Signal(int, int)
    metric_asked = Signal(str)
    export_failed = Signal(str)

    def __init__(self, theme: Theme, parts: Parts | None = None) -> None:
        """Empty until points and items come; its parts may have been made before."""
        super().__init__()
        self.setProperty("role", "surface")
        made = parts or Parts(theme)
        made.finish()
        self.running, self.spread, self.by_metric = made.running, made.spread, made.by_metric
        self._wait = label("Scores appear with the first that is complete.", "muted")
        self._wait.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        for chart in (self.running, self.spread):
            chart.region_activated.connect(self.region_activated)
            self._stack.addWidget(chart)
        self._stack.addWidget(self.by_metric)
        self.by_metric.sample_activated.connect(self.sample_activated)
        self.by_metric.values_asked.connect(self.metric_asked)
        self._choices = QButtonGroup(self)
        names = (
            ("Running", "RTC and lift as the run goes on"),
            ("Spread", "How RTC is spread"),
            ("Metrics", "How well text similarity tells passing code from failing code"),
        )
        buttons = [switch(name, tip, on=place == 0) for place, (name, tip) in enumerate(names)]
        for place, each in enumerate(buttons):
            self._choices.addButton(each, place)
        self._export = ExportButton("chart", lambda: self._stack.currentWidget() or self, self.csv)
        self._export.failed.connect(self.export_failed)
        self._choices.idToggled.connect(lambda place, on: self._stack.setCurrentIndex(place) if on else None)
        head = row(*buttons, None, self._export, margins=(SPACE // 2, 2, SPACE // 2, 0), spacing=2)
        column(head, self._wait, self._stack, owner=self)

    def set_noun(self, noun: str) -> None:
        """Call what the run samples by its name."""
        self.running.set_noun(noun)
        self.spread.set_noun(noun)

    def set_points(self, points: Sequence[RunningPoint]) -> None:
        """Show other running scores."""
        self._wait.setVisible(not points)
        self.running.set_points(points)

    def set_items(self, items: Sequence[ItemRow]) -> None:
        """Show other regions."""
        self.spread.set_items(items)
        self.by_metric.invalidate()

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self.running.set_theme(theme)
        self.spread.set_theme(theme)
        self.by_metric.set_theme(theme)

    def choose(self, place: int) -> None:
        """Show a chart: 0 running, 1 spread, 2 metrics."""
        self._choices.button(place).setChecked(True)

    def csv(self) -> str:
        """The chart on show as a table."""
        return (self.running, self.spread, self.by_metric)[self._stack.currentIndex()].csv()

    def export(self, path: Path) -> None:
        """Write the chart on show: a table for `.csv`, else a picture. Raises OSError."""
        self._export.export(path)
