"""Draws what a run could have drawn: thin dotted frames, the darker where the more of them lie over each other.

Only so dark that text stays readable, and not at all below the run's own regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPen

from core.kinds import counted
from core.run.considered import Considered, Fate
from ui.code.block_painter import Canvas
from ui.code.blocks import indent_of
from ui.code.source_text import SourceText
from ui.style.theme import current_theme

LISTED = 6
"""Candidates of one line that the card names."""
FILLING, OUTLINE = 0.06, 0.45
DEEPEST = 4
"""Fillings over each other; from there on it grows no darker."""


@dataclass(frozen=True, slots=True)
class CandidateBlock:
    """Lines from 0, both inside; columns before the first statement."""

    first: int
    last: int
    indent: int
    considered: Considered


def lay_out(found: Sequence[Considered], source: SourceText) -> list[CandidateBlock]:
    """Where candidates stand in the file."""
    return [_block(each, source) for each in found if each.fate is not Fate.DRAWN]


def _block(each: Considered, source: SourceText) -> CandidateBlock:
    first = each.region.start_line - 1
    return CandidateBlock(first, each.region.end_line - 1, indent_of(source.line(first)), each)


def paint_candidates(
    painter: QPainter,
    canvas: Canvas,
    blocks: Sequence[CandidateBlock],
    lines: range,
    drawn: Collection[int] = (),
) -> None:
    """Draw those in view. `drawn`: lines of the run's own regions."""
    depth = Counter(dict.fromkeys(drawn, DEEPEST))
    for block in blocks:
        if block.first >= lines.stop or block.last < lines.start:
            continue
        covered = block.considered.fate is not Fate.UNCOVERED
        colour = QColor(current_theme().role("accent" if covered else "region_dropped"))
        if covered:
            _fill(painter, canvas, block, lines, colour, depth)
        colour.setAlphaF(OUTLINE)
        painter.setPen(QPen(colour, 1.0, Qt.PenStyle.DotLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(canvas.lines_rect(block.first, block.last, block.indent).adjusted(1.5, 1.5, -1.5, -1.5))


def _fill(
    painter: QPainter, canvas: Canvas, block: CandidateBlock, lines: range, colour: QColor, depth: Counter[int]
) -> None:
    """Line by line, where it is not dark enough yet."""
    filling = QColor(colour)
    filling.setAlphaF(FILLING)
    for line in range(max(block.first, lines.start), min(block.last + 1, lines.stop)):
        if depth[line] < DEEPEST:
            painter.fillRect(canvas.lines_rect(line, line, block.indent).adjusted(1.5, 0, -1.5, 0), filling)
        depth[line] += 1


def card_words(blocks: Sequence[CandidateBlock], line: int) -> tuple[str, str]:
    """Title and text of the card over a line; empty where no candidate is."""
    here = sorted(
        (block for block in blocks if block.first <= line <= block.last), key=lambda block: block.last - block.first
    )
    if not here:
        return "", ""
    some = f"{counted(len(here), 'candidate')} not drawn"
    title = f"<b>Line {line + 1}</b> · {some} (share of this file's weight)"
    rows = [_row(block) for block in here[:LISTED]]
    if len(here) > LISTED:
        rows.append(f"and {len(here) - LISTED} larger ones")
    return title, "\n".join(rows)


def _row(block: CandidateBlock) -> str:
    each = block.considered
    place = f"{block.first + 1}–{block.last + 1}" if block.last > block.first else str(block.first + 1)
    chance = f" · {each.chance:.1%}" if each.chance else ""
    return f"{place} · {len(each.region.text)} characters{chance}: {each.why}"
