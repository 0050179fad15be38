"""Text colours and marks of a pane."""

from __future__ import annotations

from collections.abc import Sequence

from pygments.token import _TokenType
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from ui.diff.lines import units
from ui.diff.pane_lines import PaneLine
from ui.diff.rows import Kind
from ui.diff.spans import Spans
from ui.style.theme import current_theme


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
        """What the blocks are. `dim`: lines whose change is mere form are greyed, without marks."""
        self._lines, self._dim = lines, dim

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        """Colour one block (called by Qt)."""
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
        """The format of a token type, with or without a mark; made once."""
        if (kind, tone) not in self._formats:
            theme = current_theme()
            made = _foreground(theme.text if kind is None else theme.token(kind))
            if tone is not None:
                made.setBackground(QColor((theme.deleted_strong, theme.inserted_strong)[tone]))
            self._formats[kind, tone] = made
        return self._formats[kind, tone]


def _foreground(colour: str) -> QTextCharFormat:
    """Text of one colour."""
    made = QTextCharFormat()
    made.setForeground(QColor(colour))
    return made
