"""Lines of a text, counted as Python and LibCST count them."""

from __future__ import annotations

import re
from bisect import bisect_right

_NEWLINE = re.compile(r"\r\n|\r|\n")  # str.splitlines knows more, such as the form feed


class Lines:
    """Turns offsets of characters into lines (1-based), and back."""

    def __init__(self, text: str) -> None:
        """Find where the lines of `text` start and end."""
        newlines = [match.span() for match in _NEWLINE.finditer(text)]
        self._text = text
        self._starts = [0, *(end for _, end in newlines)]
        self._ends = [*(start for start, _ in newlines), len(text)]
        self._ascii = text.isascii()

    def number(self, offset: int) -> int:
        """The line that holds the character at `offset`."""
        return bisect_right(self._starts, offset)

    def bounds(self, number: int) -> tuple[int, int]:
        """Offsets where a line starts and ends, its newline left out."""
        return self._starts[number - 1], self._ends[number - 1]

    def offset(self, number: int, column: int) -> int:
        """The offset of a place given as `ast` gives it: `column` counts bytes of UTF-8."""
        start, end = self.bounds(number)
        if self._ascii:
            return start + column
        return start + len(self._text[start:end].encode()[:column].decode())
