"""What became of a region, as the views tell it apart: by colour, by a mark of its own shape and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPolygonF

from rtc_inspector.core.kinds import task
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.style.icons import drawn_icon
from rtc_inspector.ui.style.theme import current_theme

UNFINISHED = "unfinished"  # state of a region whose run ended before it was complete


class RegionState(StrEnum):
    """The closed set of states a region is drawn in."""

    WAITING = "waiting"
    RUNNING = "running"
    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    UNJUDGED = "unjudged"
    DROPPED = "dropped"

    @property
    def failing(self) -> bool:
        return self in (RegionState.FAIL, RegionState.PARTIAL)


ORDER = tuple(RegionState)  # how states sort


def region_state(item: ItemRow) -> RegionState:
    """Return the state of a region of a run."""
    if item.state == UNFINISHED:
        return RegionState.UNJUDGED
    # Waiting, running and dropped are the store's own words for it.
    if item.state != "done":
        return RegionState(item.state)
    good = goodness(item)
    if good is None:
        return RegionState.UNJUDGED
    if good >= 1.0:
        return RegionState.PASS
    return RegionState.PARTIAL if good > 0.0 else RegionState.FAIL


def goodness(item: ItemRow) -> float | None:
    """Return how right what was made of an item is, from 0 to 1; None where its headline does not say that."""
    if item.headline is None:
        return None
    kind = task(item.task)
    return kind.measure(kind.headline).correctness(item.headline)


def state_colour(state: RegionState) -> str:
    """Return the colour of a state's mark and outline."""
    name = "dropped" if state is RegionState.UNJUDGED else state.value
    return current_theme().role(f"region_{name}")


def state_words(item: ItemRow) -> str:
    """Return the state in a few words, with the reason or the count."""
    state = region_state(item)
    if state is RegionState.DROPPED:
        return f"dropped: {item.reason}" if item.reason else "dropped"
    kind = task(item.task)
    good, _, judged = item.tally.partition("/")
    title = kind.measure(kind.tally[0]).title if kind.tally else ""
    figure = "" if item.headline is None else f"{kind.measure(kind.headline).title} {number(item.headline)}"
    count = f"{good} of {judged} {title}" if judged else figure
    remark = kind.remark(item.measures)
    count = f"{count}: {remark}" if remark else count
    if item.state in ("running", UNFINISHED):
        return f"{item.state}, {count}" if judged else item.state
    unjudged = state is RegionState.UNJUDGED and item.headline is None
    return state.value if state is RegionState.WAITING or unjudged else count


def number(value: float | None, sign: bool = False) -> str:
    """Return a score with two decimals, a dash for none."""
    if value is None:
        return "–"
    value = round(value, 2) + 0.0  # without a sign where it rounds to nought from below
    return f"{value:+.2f}" if sign else f"{value:.2f}"


def tests_said(tests: Sequence[str]) -> str:
    """Return how many tests cover something, as the beginning of a sentence."""
    return f"{len(tests)} test{'s cover' if len(tests) != 1 else ' covers'} it"


SIZE = 14.0  # side of a mark in logical pixels


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
    _disc(painter, colour)
    painter.setPen(_pen(ground))
    painter.drawPolyline(QPolygonF([QPointF(-2.8, 0.2), QPointF(-0.8, 2.3), QPointF(2.9, -2.1)]))


def _fail(painter: QPainter, colour: QColor, ground: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(QRectF(-5.5, -5.5, 11, 11), 2, 2)
    painter.setPen(_pen(ground))
    painter.drawLine(QPointF(-2.2, -2.2), QPointF(2.2, 2.2))
    painter.drawLine(QPointF(2.2, -2.2), QPointF(-2.2, 2.2))


def _partial(painter: QPainter, colour: QColor, ground: QColor) -> None:
    _ring(painter, colour)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPie(QRectF(-5.2, -5.2, 10.4, 10.4), 90 * 16, 180 * 16)


def _running(painter: QPainter, colour: QColor, ground: QColor) -> None:
    _disc(painter, colour)
    painter.setBrush(ground)
    painter.drawPolygon(QPolygonF([QPointF(-1.8, -2.9), QPointF(-1.8, 2.9), QPointF(3.0, 0)]))


def _waiting(painter: QPainter, colour: QColor, ground: QColor) -> None:
    _ring(painter, colour)


def _dropped(painter: QPainter, colour: QColor, ground: QColor) -> None:
    painter.setPen(_pen(colour, 2.0))
    painter.drawLine(QPointF(-3.8, 0), QPointF(3.8, 0))


def _unjudged(painter: QPainter, colour: QColor, ground: QColor) -> None:
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
