"""The figures of a run so large that a room can read them; one key shows them, the same key or Escape leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from rtc_inspector.core.kinds import noun, task
from rtc_inspector.core.store.rows import NOTHING, RunRow
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.reading.inspection import Inspection
from rtc_inspector.ui.style.controls import bind, column, label, on_ground, row
from rtc_inspector.ui.style.region_state import number
from rtc_inspector.ui.style.theme import SPACE
from rtc_inspector.ui.window.window_parts import WindowParts

LARGE, SMALL = 0.2, 0.034
"""Height of a figure and of the words below it, as shares of the page's height."""


def _interval(value: Estimate, sign: bool) -> str:
    if value.low is None or value.high is None:
        return ""
    return f"{number(value.low, sign)} to {number(value.high, sign)}, n {value.n}"


class BigFigures(QWidget):
    """A page of at most two figures, the headline and its difference, over one inspection."""

    def __init__(self, parts: WindowParts, inspection: Inspection) -> None:
        super().__init__()
        self._parts, self._inspection = parts, inspection
        on_ground(self, "surface")
        self.setAccessibleName("Big figures")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.about = label(wrap=True)
        self.figures = [(label(), label(), label(role="muted")) for _ in range(2)]
        places = [column(None, *cells, None, spacing=SPACE) for cells in self.figures]
        for each in self._labels():
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
            each.setMinimumWidth(1)
        column(self.about, row(*places), margins=(SPACE * 4,) * 4, owner=self).setStretch(1, 1)
        bind(self, "Escape", parts.leave_page, "Leave the big figures")
        inspection.overview_changed.connect(lambda overview: self.show_run(overview.run))
        inspection.moved.connect(lambda before, now: self.show_run(inspection.run))
        self.show_run(inspection.run)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {"big-figures": self.turn}

    def turn(self) -> None:
        if self._parts.shows(self):
            self._parts.leave_page()
        else:
            self._parts.show_page(self)

    def show_run(self, run: RunRow | None) -> None:
        """Show a run's headline and difference; without a run what to do."""
        for cells in self.figures:
            for cell in cells:
                cell.hide()
        if run is None:
            self.about.setText("No run yet: its figures stand here as they come.")
            return
        kind = task(run.task)
        done = f"{run.items_complete} of {run.items_expected} {noun(run.task)}s"
        self.about.setText(f"{run.project_name} · {run.models} · {done}")
        shown = [each for each in (kind.measure(kind.headline), kind.difference) if each is not None]
        for (title, value, interval), each in zip(self.figures, shown, strict=False):
            score, sign = run.scores.get(each.name, NOTHING), each.lowest < 0
            title.setText(each.title)
            value.setText("–" if score.value is None else number(score.value, sign))
            interval.setText(_interval(score, sign))
            for cell in (title, value, interval):
                cell.show()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        for each in self._labels():
            large = any(each is value for _, value, _ in self.figures)
            room = min(self.height(), self.width() * 0.6)
            each.setStyleSheet(f"font-size: {max(int(room * (LARGE if large else SMALL)), 12)}px;")

    def _labels(self) -> list[QLabel]:
        return [self.about, *(cell for cells in self.figures for cell in cells)]
