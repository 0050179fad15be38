"""Where reconstructed code will stand: its column, its indentation, the file's line ends."""

from __future__ import annotations

from dataclasses import dataclass

from core.types import Item


@dataclass(frozen=True, slots=True)
class Place:
    """The surroundings of a span.

    Attributes:
        indentation: white space (tabs kept) that following lines need.
        newline: the file's own line end.
        first_line: the reference's first line.
    """

    indentation: str
    newline: str
    first_line: str


def place_of(item: Item, file_text: str) -> Place:
    """Read the place off the file."""
    start = max(file_text.rfind("\n", 0, item.span.start), file_text.rfind("\r", 0, item.span.start)) + 1
    head = file_text[start : item.span.start]
    first = item.text.split("\n", 1)[0].rstrip("\r")
    return Place(head[: len(head) - len(head.lstrip())], _newline(file_text), first)


def _newline(text: str) -> str:
    """The line end that occurs most."""
    windows = text.count("\r\n")
    counts = {"\n": text.count("\n") - windows, "\r\n": windows, "\r": text.count("\r") - windows}
    best = max(counts, key=lambda k: counts[k])
    return best if counts[best] else "\n"
