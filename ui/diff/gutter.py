"""Line numbers and signs beside a pane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPaintEvent, QTextBlock, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from ui.diff.pane_lines import PaneLine
from ui.diff.rows import Kind
from ui.style.theme import current_theme

GAP = 8


class ShownRows(Protocol):
    """What a gutter draws beside: rows of a comparison, and which of them are in view."""

    @property
    def lines(self) -> Sequence[PaneLine]:
        """The rows."""

    @property
    def dim(self) -> bool:
        """Whether changes of mere form are greyed."""

    def visible_blocks(self) -> Iterator[tuple[QTextBlock, QRectF]]:
        """The rows in view, each with its place."""

    def ground(self, line: PaneLine) -> QBrush | None:
        """What a row is drawn on."""

    def row(self) -> int:
        """Where the text cursor is."""

    def set_gutter_width(self, width: int) -> None:
        """Leave so much room at the left."""


class Gutter(QWidget):
    """Drawn from the pane's own blocks, so the two never part."""

    def __init__(self, pane: QAbstractScrollArea, rows: ShownRows) -> None:
        """Draw `rows` at the side of `pane`; empty until `fit`."""
        super().__init__(pane)
        self._pane, self._rows = pane, rows
        self._columns: list[int] = []

    def fit(self, lines: Sequence[PaneLine]) -> None:
        """Make room for the widest line numbers and the sign."""
        digit = self._pane.fontMetrics().horizontalAdvance("0")
        columns = zip(*(line.labels for line in lines), strict=True)
        widest = [max(2, *map(len, column)) for column in columns] or [2]
        self._columns = [count * digit for count in widest]
        self._rows.set_gutter_width(self.sizeHint().width())
        self.update()

    def place(self, contents: QRect) -> None:
        """Stand at the left edge of the pane."""
        self.setGeometry(contents.left(), contents.top(), self.sizeHint().width(), contents.height())

    def follow(self, rect: QRect, scrolled: int) -> None:
        """The viewport has moved or changed."""
        if scrolled:
            self.scroll(0, scrolled)
        else:
            self.update(0, rect.y(), self.width(), rect.height())

    def sizeHint(self) -> QSize:  # noqa: N802
        """As wide as its columns (called by Qt)."""
        digit = self._pane.fontMetrics().horizontalAdvance("0")
        return QSize(sum(self._columns) + GAP * (len(self._columns) + 1) + digit + GAP // 2, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """Scroll the pane (called by Qt)."""
        QApplication.sendEvent(self._pane.viewport(), event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw numbers and signs of the rows in sight (called by Qt)."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(current_theme().gutter))
        painter.setFont(self._pane.font())
        for block, place in self._rows.visible_blocks():
            if block.blockNumber() >= len(self._rows.lines):
                break
            self._row(painter, self._rows.lines[block.blockNumber()], place, block.blockNumber())

    def _row(self, painter: QPainter, line: PaneLine, place: QRectF, number: int) -> None:
        """One row: its ground, its numbers, its sign, and a bar where the text cursor is."""
        theme, height = current_theme(), self._pane.fontMetrics().height()
        ground = self._rows.ground(line)
        if ground is not None:
            painter.setBrushOrigin(place.topLeft())
            painter.fillRect(QRectF(0, place.top(), self.width(), place.height()), ground)
        if number == self._rows.row():
            bar = theme.focus if self._pane.hasFocus() else theme.border
            painter.fillRect(QRectF(0, place.top(), 3, place.height()), QColor(bar))
        painter.setPen(QColor(theme.muted))
        left = GAP
        for label, width in zip(line.labels, self._columns, strict=True):
            painter.drawText(QRectF(left, place.top(), width, height), Qt.AlignmentFlag.AlignRight, label)
            left += width + GAP
        if line.side is not None:
            self._sign(painter, line, QRectF(left, place.top(), self.width() - left, height))

    def _sign(self, painter: QPainter, line: PaneLine, place: QRectF) -> None:
        """What became of the line, in bold and in the colour of its side."""
        theme = current_theme()
        dimmed = line.form and self._rows.dim
        colour = theme.muted if dimmed or line.kind is Kind.EQUAL else (theme.bad, theme.good)[line.colour]
        font = QFont(self._pane.font())
        font.setBold(True)
        painter.save()
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft, line.sign)
        painter.restore()
