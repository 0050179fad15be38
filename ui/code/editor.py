"""The read-only editor: text, line numbers, regions, candidates, the whole file as a strip; it knows no stores."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPlainTextEdit, QWidget

from rtc_inspector.core.kinds import CONDITIONS, counted, task
from rtc_inspector.core.run.considered import Considered, Fate
from rtc_inspector.ui.code.blocks import TAB, Block, SourceText, at_line, indent_of
from rtc_inspector.ui.diff.colouring import Highlight, Look, TokenSpan
from rtc_inspector.ui.style.controls import SELECTABLE, called, column
from rtc_inspector.ui.style.fonts import fixed_font, interface_font
from rtc_inspector.ui.style.region_state import RegionState, draw_mark, number, state_colour, state_words
from rtc_inspector.ui.style.theme import SPACE, current_theme

RADIUS = 5.0
TAG_HEIGHT = 16.0


@dataclass(frozen=True, slots=True)
class Canvas:
    """The places of lines in the viewport: `top` of line 0, which may be far above the visible part."""

    top: float
    left: float
    line_height: float
    column_width: float
    width: float

    def rect(self, block: Block) -> QRectF:
        return self.lines_rect(block.first, block.last, block.indent)

    def lines_rect(self, first: int, last: int, indent: int) -> QRectF:
        left = self.left + indent * self.column_width - 5
        top = self.top + first * self.line_height
        height = (last - first + 1) * self.line_height
        return QRectF(left, top, max(self.width - left - 8, 60), height)


def paint_block(painter: QPainter, canvas: Canvas, block: Block, selected: bool) -> None:
    """Draw filling and outline; text comes on top of it."""
    colour = QColor(state_colour(block.state))
    rect = canvas.rect(block).adjusted(0.5, 0.5, -0.5, -0.5)
    filling = QColor(colour)
    base = 0.05 if block.state in (RegionState.WAITING, RegionState.UNJUDGED) else 0.10
    filling.setAlphaF(0.0 if block.state is RegionState.DROPPED else base + (0.06 if selected else 0.0))
    outline = QColor(current_theme().accent if selected else state_colour(block.state))
    if not selected:
        outline.setAlphaF(0.65)
    dashed = block.state in (RegionState.DROPPED, RegionState.WAITING)
    line = Qt.PenStyle.DashLine if dashed and not selected else Qt.PenStyle.SolidLine
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(outline, 2.0 if selected else 1.0, line))
    painter.setBrush(filling)
    painter.drawRoundedRect(rect, RADIUS, RADIUS)


def paint_tag(painter: QPainter, canvas: Canvas, block: Block, font: QFont, text_right: float) -> None:
    """Draw mark and tag at the right end of the block's first line, unless its code reaches there."""
    rect = canvas.rect(block)
    painter.setFont(font)
    width = painter.fontMetrics().horizontalAdvance(block.tag) + 30 if block.tag else 22
    right = rect.right() - 4
    if text_right > right - width:
        return
    middle = rect.top() + canvas.line_height / 2
    draw_mark(painter, QPointF(right - 9, middle), block.state, 12)
    painter.setPen(QColor(current_theme().muted))
    box = QRectF(right - width, middle - TAG_HEIGHT / 2, width - 20, TAG_HEIGHT)
    painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, block.tag)


LISTED = 6  # candidates of one line that the card names
FILLING, OUTLINE = 0.06, 0.45
DEEPEST = 4  # fillings over each other; from there on it grows no darker


@dataclass(frozen=True, slots=True)
class CandidateBlock:
    """Lines from 0, both inside; columns before the first statement."""

    first: int
    last: int
    indent: int
    considered: Considered


def lay_out(found: Sequence[Considered], source: SourceText) -> list[CandidateBlock]:
    """Return a block for each candidate that was not drawn, with its place in the file."""
    places = ((each.region.start_line - 1, each) for each in found if each.fate is not Fate.DRAWN)
    return [CandidateBlock(at, each.region.end_line - 1, indent_of(source.line(at)), each) for at, each in places]


def paint_candidates(
    painter: QPainter, canvas: Canvas, blocks: Sequence[CandidateBlock], lines: range, drawn: Collection[int] = ()
) -> None:
    """Draw those in view as dotted frames, the darker where the more of them lie over each other.

    Only so dark that text stays readable, and not at all on the lines `drawn`, those of the run's own regions.
    """
    depth = Counter(dict.fromkeys(drawn, DEEPEST))
    for block in blocks:
        if block.first >= lines.stop or block.last < lines.start:
            continue
        covered = block.considered.fate is not Fate.UNCOVERED
        colour = QColor(current_theme().role("accent" if covered else "region_dropped"))
        colour.setAlphaF(FILLING)
        for line in range(max(block.first, lines.start), min(block.last + 1, lines.stop)) if covered else ():
            if depth[line] < DEEPEST:
                painter.fillRect(canvas.lines_rect(line, line, block.indent).adjusted(1.5, 0, -1.5, 0), colour)
            depth[line] += 1
        colour.setAlphaF(OUTLINE)
        painter.setPen(QPen(colour, 1.0, Qt.PenStyle.DotLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(canvas.lines_rect(block.first, block.last, block.indent).adjusted(1.5, 1.5, -1.5, -1.5))


def card_words(blocks: Sequence[CandidateBlock], line: int) -> tuple[str, str]:
    """Return the title and text of the card over a line; empty where no candidate is."""
    here = sorted(
        (block for block in blocks if block.first <= line <= block.last), key=lambda block: block.last - block.first
    )
    if not here:
        return "", ""
    some = f"{counted(len(here), 'candidate')} not drawn"
    title = f"<b>Line {line + 1}</b> · {some} (share of this file's weight)"
    rows = []
    for block in here[:LISTED]:
        each = block.considered
        place = f"{block.first + 1}–{block.last + 1}" if block.last > block.first else str(block.first + 1)
        chance = f" · chance {each.chance:.2g}" if each.chance else ""
        rows.append(f"{place} · {len(each.region.text)} characters{chance}: {each.why}")
    if len(here) > LISTED:
        rows.append(f"and {len(here) - LISTED} larger ones")
    return title, "\n".join(rows)


MOST_FIGURES = 4  # further ones have no room on the card


class HoverCard(QFrame):
    """Lies over the editor near the region, never over its first line."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._room = parent
        self.setProperty("role", "popup")
        self.title, self.scores, self.more = QLabel(), QLabel(), called(QLabel(), role="muted")
        self.setFont(interface_font())
        margins = SPACE + 4, SPACE, SPACE + 4, SPACE
        self._column = column(self.title, self.scores, self.more, margins=margins, spacing=SPACE // 2, owner=self)
        self.hide()

    def open_on(self, block: Block, region: QRect, candidates: str = "") -> None:
        """Show the card for `block`, whose rectangle in the parent is `region`; `candidates`: what else was there."""
        item = block.item
        shown = [measure for measure in task(item.task).averaged if measure.name not in CONDITIONS]
        figures = [
            f"{measure.title} <b>{number(item.measures[measure.name], sign=measure.lowest < 0)}</b>"
            for measure in shown
            if measure.name in item.measures
        ]
        recites = "" if item.recitation is None else f" · a description recites {item.recitation:.2f}"
        copied = "\nthe same lines stand once more in the file" if item.copied else ""
        moved = "\nmoved: the file changed since the run" if block.moved else ""
        others = f"\nCandidates that were not drawn:\n{candidates}" if candidates else ""
        title = f"<b>Lines {block.first + 1}–{block.last + 1}</b> · {state_words(item)}"
        words = f"{counted(len(item.tests), 'covering test')}{recites}{copied}{moved}{others}"
        self.open(region, title, words, " &nbsp; ".join(figures[:MOST_FIGURES]))

    def open(self, place: QRect, title: str, words: str, scores: str = "") -> None:
        self.title.setText(title)
        self.scores.setText(scores)
        self.scores.setVisible(bool(scores))
        self.more.setText(words)
        layout, room = self._column, self._room.width() - 2 * SPACE
        self.more.setWordWrap(False)
        layout.activate()
        wide = layout.sizeHint()
        # Wrapped only where it must be: Qt gives wrapped text a shape of its own, near to a square.
        self.more.setWordWrap(wide.width() > room)
        high = layout.totalHeightForWidth(room) if self.more.wordWrap() else wide.height()
        self.setFixedSize(min(wide.width(), room), high)
        inside = self._room.rect().adjusted(SPACE, SPACE, -SPACE, -SPACE)
        top = place.bottom() + SPACE // 2
        if top + self.height() > inside.bottom():
            top = place.top() - self.height() - SPACE // 2
        left = min(place.left() + SPACE * 3, inside.right() - self.width())
        self.move(max(left, inside.left()), max(top, inside.top()))
        self.show()
        self.raise_()


HOVER_PAUSE = 350  # milliseconds the mouse rests before the card opens
MARK, STRIP = 20, 14
"""Pixels of width: of a region's mark beside its first line, and of the strip that shows the whole file."""


class CodeEditor(QPlainTextEdit):
    """One file with its regions. `region_clicked` carries the id of a region's item."""

    region_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__(readOnly=True, lineWrapMode=self.LineWrapMode.NoWrap, textInteractionFlags=SELECTABLE)
        self.blocks: Sequence[Block] = ()
        self.first_number = 1
        self._candidates: Sequence[CandidateBlock] = ()
        self._selected: int | None = None
        self._outlined = range(0)
        self._hovered: Block | None = None
        self._hovered_line = -1
        self._gutter, self._strip = Gutter(self), HeatStrip(self)
        self._card = HoverCard(self.viewport())
        self._tokens: Sequence[Sequence[TokenSpan]] = ()
        self._highlight = Highlight(self, self._spans)
        self._rest = QTimer(self, singleShot=True, interval=HOVER_PAUSE)
        self.setAccessibleName("Code")
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.use_font(fixed_font())
        # Not connected directly: `update` would take the rectangle of the text for one of the gutter.
        self.updateRequest.connect(lambda: self._gutter.update())
        self.blockCountChanged.connect(self._make_room)
        self.verticalScrollBar().valueChanged.connect(self._strip.update)
        self._strip.line_chosen.connect(self.show_line)
        self._rest.timeout.connect(self._open_card)

    def use_font(self, font: QFont) -> None:
        self.setFont(font)
        self._gutter.setFont(font)
        self.setTabStopDistance(TAB * self.fontMetrics().horizontalAdvance(" "))
        self._make_room()

    def show_text(self, text: str, first_number: int = 1) -> None:
        self.blocks, self._outlined, self._candidates = (), range(0), ()
        self.first_number = first_number
        self._tokens = ()
        self._card.hide()
        self.setPlainText(text)
        self._make_room()

    def set_tokens(self, lines: Sequence[Sequence[TokenSpan]]) -> None:
        self._tokens = lines
        self._highlight.renew()
        self._repaint()

    def _spans(self, number: int) -> Iterator[tuple[int, int, Look]]:
        for start, length, kind in self._tokens[number] if number < len(self._tokens) else ():
            yield start, length, (kind, "")

    def set_blocks(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self._repaint()

    def set_candidates(self, candidates: Sequence[CandidateBlock]) -> None:
        if candidates or self._candidates:
            self._candidates = candidates
            self._repaint()

    def select(self, item_id: int | None) -> None:
        self._selected = item_id
        self._repaint()

    def outline(self, lines: range) -> None:
        if lines != self._outlined:
            self._outlined = lines
            self._repaint()

    def selected_line(self) -> int:
        chosen = next((block for block in self.blocks if block.item.id == self._selected), None)
        return chosen.first if chosen else self.textCursor().blockNumber()

    def show_line(self, line: int) -> None:
        block = self.document().findBlockByNumber(line)
        self.setTextCursor(QTextCursor(block))
        visible = self.visible_lines()
        # Where the line is well in sight nothing moves: steps from region to region would make the text jump.
        if not visible.start + 1 < line < visible.stop - 3:
            # The bar counts lines, not pixels, in a plain text that does not wrap.
            self.verticalScrollBar().setValue(max(line - len(visible) // 3, 0))

    def canvas(self) -> Canvas:
        first = self.firstVisibleBlock()
        height = self.blockBoundingRect(first).height() or self.fontMetrics().lineSpacing()
        offset = self.contentOffset()
        margin = self.document().documentMargin()
        column = self.fontMetrics().horizontalAdvance(" ")
        top = offset.y() - first.blockNumber() * height
        return Canvas(top, offset.x() + margin, height, column, float(self.viewport().width()))

    def visible_lines(self) -> range:
        first = self.firstVisibleBlock().blockNumber()
        height = max(self.canvas().line_height, 1)
        count = int(self.viewport().height() / height) + 2
        return range(first, min(first + count, self.blockCount()))

    def visible_blocks(self) -> list[Block]:
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
            top = canvas.top + self._outlined.start * canvas.line_height
            height = len(self._outlined) * canvas.line_height
            frame = QRectF(canvas.left - 3, top + 0.5, canvas.width - canvas.left - 4, height - 1)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(current_theme().accent), 1.2, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(frame, RADIUS, RADIUS)
            painter.fillRect(QRectF(canvas.left - 4, top, 3, height), QColor(current_theme().accent))
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
        seen = 0 <= self.cursorRect().top() < event.oldSize().height()
        super().resizeEvent(event)
        # A bar that comes above the code, for what was found in it say, must not hide that.
        if seen and event.size().height() < event.oldSize().height():
            self.ensureCursorVisible()
        inside, width = self.contentsRect(), self._gutter.sizeHint().width()
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), width, inside.height()))
        viewport = self.viewport().geometry()
        self._strip.setGeometry(viewport.right() + 1, inside.top(), self._strip.width(), viewport.height())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        super().mouseMoveEvent(event)
        line = self._line_at(event.position())
        block = at_line(self.blocks, line)
        if block is not self._hovered or (self._candidates and line != self._hovered_line):
            self._hovered, self._hovered_line = block, line
            self._card.hide()
            self._rest.start()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
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
            self._card.open_on(self._hovered, rect, words)
        elif title:
            rect = self.canvas().lines_rect(self._hovered_line, self._hovered_line, 0).toRect()
            self._card.open(rect, title, words)

    def _make_room(self) -> None:
        self.setViewportMargins(self._gutter.sizeHint().width(), 0, self._strip.width(), 0)

    def _repaint(self) -> None:
        for widget in (self.viewport(), self._gutter, self._strip):
            widget.update()


class Gutter(QWidget):
    """Line numbers, and the mark of each region beside its first line; stands left of the text and scrolls with it."""

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor, accessibleName="Line numbers")
        self._editor = editor

    def sizeHint(self) -> QSize:  # noqa: N802
        digits = max(3, len(str(self._editor.first_number + self._editor.blockCount() - 1)))
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
            top = canvas.top + block.first * canvas.line_height
            height = (block.last - block.first + 1) * canvas.line_height
            bar = QRectF(self.width() - 3, top + 1, 3, height - 2)
            painter.fillRect(bar, QColor(state_colour(block.state)))
            centre = QPointF(self.width() - MARK / 2 - 3, top + canvas.line_height / 2)
            draw_mark(painter, centre, block.state)


def _paint_strip_mark(painter: QPainter, room: QRectF, state: RegionState) -> None:
    """Draw a state as a shape of its own: wide fails, narrow passes, half full is both, a frame has no verdict."""
    colour, narrow = QColor(state_colour(state)), room.adjusted(3, 0, -3, 0)
    if state in (RegionState.FAIL, RegionState.PASS):
        painter.fillRect(room if state is RegionState.FAIL else narrow, colour)
        return
    if state in (RegionState.PARTIAL, RegionState.RUNNING):
        painter.fillRect(QRectF(room.topLeft(), QSizeF(room.width() / 2, room.height())), colour)
    painter.setPen(colour)
    if state is RegionState.DROPPED:
        painter.drawLine(narrow.topLeft(), narrow.topRight())
    elif state is not RegionState.RUNNING:
        painter.drawRect((room if state is RegionState.PARTIAL else narrow).adjusted(0.5, 0.5, -0.5, -0.5))


class HeatStrip(QWidget):
    """The whole file at a glance, beside the scroll bar: every region in its colour, and what is in view."""

    line_chosen = Signal(int)  # from 0, where somebody clicked

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor
        self.setFixedWidth(STRIP)
        name = "What the run sampled from the whole file"
        tip = f"{name}: a wide mark failed, a narrow one passed, a half full one did both, a frame has no verdict"
        called(self, name, tip=f"{tip}; click to go there")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        editor, painter = self._editor, QPainter(self)
        theme = current_theme()
        painter.fillRect(self.rect(), QColor(theme.gutter))
        scale = self._scale()
        visible = editor.visible_lines()
        view = QRectF(0, visible.start * scale, STRIP, max(len(visible) * scale, 4))
        painter.fillRect(view, QColor(theme.raised))
        for block in editor.blocks:
            height = max((block.last - block.first + 1) * scale, 4)
            _paint_strip_mark(painter, QRectF(1, block.first * scale, STRIP - 2, height), block.state)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.line_chosen.emit(min(int(event.position().y() / self._scale()), self._editor.blockCount() - 1))

    def _scale(self) -> float:
        # A short file is not stretched over the whole strip: a line takes six pixels at most.
        return self.height() / max(self._editor.blockCount(), self.height() / 6, 1)
