"""What a comparison comes to: its verdict in words, the scatter, the disagreements, the files, what differs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from rtc_inspector.core.analyses.compared import scatter
from rtc_inspector.core.comparison import words
from rtc_inspector.core.comparison.values import Comparison, FilePair
from rtc_inspector.core.comparison.words import run_words
from rtc_inspector.core.figures import Link
from rtc_inspector.core.kinds import noun
from rtc_inspector.ui.background.turns import Turns
from rtc_inspector.ui.compare.pair_list import PairList
from rtc_inspector.ui.figures.view import FigureView
from rtc_inspector.ui.style.controls import Section, bind, column, label, split
from rtc_inspector.ui.style.tables import BarDelegate, Cell, CellModel, Head, table, widths
from rtc_inspector.ui.style.theme import SPACE


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
        bind(view, "Return Enter", self._open, "Show the traces of the file's regions")
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
        place, items = comparison.place.capitalize(), f"{noun(comparison.first.task)}s".capitalize()
        self.files.name_columns([Head(place), Head(items), *runs, Head("Difference")])
        self.setTabText(0, f"{place}s")
        self.settings.name_columns([Head("Setting"), *runs])
        self.files.fill([(_score_cells(file), at) for at, file in enumerate(comparison.files)])
        told = comparison.settings or (("nothing", "the same settings", "the same settings"),)
        self.settings.fill([([Cell(text, tip=text) for text in row], at) for at, row in enumerate(told)])

    def _open(self, index: QModelIndex | None = None) -> None:
        """Open the regions of the current file, the largest difference first."""
        current = self.file_table.currentIndex()
        if self._comparison is None or not current.isValid():
            return
        # By its text, for the rows on show may be sorted in any order.
        path = str(current.siblingAtColumn(0).data())
        pairs = tuple(pair for pair in self._comparison.pairs if pair.first.file == path)
        self.opened.emit(pairs, 0)


def _score_cells(file: FilePair) -> list[Cell]:
    return [
        Cell(file.path, tip=file.path),
        Cell(str(file.items), order=float(file.items)),
        Cell(f"{file.first:.2f}", order=file.first, fraction=file.first),
        Cell(f"{file.second:.2f}", order=file.second, fraction=file.second),
        Cell(f"{file.difference:+.2f}", order=file.difference),
    ]


HEIGHTS, WIDTHS = (600, 400), (480, 520)
"""Shares of the disagreements and of the files below them; of the drawing, and of these lists beside it."""


class Summary(QWidget):
    """`opened(pairs, place)`: show the traces of these items, beginning with one."""

    opened = Signal(object, int)

    def __init__(self, drawn: FigureView | None = None) -> None:
        """Empty until `show_comparison`; what draws its scatter may have been made before."""
        super().__init__()
        self._turns = Turns(self)
        self.verdict = label(role="title", wrap=True, selectable=True)
        self.rest = label(role="muted", wrap=True, selectable=True)
        self.caveats = label(role="warn", wrap=True, selectable=True)
        self.scatter, self.list, self.details = drawn or FigureView(), PairList(), Details()
        self._comparison: Comparison | None = None
        self.scatter.opened.connect(self._open_spot)
        for part in (self.list, self.details):
            part.opened.connect(self.opened)
        said = QWidget()
        said.setProperty("role", "surface")
        texts = (self.verdict, self.rest, self.caveats)
        column(*texts, margins=(SPACE + 4, SPACE, SPACE + 4, SPACE), spacing=2, owner=said)
        disagreements = Section("DISAGREEMENTS", self.list, self.list.count)
        lists = split(Qt.Orientation.Vertical, disagreements, self.details, sizes=HEIGHTS, stretch=HEIGHTS)
        both = Section("BOTH RUNS", self.scatter)
        body = split(Qt.Orientation.Horizontal, both, lists, sizes=WIDTHS, stretch=WIDTHS)
        column(said, body, owner=self)

    def show_comparison(self, comparison: Comparison) -> None:
        """Show another comparison."""
        self.verdict.setText(words.verdict(comparison))
        self.rest.setText(f"{words.secondary_verdict(comparison)} {words.mcnemar_words(comparison)}")
        caveats = " ".join(words.caveats(comparison))
        self.caveats.setText(caveats)
        self.caveats.setVisible(bool(caveats))
        self.rest.setToolTip(words.NOTES)
        self._comparison = comparison
        show = partial(self.list.show_comparison, comparison)
        draw = partial(self.scatter.show_figure, scatter(comparison))
        # List, drawing and files in three turns of the loop: together they would hold the window up.
        self._turns.begin(show, draw, partial(self.details.show_comparison, comparison))

    def _open_spot(self, links: Sequence[Link], turn: int) -> None:
        """Show the traces of all items of a spot."""
        items = {link.item for link in links}
        if self._comparison is not None:
            self.opened.emit(tuple(pair for pair in self._comparison.pairs if pair.first.id in items), 0)
