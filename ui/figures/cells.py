"""Tables and heat maps of figures, shown as table views."""

from __future__ import annotations

import math
from functools import partial
from itertools import zip_longest

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from rtc_inspector.core.figures import Grid, Table
from rtc_inspector.core.figures.layout import Ink, Shown, cells_of
from rtc_inspector.core.figures.reading import Mark, explained, marks, row_words
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.style.controls import bind, column, label
from rtc_inspector.ui.style.tables import BarDelegate, Cell, CellModel, Head, sorted_table, table
from rtc_inspector.ui.style.theme import SPACE, current_theme, mix

HIGHEST = 8_000
"""Pixels of the picture of a long table; what does not fit is said in it."""
WIDEST, NARROWEST = 360, 110
"""Pixels of a column at most before the user draws it wider, and of words at least where there is little room."""


class Cells(QWidget):
    """A table or a heat map as a table view: keys, sorting and screen readers work as in every table."""

    opened = Signal(object)
    pointed = Signal(object)

    def __init__(self) -> None:
        """Empty until `show_figure`."""
        super().__init__()
        self._figure: Table | Grid | None = None
        self._heads: list[Head] = []
        self.model = CellModel([])
        self.table, self._sorted = sorted_table("", self.model)
        self._bars = BarDelegate(self.table)  # kept, as in the project's tree
        self.table.setItemDelegate(self._bars)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.clicked.connect(self._activate)
        self.table.selectionModel().currentChanged.connect(self._point)
        for key in ("Return", "Enter"):
            bind(self.table, key, lambda: self._activate(self.table.currentIndex()), "Open what is behind the row")
        column(self.table, owner=self)
        self.setFocusProxy(self.table)

    def show_figure(self, figure: Table | Grid) -> None:
        """Show a figure; rows that stay keep their place, their order and the selection."""
        fresh = self._figure is None or self._figure.name != figure.name
        self._figure = figure
        heads = _heads(figure)
        if [head.text for head in heads] != [head.text for head in self._heads]:
            self.model.change_columns(heads)
            fresh = True
        self._heads = heads
        self.model.fill([(cells, place) for place, cells in enumerate(_rows(figure))])
        if fresh:
            self._arrange(figure)

    def _arrange(self, figure: Table | Grid) -> None:
        grid, behavior = isinstance(figure, Grid), QAbstractItemView.SelectionBehavior
        view = self.table
        view.setAccessibleName(f"{figure.title}; Enter opens what is behind a {'cell' if grid else 'row'}")
        view.setSelectionBehavior(behavior.SelectItems if grid else behavior.SelectRows)
        view.setSortingEnabled(not grid)
        self._sorted.sort(-1)
        view.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self._fit(view)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self._figure is not None:
            self._fit(self.table)

    def _fit(self, view: QTableView) -> None:
        """Make columns as wide as their words; in less room shorten first words, then headings: their tips have them.

        The last column of a table takes what room is left over.
        """
        header, figure = view.horizontalHeader(), self._figure
        cells = [view.sizeHintForColumn(at) + SPACE for at in range(header.count())]
        wide = [min(WIDEST, max(cell, header.sectionSizeHint(at) + SPACE)) for at, cell in enumerate(cells)]
        # A picture has room for all.
        room = self.width() - view.verticalScrollBar().sizeHint().width() - 2 if view is self.table else math.inf
        words = [each.form == "text" for each in figure.columns] if isinstance(figure, Table) else [True]
        shortened = [min(width, NARROWEST) if word else width for width, word in zip_longest(wide, words)]
        for least in (shortened, cells):
            spare = [max(width - needs, 0) for width, needs in zip(wide, least, strict=True)]
            share = min(1.0, max(sum(wide) - room, 0) / max(sum(spare), 1))
            wide = [width - math.ceil(part * share) for width, part in zip(wide, spare, strict=True)]
        header.setStretchLastSection(False)
        for at, width in enumerate(wide):
            header.resizeSection(at, width)
        header.setStretchLastSection(isinstance(figure, Table))

    def whole(self) -> QWidget:
        """Return a copy of the table for a picture: all rows in the order on show, as high as they need."""
        # Another view of the same rows: the one on show would jump to the picture's size and back.
        copied = table(self.table.accessibleName())
        copied.setModel(self._sorted)
        copied.setItemDelegate(BarDelegate(copied))
        copied.setFont(self.table.font())
        copied.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit(copied)
        whole = QWidget()
        whole.setProperty("role", "surface")
        rows = self.model.rowCount() * copied.verticalHeader().defaultSectionSize()
        wanted = copied.horizontalHeader().sizeHint().height() + rows + SPACE
        cut = label("More rows than a picture holds: the table (CSV) has all." if wanted > HIGHEST else "", "muted")
        cut.setVisible(wanted > HIGHEST)
        column(copied, owner=whole).addWidget(cut)
        width = copied.horizontalHeader().length() + SPACE
        whole.setFixedSize(max(460, self.width(), width), min(wanted, HIGHEST))
        return whole

    def _mark(self, index: QModelIndex) -> Mark | None:
        source = self._sorted.mapToSource(index)
        if not source.isValid() or self._figure is None:
            return None
        if isinstance(self._figure, Table):
            return marks(self._figure)[source.row()]
        # Marks of a grid count their rows upwards, as axes do.
        place = source.column() - 1, -source.row()
        return next((mark for mark in marks(self._figure) if (mark.x, mark.y) == place), None)

    def _point(self, index: QModelIndex) -> None:
        self.pointed.emit(self._mark(index) if isinstance(self._figure, Grid) else None)

    def _activate(self, index: QModelIndex) -> None:
        mark = self._mark(index)
        if mark is not None:
            self.opened.emit(mark.links)


def _heads(figure: Table | Grid) -> list[Head]:
    if isinstance(figure, Grid):
        return [Head(f"{figure.rows.label} \\ {figure.columns.label}"), *(Head(name) for name in figure.columns.names)]
    better = {"up": "more is better", "down": "less is better", "": ""}
    tips = ((c.label, c.tip or explained(c.label), better[c.better]) for c in figure.columns)
    return [Head(c.label, " · ".join(filter(None, tip))) for c, tip in zip(figure.columns, tips, strict=True)]


def _rows(figure: Table | Grid) -> list[list[Cell]]:
    if isinstance(figure, Grid):
        return [[Cell(name, tip=explained(name) or name), *map(_grid_cell, cells)] for name, cells in cells_of(figure)]
    made = []
    for line in figure.rows:
        cells = []
        for spec, cell, words in zip(figure.columns, line.cells, row_words(figure, line), strict=True):
            value = cell.value if isinstance(cell, Estimate) else cell
            if isinstance(value, str):
                cells.append(Cell(words, colour=line.tone, tip="\n".join(filter(None, (words, explained(words))))))
                continue
            signed = _signed_colour(cell if isinstance(cell, Estimate) else Estimate(value))
            cells.append(
                Cell(
                    words,
                    order=float("-inf") if value is None else value,
                    colour=signed if spec.form == "signed" and spec.better == "up" else line.tone,
                    fraction=value if spec.bar else None,
                    end=True,
                )
            )
        made.append(cells)
    return made


def _signed_colour(cell: Estimate) -> str:
    """Return the colour of good or bad where that is decided: not while the interval holds 0."""
    low, high = (cell.value if bound is None else bound for bound in (cell.low, cell.high))
    return "good" if (low or 0) > 0 else "bad" if (high or 0) < 0 else "muted"


def _grid_cell(cell: Shown) -> Cell:
    return Cell(cell.words, tip=cell.tip, ground=partial(_ground, cell), end=True)


def _ground(cell: Shown) -> str:
    """Return a pale colour, on which the value stays readable; grey where none is defined."""
    theme = current_theme()
    return theme.raised if cell.ink is None else mix(colour_of(cell.ink), theme.surface, 0.14 if cell.faded else 0.42)


def colour_of(ink: Ink) -> str:
    """Return a colour of the theme."""
    theme = current_theme()
    if ink.heat is None:
        return theme.series(ink.tone, ink.place)
    if ink.ramp == "worth":
        return theme.heat((ink.heat + 1) / 2)
    ends = (theme.region_fail, theme.region_pass) if ink.ramp == "change" else (theme.palette[1], theme.palette[0])
    return mix(ends[ink.heat >= 0], theme.surface, abs(ink.heat))
