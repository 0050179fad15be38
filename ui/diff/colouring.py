"""Colours of code: the tokens of a text, put on the visible lines of an editor or on the panes of a comparison."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pygments.token import Comment, Keyword, _TokenType
from PySide6.QtGui import QColor, QFont, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QPlainTextEdit

from rtc_inspector.ui.diff.lines import units
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
Look = tuple[_TokenType | str, str]
"""Of letters, a type of token or a role of the theme; and the role of the ground behind them, empty for none."""


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
    """The colours of one text's lines. Call `paint` whenever other lines come into view, `renew` when they change.

    `spans(number)`: the start, length and look of what is coloured in a line.
    """

    def __init__(
        self, editor: QPlainTextEdit, spans: Callable[[int], Iterable[tuple[int, int, Look]]], plain: bool = False
    ) -> None:
        """`plain`: without italics and bold letters, as where colours say something else."""
        self._editor, self._spans, self._plain, self._theme = editor, spans, plain, current_theme()
        self._formats: dict[Look, QTextCharFormat] = {}
        self._generation = 0

    def renew(self) -> None:
        self._generation += 1

    def paint(self) -> None:
        if current_theme() is not self._theme:
            self._theme, self._formats = current_theme(), {}
            self.renew()
        editor = self._editor
        document = editor.document()
        first = editor.firstVisibleBlock().blockNumber()
        visible = editor.viewport().height() // max(editor.fontMetrics().lineSpacing(), 1)
        block = document.findBlockByNumber(max(first - MARGIN, 0))
        for _ in range(visible + 2 * MARGIN):
            if not block.isValid():
                return
            # A block remembers in which round it was coloured; a new text begins with -1.
            if block.userState() != self._generation:
                ranges = []
                for start, length, look in self._spans(block.blockNumber()):
                    piece = QTextLayout.FormatRange()
                    piece.start, piece.length, piece.format = start, length, self._format(look)
                    ranges.append(piece)
                # Formats of the layout leave the document alone; those of the text would have all laid out again.
                block.layout().setFormats(ranges)
                block.setUserState(self._generation)
                document.markContentsDirty(block.position(), block.length())
            block = block.next()

    def _format(self, look: Look) -> QTextCharFormat:
        if look not in self._formats:
            kind, ground = look
            found = self._formats[look] = QTextCharFormat()
            found.setForeground(QColor(self._theme.role(kind) if isinstance(kind, str) else self._theme.token(kind)))
            if ground:
                found.setBackground(QColor(self._theme.role(ground)))
            if not self._plain and kind in Comment:  # type: ignore[operator]
                found.setFontItalic(True)
            if not self._plain and kind is Keyword:
                found.setFontWeight(QFont.Weight.DemiBold)
        return self._formats[look]
