"""A file's text between the store's characters and the editor's lines and columns.

The store counts Unicode characters of the text as it stands in the file; Qt counts UTF-16 units and knows one line end.
Lines and columns here are 0-based, columns in UTF-16 units.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from rtc_inspector.ui.diff.lines import BREAK, units

_BREAKS_FOR_QT = str.maketrans(dict.fromkeys("\u2028\u2029\ufdd0\ufdd1\x00", "\ufffd"))
"""Characters that Qt would turn into line breaks or keeps for itself."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the editor."""

    line: int
    column: int


class SourceText:
    """One file's text with its line table."""

    def __init__(self, text: str) -> None:
        """Index the lines of `text`."""
        self.text = text
        ends = [(match.start(), match.end()) for match in BREAK.finditer(text)]
        self._starts = [0, *(end for _, end in ends)]
        self._ends = [*(start for start, _ in ends), len(text)]

    def line(self, number: int) -> str:
        """Return the text of a line without its end."""
        return self.text[self._starts[number] : self._ends[number]]

    def shown(self) -> str:
        """Return the text that the editor gets: the same lines with one kind of end."""
        return BREAK.sub("\n", self.text).translate(_BREAKS_FOR_QT)

    def place(self, offset: int) -> Place:
        """Return the place of a character offset."""
        # The last line that starts at or before the offset.
        line = bisect_right(self._starts, min(max(offset, 0), len(self.text))) - 1
        return Place(line, units(self.text[self._starts[line] : min(offset, self._ends[line])]))

    def offset(self, place: Place) -> int:
        """Return the character offset of a place."""
        line = self.line(place.line)
        if line.isascii():
            return self._starts[place.line] + min(place.column, len(line))
        kept = line.encode("utf-16-le", "surrogatepass")[: place.column * 2]
        return self._starts[place.line] + len(kept.decode("utf-16-le", "ignore"))
