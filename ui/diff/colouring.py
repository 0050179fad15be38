"""Colours of code: the tokens of a text, put on the visible lines of an editor or on the panes of a comparison."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pygments.token import Comment, Keyword, _TokenType
from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument, QTextLayout
from PySide6.QtWidgets import QPlainTextEdit

from rtc_inspector.ui.diff.lines import units
from rtc_inspector.ui.diff.rows import Kind, PaneLine
from rtc_inspector.ui.style.theme import current_theme

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MOST_COLOURED = 40_000
"""Characters of a compared text up to which it is coloured: a longer one would hold the window up."""
MARGIN = 40  # lines coloured above and below the visible ones
BREATH, REST = 400, 0.001
"""Tokens after which a background thread stands back for so many seconds: else the window's thread waits for its turn
at every call of Qt."""

TokenSpan = tuple[int, int, _TokenType]  # column, length (UTF-16 units), type


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


def tokenise(text: str, path: str, rest: float = 0.0) -> list[list[TokenSpan]]:
    """Return the tokens of each line of `text`, whose line ends are `\\n`; white space left out.

    `rest`: seconds that a background thread stands back now and then.
    """
    lines: list[list[TokenSpan]] = [[]]
    column = 0
    for count, (_, kind, value) in enumerate(lexer_for(path).get_tokens_unprocessed(text)):
        if rest and count % BREATH == 0:
            time.sleep(rest)
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
                column = 0
            length = units(piece)
            if length and not piece.isspace():
                lines[-1].append((column, length, kind))
            column += length
    return lines


class Highlight:
    """The colours of one editor. Call `paint` whenever other lines come into view."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        self._editor, self._theme = editor, current_theme()
        self._lines: Sequence[Sequence[TokenSpan]] = ()
        self._formats: dict[_TokenType, QTextCharFormat] = {}
        self._generation = 0

    def set_tokens(self, lines: Sequence[Sequence[TokenSpan]]) -> None:
        self._lines = lines
        self._generation += 1
        self.paint()

    def paint(self) -> None:
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
                number = block.blockNumber()
                spans = self._lines[number] if number < len(self._lines) else ()
                ranges = []
                for start, length, kind in spans:
                    piece = QTextLayout.FormatRange()
                    piece.start, piece.length, piece.format = start, length, self._format(kind)
                    ranges.append(piece)
                # Formats of the layout leave the document alone; those of the text would have all laid out again.
                block.layout().setFormats(ranges)
                block.setUserState(self._generation)
                self._editor.document().markContentsDirty(block.position(), block.length())
            block = block.next()

    def _format(self, kind: _TokenType) -> QTextCharFormat:
        if kind not in self._formats:
            look = _foreground(self._theme.token(kind))
            if kind in Comment:  # type: ignore[comparison-overlap]
                look.setFontItalic(True)
            if kind is Keyword:
                look.setFontWeight(QFont.Weight.DemiBold)
            self._formats[kind] = look
        return self._formats[kind]


class Colouring(QSyntaxHighlighter):
    """Colours block `i` of a pane as `lines[i]` says."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._lines: Sequence[PaneLine] = ()
        self._tokens: Sequence[Sequence[Sequence[TokenSpan]]] = ()
        self._dim = True
        self._theme = current_theme()
        self._formats: dict[tuple[_TokenType | None, int | None], QTextCharFormat] = {}

    def follow_theme(self) -> None:
        """Colour anew where the theme is another one: a document keeps the formats that it was given."""
        if self._theme is not current_theme():
            self._theme, self._formats = current_theme(), {}
            self.rehighlight()

    def set_lines(self, lines: Sequence[PaneLine], tokens: Sequence[Sequence[Sequence[TokenSpan]]], dim: bool) -> None:
        self._lines, self._tokens, self._dim = lines, tokens, dim

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        number = self.currentBlock().blockNumber()
        if number >= len(self._lines):
            return
        line = self._lines[number]
        if line.side is None:
            return
        if line.form and self._dim:
            self.setFormat(0, len(text), _foreground(current_theme().muted))
            return
        shown = () if line.kind is Kind.EQUAL else line.marks
        marks = [(units(line.text[:start]), units(line.text[:end])) for start, end in shown]
        for start, end in marks:
            self.setFormat(start, end - start, self._format(None, line.colour))
        tokens = self._tokens[line.side]
        for start, length, kind in tokens[line.number] if line.number < len(tokens) else ():
            self.setFormat(start, length, self._format(kind, None))
            for low, high in marks:
                first, last = max(start, low), min(start + length, high)
                if first < last:
                    self.setFormat(first, last - first, self._format(kind, line.colour))

    def _format(self, kind: _TokenType | None, tone: int | None) -> QTextCharFormat:
        if (kind, tone) not in self._formats:
            theme = current_theme()
            look = _foreground(theme.text if kind is None else theme.token(kind))
            if tone is not None:
                look.setBackground(QColor((theme.deleted_strong, theme.inserted_strong)[tone]))
            self._formats[kind, tone] = look
        return self._formats[kind, tone]


def _foreground(colour: str) -> QTextCharFormat:
    colour_format = QTextCharFormat()
    colour_format.setForeground(QColor(colour))
    return colour_format
