"""The files of two compared runs, and what the runs were made with where that differs."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QTabWidget

from core.comparison.values import Comparison
from core.comparison.words import run_words
from core.kinds import noun
from ui.style.controls import bind
from ui.style.tables import BarDelegate, Cell, CellModel, Head, table, widths


class Details(QTabWidget):
    """`opened(pairs, place)` when a file is double-clicked or Enter pressed on it."""

    opened = Signal(object, int)

    def __init__(self) -> None:
        """Empty until `show_comparison`."""
        super().__init__()
        self.setDocumentMode(True)
        self.setAccessibleName("Files and settings of the compared runs")
        self._comparison: Comparison | None = None
        self.files = CellModel([Head("File"), Head("Regions"), Head("Reference"), Head("Run"), Head("Difference")])
        self.settings = CellModel([Head("Setting"), Head("Reference"), Head("Run")])
        self.file_table, self.setting_table = table("Score by file in both runs"), table("Settings that differ")
        self._bars = BarDelegate(self.file_table)
        self._build()

    def _build(self) -> None:
        ordered = QSortFilterProxyModel(self)
        ordered.setSourceModel(self.files)
        ordered.setSortRole(Qt.ItemDataRole.UserRole)
        view = self.file_table
        view.setModel(ordered)
        view.setItemDelegate(self._bars)
        view.setTextElideMode(Qt.TextElideMode.ElideLeft)
        view.setSortingEnabled(True)
        view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        view.doubleClicked.connect(self._open)
        for key in ("Return", "Enter"):
            bind(view, key, self._open, "Show the traces of the file's regions")
        widths(view, 0, 70, 82, 66, 84)
        self.setting_table.setModel(self.settings)
        self.setting_table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        widths(self.setting_table, 170, 190, 0)
        self.addTab(view, "Files")
        self.addTab(self.setting_table, "What differs")

    def show_comparison(self, comparison: Comparison) -> None:
        """Show another comparison."""
        self._comparison = comparison
        runs = [Head(f"Run {run.id}", run_words(run)) for run in (comparison.first, comparison.second)]
        self.files.name_columns(
            [
                Head(comparison.place.capitalize()),
                Head(f"{noun(comparison.first.task)}s".capitalize()),
                *runs,
                Head("Difference"),
            ]
        )
        self.setTabText(0, f"{comparison.place.capitalize()}s")
        self.settings.name_columns([Head("Setting"), *runs])
        self._fill()
        told = comparison.settings or (("nothing", "the same settings", "the same settings"),)
        self.settings.fill([([Cell(text, tip=text) for text in row], at) for at, row in enumerate(told)])

    def _fill(self) -> None:
        if self._comparison is None:
            return
        rows = []
        for at, file in enumerate(self._comparison.files):
            cells = [
                Cell(file.path, tip=file.path),
                Cell(str(file.items), order=float(file.items)),
                Cell(f"{file.first:.2f}", order=file.first, fraction=file.first),
                Cell(f"{file.second:.2f}", order=file.second, fraction=file.second),
                Cell(f"{file.difference:+.2f}", order=file.difference),
            ]
            rows.append((cells, at))
        self.files.fill(rows)

    def _open(self, index: QModelIndex | None = None) -> None:
        """The regions of the current file, the largest difference first."""
        current = self.file_table.currentIndex()
        if self._comparison is None or not current.isValid():
            return
        # By its text, for the rows on show may be sorted in any order.
        path = str(current.siblingAtColumn(0).data())
        pairs = tuple(pair for pair in self._comparison.pairs if pair.first.file == path)
        self.opened.emit(pairs, 0)
