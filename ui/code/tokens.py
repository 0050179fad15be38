"""Pygments tokens of a file, line by line; made off the main thread, applied to what is visible."""

from __future__ import annotations

import time

from pygments.token import Text, Whitespace, _TokenType

from ui.code.source_text import units
from ui.diff.spans import lexer_for

BREATH, REST = 400, 0.001
"""Tokens after which a background thread stands back for so many seconds: else the window's thread waits for its turn
at every call of Qt."""

TokenSpan = tuple[int, int, _TokenType]
"""Column, length (UTF-16 units), type."""


def tokenise(text: str, path: str) -> list[list[TokenSpan]]:
    """Tokens of each line of `text`, whose line ends are `\\n`; plain ones left out."""
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
