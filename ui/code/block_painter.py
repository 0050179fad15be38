"""Draws into the code what the run drew, and, fainter, what it could have drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from rtc_inspector.core.kinds import counted
from rtc_inspector.core.run.considered import Considered, Fate
from rtc_inspector.ui.code.blocks import Block, indent_of
from rtc_inspector.ui.code.source_text import SourceText
from rtc_inspector.ui.style.marks import draw_mark
from rtc_inspector.ui.style.region_state import RegionState, state_colour
from rtc_inspector.ui.style.theme import current_theme

RADIUS = 5.0
TAG_HEIGHT = 16.0


@dataclass(frozen=True, slots=True)
class Canvas:
    """Where lines stand in the viewport: `top` of line 0, which may be far above the visible part."""

    top: float
    left: float
    line_height: float
    column_width: float
    width: float

    def rect(self, block: Block) -> QRectF:
        """Return the rectangle of a block."""
        return self.lines_rect(block.first, block.last, block.indent)

    def lines_rect(self, first: int, last: int, indent: int) -> QRectF:
        """Return the rectangle of whole lines from a column on."""
        left = self.left + indent * self.column_width - 5
        top = self.top + first * self.line_height
        height = (last - first + 1) * self.line_height
        return QRectF(left, top, max(self.width - left - 8, 60), height)


def paint_block(painter: QPainter, canvas: Canvas, block: Block, selected: bool) -> None:
    """Draw filling and outline; text comes on top of it."""
    colour = QColor(state_colour(block.state))
    rect = canvas.rect(block).adjusted(0.5, 0.5, -0.5, -0.5)
    filling = QColor(colour)
    filling.setAlphaF(_share(block.state, selected))
    outline = QColor(current_theme().accent if selected else state_colour(block.state))
    if not selected:
        outline.setAlphaF(0.65)
    dashed = block.state in (RegionState.DROPPED, RegionState.WAITING)
    line = Qt.PenStyle.DashLine if dashed and not selected else Qt.PenStyle.SolidLine
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(outline, 2.0 if selected else 1.0, line))
    painter.setBrush(filling)
    painter.drawRoundedRect(rect, RADIUS, RADIUS)


def paint_outline(painter: QPainter, canvas: Canvas, lines: range) -> None:
    """Draw which whole lines a selection comes to: a bar at the left and a dashed frame."""
    top, height = canvas.top + lines.start * canvas.line_height, len(lines) * canvas.line_height
    frame = QRectF(canvas.left - 3, top + 0.5, canvas.width - canvas.left - 4, height - 1)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(current_theme().accent), 1.2, Qt.PenStyle.DashLine))
    painter.drawRoundedRect(frame, RADIUS, RADIUS)
    painter.fillRect(QRectF(canvas.left - 4, top, 3, height), QColor(current_theme().accent))


def paint_tag(painter: QPainter, canvas: Canvas, block: Block, font: QFont, text_right: float) -> None:
    """Draw mark and tag at the right end of the block's first line, unless its code reaches there."""
    rect = canvas.rect(block)
    painter.setFont(font)
    width = painter.fontMetrics().horizontalAdvance(block.tag) + 30 if block.tag else 22
    right = rect.right() - 4
    if text_right > right - width:
        return
    middle = rect.top() + canvas.line_height / 2
    draw_mark(painter, QPointF(right - 9, middle), block.state, 12)
    painter.setPen(QColor(current_theme().muted))
    box = QRectF(right - width, middle - TAG_HEIGHT / 2, width - 20, TAG_HEIGHT)
    painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, block.tag)


def _share(state: RegionState, selected: bool) -> float:
    """Return the opacity of a block's filling."""
    if state is RegionState.DROPPED:
        return 0.0
    base = 0.05 if state in (RegionState.WAITING, RegionState.UNJUDGED) else 0.10
    return base + (0.06 if selected else 0.0)


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
    """Return a block for each candidate that was not drawn, with its place in the file."""
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
    """Draw those in view as dotted frames, the darker where the more of them lie over each other.

    Only so dark that text stays readable, and not at all on the lines `drawn`, those of the run's own regions.
    """
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
    """Fill a block line by line, where it is not dark enough yet."""
    filling = QColor(colour)
    filling.setAlphaF(FILLING)
    for line in range(max(block.first, lines.start), min(block.last + 1, lines.stop)):
        if depth[line] < DEEPEST:
            painter.fillRect(canvas.lines_rect(line, line, block.indent).adjusted(1.5, 0, -1.5, 0), filling)
        depth[line] += 1


def card_words(blocks: Sequence[CandidateBlock], line: int) -> tuple[str, str]:
    """Return the title and text of the card over a line; empty where no candidate is."""
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
