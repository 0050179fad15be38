"""The common items of two runs as a Qt table, sorted and filtered here: it may be long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from core.comparison.values import Comparison, Pair
from core.comparison.words import capital
from core.kinds import noun
from ui.style.region_state import goodness, number
from ui.style.tables import FRACTION, RIGHT, Index, ListedRows
from ui.style.theme import current_theme

PLACE, FIRST, SECOND, DIFFERENCE, SECONDARY = range(5)
TIPS = (
    "File and first line",
    "Its score in the reference",
    "Its score in the other run",
    "Score in the other run minus that in the reference",
    "The same of the figure beside the score",
)
_KEYS: tuple[Callable[[Pair], Any], ...] = (
    lambda pair: (pair.first.path, pair.first.start),
    lambda pair: (pair.first.headline, pair.first.path, pair.first.start),
    lambda pair: (pair.second.headline, pair.first.path, pair.first.start),
    lambda pair: (pair.difference, pair.first.path, pair.first.start),
    lambda pair: (-9.0 if pair.secondary is None else pair.secondary, pair.first.path, pair.first.start),
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
    """`file:line`, or the key of what stands in no file of the user's."""
    item = pair.first
    return f"{item.path}:{item.start_line}" if item.has_file else item.key


class PairModel(ListedRows):
    """The pairs that pass the filter; the largest difference first until a heading is clicked."""

    tips, figures = TIPS, FIRST

    def __init__(self, parent: QObject | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self.heads = ["Region", "", "", "Difference", ""]
        self._pairs: Sequence[Pair] = ()
        self._better = 1
        self._filter = PairFilter()
        self._order: tuple[int, bool] | None = None
        self.shown: list[Pair] = []

    def show_comparison(self, comparison: Comparison) -> None:
        """List the pairs of another comparison."""
        other = f"{capital(comparison.secondary_title)} diff." if comparison.secondary_title else ""
        runs = f"Run {comparison.first.id}", f"Run {comparison.second.id}"
        self.heads = (noun(comparison.first.task).capitalize(), *runs, "Difference", other)
        self._pairs, self._better = comparison.pairs, comparison.better
        self._arrange()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, SECONDARY)

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
        if role == FRACTION and column in (FIRST, SECOND):
            return goodness(pair.first if column == FIRST else pair.second)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{place(pair)}\n{pair.first.text}"
        if role == Qt.ItemDataRole.TextAlignmentRole and column > PLACE:
            return RIGHT
        if role == Qt.ItemDataRole.ForegroundRole and column == DIFFERENCE:  # lift of one item proves nothing
            return self._colour(pair.difference * self._better)
        return None

    def _colour(self, difference: float) -> QColor:
        return QColor(current_theme().role("muted" if not difference else "good" if difference > 0 else "bad"))


def _text(pair: Pair, column: int) -> str:
    if column == PLACE:
        return place(pair)
    if column == SECONDARY and pair.secondary is None:
        return ""
    values = (None, pair.first.headline, pair.second.headline, pair.difference, pair.secondary)
    return number(values[column], sign=column in (DIFFERENCE, SECONDARY))
