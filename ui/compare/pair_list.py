"""The items on which two runs disagree, or all they have in common; sorted and filtered here, for they may be many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QWidget

from rtc_inspector.core.comparison.values import Comparison, Pair
from rtc_inspector.core.comparison.words import capital
from rtc_inspector.core.kinds import noun
from rtc_inspector.ui.style.controls import FilterField, bind, column, has_words, label, row, switch
from rtc_inspector.ui.style.region_state import goodness, number
from rtc_inspector.ui.style.tables import FRACTION, RIGHT, HeatDelegate, Index, ListedRows, table
from rtc_inspector.ui.style.text_size import grown
from rtc_inspector.ui.style.theme import SPACE, current_theme

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


def place(pair: Pair) -> str:
    """`file:line`, or the key of what stands in no file of the user's."""
    item = pair.first
    return f"{item.path}:{item.start_line}" if item.has_file else item.key


class PairModel(ListedRows):
    """The pairs that pass the filter; the largest difference first until a heading is clicked."""

    tips, figures = TIPS, FIRST

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.heads = ["Region", "", "", "Difference", ""]
        self._pairs: Sequence[Pair] = ()
        self._better = 1
        self._words, self._alike = "", False
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

    def filter(self, words: str, alike: bool) -> None:
        """List only what has all the words in path or code, and only what differs unless `alike`."""
        self._words, self._alike = words, alike
        self._arrange()

    def _passes(self, pair: Pair) -> bool:
        return bool(self._alike or pair.difference) and has_words(f"{place(pair)}\n{pair.first.text}", self._words)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order by a column; by -1, order by the size of the difference."""
        self._order = None if column < 0 else (column, order is Qt.SortOrder.DescendingOrder)
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        self.shown = [pair for pair in self._pairs if self._passes(pair)]
        if self._order is not None:
            self.shown.sort(key=_KEYS[self._order[0]], reverse=self._order[1])
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
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


class PairList(QWidget):
    """Filter row over the table. `opened(pairs, place)` when a row is double-clicked or Enter pressed on it."""

    opened = Signal(object, int)

    def __init__(self) -> None:
        """Empty until `show_comparison`."""
        super().__init__()
        self.setProperty("role", "surface")
        self.pairs = PairModel(self)
        self.words = FilterField("Filter by file or code")
        self.alike = switch("All", "Also what both runs do equally well")
        self.count, self.none = label(role="caption"), label(role="muted", wrap=True)
        self.table = table("Where the runs disagree")
        self._heat = HeatDelegate(self)
        self._build()
        head = row(self.words, self.alike, margins=(SPACE, SPACE // 2, SPACE, SPACE // 2), spacing=SPACE // 2)
        column(head, row(self.none, margins=(SPACE, 0, SPACE, 0)), self.table, owner=self)

    def _build(self) -> None:
        self.words.settled.connect(self._apply)
        self.alike.toggled.connect(self._apply)
        view, header = self.table, self.table.horizontalHeader()
        view.setModel(self.pairs)
        view.setTextElideMode(Qt.TextElideMode.ElideLeft)
        view.setSortingEnabled(True)
        view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        header.setSectionResizeMode(PLACE, QHeaderView.ResizeMode.Stretch)
        for section, width in {FIRST: 66, SECOND: 66, DIFFERENCE: 84, SECONDARY: 74}.items():
            header.resizeSection(section, grown(view, width))
        for section in (FIRST, SECOND):
            view.setItemDelegateForColumn(section, self._heat)
        view.doubleClicked.connect(self._open)
        bind(view, "Return Enter", self._open, "Show both traces")
        self.pairs.modelReset.connect(self._count)

    def show_comparison(self, comparison: Comparison) -> None:
        """List another comparison; the chosen item stays chosen where it is listed."""
        chosen = self.chosen
        self.pairs.show_comparison(comparison)
        # So that Enter opens something at once.
        self.choose(chosen or next(iter(self.pairs.shown), None))

    def forget(self) -> None:
        """Choose the first row when the next comparison is shown."""
        self.table.setCurrentIndex(QModelIndex())

    @property
    def chosen(self) -> Pair | None:
        """Return the current row."""
        at = self.table.currentIndex().row()
        return self.pairs.shown[at] if 0 <= at < len(self.pairs.shown) else None

    def choose(self, pair: Pair | None) -> None:
        """Make the row of this item the current one."""
        keys = (each.first.key for each in self.pairs.shown)
        at = next((at for at, key in enumerate(keys) if pair is not None and key == pair.first.key), None)
        if at is not None:
            self.table.setCurrentIndex(self.pairs.index(at, PLACE))

    def _apply(self) -> None:
        chosen = self.chosen
        self.pairs.filter(self.words.text(), self.alike.isChecked())
        self.choose(chosen)

    def _count(self) -> None:
        number = len(self.pairs.shown)
        differ = "differs" if number == 1 else "differ"
        self.count.setText(f"{number:,} {'in both' if self.alike.isChecked() else differ}")
        filtered = bool(self.words.text().strip())
        self.none.setText("Nothing matches these words." if filtered else "Both runs do equally well everywhere.")
        self.none.setVisible(not number)

    def _open(self, index: QModelIndex | None = None) -> None:
        at = self.table.currentIndex().row()
        if 0 <= at < len(self.pairs.shown):
            self.opened.emit(tuple(self.pairs.shown), at)
