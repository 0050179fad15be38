"""Colours of code in an editor: tokens made off the main thread, put on the visible lines alone.

So a long file opens as fast as a short one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from pygments.token import Comment, Keyword, Text, Whitespace, _TokenType
from PySide6.QtGui import QColor, QFont, QTextBlock, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QPlainTextEdit

from rtc_inspector.ui.diff.colouring import lexer_for
from rtc_inspector.ui.diff.lines import units
from rtc_inspector.ui.style.theme import current_theme

MARGIN = 40
"""Lines coloured above and below the visible ones."""
BREATH, REST = 400, 0.001
"""Tokens after which a background thread stands back for so many seconds: else the window's thread waits for its turn
at every call of Qt."""

TokenSpan = tuple[int, int, _TokenType]
"""Column, length (UTF-16 units), type."""


def tokenise(text: str, path: str) -> list[list[TokenSpan]]:
    """Return the tokens of each line of `text`, whose line ends are `\\n`; plain ones left out."""
    lines: list[list[TokenSpan]] = [[]]
    column = 0
    for count, (_, kind, value) in enumerate(lexer_for(path).get_tokens_unprocessed(text)):
        if count % BREATH == 0:
            time.sleep(REST)
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
                column = 0
            length = units(piece)
            if length and kind not in (Text, Whitespace):
                lines[-1].append((column, length, kind))
            column += length
    return lines


class Highlight:
    """The colours of one editor. Call `paint` whenever other lines come into view."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        """Start without tokens."""
        self._editor, self._theme = editor, current_theme()
        self._lines: Sequence[Sequence[TokenSpan]] = ()
        self._formats: dict[_TokenType, QTextCharFormat] = {}
        self._generation = 0

    def set_tokens(self, lines: Sequence[Sequence[TokenSpan]]) -> None:
        """Take the tokens of the text that is shown; empty while they are being made."""
        self._lines = lines
        self._generation += 1
        self.paint()

    def paint(self) -> None:
        """Colour what is visible and not yet coloured, in this theme."""
        if current_theme() is not self._theme:
            self._theme, self._formats = current_theme(), {}
            self._generation += 1
        if not self._lines:
            return
        editor = self._editor
        visible = editor.viewport().height() // max(editor.fontMetrics().lineSpacing(), 1)
        first = max(editor.verticalScrollBar().value() - MARGIN, 0)
        block = editor.document().findBlockByNumber(first)
        for _ in range(visible + 2 * MARGIN):
            if not block.isValid():
                return
            # A block remembers in which round it was coloured; a new text begins with -1.
            if block.userState() != self._generation:
                self._colour(block)
            block = block.next()

    def _colour(self, block: QTextBlock) -> None:
        number = block.blockNumber()
        spans = self._lines[number] if number < len(self._lines) else ()
        ranges = []
        for start, length, kind in spans:
            piece = QTextLayout.FormatRange()
            piece.start, piece.length, piece.format = start, length, self._format(kind)
            ranges.append(piece)
        # Formats of the layout leave the document alone: setting those of the text would lay all of it out again.
        block.layout().setFormats(ranges)
        block.setUserState(self._generation)
        self._editor.document().markContentsDirty(block.position(), block.length())

    def _format(self, kind: _TokenType) -> QTextCharFormat:
        if kind not in self._formats:
            made = QTextCharFormat()
            made.setForeground(QColor(self._theme.token(kind)))
            if kind in Comment:  # type: ignore[comparison-overlap]
                made.setFontItalic(True)
            if kind is Keyword:
                made.setFontWeight(QFont.Weight.DemiBold)
            self._formats[kind] = made
        return self._formats[kind]
