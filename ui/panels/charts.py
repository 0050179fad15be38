"""The charts of a run, one at a time, with their export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QButtonGroup, QFileDialog, QMenu, QStackedWidget, QToolButton, QWidget

from core.store.rows import ItemRow, RunningPoint
from ui.diff.controls import button, column, label, row, switch, to_clipboard
from ui.panels.chart import RunningChart
from ui.panels.histogram import Histogram
from ui.theme import SPACE, Theme

SCALE = 2
"""Pixels of an exported picture for each on screen."""


class Charts(QWidget):
    """Running scores and their spread. `export_failed(problem)` when a file cannot be written."""

    region_activated = Signal(int)
    export_failed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        """Empty until points and items come."""
        super().__init__()
        self.setProperty("role", "surface")
        self.running, self.spread = RunningChart(theme), Histogram(theme)
        self._wait = label("Scores appear with the first completed region.", "muted")
        self._wait.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        for chart in (self.running, self.spread):
            chart.region_activated.connect(self.region_activated)
            self._stack.addWidget(chart)
        self._choices = QButtonGroup(self)
        names = (("Running", "RTC and lift as regions are completed"), ("Spread", "How RTC is spread over regions"))
        buttons = [switch(name, tip, on=place == 0) for place, (name, tip) in enumerate(names)]
        for place, each in enumerate(buttons):
            self._choices.addButton(each, place)
        self._choices.idToggled.connect(lambda place, on: self._stack.setCurrentIndex(place) if on else None)
        head = row(*buttons, None, self._export_button(), margins=(SPACE // 2, 2, SPACE // 2, 0), spacing=2)
        column(head, self._wait, self._stack, owner=self)

    def _export_button(self) -> QToolButton:
        made = button("Export", "Export this chart as a picture or a table", lambda: None)
        made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(made)
        menu.addAction("Picture (PNG)…").triggered.connect(lambda: self._ask("PNG", "png"))
        menu.addAction("Table (CSV)…").triggered.connect(lambda: self._ask("CSV", "csv"))
        menu.addAction("Copy table").triggered.connect(lambda: to_clipboard(self.csv()))
        made.setMenu(menu)
        return made

    def set_points(self, points: Sequence[RunningPoint]) -> None:
        """Show other running scores."""
        self._wait.setVisible(not points)
        self.running.set_points(points)

    def set_items(self, items: Sequence[ItemRow]) -> None:
        """Show other regions."""
        self.spread.set_items(items)

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self.running.set_theme(theme)
        self.spread.set_theme(theme)

    def choose(self, place: int) -> None:
        """Show a chart: 0 running, 1 spread."""
        self._choices.button(place).setChecked(True)

    def csv(self) -> str:
        """The chart on show as a table."""
        return self.running.csv() if self._stack.currentIndex() == 0 else self.spread.csv()

    def export(self, path: Path) -> None:
        """Write the chart on show: a table for `.csv`, else a picture. Raises OSError."""
        if path.suffix.lower() == ".csv":
            path.write_text(self.csv(), "utf-8")
            return
        chart = (self.running, self.spread)[self._stack.currentIndex()]
        picture = QPixmap(chart.size() * SCALE)
        picture.setDevicePixelRatio(SCALE)
        chart.render(picture)
        if not picture.save(str(path)):
            raise OSError(f"{path} could not be written")

    def _ask(self, kind: str, ending: str) -> None:
        """Ask for a file name and write there."""
        name, _ = QFileDialog.getSaveFileName(self, "Export chart", f"chart.{ending}", f"{kind} (*.{ending})")
        if not name:
            return
        path = Path(name) if Path(name).suffix else Path(f"{name}.{ending}")
        try:
            self.export(path)
        except OSError as error:
            self.export_failed.emit(f"The chart could not be written: {error}. Choose another folder.")
