"""Draws regions into the code: a tinted, outlined block a region, its tag at the right."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from ui.code.blocks import Block
from ui.style.marks import draw_mark
from ui.style.region_state import RegionState, state_colour
from ui.style.theme import current_theme

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
        """The rectangle of a block."""
        return self.lines_rect(block.first, block.last, block.indent)

    def lines_rect(self, first: int, last: int, indent: int) -> QRectF:
        """The rectangle of whole lines from a column on."""
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
    """Opacity of a block's filling."""
    if state is RegionState.DROPPED:
        return 0.0
    base = 0.05 if state in (RegionState.WAITING, RegionState.UNJUDGED) else 0.10
    return base + (0.06 if selected else 0.0)
