"""One column of a comparison: read-only text with row colours, fillers and a gutter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ui.diff.colouring import Colouring
from ui.diff.gutter import Gutter
from ui.diff.pane_lines import PaneLine
from ui.diff.rows import Kind
from ui.diff.spans import Spans
from ui.style.controls import FOCUS_RING
from ui.style.fonts import write_fixed
from ui.style.theme import current_theme

TAB = 4
"""Columns of a tab stop."""
PAD = "\u2028"
"""A line break inside a block: fills a wrapped row up to the height of its counterpart."""


class Pane(QPlainTextEdit):
    """Shows PaneLines, one block each. `resized` says that lines may wrap anew."""

    resized = Signal()
    _made = False

    def __init__(self, name: str, spans: Sequence[Spans], parent: QWidget | None = None) -> None:
        """`name` is what screen readers say."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        flag = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flag.TextSelectableByMouse | flag.TextSelectableByKeyboard)
        self.setTabChangesFocus(True)
        self.setStyleSheet(FOCUS_RING)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self._lines: Sequence[PaneLine] = ()
        self.padding: Sequence[int] = ()
        self._blocks: tuple[dict[int, int], ...] = tuple({} for _ in spans)
        self._dim = True
        self._colouring = Colouring(self.document(), spans)
        self._gutter = Gutter(self, self)
        for side, each in enumerate(spans):
            each.advanced.connect(partial(self._recolour, side))
        self.updateRequest.connect(self._gutter.follow)
        self.cursorPositionChanged.connect(self._show_row)
        # This sends a FontChange, which `changeEvent` must not answer yet: hence `_made`.
        write_fixed(self)
        self._measure()
        self._made = True

    def _measure(self) -> None:
        self.setTabStopDistance(TAB * self.fontMetrics().horizontalAdvance("0"))

    @property
    def lines(self) -> Sequence[PaneLine]:
        """What is shown."""
        return self._lines

    @property
    def dim(self) -> bool:
        """Whether changes of mere form are greyed."""
        return self._dim

    def set_lines(self, lines: Sequence[PaneLine], padding: Sequence[int] = ()) -> None:
        """Show `lines`; `padding` adds empty visual lines to each (wrapped rows only)."""
        row, top = self.row(), self.verticalScrollBar().value()
        same = self._lines == lines
        self._lines, self.padding = lines, padding
        self._blocks = _index(lines, len(self._blocks))
        self._colouring.set_lines(lines, self._dim)
        extra = padding or [0] * len(lines)
        # One block a row, fillers too: a row of one pane is then found in the other by its number.
        self.setPlainText("\n".join(x.text + PAD * n for x, n in zip(lines, extra, strict=True)))
        self._gutter.fit(lines)
        if same:
            self.go_to(row)
            self.verticalScrollBar().setValue(top)

    def set_dim(self, dim: bool) -> None:
        """Grey changes of mere form, or show them like any other."""
        self._dim = dim
        self._colouring.set_lines(self._lines, dim)
        self._colouring.rehighlight()
        self.update_all()

    def set_wrap(self, wrap: bool) -> None:
        """Wrap anywhere, as a terminal does, so that both panes agree on the count of lines."""
        mode = QTextOption.WrapMode
        self.setWordWrapMode(mode.WrapAnywhere if wrap else mode.NoWrap)

    def row(self) -> int:
        """The row the text cursor is in."""
        return self.textCursor().blockNumber()

    def go_to(self, row: int, centre: bool = False) -> None:
        """Put the text cursor at the start of a row."""
        block = self.document().findBlockByNumber(row)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            if centre:
                self.centerCursor()

    def heights(self) -> list[int]:
        """Visual lines that each row takes at the present width when wrapped."""
        width = self.viewport().width() - 2 * self.document().documentMargin()
        columns = max(1, math.floor(width / self.fontMetrics().horizontalAdvance("0")))
        # Even wide characters, which take two columns, leave half a line of them in one: most lines need no layout.
        return [1 if len(line.text) < columns // 2 else self._height(line.text, width) for line in self._lines]

    def lay_out(self, rows: Iterable[int]) -> None:
        """Lay rows out now: else Qt takes them for one line high until they come into sight."""
        for number in rows:
            self.blockBoundingRect(self.document().findBlockByNumber(number))

    def _height(self, text: str, width: float) -> int:
        """Visual lines of one text, laid out as the document does it."""
        layout = QTextLayout(text, self.font())
        layout.setTextOption(self.document().defaultTextOption())
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
        layout.endLayout()
        return max(1, layout.lineCount())

    def visible_blocks(self) -> Iterator[tuple[QTextBlock, QRectF]]:
        """Blocks in sight with their place in the viewport."""
        block = self.firstVisibleBlock()
        bottom = self.viewport().height()
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if place.top() > bottom:
                return
            place.setHeight(block.layout().boundingRect().height())
            yield block, place
            block = block.next()

    def ground(self, line: PaneLine) -> QBrush | None:
        """The background of a row; hatched where the other side has a line and this one has none."""
        theme = current_theme()
        if line.side is None:
            return QBrush(QColor(theme.border), Qt.BrushStyle.BDiagPattern)
        if line.kind is Kind.EQUAL or (line.form and self._dim):
            return None
        return QBrush(QColor((theme.deleted, theme.inserted)[line.colour]))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Rows first, then the text over them (called by Qt)."""
        painter = QPainter(self.viewport())
        width, current = self.viewport().width(), self.row()
        for block, place in self.visible_blocks():
            number = block.blockNumber()
            if number >= len(self._lines):
                break
            stripe = QRectF(0, place.top(), width, place.height())
            ground = self.ground(self._lines[number])
            if ground is not None:
                # Else hatching would begin at the corner of what is painted, and shift against itself while scrolling.
                painter.setBrushOrigin(place.topLeft())
                painter.fillRect(stripe, ground)
            elif number == current:
                painter.fillRect(stripe, QColor(current_theme().current_line))
        painter.end()
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the gutter at the left edge (called by Qt)."""
        super().resizeEvent(event)
        self._gutter.place(self.contentsRect())
        self.resized.emit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Text of another size has other line numbers and wraps elsewhere; another theme colours it (called by Qt)."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and self._made:
            self._measure()
            self._gutter.fit(self._lines)
            self.resized.emit()
        elif event.type() is QEvent.Type.StyleChange and self._made:
            self._colouring.follow_theme()

    def set_gutter_width(self, width: int) -> None:
        """Leave room for the gutter."""
        self.setViewportMargins(width, 0, 0, 0)
        self._gutter.place(self.contentsRect())

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802
        """Copied text: what is written, without fillers and padding (called by Qt)."""
        cursor = self.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        parts = []
        block = self.document().findBlock(start)
        while block.isValid() and block.position() <= end:
            if self._lines[block.blockNumber()].side is not None:
                parts.append(_part(block, start, end))
            block = block.next()
        data = QMimeData()
        data.setText("\n".join(parts))
        return data

    def update_all(self) -> None:
        """Draw everything again."""
        self.viewport().update()
        self._gutter.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """Small: the window decides (called by Qt)."""
        return QSize(240, 160)

    def _show_row(self) -> None:
        """The current row has moved."""
        self.update_all()

    def _recolour(self, side: int, first: int, stop: int) -> None:
        """Lines of a side got their spans."""
        blocks = self._blocks[side]
        for number in range(first, stop):
            if number in blocks:
                self._colouring.rehighlightBlock(self.document().findBlockByNumber(blocks[number]))


def _index(lines: Sequence[PaneLine], sides: int) -> tuple[dict[int, int], ...]:
    """Of each side: which block shows a line."""
    places: tuple[dict[int, int], ...] = tuple({} for _ in range(sides))
    for block, line in enumerate(lines):
        if line.side is not None:
            places[line.side][line.number] = block
    return places


def _part(block: QTextBlock, start: int, end: int) -> str:
    """What of a block lies inside a selection; positions are Qt's UTF-16 units."""
    # Python counts characters, Qt UTF-16 units: an emoji before the selection would shift it by one.
    units = block.text().encode("utf-16-le")
    low, high = max(0, start - block.position()), min(block.length() - 1, end - block.position())
    return units[2 * low : 2 * high].decode("utf-16-le").rstrip(PAD)
