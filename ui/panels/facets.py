"""A run's scores by what its items are: language, kind of change, size."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSortFilterProxyModel, Qt

from core.store.rows import FacetRow
from core.types import Score
from ui.panels.bars import BarDelegate
from ui.panels.tables import Cell, CellModel, Head, table, widths
from ui.region_state import number
from ui.theme import Theme


class FacetTable:
    """One row a value of a facet; a click on a heading sorts."""

    def __init__(self, theme: Theme) -> None:
        """Empty until `set_facets`."""
        self._rows: Sequence[FacetRow] = ()
        self.model = CellModel(_heads("region"))
        self.view = table("Scores by kind")
        ordered = QSortFilterProxyModel(self.view)
        ordered.setSourceModel(self.model)
        ordered.setSortRole(Qt.ItemDataRole.UserRole)
        self.view.setModel(ordered)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.bars = BarDelegate(theme, self.view)
        self.view.setItemDelegate(self.bars)
        widths(self.view, 110, 180, 80, 110, 150, 80)
        self.view.horizontalHeader().setStretchLastSection(True)

    def set_noun(self, noun: str) -> None:
        """Call what the run samples by its name."""
        self.model.name_columns(_heads(noun))

    def set_facets(self, rows: Sequence[FacetRow]) -> None:
        """Show other scores; what stays keeps its place."""
        self._rows = rows
        self.model.fill([(_cells(row), place) for place, row in enumerate(rows)])

    def as_text(self) -> str:
        """The table with tabs between cells."""
        lines = [[cell.text for cell in _cells(row)] for row in self._rows]
        return "\n".join("\t".join(line) for line in [[head.text for head in _heads("item")], *lines])


def _heads(noun: str) -> list[Head]:
    return [
        Head("Facet"),
        Head("Value"),
        Head(f"{noun}s".capitalize(), "Admitted"),
        Head("RTC", f"Mean over its {noun}s"),
        Head("95 %", "Interval of the mean"),
        Head("Lift", "Against the baseline without a description"),
    ]


def _cells(row: FacetRow) -> list[Cell]:
    value = row.rtc.value
    return [
        Cell(row.facet),
        Cell(row.value),
        Cell(f"{row.items:,}", order=float(row.items)),
        Cell(number(value), order=-1.0 if value is None else value, fraction=value),
        Cell(_interval(row.rtc)),
        Cell(number(row.lift.value, sign=True), order=row.lift.value if row.lift.value is not None else -2.0),
    ]


def _interval(score: Score) -> str:
    return "" if score.low is None or score.high is None else f"{score.low:.2f} to {score.high:.2f}"
