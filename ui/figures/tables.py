"""Rows of plain cells as a Qt table model, and cells with a tiny bar under their figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QItemSelection, QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from ui.style.text_size import TextSize, grown
from ui.style.theme import current_theme

Index = QModelIndex | QPersistentModelIndex

ROW, LEAST = 26, 60
"""Pixels of a row, and of a column that takes what room is left, at least."""
FRACTION = Qt.ItemDataRole.UserRole + 1
"""Role of a fraction 0..1 that a delegate draws as a bar."""
HEIGHT, INSET = 3, 8
"""Pixels of such a bar, and beside it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        order: what it sorts by; None sorts by the text.
        fraction: 0..1, drawn as a bar.
        colour: role of its text's colour in the theme, looked up when it is painted.
        end: aligned right, as figures are.
        ground: gives the colour behind it.
    """

    text: str
    order: float | str | None = None
    colour: str = ""
    tip: str = ""
    fraction: float | None = None
    end: bool = False
    ground: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """A column's heading and its explanation."""

    text: str
    tip: str = ""


class CellModel(QAbstractTableModel):
    """A table of cells; `key(row)` gives back what the row was made from."""

    def __init__(self, heads: Sequence[Head]) -> None:
        """Empty until `fill`."""
        super().__init__()
        self._heads = heads
        self._rows: list[tuple[Sequence[Cell], int]] = []

    def fill(self, rows: Sequence[tuple[Sequence[Cell], int]]) -> None:
        """Rows with their keys. Rows that stay keep selection and scroll position; nothing flickers."""
        old, new = len(self._rows), len(rows)
        if new > old:
            self.beginInsertRows(QModelIndex(), old, new - 1)
        elif new < old:
            self.beginRemoveRows(QModelIndex(), new, old - 1)
        self._rows = list(rows)
        if new > old:
            self.endInsertRows()
        elif new < old:
            self.endRemoveRows()
        if new:
            self.dataChanged.emit(self.index(0, 0), self.index(new - 1, len(self._heads) - 1))

    def name_columns(self, heads: Sequence[Head]) -> None:
        """Give the columns, as many as there are, other headings."""
        self._heads = heads
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(heads) - 1)

    def change_columns(self, heads: Sequence[Head]) -> None:
        """Have other columns, and no rows until `fill`."""
        self.beginResetModel()
        self._heads, self._rows = heads, []
        self.endResetModel()

    def add_column(self, head: Head) -> None:
        """One more column at the end; the rows must be filled again."""
        self.beginInsertColumns(QModelIndex(), len(self._heads), len(self._heads))
        self._heads = [*self._heads, head]
        self._rows = [([*cells, Cell("")], key) for cells, key in self._rows]
        self.endInsertColumns()

    def key(self, row: int) -> int:
        """What a row was made from."""
        return self._rows[row][1]

    def cell(self, index: Index) -> Cell:
        """One cell."""
        return self._rows[index.row()][0][index.column()]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        """Number of rows (called by Qt)."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        """Number of columns (called by Qt)."""
        return 0 if parent.isValid() else len(self._heads)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows (called by Qt)."""
        cell, item = self.cell(index), Qt.ItemDataRole
        if role == item.ForegroundRole:
            return QColor(current_theme().role(cell.colour)) if cell.colour else None
        if role == item.BackgroundRole:
            return QColor(cell.ground()) if cell.ground else None
        if role == item.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if cell.end else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == item.UserRole:
            return cell.text if cell.order is None else cell.order
        shown = {item.DisplayRole: cell.text, item.ToolTipRole: cell.tip or None, FRACTION: cell.fraction}
        return shown.get(item(role) if role < FRACTION else role)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """A column's heading (called by Qt)."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        head = self._heads[section]
        return {Qt.ItemDataRole.DisplayRole: head.text, Qt.ItemDataRole.ToolTipRole: head.tip or None}.get(
            Qt.ItemDataRole(role)
        )


class RowTable(QTableView):
    """Draws everything anew when another row is selected.

    Qt redraws the two rows alone, and where a pixel of the screen is no whole one (125 %, 150 %) leaves a part of the
    line around the row before.
    """

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        """Another row is selected (called by Qt)."""
        super().selectionChanged(selected, deselected)
        self.viewport().update()


def table(name: str, row: int = ROW) -> QTableView:
    """A table view of whole rows, in our manner; `row` pixels high where text has its usual size."""
    view = RowTable()
    view.setAccessibleName(name)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setStyleSheet("QTableView::item { padding-left: 5px; padding-right: 5px; }")  # in line with the headings
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setTabKeyNavigation(False)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.verticalHeader().hide()
    TextSize(view, row)
    view.horizontalHeader().setHighlightSections(False)
    view.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return view


class EndShown(QStyledItemDelegate):
    """Shortens paths and names of tests at their beginning: what tells them apart stands at the end."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        """How a cell is drawn (called by Qt)."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideLeft


def widths(view: QTableView, *pixels: int) -> None:
    """Column widths for text of the usual size; 0 takes what room is left."""
    header = view.horizontalHeader()
    header.setMinimumSectionSize(grown(view, min(LEAST, *(width for width in pixels if width))))
    for section, width in enumerate(pixels):
        header.setSectionResizeMode(
            section, QHeaderView.ResizeMode.Interactive if width else QHeaderView.ResizeMode.Stretch
        )
        if width:
            header.resizeSection(section, grown(view, width))


class BarDelegate(QStyledItemDelegate):
    """Draws the cell as ever, then a bar as long as its fraction."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell (called by Qt)."""
        super().paint(painter, option, index)
        fraction = index.data(FRACTION)
        if fraction is None:
            return
        room = QRectF(option.rect).adjusted(INSET, 0, -INSET, 0)
        bar = QRectF(room.left(), room.bottom() - HEIGHT - 1, room.width(), HEIGHT)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current_theme().raised))
        painter.drawRoundedRect(bar, 1.5, 1.5)
        bar.setWidth(room.width() * min(1.0, max(0.0, fraction)))
        painter.setBrush(QColor(current_theme().accent))
        painter.drawRoundedRect(bar, 1.5, 1.5)
        painter.restore()
