"""How the lists of what was searched for are drawn and walked: what was found at the left, where it is at the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from rtc_inspector.ui.style.theme import current_theme

Index = QModelIndex | QPersistentModelIndex
NONE = QModelIndex()
ENTRY = Qt.ItemDataRole.UserRole
BETWEEN, MARK = 16, 3
"""Pixels between the two parts, and of the bar that marks the chosen row."""


class Found(QAbstractListModel):
    """What was found, an entry a row; `words` says the text of one."""

    def __init__(self, words: Callable[[Any], str], parent: QObject) -> None:
        super().__init__(parent)
        self._words = words
        self.shown: Sequence[Any] = ()

    def show(self, found: Sequence[Any]) -> None:
        """List other entries."""
        self.beginResetModel()
        self.shown = found
        self.endResetModel()

    def rowCount(self, parent: Index = NONE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self.shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.shown[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(entry)
        return entry if role == ENTRY else None


class FoundRow(QStyledItemDelegate):
    """One row. A subclass says what stands at the right, and may draw the left part itself.

    Attributes:
        height: pixels of a row, `inset` at its ends.
        detail_share: of the width, at most, for the right part, which loses its `detail_end` where it is too long.
    """

    height, inset = 28, 12
    detail_share, detail_end = 0.5, Qt.TextElideMode.ElideRight

    def detail(self, entry: Any) -> str:
        """Return what stands at the right of an entry."""
        raise NotImplementedError

    def draw_title(self, painter: QPainter, room: QRect, index: Index) -> None:
        """Draw the left part: the item's text, which loses its beginning where it is too long."""
        title = painter.fontMetrics().elidedText(str(index.data()), Qt.TextElideMode.ElideLeft, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        return QSize(0, self.height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        theme = current_theme()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(option.rect, QColor(theme.selection if chosen else theme.surface))
        if chosen:
            painter.fillRect(QRect(option.rect.topLeft(), QSize(MARK, option.rect.height())), QColor(theme.accent))
        room, metrics = option.rect.adjusted(self.inset, 0, -self.inset, 0), painter.fontMetrics()
        detail = metrics.elidedText(
            self.detail(index.data(ENTRY)), self.detail_end, int(room.width() * self.detail_share)
        )
        painter.setPen(QColor(theme.muted))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, detail)
        room.setRight(room.right() - metrics.horizontalAdvance(detail) - BETWEEN)
        painter.setPen(QColor(theme.text))
        self.draw_title(painter, room, index)
        painter.restore()


def step_in(view: QListView, step: int, *, around: bool) -> None:
    """Choose the row `step` further; `around`: from the last to the first, else no further than the ends."""
    count = view.model().rowCount() if view.model() is not None else 0
    if count:
        row = view.currentIndex().row() + step
        row = row % count if around else min(max(row, 0), count - 1)
        view.setCurrentIndex(view.model().index(row, 0))
