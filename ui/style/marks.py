"""The mark of a region's state: a shape of its own, so that colour is never the only sign."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPolygonF

from rtc_inspector.ui.style.icons import drawn_icon
from rtc_inspector.ui.style.region_state import RegionState, state_colour
from rtc_inspector.ui.style.theme import current_theme

SIZE = 14.0
"""Side of a mark in logical pixels."""


def draw_mark(painter: QPainter, centre: QPointF, state: RegionState, size: float = SIZE) -> None:
    """Draw the mark around `centre`."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(centre)
    painter.scale(size / SIZE, size / SIZE)
    _DRAW[state](painter, QColor(state_colour(state)), QColor(current_theme().surface))
    painter.restore()


def mark_icon(state: RegionState) -> QIcon:
    """Return the mark as an icon, for lists and menus."""

    def draw(painter: QPainter, rect: QRect, enabled: bool) -> None:
        draw_mark(painter, QRectF(rect).center(), state, rect.height() * SIZE / 16)

    return drawn_icon(draw)


def _pen(colour: QColor, width: float = 1.6) -> QPen:
    join, cap = Qt.PenJoinStyle.RoundJoin, Qt.PenCapStyle.RoundCap
    return QPen(colour, width, Qt.PenStyle.SolidLine, cap, join)


def _disc(painter: QPainter, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(QPointF(0, 0), 6, 6)


def _ring(painter: QPainter, colour: QColor) -> None:
    painter.setPen(_pen(colour))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QPointF(0, 0), 5.2, 5.2)


def _pass(painter: QPainter, colour: QColor, ground: QColor) -> None:
    """Draw a disc with a tick."""
    _disc(painter, colour)
    painter.setPen(_pen(ground))
    painter.drawPolyline(QPolygonF([QPointF(-2.8, 0.2), QPointF(-0.8, 2.3), QPointF(2.9, -2.1)]))


def _fail(painter: QPainter, colour: QColor, ground: QColor) -> None:
    """Draw a square with a cross."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(QRectF(-5.5, -5.5, 11, 11), 2, 2)
    painter.setPen(_pen(ground))
    painter.drawLine(QPointF(-2.2, -2.2), QPointF(2.2, 2.2))
    painter.drawLine(QPointF(2.2, -2.2), QPointF(-2.2, 2.2))


def _partial(painter: QPainter, colour: QColor, ground: QColor) -> None:
    """Draw a ring, its left half full."""
    _ring(painter, colour)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPie(QRectF(-5.2, -5.2, 10.4, 10.4), 90 * 16, 180 * 16)


def _running(painter: QPainter, colour: QColor, ground: QColor) -> None:
    """Draw a disc with a triangle."""
    _disc(painter, colour)
    painter.setBrush(ground)
    painter.drawPolygon(QPolygonF([QPointF(-1.8, -2.9), QPointF(-1.8, 2.9), QPointF(3.0, 0)]))


def _waiting(painter: QPainter, colour: QColor, ground: QColor) -> None:
    """Draw an empty ring."""
    _ring(painter, colour)


def _dropped(painter: QPainter, colour: QColor, ground: QColor) -> None:
    """Draw a dash."""
    painter.setPen(_pen(colour, 2.0))
    painter.drawLine(QPointF(-3.8, 0), QPointF(3.8, 0))


def _unjudged(painter: QPainter, colour: QColor, ground: QColor) -> None:
    """Draw a ring with a dash."""
    _ring(painter, colour)
    painter.drawLine(QPointF(-2.2, 0), QPointF(2.2, 0))


_DRAW: Mapping[RegionState, Callable[[QPainter, QColor, QColor], None]] = {
    RegionState.PASS: _pass,
    RegionState.FAIL: _fail,
    RegionState.PARTIAL: _partial,
    RegionState.RUNNING: _running,
    RegionState.WAITING: _waiting,
    RegionState.DROPPED: _dropped,
    RegionState.UNJUDGED: _unjudged,
}
