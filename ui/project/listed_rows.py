"""What flat tables of rows under headings have in common as Qt models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
NONE = QModelIndex()
RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class ListedRows(QAbstractTableModel):
    """A model says what its cells show.

    Attributes:
        shown: one entry a row.
        heads, tips: of each column, its heading and what that means.
        figures: the column from which on there are figures, aligned right.
    """

    shown: Sequence[Any] = ()
    heads: Sequence[str] = ()
    tips: Sequence[str] = ()
    figures = 99

    def rowCount(self, parent: Index = NONE) -> int:  # noqa: N802
        """Qt: rows listed."""
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = NONE) -> int:  # noqa: N802
        """Qt: columns."""
        return 0 if parent.isValid() else len(self.heads)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Qt: headings with what they mean."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if section >= self.figures else LEFT
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole) and self.tips:
            return self.tips[section]
        return None

    def say_changed(self) -> None:
        """Every cell may show something else; rows are as they were."""
        if self.shown:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.shown) - 1, len(self.heads) - 1))
