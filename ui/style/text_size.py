"""Heights of rows and widths of columns that follow the size of the text in them."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Signal
from PySide6.QtGui import QFontInfo
from PySide6.QtWidgets import QHeaderView, QTableView, QTreeView, QWidget

STRETCH = QHeaderView.ResizeMode.Stretch
USUAL = 12
"""Pixels of the text for which heights and widths in the code are meant: nine points on a usual screen."""
FRAME = 40
"""Pixels that are left to the frame that a window manager draws around a window."""


def growth(widget: QWidget) -> float:
    """Return how many times as large as usual the text of a widget is; 1 where it is smaller."""
    return max(QFontInfo(widget.font()).pixelSize() / USUAL, 1.0)


def grown(widget: QWidget, pixels: int) -> int:
    """Return a length that is `pixels` for text of the usual size."""
    return round(pixels * growth(widget))


def open_at(window: QWidget, width: int, height: int) -> None:
    """Give a window a size that is so many pixels for text of the usual size, as far as the screen has them."""
    wanted = QSize(grown(window, width), grown(window, height))
    window.resize(wanted.boundedTo(window.screen().availableSize() - QSize(0, FRAME)))


def keep_on_screen(window: QWidget) -> None:
    """Move a window that has grown, so that all of it is on the screen: its buttons stand at its lower end."""
    room, frame = window.screen().availableGeometry(), window.frameGeometry()
    at = QPoint(min(frame.x(), room.right() - frame.width()), min(frame.y(), room.bottom() - frame.height()))
    if window.isVisible() and at != frame.topLeft():
        window.move(max(at.x(), room.x()), max(at.y(), room.y()))


def room_beside(room: int, widths: Iterable[int], least: int) -> int:
    """Return what the whole columns that fit beside a name leave it: none is cut, the others are scrolled to."""
    for width in widths:
        if room - width < least:
            break
        room -= width
    return max(room, least)


class TextSize(QObject):
    """Keeps a view's rows and columns in step with its text; widths that the user chose keep their proportion.

    `changed` when they have another size.
    """

    changed = Signal()

    def __init__(self, view: QTableView | QTreeView, row: int | None = None) -> None:
        """`row`: pixels of a table's rows for text of the usual size; a tree has none."""
        super().__init__(view)
        self._view, self._row, self._growth = view, row, growth(view)
        self._set_rows()
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.FontChange:
            self._follow()
        return False

    def _follow(self) -> None:
        now = growth(self._view)
        if now == self._growth:
            return
        ratio, self._growth = now / self._growth, now
        header = self._view.horizontalHeader() if isinstance(self._view, QTableView) else self._view.header()
        sections = [each for each in range(header.count()) if header.sectionResizeMode(each) != STRETCH]
        # Read before the least size is changed, which makes sections wider by itself.
        sizes = {each: round(header.sectionSize(each) * ratio) for each in sections}
        header.setMinimumSectionSize(round(header.minimumSectionSize() * ratio))
        for section, size in sizes.items():
            header.resizeSection(section, size)
        self._set_rows()
        self.changed.emit()

    def _set_rows(self) -> None:
        if self._row is not None and isinstance(self._view, QTableView):
            self._view.verticalHeader().setDefaultSectionSize(round(self._row * self._growth))
