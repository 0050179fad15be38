"""The read-only editor: text, line numbers, regions, the whole file as a strip; it knows no stores or runs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from rtc_inspector.ui.code.block_painter import (
    CandidateBlock,
    Canvas,
    card_words,
    paint_block,
    paint_candidates,
    paint_outline,
    paint_tag,
)
from rtc_inspector.ui.code.blocks import TAB, Block, at_line
from rtc_inspector.ui.code.highlight import Highlight, TokenSpan
from rtc_inspector.ui.code.hover_card import HoverCard
from rtc_inspector.ui.style.controls import SELECTABLE
from rtc_inspector.ui.style.fonts import fixed_font
from rtc_inspector.ui.style.marks import draw_mark
from rtc_inspector.ui.style.region_state import RegionState, state_colour
from rtc_inspector.ui.style.theme import current_theme

HOVER_PAUSE = 350
"""Milliseconds the mouse rests before the card opens."""
MARK, STRIP = 20, 14
"""Pixels of width: of a region's mark beside its first line, and of the strip that shows the whole file."""
FILLED = (RegionState.PASS, RegionState.PARTIAL, RegionState.FAIL, RegionState.RUNNING)
"""States that the strip shows as full marks, the others as frames."""


class CodeEditor(QPlainTextEdit):
    """One file with its regions. `region_clicked` carries the id of a region's item."""

    region_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, readOnly=True, lineWrapMode=self.LineWrapMode.NoWrap, textInteractionFlags=SELECTABLE)
        self.blocks: Sequence[Block] = ()
        self.first_number = 1
        self._candidates: Sequence[CandidateBlock] = ()
        self._selected: int | None = None
        self._outlined = range(0)
        self._hovered: Block | None = None
        self._hovered_line = -1
        self._gutter, self._strip = Gutter(self), HeatStrip(self)
        self._card = HoverCard(self.viewport())
        self._highlight = Highlight(self)
        self._rest = QTimer(self, singleShot=True, interval=HOVER_PAUSE)
        self._set_up()
        self._connect()

    def _set_up(self) -> None:
        self.setAccessibleName("Code")
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.use_font(fixed_font())

    def _connect(self) -> None:
        # Not connected directly: `update` would take the rectangle of the text for one of the gutter.
        self.updateRequest.connect(lambda: self._gutter.update())
        self.blockCountChanged.connect(self._make_room)
        self.verticalScrollBar().valueChanged.connect(self._strip.update)
        self._strip.line_chosen.connect(self.show_line)
        self._rest.timeout.connect(self._open_card)

    @property
    def last_number(self) -> int:
        """Return the number shown beside the last line."""
        return self.first_number + self.blockCount() - 1

    def use_font(self, font: QFont) -> None:
        """Show the code in another font or size."""
        self.setFont(font)
        self._gutter.setFont(font)
        self.setTabStopDistance(TAB * self.fontMetrics().horizontalAdvance(" "))
        self._make_room()

    def show_text(self, text: str, first_number: int = 1) -> None:
        """Show a text whose first line has this number; regions and colours come after."""
        self.blocks, self._outlined, self._candidates = (), range(0), ()
        self.first_number = first_number
        self._highlight.set_tokens(())
        self._card.hide()
        self.setPlainText(text)
        self._make_room()

    def set_tokens(self, lines: Sequence[Sequence[TokenSpan]]) -> None:
        """Colour the text."""
        self._highlight.set_tokens(lines)

    def set_blocks(self, blocks: Sequence[Block]) -> None:
        """Draw these regions, in line order."""
        self.blocks = blocks
        self._repaint()

    def set_candidates(self, candidates: Sequence[CandidateBlock]) -> None:
        """Draw what could have been drawn, too."""
        if candidates or self._candidates:
            self._candidates = candidates
            self._repaint()

    def select(self, item_id: int | None) -> None:
        """Draw one region as the selected one."""
        self._selected = item_id
        self._repaint()

    def outline(self, lines: range) -> None:
        """Mark lines (from 0) as what a selection comes to; an empty range marks none."""
        if lines != self._outlined:
            self._outlined = lines
            self._repaint()

    def selected_line(self) -> int:
        """Return the line from which going to the next region starts: the selected region's, else the text cursor's."""
        chosen = next((block for block in self.blocks if block.item.id == self._selected), None)
        return chosen.first if chosen else self.textCursor().blockNumber()

    def show_line(self, line: int) -> None:
        """Put the text cursor on a line and the line into the upper third, if it is not in view."""
        block = self.document().findBlockByNumber(line)
        self.setTextCursor(QTextCursor(block))
        visible = self.visible_lines()
        # Where the line is well in sight nothing moves: steps from region to region would make the text jump.
        if not visible.start + 1 < line < visible.stop - 3:
            # The bar counts lines, not pixels, in a plain text that does not wrap.
            self.verticalScrollBar().setValue(max(line - len(visible) // 3, 0))

    def canvas(self) -> Canvas:
        """Return a canvas that says where lines and columns stand at the moment."""
        first = self.firstVisibleBlock()
        height = self.blockBoundingRect(first).height() or self.fontMetrics().lineSpacing()
        offset = self.contentOffset()
        margin = self.document().documentMargin()
        column = self.fontMetrics().horizontalAdvance(" ")
        top = offset.y() - first.blockNumber() * height
        return Canvas(top, offset.x() + margin, height, column, float(self.viewport().width()))

    def visible_lines(self) -> range:
        """Return the lines in view, counted from 0."""
        first = self.firstVisibleBlock().blockNumber()
        height = max(self.canvas().line_height, 1)
        count = int(self.viewport().height() / height) + 2
        return range(first, min(first + count, self.blockCount()))

    def visible_blocks(self) -> list[Block]:
        """Return the blocks of the regions in view."""
        lines = self.visible_lines()
        return [block for block in self.blocks if block.first < lines.stop and block.last >= lines.start]

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        # Colours are put on the lines that come into sight, right before these are drawn.
        self._highlight.paint()
        canvas, blocks = self.canvas(), self.visible_blocks()
        # Blocks lie below the text, so that their tint does not wash it out.
        painter = QPainter(self.viewport())
        if self._candidates:
            drawn = {line for block in blocks for line in range(block.first, block.last + 1)}
            paint_candidates(painter, canvas, self._candidates, self.visible_lines(), drawn)
        for block in blocks:
            paint_block(painter, canvas, block, block.item.id == self._selected)
        if self._outlined:
            paint_outline(painter, canvas, self._outlined)
        painter.end()
        # The text has a painter of its own, and Qt allows but one at a time: hence a second one for the tags.
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        for block in blocks:
            text = self.document().findBlockByNumber(block.first).text().expandtabs(TAB)
            right = canvas.left + self.fontMetrics().horizontalAdvance(text)
            paint_tag(painter, canvas, block, self.font(), right)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        inside, width = self.contentsRect(), self._gutter.sizeHint().width()
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), width, inside.height()))
        viewport = self.viewport().geometry()
        self._strip.setGeometry(viewport.right() + 1, inside.top(), self._strip.width(), viewport.height())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Open a region's card once the mouse rests on the region."""
        super().mouseMoveEvent(event)
        line = self._line_at(event.position())
        block = at_line(self.blocks, line)
        if block is not self._hovered or (self._candidates and line != self._hovered_line):
            self._hovered, self._hovered_line = block, line
            self._card.hide()
            self._rest.start()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Select the region by a click without a drag."""
        super().mouseReleaseEvent(event)
        block = at_line(self.blocks, self._line_at(event.position()))
        left = event.button() is Qt.MouseButton.LeftButton
        # Whoever drags selects text, perhaps inside of a region, and does not mean the region.
        if left and block is not None and not self.textCursor().hasSelection():
            self.region_clicked.emit(block.item.id)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        super().leaveEvent(event)
        self._rest.stop()
        self._hovered = None
        self._card.hide()

    def _line_at(self, position: QPointF) -> int:
        canvas = self.canvas()
        return int((position.y() - canvas.top) // max(canvas.line_height, 1))

    def _open_card(self) -> None:
        title, words = card_words(self._candidates, self._hovered_line)
        # While the mouse rested a run may have brought other blocks.
        if self._hovered is not None and self._hovered in self.blocks:
            rect = self.canvas().rect(self._hovered).toRect()
            self._card.open(self._hovered, rect, words)
        elif title:
            rect = self.canvas().lines_rect(self._hovered_line, self._hovered_line, 0).toRect()
            self._card.open_words(title, words, rect)

    def _make_room(self) -> None:
        self.setViewportMargins(self._gutter.sizeHint().width(), 0, self._strip.width(), 0)

    def _repaint(self) -> None:
        for widget in (self.viewport(), self._gutter, self._strip):
            widget.update()


class Gutter(QWidget):
    """Line numbers, and the mark of each region beside its first line; stands left of the text and scrolls with it."""

    def __init__(self, editor: CodeEditor) -> None:
        """Draw the lines of `editor`."""
        super().__init__(editor)
        self._editor = editor
        self.setAccessibleName("Line numbers")

    def sizeHint(self) -> QSize:  # noqa: N802
        digits = max(3, len(str(self._editor.last_number)))
        return QSize(digits * self.fontMetrics().horizontalAdvance("9") + MARK + 14, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        QApplication.sendEvent(self._editor.viewport(), event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        editor, painter = self._editor, QPainter(self)
        painter.fillRect(event.rect(), QColor(current_theme().gutter))
        canvas = editor.canvas()
        numbers = self.width() - MARK - 4
        painter.setFont(self.font())
        painter.setPen(QColor(current_theme().muted))
        for line in editor.visible_lines():
            box = QRectF(0, canvas.top + line * canvas.line_height, numbers, canvas.line_height)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, right, str(line + editor.first_number))
        for block in editor.visible_blocks():
            self._mark(painter, block)

    def _mark(self, painter: QPainter, block: Block) -> None:
        canvas = self._editor.canvas()
        top = canvas.top + block.first * canvas.line_height
        height = (block.last - block.first + 1) * canvas.line_height
        bar = QRectF(self.width() - 3, top + 1, 3, height - 2)
        painter.fillRect(bar, QColor(state_colour(block.state)))
        centre = QPointF(self.width() - MARK / 2 - 3, top + canvas.line_height / 2)
        draw_mark(painter, centre, block.state)


class HeatStrip(QWidget):
    """The whole file at a glance, beside the scroll bar: every region in its colour, and what is in view.

    A click goes to the line: `line_chosen`, 0-based.
    """

    line_chosen = Signal(int)

    def __init__(self, editor: CodeEditor) -> None:
        """Draw the lines of `editor`."""
        super().__init__(editor)
        self._editor = editor
        self.setFixedWidth(STRIP)
        self.setAccessibleName("What the run sampled from the whole file")
        self.setToolTip("What the run sampled from the whole file; click to go there")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw the visible part, then every block; failures are drawn wider than passes."""
        editor, painter = self._editor, QPainter(self)
        theme = current_theme()
        painter.fillRect(self.rect(), QColor(theme.gutter))
        scale = self._scale()
        visible = editor.visible_lines()
        view = QRectF(0, visible.start * scale, STRIP, max(len(visible) * scale, 4))
        painter.fillRect(view, QColor(theme.raised))
        for block in editor.blocks:
            colour = QColor(state_colour(block.state))
            inset = 2 if block.state.failing else 4
            height = max((block.last - block.first + 1) * scale, 3)
            mark = QRectF(inset, block.first * scale, STRIP - 2 * inset, height)
            if block.state in FILLED:
                painter.fillRect(mark, colour)
            else:
                painter.setPen(colour)
                painter.drawRect(mark.adjusted(0.5, 0.5, -0.5, -0.5))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.line_chosen.emit(min(int(event.position().y() / self._scale()), self._editor.blockCount() - 1))

    def _scale(self) -> float:
        """Return the height of a line in pixels."""
        # A short file is not stretched over the whole strip: a line takes six pixels at most.
        return self.height() / max(self._editor.blockCount(), self.height() / 6, 1)
