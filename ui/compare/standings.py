"""The compared runs, a row each: scores, and the difference from the reference, which stands first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.comparison.values import Comparison, Difference
from rtc_inspector.core.comparison.words import bounded, capital, further, p_words
from rtc_inspector.core.kinds import noun
from rtc_inspector.core.store.rows import RunRow
from rtc_inspector.ui.compare.keys import REFERENCE
from rtc_inspector.ui.style.controls import bind, column
from rtc_inspector.ui.style.tables import Cell, CellModel, Head, table, widths
from rtc_inspector.ui.style.text_size import TextSize

MOST_ROWS = 5
_JOINT = "The intervals of all pairs of these runs hold together in 95 of 100 cases"

SECONDARY = (3, 5)
"""Columns of the measure that stands beside the headline."""


class Standings(QWidget):
    """`chosen(place)` when another run is picked to be held against the reference; `reference_asked(run_id)`."""

    chosen = Signal(int)
    reference_asked = Signal(int)

    def __init__(self) -> None:
        """Empty until `show_comparisons`."""
        super().__init__()
        self._shown: Sequence[Comparison] = ()
        self.model = CellModel(_heads("", ""))
        self.table = table("Compared runs")
        self.table.setModel(self.model)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        widths(self.table, 150, 0, 150, 160, 165, 165, 110, 130)
        self.table.selectionModel().currentRowChanged.connect(self._choose)
        bind(self.table, "Return", self.ask_reference, "Make the run the reference")
        words, keys = REFERENCE
        bind(self.table, keys, self.ask_reference, words)
        self.table.doubleClicked.connect(self.ask_reference)
        for size in self.table.findChildren(TextSize):
            size.changed.connect(self._fit)
        column(self.table, owner=self)

    def show_comparisons(self, comparisons: Sequence[Comparison], place: int) -> None:
        """Show all runs, with comparison `place` chosen."""
        self._shown = comparisons
        self._fill()
        self._fit()
        # The reference stands in the first row.
        if self.table.currentIndex().row() != place + 1:
            self.table.setCurrentIndex(self.model.index(place + 1, 0))

    def _fit(self) -> None:
        """Make the table as high as its rows, or as the most that are shown at once."""
        rows = min(len(self._shown) + 1, MOST_ROWS) * self.table.verticalHeader().defaultSectionSize()
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + rows + 4)

    @property
    def run_id(self) -> int | None:
        """Return the run id of the current row, or None."""
        at = self.table.currentIndex().row()
        return self.model.key(at) if 0 <= at < self.model.rowCount() else None

    def _fill(self) -> None:
        if not self._shown:
            return
        first, shown = self._shown[0].first, self._shown[0]
        self.model.name_columns(_heads(shown.title, shown.secondary_title))
        for place in SECONDARY:
            self.table.setColumnHidden(place, not shown.secondary_title)
        rows = [([*_run_cells(first, "reference"), *[Cell("")] * 4], first.id)]
        rows += [(self._cells(each), each.second.id) for each in self._shown]
        self.model.fill(rows)

    def _cells(self, comparison: Comparison) -> list[Cell]:
        test = comparison.mcnemar
        tip = f"{p_words(test.p)} by itself; both solved {test.both}, neither {test.neither}, "
        tip += f"the reference alone {test.only_first}, this run alone {test.only_second}"
        return [
            *_run_cells(comparison.second, ""),
            self._difference(comparison.headline, comparison.decided, comparison.better),
            self._difference(comparison.secondary, comparison.secondary_decided, 1),
            Cell(p_words(comparison.p_adjusted), tip=tip),
            Cell("decided" if comparison.decided else further(comparison.headline, comparison.left) or "–"),
        ]

    def _difference(self, difference: Difference, decided: bool, better: int) -> Cell:
        value = (difference.score.value or 0.0) * better
        colour = "muted" if not decided or not value else "good" if value > 0 else "bad"
        return Cell(bounded(difference.score), colour=colour, tip="decided" if decided else "undecided")

    def _choose(self, current: QModelIndex, before: QModelIndex) -> None:
        if current.row() > 0:
            self.chosen.emit(current.row() - 1)

    def ask_reference(self, index: QModelIndex | None = None) -> None:
        """Make the current run the reference."""
        if self.table.currentIndex().row() > 0 and self.run_id is not None:
            self.reference_asked.emit(self.run_id)


def _heads(title: str, other: str) -> list[Head]:
    """Return the headings with the measure that stands for a run, and the one beside it."""
    both = (capital(title), capital(other))
    return [
        Head("Run"),
        Head("Model"),
        *(Head(each, "Over the whole run") for each in both),
        *(Head(f"{each} difference", f"Over what is in both runs. {_JOINT}") for each in both),
        Head("McNemar", "Exact test of what one run alone solved; several runs adjusted by Holm"),
        Head("More needed", "How many more in both runs could decide an open difference"),
    ]


def _run_cells(run: RunRow, note: str) -> list[Cell]:
    name = f"{run.id} “{run.name}”" if run.name else f"{run.id}"
    done = f"{run.items_complete} {noun(run.task)}s"
    tip = f"{run.project_root}\nseed {run.seed} · {run.status} · {done}\n{run.notes}".strip()
    return [
        Cell(f"{name} {note}".strip(), tip=tip),
        Cell(run.models, tip=run.models),
        Cell(bounded(run.headline, "")),
        Cell(bounded(run.secondary)),
    ]
