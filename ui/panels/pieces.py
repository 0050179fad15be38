"""The small widgets of the panels: badges, cards, the first lines of code, exact text, and what an empty panel says."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QScrollArea, QSizePolicy, QWidget

from rtc_inspector.core.kinds import counted
from rtc_inspector.ui.diff.colouring import TokenSpan, tokenise
from rtc_inspector.ui.diff.lines import level, split
from rtc_inspector.ui.style.controls import (
    FOCUS_RING,
    SELECTABLE,
    ElidedLabel,
    breakable,
    button,
    called,
    column,
    label,
    push,
    row,
    to_clipboard,
)
from rtc_inspector.ui.style.fonts import bold, write_fixed
from rtc_inspector.ui.style.theme import SPACE, current_theme

PAD = 6
SIZE = 8 / 9  # of its text, against the text around it


class Badge(QWidget):
    """Text on a tint of its own colour. `text`: what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self._role = "", ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_text("")

    def show_text(self, text: str, role: str = "", tip: str = "") -> None:
        """Show a text in the colour of a role of the theme, a neutral one for none; hide where there is none."""
        if (text, role) != (self.text, self._role):
            self.text, self._role = text, role
            # A layout asks for a size once; it must be told that there is another.
            self.updateGeometry()
            self.update()
        self.setToolTip(tip)
        self.setAccessibleName(f"{text}. {tip}" if tip else text)
        self.setVisible(bool(text))

    def _font(self) -> QFont:
        font = bold(self.font())
        font.setPointSizeF(font.pointSizeF() * SIZE)
        return font

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(self._font())
        return QSize(metrics.horizontalAdvance(self.text) + 2 * PAD + 1, metrics.height() + PAD)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        theme = current_theme()
        colour = theme.role(self._role or "neutral")
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.tint(colour, 0.14)))
        painter.drawRoundedRect(QRectF(self.rect()), 5, 5)
        painter.setPen(QColor(colour))
        painter.setFont(self._font())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text)


RADIUS = 7.0


class Card(QFrame):
    """A rounded frame; `chosen` is emitted when it is clicked. `marked`: whether it is the chosen one."""

    chosen = Signal()

    def __init__(self, inset: int = 0) -> None:
        """`inset`: pixels left free at the left, with an elbow that leads to the card above."""
        super().__init__()
        self.inset = inset
        self.marked = False
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mark(self, marked: bool) -> None:
        self.marked = marked
        # Tab through thirty cards would never come to what stands after them.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if marked else Qt.FocusPolicy.ClickFocus)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.chosen.emit()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        theme, painter = current_theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = self.hasFocus()
        if self.inset:
            x, y = self.inset * 0.45, 18.0
            painter.setPen(QPen(QColor(current_theme().border), 1.5))
            painter.drawPolyline(QPolygonF([QPointF(x, 0), QPointF(x, y), QPointF(self.inset, y)]))
        colour = theme.focus if focused else theme.accent if self.marked else theme.border
        painter.setPen(QPen(QColor(colour), 2 if focused else 1))
        painter.setBrush(QColor(theme.tint(theme.accent, 0.07) if self.marked else theme.surface))
        edge = 1.0 if focused else 0.5
        frame = QRectF(self.rect()).adjusted(self.inset + edge, edge, -edge, -edge)
        painter.drawRoundedRect(frame, RADIUS, RADIUS)


class CardScroll(QScrollArea):
    """Scrolls a column of cards; arrow keys are left to whoever moves between the cards."""

    def __init__(self, cards: QWidget) -> None:
        super().__init__(widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(cards)
        self.setMinimumHeight(1)  # what stands above it must fit into a low window

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            super().keyPressEvent(event)
        else:
            event.ignore()


class CodePeek(QWidget):
    """Up to `most` lines; what is left out is said in a line of its own."""

    def __init__(self, most: int = 4) -> None:
        super().__init__()
        self._most = most
        self._lines: list[tuple[str, list[TokenSpan]]] = []
        self._before, self._more = "", ""
        write_fixed(self, 8.5)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_code(self, text: str, path: str = "", start: int = 0) -> None:
        texts = level(split(text).texts)
        shown = texts[start : start + self._most]
        self._before = f"… {counted(start, 'line')} as in the original" if start else ""
        self._lines = list(zip(shown, tokenise("\n".join(shown), path), strict=False))
        left = len(texts) - start - len(shown)
        self._more = f"… {counted(left, 'more line')}" if left else ""
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        rows = len(self._lines) + bool(self._more) + bool(self._before)
        return QSize(100, rows * self.fontMetrics().lineSpacing() + 2 * PAD)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, metrics, theme = QPainter(self), self.fontMetrics(), current_theme()
        painter.fillRect(self.rect(), QColor(theme.gutter))
        y = float(PAD + metrics.ascent())
        if self._before:
            painter.setPen(QColor(theme.muted))
            painter.drawText(QPointF(PAD, y), self._before)
            y += metrics.lineSpacing()
        for text, spans in self._lines:
            units = text.encode("utf-16-le", "surrogatepass")
            for start, length, kind in spans:
                painter.setPen(QColor(theme.token(kind)))
                before = units[: 2 * start].decode("utf-16-le", "surrogatepass")
                piece = units[2 * start : 2 * (start + length)].decode("utf-16-le", "surrogatepass")
                # Measured from the line's beginning: a tab is as wide as what stands before it leaves.
                x = PAD + metrics.horizontalAdvance(before.expandtabs(4))
                painter.drawText(QPointF(x, y), piece.expandtabs(4))
            y += metrics.lineSpacing()
        painter.setPen(QColor(theme.muted))
        painter.drawText(QPointF(PAD, y), self._more)


def first_difference(original: str, candidate: str) -> int:
    """Return the first line (from 0) at which two texts part, white space at line ends aside."""
    ones, others = split(original).texts, split(candidate).texts
    pairs = zip(ones, others, strict=False)
    parted = next((at for at, (one, other) in enumerate(pairs) if one.rstrip() != other.rstrip()), None)
    return min(len(ones), len(others) - 1) if parted is None else parted


class TextBox(QWidget):
    """A titled text, selectable by keyboard, with a button that copies it."""

    def __init__(self, title: str, *, wrap: bool = True) -> None:
        super().__init__()
        self.setProperty("role", "surface")
        self.title, self.detail = label(title, "heading"), ElidedLabel("caption", Qt.TextElideMode.ElideLeft)
        self.edit = called(QPlainTextEdit(readOnly=True, tabChangesFocus=True, textInteractionFlags=SELECTABLE), title)
        self.edit.setFrameShape(QFrame.Shape.NoFrame)
        self.edit.setStyleSheet(FOCUS_RING)
        mode = QPlainTextEdit.LineWrapMode
        self.edit.setLineWrapMode(mode.WidgetWidth if wrap else mode.NoWrap)
        write_fixed(self.edit, 9)
        self._copy = button("Copy", f"Copy: {title.lower()}", lambda: to_clipboard(self.edit.toPlainText()))
        head = row(self.title, self.detail, None, self._copy, margins=(SPACE, 2, SPACE // 2, 2))
        self.edit.document().setDocumentMargin(SPACE)
        column(head, self.edit, owner=self)

    def show_text(self, text: str, detail: str = "", absent: str = "") -> None:
        # Setting the same text again would lose scroll position and selection.
        if text != self.edit.toPlainText():
            self.edit.setPlainText(text)
        self.edit.setPlaceholderText(absent)
        self.detail.setText(detail)
        self._copy.setEnabled(bool(text))


class EmptyState(QWidget):
    """A heading and a sentence, in the middle."""

    def __init__(self, heading: str, advice: str) -> None:
        super().__init__()
        self._heading, self._advice = label(role="title", wrap=True), label(role="muted", wrap=True)
        for each in (self._heading, self._advice):
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
            each.setMinimumWidth(1)  # whatever it says, the window stays as wide as it is
        self._act: Callable[[], object] = lambda: None
        self.go_on = called(push("", "Go on", lambda: self._act()), role="primary")
        self.go_on.hide()
        around = row(None, self.go_on, None)
        layout = column(None, self._heading, self._advice, around, None, margins=(24, 24, 24, 24), owner=self)
        layout.setSpacing(SPACE)
        self.say(heading, advice)

    def stand_in(self, *parts: QWidget, empty: bool) -> None:
        self.setVisible(empty)
        for part in parts:
            part.setVisible(not empty)

    def offer(self, words: str, act: Callable[[], object]) -> None:
        self._act = act
        self.go_on.setText(words)
        self.go_on.setAccessibleName(words or "Go on")
        self.go_on.setVisible(bool(words))

    def say(self, heading: str, advice: str) -> None:
        self._heading.setText(breakable(heading))
        self._advice.setText(breakable(advice))
        self.setAccessibleName(f"{heading}. {advice}")
