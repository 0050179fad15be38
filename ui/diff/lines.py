"""Lines of a text, and what was set aside to compare them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """A text cut into lines.

    Attributes:
        texts: without their line breaks; a text that ends with a line break has no empty last line.
        breaks: the kinds of line break found.
        closed: whether the last line ends with a line break.
    """

    texts: tuple[str, ...]
    breaks: frozenset[str]
    closed: bool


def split(text: str) -> Lines:
    """Cut `text` at the line breaks Python's own parser knows."""
    parts = _BREAK.split(text)
    closed = len(parts) > 1 and parts[-1] == ""
    if closed or parts == [""]:
        parts.pop()
    return Lines(tuple(parts), frozenset(_BREAK.findall(text)), closed)


def set_aside(left: Lines, right: Lines) -> tuple[str, ...]:
    """Differences that no row can show, a sentence each."""
    found = []
    if left.breaks and right.breaks and left.breaks != right.breaks:
        found.append(f"Line breaks differ: {_names(left.breaks)} and {_names(right.breaks)}.")
    if left.closed != right.closed and left.texts and right.texts:
        side = "original" if left.closed else "reconstruction"
        found.append(f"Only the {side} ends with a line break.")
    return tuple(found)


def _names(breaks: frozenset[str]) -> str:
    """Line breaks as people write them."""
    names = {"\r\n": "CRLF", "\r": "CR", "\n": "LF"}
    return "/".join(sorted(names[b] for b in breaks))
