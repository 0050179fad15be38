"""Token types of a text by line, and the colours and marks of a pane that come of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pygments.token import _TokenType
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from rtc_inspector.ui.diff.lines import units
from rtc_inspector.ui.diff.pane_lines import PaneLine
from rtc_inspector.ui.diff.rows import Kind
from rtc_inspector.ui.style.theme import current_theme

if TYPE_CHECKING:
    from pygments.lexer import Lexer

SLICE = 0.008
"""Seconds of work at a time."""

FIRST_SLICE = 0.02
"""Seconds of work before the first picture: texts of a region's size are coloured at once."""

Span = tuple[int, int, _TokenType]
"""Start, end (characters of the line) and token type."""


def lexer_for(path: str) -> Lexer:
    """Return the lexer for a file name; Python for none."""
    from pygments.lexers import get_lexer_for_filename  # not before it is needed: the window opens sooner
    from pygments.lexers.python import PythonLexer
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    if not path or path.endswith((".py", ".pyi")):
        return PythonLexer(stripnl=False, ensurenl=False)
    try:
        found: Lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False, ensurenl=False)
    return found


def spans_by_line(texts: Sequence[str], lexer: Lexer) -> Iterator[tuple[int, list[Span]]]:
    """Yield lines from 0 with their spans, in order, as the lexer gets to them."""
    number, column, found = 0, 0, list[Span]()
    for kind, text in lexer.get_tokens("\n".join(texts)):
        for index, part in enumerate(text.split("\n")):
            if index:
                yield number, found
                number, column, found = number + 1, 0, []
            if part:
                found.append((column, column + len(part), kind))
                column += len(part)
    yield number, found


class Spans(QObject):
    """Spans of one text, worked out in slices so that long texts never hold up the window.

    `advanced(first, stop)` names the lines that came.
    """

    advanced = Signal(int, int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[list[Span]] = []
        self._work: Iterator[tuple[int, list[Span]]] = iter(())
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(lambda: self._step(SLICE))

    def start(self, texts: Sequence[str], path: str) -> None:
        """Drop what was there and begin; the first lines are there when this returns."""
        self._lines = []
        self._work = spans_by_line(texts, lexer_for(path)) if any(texts) else iter(())
        # Before the first slice, for this may be the only one: then it stops the timer.
        self._timer.start()
        self._step(FIRST_SLICE)

    def line(self, number: int) -> list[Span]:
        """Return the spans of a line from 0; none while it was not reached."""
        return self._lines[number] if number < len(self._lines) else []

    def _step(self, seconds: float) -> None:
        """Work for a slice, then tell."""
        first, deadline = len(self._lines), time.perf_counter() + seconds
        for _, found in self._work:
            self._lines.append(found)
            if time.perf_counter() > deadline:
                break
        else:
            self._timer.stop()
        if len(self._lines) > first:
            self.advanced.emit(first, len(self._lines))


class Colouring(QSyntaxHighlighter):
    """Colours block `i` as `lines[i]` says; tokens come from the spans of the line's side."""

    def __init__(self, document: QTextDocument, spans: Sequence[Spans]) -> None:
        """`spans`: of each text, from the left."""
        super().__init__(document)
        self._spans = spans
        self._lines: Sequence[PaneLine] = ()
        self._dim = True
        self._theme = current_theme()
        self._formats: dict[tuple[_TokenType | None, int | None], QTextCharFormat] = {}

    def follow_theme(self) -> None:
        """Colour anew where the theme is another one: a document keeps the formats that it was given."""
        if self._theme is not current_theme():
            self._theme, self._formats = current_theme(), {}
            self.rehighlight()

    def set_lines(self, lines: Sequence[PaneLine], dim: bool) -> None:
        """Set the lines that the blocks show. `dim`: lines whose change is mere form are greyed, without marks."""
        self._lines, self._dim = lines, dim

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        number = self.currentBlock().blockNumber()
        if number >= len(self._lines):
            return
        line = self._lines[number]
        if line.side is None:
            return
        if line.form and self._dim:
            self.setFormat(0, len(line.text), _foreground(current_theme().muted))
            return
        # Text of marked ranges is coloured below once more, with the mark under it.
        marks = () if line.kind is Kind.EQUAL else line.marks
        for start, end in marks:
            self._set(text, start, end, None, line.colour)
        for start, end, kind in self._spans[line.side].line(line.number):
            self._set(text, start, end, kind, None)
            for low, high in marks:
                if low < end and start < high:
                    self._set(text, max(start, low), min(end, high), kind, line.colour)

    def _set(self, text: str, start: int, end: int, kind: _TokenType | None, tone: int | None) -> None:
        """Format a range of characters. `tone`: of the mark that lies under it."""
        first = units(text[:start])
        self.setFormat(first, units(text[:end]) - first, self._format(kind, tone))

    def _format(self, kind: _TokenType | None, tone: int | None) -> QTextCharFormat:
        """Return the format of a token type, with or without a mark; made once."""
        if (kind, tone) not in self._formats:
            theme = current_theme()
            made = _foreground(theme.text if kind is None else theme.token(kind))
            if tone is not None:
                made.setBackground(QColor((theme.deleted_strong, theme.inserted_strong)[tone]))
            self._formats[kind, tone] = made
        return self._formats[kind, tone]


def _foreground(colour: str) -> QTextCharFormat:
    """Return the format of text of one colour."""
    made = QTextCharFormat()
    made.setForeground(QColor(colour))
    return made
