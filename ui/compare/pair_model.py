"""The common items of two runs as a Qt table, sorted and filtered here: it may be long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from core.comparison.values import Comparison, Pair
from core.kinds import noun
from ui.project.listed_rows import RIGHT, Index, ListedRows
from ui.project.project_model import HEAT_ROLE
from ui.style.region_state import number
from ui.style.theme import Theme

PLACE, FIRST, SECOND, DIFFERENCE, LIFT = range(5)
TIPS = (
    "File and first line",
    "Share of reconstructions that pass, in the reference",
    "Share of reconstructions that pass, in the other run",
    "RTC of the other run minus that of the reference",
    "Lift of the other run minus that of the reference",
)
_KEYS: tuple[Callable[[Pair], Any], ...] = (
    lambda pair: (pair.first.path, pair.first.start),
    lambda pair: (pair.first.rtc, pair.first.path, pair.first.start),
    lambda pair: (pair.second.rtc, pair.first.path, pair.first.start),
    lambda pair: (pair.difference, pair.first.path, pair.first.start),
    lambda pair: (-9.0 if pair.lift_difference is None else pair.lift_difference, pair.first.path, pair.first.start),
)


@dataclass(frozen=True, slots=True)
class PairFilter:
    """Which pairs are listed: with all the words in path or code, and only those that differ unless `alike`."""

    words: str = ""
    alike: bool = False

    def passes(self, pair: Pair) -> bool:
        """Whether the pair is listed."""
        if not (self.alike or pair.difference):
            return False
        if not self.words:
            return True
        text = f"{place(pair)}\n{pair.first.text}".lower()
        return all(word in text for word in self.words.lower().split())


def place(pair: Pair) -> str:
    """`file:line`."""
    return f"{pair.first.path}:{pair.first.start_line}"


class PairModel(ListedRows):
    """The pairs that pass the filter; the largest difference first until a heading is clicked."""

    tips, figures = TIPS, FIRST

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self._theme = theme
        self.heads = ["Region", "", "", "Difference", "Lift diff."]
        self._pairs: Sequence[Pair] = ()
        self._filter = PairFilter()
        self._order: tuple[int, bool] | None = None
        self.shown: list[Pair] = []

    def set_theme(self, theme: Theme) -> None:
        """Draw in another theme."""
        self._theme = theme
        self.say_changed()

    def show_comparison(self, comparison: Comparison) -> None:
        """List the pairs of another comparison."""
        runs = f"Run {comparison.first.id}", f"Run {comparison.second.id}"
        self.heads = (noun(comparison.first.task).capitalize(), *runs, *self.heads[DIFFERENCE:])
        self._pairs = comparison.pairs
        self._arrange()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, SECOND)

    def set_filter(self, wanted: PairFilter) -> None:
        """List only what passes."""
        self._filter = wanted
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Qt: order by a column; -1 by the size of the difference."""
        self._order = None if column < 0 else (column, order is Qt.SortOrder.DescendingOrder)
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        self.shown = [pair for pair in self._pairs if self._filter.passes(pair)]
        if self._order is not None:
            self.shown.sort(key=_KEYS[self._order[0]], reverse=self._order[1])
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt: one cell."""
        pair, column = self.shown[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return _text(pair, column)
        if role == HEAT_ROLE and column in (FIRST, SECOND):
            return pair.first.rtc if column == FIRST else pair.second.rtc
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{place(pair)}\n{pair.first.text}"
        if role == Qt.ItemDataRole.TextAlignmentRole and column > PLACE:
            return RIGHT
        if role == Qt.ItemDataRole.ForegroundRole and column in (DIFFERENCE, LIFT):
            return self._colour(pair.difference if column == DIFFERENCE else pair.lift_difference)
        return None

    def _colour(self, difference: float | None) -> QColor:
        theme = self._theme
        return QColor(theme.muted if not difference else theme.good if difference > 0 else theme.bad)


def _text(pair: Pair, column: int) -> str:
    if column == PLACE:
        return place(pair)
    if column == LIFT and pair.lift_difference is None:
        return ""
    values = {FIRST: pair.first.rtc, SECOND: pair.second.rtc, DIFFERENCE: pair.difference, LIFT: pair.lift_difference}
    return number(values[column], sign=column in (DIFFERENCE, LIFT))
