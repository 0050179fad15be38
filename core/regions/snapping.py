"""From what a person selected to a region of whole statements."""

from __future__ import annotations

import re

from core.regions.blocks import Block, parse_blocks
from core.regions.candidates import as_region
from core.regions.lines import Lines
from core.types import Region, SourceFile, Span

_BARE = re.compile(r"[ \t\f]*(?:#.*)?")  # a line without code; `.` stops at \n only, so lines come without their end


def snap(file: SourceFile, span: Span) -> Region | None:
    """The smallest run of whole statements of one block that covers a selection, of whatever length.

    An empty selection means the line it stands on. Blank lines and comments at the ends of the selection do not
    count; None when nothing else was selected. Raises ProjectError when the file's statements cannot be located.
    """
    lines = Lines(file.text)
    wanted = _code_in(file.text, span, lines)
    if wanted is None:
        return None
    # A selection inside an `if` lies in its block and, as a part of the whole statement, in the one around it.
    runs = [run for block in parse_blocks(file) if (run := _covering(block, wanted, lines))]
    return as_region(file, min(runs, key=len), lines) if runs else None


def _code_in(text: str, span: Span, lines: Lines) -> Span | None:
    """The selection without the blank and comment lines, and the blanks, at its ends."""
    start, end = max(0, min(span.start, len(text))), max(0, min(span.end, len(text)))
    if start == end:
        start, end = lines.bounds(lines.number(start))
    pieces = []
    for number in range(lines.number(start), lines.number(max(start, end - 1)) + 1):
        first, last = lines.bounds(number)
        piece = text[max(first, start) : min(last, end)]
        if piece.strip() and not _BARE.fullmatch(text[first:last]):
            left = max(first, start) + len(piece) - len(piece.lstrip())
            pieces.append(Span(left, left + len(piece.strip())))
    return Span(pieces[0].start, pieces[-1].end) if pieces else None


def _covering(block: Block, wanted: Span, lines: Lines) -> Span | None:
    """The block's statements that the selection touches, if their lines hold all of it."""
    touched = [span for span in block.statements if _reach(span, lines).overlaps(wanted)]
    if not touched:
        return None
    first, last = _reach(touched[0], lines), _reach(touched[-1], lines)
    covered = first.start <= wanted.start and wanted.end <= last.end
    return Span(touched[0].start, touched[-1].end) if covered else None


def _reach(span: Span, lines: Lines) -> Span:
    """A statement's whole lines: its indentation and a comment behind it select it too."""
    return Span(lines.bounds(lines.number(span.start))[0], lines.bounds(lines.number(span.end - 1))[1])
