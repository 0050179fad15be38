"""The items on which two runs disagree, or all they have in common."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QWidget

from core.comparison.values import Comparison, Pair
from ui.compare.pair_model import DIFFERENCE, FIRST, PLACE, SECOND, SECONDARY, PairFilter, PairModel
from ui.style.controls import FilterField, bind, column, label, row, switch
from ui.style.tables import HeatDelegate, table
from ui.style.text_size import grown
from ui.style.theme import SPACE


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
        for key in ("Return", "Enter"):
            bind(view, key, self._open, "Show both traces")
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
        """The current row."""
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
        self.pairs.set_filter(PairFilter(self.words.text(), self.alike.isChecked()))
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
