"""Pygments token types by line, worked out in slices so that long texts never hold up the window."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pygments.token import _TokenType
from PySide6.QtCore import QObject, QTimer, Signal

if TYPE_CHECKING:
    from pygments.lexer import Lexer

SLICE = 0.008
"""Seconds of work at a time."""

FIRST_SLICE = 0.02
"""Seconds of work before the first picture: texts of a region's size are coloured at once."""

Span = tuple[int, int, _TokenType]
"""Start, end (characters of the line) and token type."""


def lexer_for(path: str) -> Lexer:
    """The lexer for a file name; Python for none."""
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
    """Lines from 0 with their spans, in order, as the lexer gets to them."""
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
    """Spans of one text, growing; `advanced(first, stop)` names the lines that came."""

    advanced = Signal(int, int)

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing to lex yet."""
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
        """Spans of a line from 0; none while it was not reached."""
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
