"""The first lines of a piece of code, in colour, where an editor would be too much."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rtc_inspector.core.kinds import counted
from rtc_inspector.ui.diff.colouring import Span, lexer_for, spans_by_line
from rtc_inspector.ui.diff.lines import level, split
from rtc_inspector.ui.style.fonts import write_fixed
from rtc_inspector.ui.style.theme import current_theme

PAD = 6


class CodePeek(QWidget):
    """Up to `most` lines; what is left out is said in a line of its own."""

    def __init__(self, most: int = 4) -> None:
        """Empty until `show_code`."""
        super().__init__()
        self._most = most
        self._lines: list[tuple[str, list[Span]]] = []
        self._before, self._more = "", ""
        write_fixed(self, 8.5)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_code(self, text: str, path: str = "", start: int = 0) -> None:
        """Show `text` from its line `start` on (from 0), dedented."""
        texts = level(split(text).texts)
        shown = texts[start : start + self._most]
        self._before = f"… {counted(start, 'line')} as in the original" if start else ""
        spans = [found for _, found in spans_by_line(shown, lexer_for(path))]
        self._lines = list(zip(shown, spans, strict=True)) if shown else []
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
            for start, end, kind in spans:
                painter.setPen(QColor(theme.token(kind)))
                # Measured from the line's beginning: a tab is as wide as what stands before it leaves.
                x = PAD + metrics.horizontalAdvance(text[:start].expandtabs(4))
                painter.drawText(QPointF(x, y), text[start:end].expandtabs(4))
            y += metrics.lineSpacing()
        painter.setPen(QColor(theme.muted))
        painter.drawText(QPointF(PAD, y), self._more)


def first_difference(original: str, candidate: str) -> int:
    """Return the first line (from 0) at which two texts part, white space at line ends aside."""
    ones, others = split(original).texts, split(candidate).texts
    pairs = zip(ones, others, strict=False)
    parted = next((at for at, (one, other) in enumerate(pairs) if one.rstrip() != other.rstrip()), None)
    return min(len(ones), len(others) - 1) if parted is None else parted
