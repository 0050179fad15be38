"""One column of a comparison: read-only text with row colours, fillers, line numbers and signs."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from PySide6.QtCore import QEvent, QMimeData, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextLayout,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from rtc_inspector.ui.diff.colouring import Highlight, Look, TokenSpan
from rtc_inspector.ui.diff.lines import units
from rtc_inspector.ui.diff.rows import Kind, PaneLine
from rtc_inspector.ui.style.controls import FOCUS_RING, SELECTABLE
from rtc_inspector.ui.style.fonts import bold, write_fixed
from rtc_inspector.ui.style.theme import current_theme

TAB = 4  # columns of a tab stop
GAP = 8  # pixels between columns of line numbers
PAD = "\u2028"  # a line break inside a block: fills a wrapped row up to the height of its counterpart


class Pane(QPlainTextEdit):
    """Shows PaneLines, one block each. `resized` says that lines may wrap anew."""

    resized = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(
            parent, readOnly=True, undoRedoEnabled=False, tabChangesFocus=True, textInteractionFlags=SELECTABLE
        )
        self.setAccessibleName(name)
        self.setStyleSheet(FOCUS_RING)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.lines: Sequence[PaneLine] = ()  # what is shown; `padding`: empty visual lines that each one ends with
        self.padding: Sequence[int] = ()
        self.tokens: Sequence[Sequence[Sequence[TokenSpan]]] = ()  # of each side's lines, for their colours
        self.dim = True  # whether changes of mere form are greyed
        self._highlight = Highlight(self, self._spans, plain=True)
        self._gutter = Gutter(self)
        self.updateRequest.connect(self._gutter.follow)
        self.cursorPositionChanged.connect(self._repaint)
        write_fixed(self)
        self._measure()

    def _measure(self) -> None:
        self.setTabStopDistance(TAB * self.fontMetrics().horizontalAdvance("0"))
        self._gutter.fit(self.lines)

    def set_lines(self, lines: Sequence[PaneLine], padding: Sequence[int] = ()) -> None:
        row, top = self.row(), self.verticalScrollBar().value()
        same = self.lines == lines
        self.lines, self.padding = lines, padding or [0] * len(lines)
        # One block a row, fillers too: a row of one pane is then found in the other by its number.
        self.setPlainText("\n".join(x.text + PAD * n for x, n in zip(lines, self.padding, strict=True)))
        self._gutter.fit(lines)
        if same:
            self.go_to(row)
            self.verticalScrollBar().setValue(top)

    def set_dim(self, dim: bool) -> None:
        self.dim = dim
        self._highlight.renew()
        self._repaint()

    def _spans(self, number: int) -> Iterator[tuple[int, int, Look]]:
        """Yield what is coloured in a row: its tokens, and below them the marks of what changed."""
        line = self.lines[number] if number < len(self.lines) else None
        if line is None or line.side is None:
            return
        looks: list[Look] = [("text", "")] * units(line.text)
        if line.form and self.dim:
            yield 0, len(looks), ("muted", "")
            return
        for mark in () if line.kind is Kind.EQUAL else line.marks:
            start, end = (units(line.text[:at]) for at in mark)
            looks[start:end] = [("text", ("deleted_strong", "inserted_strong")[line.tone])] * (end - start)
        tokens = self.tokens[line.side]
        for start, length, kind in tokens[line.number] if line.number < len(tokens) else ():
            looks[start : start + length] = [(kind, ground) for _, ground in looks[start : start + length]]
        at = 0
        for look, letters in groupby(looks):
            length = len(list(letters))
            yield at, length, look
            at += length

    def set_wrap(self, wrap: bool) -> None:
        """Wrap anywhere, as a terminal does, so that both panes agree on the count of lines."""
        mode = QTextOption.WrapMode
        self.setWordWrapMode(mode.WrapAnywhere if wrap else mode.NoWrap)

    def row(self) -> int:
        return self.textCursor().blockNumber()

    def go_to(self, row: int, centre: bool = False) -> None:
        block = self.document().findBlockByNumber(row)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            if centre:
                self.centerCursor()

    def heights(self) -> list[int]:
        width = self.viewport().width() - 2 * self.document().documentMargin()
        columns = max(1, math.floor(width / self.fontMetrics().horizontalAdvance("0")))
        # Even wide characters, which take two columns, leave half a line of them in one: most lines need no layout.
        return [1 if len(line.text) < columns // 2 else self._height(line.text, width) for line in self.lines]

    def lay_out(self, rows: Iterable[int]) -> None:
        """Lay rows out now: else Qt takes them for one line high until they come into sight."""
        for number in rows:
            self.blockBoundingRect(self.document().findBlockByNumber(number))

    def _height(self, text: str, width: float) -> int:
        layout = QTextLayout(text, self.font())
        layout.setTextOption(self.document().defaultTextOption())
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
        layout.endLayout()
        return max(1, layout.lineCount())

    def visible_rows(self) -> Iterator[tuple[int, QRectF]]:
        block = self.firstVisibleBlock()
        bottom = self.viewport().height()
        while block.isValid() and block.blockNumber() < len(self.lines):
            place = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if place.top() > bottom:
                return
            place.setHeight(block.layout().boundingRect().height())
            yield block.blockNumber(), place
            block = block.next()

    def ground(self, line: PaneLine) -> QBrush | None:
        theme = current_theme()
        if line.side is None:
            return QBrush(QColor(theme.border), Qt.BrushStyle.BDiagPattern)
        if line.kind is Kind.EQUAL or (line.form and self.dim):
            return None
        return QBrush(QColor((theme.deleted, theme.inserted)[line.tone]))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        self._highlight.paint()
        painter = QPainter(self.viewport())
        width, current = self.viewport().width(), self.row()
        for number, place in self.visible_rows():
            stripe = QRectF(0, place.top(), width, place.height())
            ground = self.ground(self.lines[number])
            if ground is not None:
                # Else hatching would begin at the corner of what is painted, and shift against itself while scrolling.
                painter.setBrushOrigin(place.topLeft())
                painter.fillRect(stripe, ground)
            elif number == current:
                painter.fillRect(stripe, QColor(current_theme().current_line))
        painter.end()
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._gutter.place(self.contentsRect())
        self.resized.emit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._measure()
            self.resized.emit()

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802
        """Return what is written in the selection, without fillers and padding, for the clipboard."""
        cursor = self.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        parts = []
        block = self.document().findBlock(start)
        while block.isValid() and block.position() <= end:
            if self.lines[block.blockNumber()].side is not None:
                # Python counts characters, Qt UTF-16 units: an emoji before the selection would shift it by one.
                text = block.text().encode("utf-16-le")
                low, high = max(0, start - block.position()), min(block.length() - 1, end - block.position())
                parts.append(text[2 * low : 2 * high].decode("utf-16-le").rstrip(PAD))
            block = block.next()
        data = QMimeData()
        data.setText("\n".join(parts))
        return data

    def _repaint(self) -> None:
        self.viewport().update()
        self._gutter.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(240, 160)


class Gutter(QWidget):
    """Line numbers and signs beside a pane, drawn from the pane's own blocks, so that the two never part."""

    def __init__(self, pane: Pane) -> None:
        super().__init__(pane)
        self._pane = pane
        self._columns: list[int] = []

    def fit(self, lines: Sequence[PaneLine]) -> None:
        digit = self._pane.fontMetrics().horizontalAdvance("0")
        columns = zip(*(line.labels for line in lines), strict=True)
        widest = [max(2, *map(len, column)) for column in columns] or [2]
        self._columns = [count * digit for count in widest]
        self._pane.setViewportMargins(self.sizeHint().width(), 0, 0, 0)
        self.place(self._pane.contentsRect())
        self.update()

    def place(self, contents: QRect) -> None:
        self.setGeometry(contents.left(), contents.top(), self.sizeHint().width(), contents.height())

    def follow(self, rect: QRect, scrolled: int) -> None:
        if scrolled:
            self.scroll(0, scrolled)
        else:
            self.update(0, rect.y(), self.width(), rect.height())

    def sizeHint(self) -> QSize:  # noqa: N802
        digit = self._pane.fontMetrics().horizontalAdvance("0")
        return QSize(sum(self._columns) + GAP * (len(self._columns) + 1) + digit + GAP // 2, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        QApplication.sendEvent(self._pane.viewport(), event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(current_theme().gutter))
        painter.setFont(self._pane.font())
        for number, place in self._pane.visible_rows():
            self._row(painter, self._pane.lines[number], place, current=number == self._pane.row())

    def _row(self, painter: QPainter, line: PaneLine, place: QRectF, *, current: bool) -> None:
        theme, height = current_theme(), self._pane.fontMetrics().height()
        ground = self._pane.ground(line)
        if ground is not None:
            painter.setBrushOrigin(place.topLeft())
            painter.fillRect(QRectF(0, place.top(), self.width(), place.height()), ground)
        if current:
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
        theme = current_theme()
        dimmed = line.form and self._pane.dim
        colour = theme.muted if dimmed or line.kind is Kind.EQUAL else (theme.bad, theme.good)[line.tone]
        painter.save()
        painter.setFont(bold(self._pane.font()))
        painter.setPen(QColor(colour))
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft, line.sign)
        painter.restore()
