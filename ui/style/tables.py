"""Tables: what flat Qt models have in common, rows of plain cells, our manner of table view, bars and heat in cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from rtc_inspector.ui.style.fonts import TextSize, bold, elided_path, grown
from rtc_inspector.ui.style.theme import current_theme

Index = QModelIndex | QPersistentModelIndex
NONE = QModelIndex()
RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft

ROW, LEAST = 26, 60  # pixels of a row, and of a column that takes what room is left, at least
FRACTION = Qt.ItemDataRole.UserRole + 1  # role of a fraction 0..1 that a delegate draws as a bar or as heat
WORDS = Qt.ItemDataRole.UserRole + 2  # role of whether a name is words and no path
HEIGHT, INSET = 3, 8  # pixels of such a bar, and beside it


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    text: str
    order: float | str | None = None  # what it sorts by; None sorts by the text
    colour: str = ""  # role of its text's colour in the theme, looked up when it is painted
    tip: str = ""
    fraction: float | None = None  # 0..1, drawn as a bar
    end: bool = False  # aligned right, as figures are
    ground: Callable[[], str] | None = None  # gives the colour behind it
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """A column's heading and its explanation."""

    text: str
    tip: str = ""


class ListedRows(QAbstractTableModel):
    """A flat table: its rows and headings; a subclass says by `data` what the cells show."""

    shown: Sequence[Any] = ()  # one entry a row
    heads: Sequence[str] = ()  # heads, tips: of each column, its heading and what that means
    tips: Sequence[str] = ()
    figures = 99  # the column from which on there are figures, aligned right

    def rowCount(self, parent: Index = NONE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = NONE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self.heads)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if section >= self.figures else LEFT
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole) and self.tips:
            return self.tips[section] or None
        return None

    def say_changed(self) -> None:
        """Say that every cell may show something else; rows are as they were."""
        if self.shown:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.shown) - 1, len(self.heads) - 1))


class CellModel(ListedRows):
    """A table of cells; `key(row)` gives back what the row was made from."""

    shown: Sequence[tuple[Sequence[Cell], int]] = ()

    def __init__(self, heads: Sequence[Head]) -> None:
        super().__init__()
        self._take_heads(heads)

    def _take_heads(self, heads: Sequence[Head]) -> None:
        self.heads, self.tips = [head.text for head in heads], [head.tip for head in heads]

    def fill(self, rows: Sequence[tuple[Sequence[Cell], int]]) -> None:
        """Show these rows with their keys. Rows that stay keep selection and scroll position; nothing flickers."""
        old, new = len(self.shown), len(rows)
        # Not a reset: Qt would forget selection and scroll position, several times a second while a run goes on.
        if new > old:
            self.beginInsertRows(QModelIndex(), old, new - 1)
        elif new < old:
            self.beginRemoveRows(QModelIndex(), new, old - 1)
        self.shown = list(rows)
        if new > old:
            self.endInsertRows()
        elif new < old:
            self.endRemoveRows()
        self.say_changed()

    def name_columns(self, heads: Sequence[Head]) -> None:
        self._take_heads(heads)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(heads) - 1)

    def change_columns(self, heads: Sequence[Head]) -> None:
        self.beginResetModel()
        self._take_heads(heads)
        self.shown = []
        self.endResetModel()

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation is Qt.Orientation.Horizontal and self.shown:
            return RIGHT if self.shown[0][0][section].end else LEFT  # as what stands below it
        return super().headerData(section, orientation, role)

    def as_text(self) -> str:
        return "\n".join(["\t".join(self.heads), *("\t".join(cell.text for cell in cells) for cells, _ in self.shown)])

    def key(self, row: int) -> int:
        return self.shown[row][1]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cell, item = self.shown[index.row()][0][index.column()], Qt.ItemDataRole
        if role == item.ForegroundRole:
            return QColor(current_theme().role(cell.colour)) if cell.colour else None
        if role == item.BackgroundRole:
            return QColor(cell.ground()) if cell.ground else None
        if role == item.FontRole and cell.bold:
            return bold(QApplication.font())
        if role == item.TextAlignmentRole:
            return RIGHT if cell.end else LEFT
        if role == item.UserRole:
            return cell.text if cell.order is None else cell.order
        shown = {item.DisplayRole: cell.text, item.ToolTipRole: cell.tip or None, FRACTION: cell.fraction}
        return shown.get(item(role) if role < FRACTION else role)


class RowTable(QTableView):
    """A table of whole rows, one of which is selected.

    `text_size` keeps rows and columns in step with the text. Everything is drawn anew when another row is selected: Qt
    redraws the two rows alone, and where a pixel of the screen is no whole one (125 %, 150 %) leaves a part of the line
    around the row before.
    """

    def __init__(self, row: int = ROW) -> None:
        super().__init__(showGrid=False, wordWrap=False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setDefaultAlignment(LEFT)
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        self.text_size = TextSize(self, row)
        self.bars: BarDelegate | None = None  # kept: the collector of cycles crashed on one that Qt alone knew

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        super().selectionChanged(selected, deselected)
        self.viewport().update()


def table(name: str, row: int = ROW) -> RowTable:
    """Return a table of whole rows that scrolls pixel by pixel; `row` as in RowTable."""
    view = RowTable(row)
    view.setAccessibleName(name)
    view.setStyleSheet("QTableView::item { padding-left: 5px; padding-right: 5px; }")  # in line with the headings
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    return view


def sorted_table(name: str, model: QAbstractTableModel, row: int = ROW) -> tuple[QTableView, QSortFilterProxyModel]:
    """Return a table whose rows stand as the model has them until somebody clicks on a heading, and what sorts it."""
    view = table(name, row)
    view.bars = BarDelegate(view)
    view.setItemDelegate(view.bars)
    ordered = QSortFilterProxyModel(view)
    ordered.setSourceModel(model)
    ordered.setSortRole(Qt.ItemDataRole.UserRole)
    view.setModel(ordered)
    view.setSortingEnabled(True)
    view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    return view, ordered


class EndShown(QStyledItemDelegate):
    """Shortens paths and names of tests at their beginning: what tells them apart stands at the end."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideLeft


class NameShown(QStyledItemDelegate):
    """Shortens a path so that the file's name stays whole where there is room for it; other words at their end."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        super().initStyleOption(option, index)
        if index.data(WORDS):
            option.textElideMode = Qt.TextElideMode.ElideRight
            return
        style = option.widget.style() if option.widget else QApplication.style()
        room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget).width()
        inside = 2 * (style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, option.widget) + 1)
        option.text = elided_path(option.fontMetrics, option.text, room - inside)


def widths(view: QTableView, *pixels: int) -> None:
    """Set column widths for text of the usual size; 0 takes what room is left."""
    header, mode = view.horizontalHeader(), QHeaderView.ResizeMode
    header.setMinimumSectionSize(grown(view, min(LEAST, *(width for width in pixels if width))))
    for section, width in enumerate(pixels):
        header.setSectionResizeMode(section, mode.Interactive if width else mode.Stretch)
        if width:
            header.resizeSection(section, grown(view, width))


class BarDelegate(QStyledItemDelegate):
    """Draws the cell as ever, then a bar as long as its fraction."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
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


class HeatDelegate(QStyledItemDelegate):
    """For columns whose cells hold a score 0..1 under FRACTION: colour and figure together."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        text, value = index.data(), index.data(FRACTION)
        if value is None or not text:
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        # The style draws the cell's ground and focus; the number is drawn over it, in the chip.
        option.text = ""
        style = option.widget.style() if option.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        cell = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = painter.fontMetrics().horizontalAdvance("0.00") + 16
        chip = QRectF(cell.right() - width - 4, cell.center().y() - 9, width, 18)
        theme = current_theme()
        heat = theme.heat(value)
        painter.setPen(QColor(theme.tint(heat, 0.55)))
        painter.setBrush(QColor(theme.tint(heat, 0.22)))
        painter.drawRoundedRect(chip, 4, 4)
        painter.setPen(QColor(theme.text))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()
