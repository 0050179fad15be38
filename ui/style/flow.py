"""A layout that sets widgets beside each other and goes to the next line where they do not fit."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

QWIDGETSIZE_MAX = (1 << 24) - 1
"""Qt's own limit, which Python is not told of."""


class Flow(QLayout):
    """Left to right, top to bottom; hidden widgets take no room."""

    def __init__(self, parts: Sequence[QWidget], spacing: int) -> None:
        """Holds `parts` in order."""
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._sizes: list[tuple[QLayoutItem, QSize, QSize]] | None = None
        self._gap = spacing
        self.setContentsMargins(0, 0, 0, 0)
        for part in parts:
            self.addWidget(part)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        self._items.append(item)
        self._sizes = None

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem:  # noqa: N802
        return self._items[index] if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def takeAt(self, index: int) -> QLayoutItem:  # noqa: N802
        self._sizes = None
        return self._items.pop(index) if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def invalidate(self) -> None:
        self._sizes = None
        super().invalidate()

    def _measured(self) -> list[tuple[QLayoutItem, QSize, QSize]]:
        """Return what is not hidden, each with its size hint and its smallest size.

        Kept until `invalidate`: Qt asks for heights several times a layout, and each question to an item from Python
        costs more than all the arithmetic here.
        """
        if self._sizes is None:
            self._sizes = [(each, each.sizeHint(), each.minimumSize()) for each in self._items if not each.isEmpty()]
        return self._sizes

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        around = self.contentsMargins()
        inner = QRect(0, 0, width - around.left() - around.right(), 0)
        return self._place(inner, move=False) + around.top() + around.bottom()

    def sizeHint(self) -> QSize:  # noqa: N802
        sizes = [size for _, size, _ in self._measured()]
        width = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0)).grownBy(self.contentsMargins())

    def minimumSize(self) -> QSize:  # noqa: N802
        made = QSize()
        for _, _, least in self._measured():
            made = made.expandedTo(least)
        return made.grownBy(self.contentsMargins())

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802
        super().setGeometry(rect)
        self._place(rect.marginsRemoved(self.contentsMargins()), move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Walk along the lines, centring each widget in its line; the height of all lines comes back."""
        x, y, height = rect.x(), rect.y(), 0
        line = max((hint.height() for _, hint, _ in self._measured()), default=0)
        for item, hint, least in self._measured():
            size = hint.boundedTo(QSize(max(rect.width(), least.width()), QWIDGETSIZE_MAX))
            if x > rect.x() and x + size.width() > rect.right() + 1:
                x, y = rect.x(), y + line + self._gap
            if move:
                item.setGeometry(QRect(x, y + (line - size.height()) // 2, size.width(), size.height()))
            x += size.width() + self._gap
            height = y + line - rect.y()
        return height
