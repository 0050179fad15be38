"""What became of a region, as the views tell it apart: by colour, by a mark of its own shape and in words."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QIcon, QPainter, QPen, QPolygonF

from rtc_inspector.core.figures import reading
from rtc_inspector.core.kinds import task
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.style.icons import DrawnIcon
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
    return reading.number(value, "signed" if sign else "number")


SIZE = 14.0  # side of a mark in logical pixels
FILLED = (RegionState.PASS, RegionState.FAIL, RegionState.RUNNING)
STROKES: Mapping[RegionState, Sequence[Sequence[tuple[float, float]]]] = {
    RegionState.PASS: (((-2.8, 0.2), (-0.8, 2.3), (2.9, -2.1)),),
    RegionState.FAIL: (((-2.2, -2.2), (2.2, 2.2)), ((2.2, -2.2), (-2.2, 2.2))),
    RegionState.UNJUDGED: (((-2.2, 0), (2.2, 0)),),
    RegionState.DROPPED: (((-3.8, 0), (3.8, 0)),),
}
"""Lines in a mark: light on a filled one, else in its colour."""


def draw_mark(painter: QPainter, centre: QPointF, state: RegionState, size: float = SIZE) -> None:
    """Draw the mark around `centre`: a disc, a square for failures, or a ring, with a sign in it."""
    colour, ground = QColor(state_colour(state)), QColor(current_theme().surface)
    filled, dropped = state in FILLED, state is RegionState.DROPPED
    pen = QPen(
        colour, 2.0 if dropped else 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    )
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(centre)
    painter.scale(size / SIZE, size / SIZE)
    painter.setPen(QPen(Qt.PenStyle.NoPen) if filled else pen)
    painter.setBrush(QBrush(colour) if filled else QBrush())
    if state is RegionState.FAIL:
        painter.drawRoundedRect(QRectF(-5.5, -5.5, 11, 11), 2, 2)
    elif not dropped:
        radius = 6 if filled else 5.2
        painter.drawEllipse(QPointF(0, 0), radius, radius)
    if state is RegionState.PARTIAL:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPie(QRectF(-5.2, -5.2, 10.4, 10.4), 90 * 16, 180 * 16)
    elif state is RegionState.RUNNING:
        painter.setBrush(ground)
        painter.drawPolygon(QPolygonF([QPointF(-1.8, -2.9), QPointF(-1.8, 2.9), QPointF(3.0, 0)]))
    if filled:
        pen.setColor(ground)
        painter.setPen(pen)
    for stroke in STROKES.get(state, ()):
        painter.drawPolyline(QPolygonF([QPointF(*at) for at in stroke]))
    painter.restore()


def mark_icon(state: RegionState) -> QIcon:
    """Return the mark as an icon, for lists and menus."""

    def draw(painter: QPainter, rect: QRect, enabled: bool) -> None:
        draw_mark(painter, QRectF(rect).center(), state, rect.height() * SIZE / 16)

    return QIcon(DrawnIcon(draw))
