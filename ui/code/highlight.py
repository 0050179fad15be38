"""Puts token colours on the visible lines of an editor, and only on those: a long file opens as fast as a short one."""

from __future__ import annotations

from collections.abc import Sequence

from pygments.token import Comment, Generic, Keyword, Name, _TokenType
from PySide6.QtGui import QColor, QFont, QTextBlock, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QPlainTextEdit

from ui.code.tokens import TokenSpan
from ui.style.theme import current_theme

MARGIN = 40
"""Lines coloured above and below the visible ones."""


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
        self._renew()

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

    def _renew(self) -> None:
        self._generation += 1
        self.paint()

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
            if kind in (Keyword, Name.Class, Name.Function, Generic.Heading):
                made.setFontWeight(QFont.Weight.DemiBold if kind is Keyword else QFont.Weight.Normal)
            self._formats[kind] = made
        return self._formats[kind]
