"""Scatter, lines, bars and histograms, drawn by pyqtgraph. Pointer and keys read off every mark and open it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.figures import Bars, Guide, Lines, Scatter
from rtc_inspector.core.figures.layout import Box, Curve, Drawn, Ink, Layout, Scale, Span, Spot, laid_out
from rtc_inspector.core.figures.reading import Mark, marks
from rtc_inspector.ui.style.controls import FOCUS_RING, column
from rtc_inspector.ui.style.theme import SPACE, current_theme, mix

NEAR = 24  # pixels around a point within which a click means it
SMALLEST, LARGEST = 9.0, 42.0  # pixels across the spots of a scatter
MOST_NUMBERED = 60  # spots up to which they carry their names and numbers
MOST_ABREAST = 7  # names of bars that stand beside each other in one line
ARROWS = {"up": " ↑", "down": " ↓", "": ""}  # where better values are
FILLING, BAND = 0.45, 0.16  # opacity of spots and of the bands of lines
PENS = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)  # as STROKES
FAR = 1e9  # where a column ends that has no end, in the values of the axes


@dataclass(frozen=True, slots=True)
class Shape:
    """A mark on the screen: the area that means it, in the values of the axes; a point has none."""

    mark: Mark
    area: QRectF | None
    size: float = 0.0


class Plot(QWidget):
    """One drawing."""

    pointed = Signal(object)  # the Mark read off by pointer or keys, None when nothing is
    opened = Signal(object)  # the Mark of Enter or a click
    enlarged = Signal()  # by a double click beside the marks

    def __init__(self) -> None:
        super().__init__()
        self._figure: Drawn | None = None
        self._drawn_in = current_theme()
        self._at: int | None = None
        self._twice = False
        self._side = ""
        self.shapes: list[Shape] = []
        # It takes the focus and follows the pointer; no panning, no menu.
        self.canvas = pg.PlotWidget(enableMenu=False)  # making the menu takes half of the time
        self.canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.canvas.setMouseEnabled(False, False)
        self.canvas.hideButtons()
        # pyqtgraph lets the names of the axes reach five pixels over the edge, which cuts the tails of their letters.
        self.canvas.getPlotItem().layout.setContentsMargins(5, 1, SPACE, 5)
        self.canvas.setMinimumSize(200, 100)
        self.canvas.viewport().setMouseTracking(True)
        self.canvas.setStyleSheet(FOCUS_RING.replace("QPlainTextEdit", "PlotWidget"))
        for side in ("left", "bottom"):
            self.canvas.getAxis(side).enableAutoSIPrefix(False)
        for watched in (self.canvas, self.canvas.viewport()):
            watched.installEventFilter(self)
        column(self.canvas, owner=self)
        self.setFocusProxy(self.canvas)
        self._take_colours()

    @property
    def mark(self) -> Mark | None:
        return None if self._at is None else self.shapes[self._at].mark

    def show_figure(self, figure: Drawn) -> None:
        before = self.mark
        self._figure = figure
        self._at = None
        self._draw()
        same = (
            at for at, p in enumerate(self.shapes) if before and (p.mark.x, p.mark.group) == (before.x, before.group)
        )
        self._read(next(same, None) if before is not None and before.links else None)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Draw in the colours of another theme: pyqtgraph's items keep those they were made with."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.StyleChange and self._drawn_in is not current_theme():
            self._take_colours()

    def _take_colours(self) -> None:
        self._drawn_in = theme = current_theme()
        self.canvas.setBackground(QColor(theme.surface))
        for side in ("left", "bottom"):
            axis = self.canvas.getAxis(side)
            axis.setPen(QColor(theme.border))
            axis.setTextPen(QColor(theme.muted))
        if self._figure is not None:
            self._draw()
            self._read(self._at)

    def eventFilter(self, watched: object, event: QEvent) -> bool:  # noqa: N802
        kind = QEvent.Type
        if isinstance(event, QMouseEvent) and watched is self.canvas.viewport():
            if event.type() == kind.MouseMove:
                self._read(self._under(event.position()))
            elif event.type() == kind.MouseButtonDblClick:
                # Here alone: what lies around it enlarges too, and twice is not at all.
                self._twice = not self._is_at(event.position())
                return True
            # Once the button is up: until then what it does would be done to the figure in its other place.
            elif event.type() == kind.MouseButtonRelease and self._twice:
                self._twice = False
                self.enlarged.emit()
            # The pointer may not have moved since the window came up: read off first, then open.
            elif event.type() == kind.MouseButtonRelease and event.button() is Qt.MouseButton.LeftButton:
                self._read(self._under(event.position()))
                if self._is_at(event.position()):
                    self._open()
        elif event.type() == kind.Leave:
            self._read(None)
        elif isinstance(event, QKeyEvent) and event.type() == kind.KeyPress and watched is self.canvas:
            return self._key(Qt.Key(event.key()))
        return False

    def _key(self, key: Qt.Key) -> bool:
        """Step along by Left and Right, change line or group by Up and Down, jump by Home and End, open by Enter."""
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open()
            return True
        found = step([shape.mark for shape in self.shapes], self._at, key)
        if found is not None:
            self._read(found)
        return found is not None

    def _read(self, at: int | None) -> None:
        self._at = at
        shape = None if at is None else self.shapes[at]
        self._cursor.setVisible(shape is not None and isinstance(self._figure, Lines))
        self._ring.setVisible(shape is not None)
        if shape is not None:
            self._cursor.setPos(shape.mark.x)
            self._ring.setData(*_outline(shape, self.canvas.getViewBox().viewPixelSize()))
        self.pointed.emit(self.mark)

    def _open(self) -> None:
        if self.mark is not None:
            self.opened.emit(self.mark)

    def _under(self, position: QPointF) -> int | None:
        """Return the mark that the pointer means: the area it is in, else the nearest point."""
        view = self.canvas.getViewBox()
        spot = view.mapSceneToView(self.canvas.mapToScene(position.toPoint()))
        across, up = view.viewPixelSize()
        best: tuple[float, float, int] | None = None
        for at, shape in enumerate(self.shapes):
            if shape.area is not None:
                # Bars fill their column: whatever is inside one means it, however near another point may be.
                if shape.area.contains(spot):
                    return at
                continue
            dx, dy = (shape.mark.x - spot.x()) / (across or 1.0), (shape.mark.y - spot.y()) / (up or 1.0)
            # on a line only the distance along it counts, so that its values are read off anywhere above or below
            away = (abs(dx), abs(dy)) if isinstance(self._figure, Lines) else (math.hypot(dx, dy), 0.0)
            if away[0] <= max(NEAR, shape.size / 2) and (best is None or away < best[:2]):
                best = (*away, at)
        return None if best is None else best[2]

    def _is_at(self, position: QPointF) -> bool:
        """Return whether the pointer is at the mark that is read off; on a line it may be far above or below."""
        if self.mark is None or not isinstance(self._figure, Lines):
            return self.mark is not None
        view = self.canvas.getViewBox()
        height = view.mapSceneToView(self.canvas.mapToScene(position.toPoint())).y()
        return bool(abs(self.mark.y - height) / (view.viewPixelSize()[1] or 1.0) <= NEAR)

    # ---- drawing

    def _draw(self) -> None:
        """Make all items anew: that takes a few milliseconds, and nothing is painted in between."""
        figure, theme = self._figure, current_theme()
        if figure is None:
            return
        layout = laid_out(figure)
        # Else each item that is added would work the range out anew.
        self.canvas.disableAutoRange()
        self.canvas.clear()
        self.canvas.setAccessibleName(f"{figure.title}; arrow keys read off values, Enter opens")
        self._label_axes(figure, layout)
        for guide in (*([Guide("y", 0.0)] if layout.y.low < 0 < layout.y.high else []), *layout.guides):
            pen = QPen(QColor(theme.muted), 0, Qt.PenStyle.DashLine)
            options = {"color": theme.muted, "position": 0.94}
            words = {"label": guide.label, "labelOpts": options} if guide.label else {}
            line = pg.InfiniteLine(guide.at, angle=90 if guide.axis == "x" else 0, pen=pen, **words)
            self.canvas.addItem(line, ignoreBounds=True)
        if layout.diagonal:
            ends = [layout.x.low, layout.x.high]
            self._path(ends, ends, QPen(QColor(theme.muted), 0, Qt.PenStyle.DashLine))
        for curve in layout.curves:
            self._curve(curve)
        self._spots(layout.spots, layout.x)
        if layout.boxes:
            x0, y0, x1, y1 = zip(*(_rectangle(box).getCoords() for box in layout.boxes), strict=True)
            brushes, pen = [QColor(colour_of(box.ink)) for box in layout.boxes], QPen(QColor(theme.surface), 0)
            self.canvas.addItem(pg.BarGraphItem(x0=x0, x1=x1, y0=y0, y1=y1, brushes=brushes, pen=pen))
        for box in layout.boxes:
            self._error(box.middle, box.error, theme.text)
        if layout.curves:
            self.shapes = [Shape(mark, None) for mark in marks(figure)]
        else:
            self.shapes = [Shape(spot.mark, None, _across(spot)) for spot in layout.spots]
            for box in layout.boxes:
                bar = _rectangle(box)
                # A bar that stands alone is meant by its whole column on its side of 0.
                whole = QRectF(bar.left(), -FAR if box.above < 0 else 0.0, bar.width(), FAR)
                self.shapes.append(Shape(box.mark, whole if box.alone else bar))
        self._cursor = pg.InfiniteLine(0, angle=90, pen=QPen(QColor(theme.muted), 0))
        self._ring = pg.PlotCurveItem(pen=pg.mkPen(theme.text, width=2))
        for item in (self._cursor, self._ring):
            item.setZValue(10)
            item.hide()
            self.canvas.addItem(item, ignoreBounds=True)
        # A figure of a run that goes on may have lost the mark that was read off.
        if self._at is not None and self._at >= len(self.shapes):
            self._at = None
        x, y = (layout.x.low, layout.x.high), (layout.y.low, layout.y.high)
        self.canvas.setRange(xRange=x, yRange=y, padding=0.01)

    def _label_axes(self, figure: Drawn, layout: Layout) -> None:
        below = self.canvas.getAxis("bottom")
        named = list(layout.x.ticks)
        if crowded := isinstance(figure, Bars) and len(named) > MOST_ABREAST:  # every other name stands a line lower
            named = [(at, f"\n{name}" if place % 2 else name) for place, (at, name) in enumerate(named)]
        self.canvas.getAxis("left").setTicks([list(layout.y.ticks)])
        below.setTicks([named])
        # A name that reaches over the edge of the drawing is shown all the same.
        below.setStyle(hideOverlappingLabels=not isinstance(figure, Bars))
        self.canvas.setLabel("bottom", f"{layout.x.label}{ARROWS[layout.x.better]}")
        height = self.canvas.fontMetrics().height()
        below.setHeight((3 if crowded else 2) * height + 8)  # by itself it cuts off a fifth of its label
        self._side = f"{layout.y.label}{ARROWS[layout.y.better]}"
        self._name_side()
        self.canvas.showGrid(x=isinstance(figure, Scatter), y=True, alpha=0.12)

    def _name_side(self) -> None:
        """Name the upright axis, in a low drawing as much of its name as there is room for."""
        room = self.canvas.height() - int(self.canvas.getAxis("bottom").height()) - 2 * SPACE
        words = self.canvas.fontMetrics().elidedText(self._side, Qt.TextElideMode.ElideMiddle, room)
        self.canvas.setLabel("left", words)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._name_side()

    def _path(self, x: Sequence[float], y: Sequence[float], pen: object) -> None:
        self.canvas.addItem(pg.PlotCurveItem([*x], [*y], pen=pen))

    def _curve(self, curve: Curve) -> None:
        colour = QColor(colour_of(curve.ink))
        if curve.band:
            x, low, high = map(list, zip(*curve.band, strict=True))
            thin = QColor(colour)
            thin.setAlphaF(BAND)
            ends = (pg.PlotCurveItem(x, low, pen=None), pg.PlotCurveItem(x, high, pen=None))
            band = pg.FillBetweenItem(*ends, brush=thin)
            band.setZValue(-10)
            self.canvas.addItem(band)
        dots = {"symbol": "o", "symbolSize": 5, "symbolBrush": colour, "symbolPen": None} if curve.dotted else {}
        points = map(list, zip(*curve.points, strict=True)) if curve.points else ([], [])
        self.canvas.addItem(pg.PlotDataItem(*points, pen=pg.mkPen(colour, width=2, style=PENS[curve.stroke]), **dots))

    def _spots(self, spots: Sequence[Spot], x: Scale) -> None:
        theme = current_theme()
        for spot in spots:
            self._error(spot.mark.x, spot.up, colour_of(spot.ink))
            if spot.across is not None:
                self._path(spot.across, [spot.mark.y] * 2, colour_of(spot.ink))
        if spots:
            drawn = pg.ScatterPlotItem(
                x=[spot.mark.x for spot in spots],
                y=[spot.mark.y for spot in spots],
                size=[_across(spot) for spot in spots],
                brush=[QColor(theme.tint(colour_of(spot.ink), FILLING)) for spot in spots],
                pen=[pg.mkPen(colour_of(spot.ink)) for spot in spots],
            )
            self.canvas.addItem(drawn)
        for spot in spots if len(spots) <= MOST_NUMBERED else ():
            words = spot.name or (spot.count if _across(spot) >= 16 else "")
            if words:
                # On the side where there is room for a long name.
                beside = (float(x.share(spot.mark.x) > 0.5), 1)
                text = pg.TextItem(words, color=theme.text, anchor=beside if spot.name else (0.5, 0.5))
                text.setPos(spot.mark.x, spot.mark.y)
                self.canvas.addItem(text, ignoreBounds=True)

    def _error(self, x: float, span: Span | None, colour: str) -> None:
        if span is not None:
            self._path([x, x], span, colour)


def _across(spot: Spot) -> float:
    """Return the pixels across a spot: its area, not its width, stands for the count."""
    return max(SMALLEST, LARGEST * spot.size)


def _rectangle(box: Box) -> QRectF:
    low, high = min(box.below, box.above), max(box.below, box.above)
    return QRectF(box.middle - box.width / 2, low, box.width, high - low)


def _outline(shape: Shape, pixel: tuple[float, float]) -> tuple[Sequence[float], Sequence[float]]:
    if shape.area is not None:
        low = shape.area.top() if abs(shape.area.top()) < FAR / 2 else shape.mark.y
        high = shape.area.bottom() if abs(shape.area.bottom()) < FAR / 2 else shape.mark.y
        left, right = shape.area.left(), shape.area.right()
        return [left, right, right, left, left], [low, low, high, high, low]
    # In the values of the axes a circle on the screen is an ellipse.
    around = np.linspace(0, 2 * math.pi, 25)
    radius = max(shape.size, 9.0) / 2 + 1
    x, y = np.cos(around) * radius * pixel[0], np.sin(around) * radius * pixel[1]
    return list(shape.mark.x + x), list(shape.mark.y + y)


def step(found: Sequence[Mark], here: int | None, key: Qt.Key) -> int | None:
    """Return the index of the mark that a key leads to; None for other keys, and where there is no mark.

    Left and Right stay in the group: along a line, or on one side of a histogram. Up and Down go to the nearest mark of
    another group above or below; a scatter, which has no groups, is stepped through from the left by either pair.
    """
    keys = Qt.Key
    moves = {keys.Key_Left: -1, keys.Key_Right: 1, keys.Key_Down: -1, keys.Key_Up: 1}
    if not found or key not in (*moves, keys.Key_Home, keys.Key_End):
        return None
    now = found[here] if here is not None else None
    several = len({mark.group for mark in found}) > 1
    # Nearest by x first: on another line that is the point above or below this one.
    if several and now is not None and key in (keys.Key_Up, keys.Key_Down):
        beyond = [
            (abs(mark.x - now.x), abs(mark.y - now.y), at)
            for at, mark in enumerate(found)
            if (mark.y - now.y) * moves[key] > 0 and mark.group != now.group
        ]
        return min(beyond)[2] if beyond else here
    group = now.group if now is not None else found[0].group
    if now is None and several and key is keys.Key_Down:
        group = found[-1].group
    along = sorted((at for at, m in enumerate(found) if m.group == group), key=lambda at: (found[at].x, found[at].y))
    if key is keys.Key_Home or (here is None and key is not keys.Key_End and key is not keys.Key_Left):
        return along[0]
    if key is keys.Key_End or here is None:
        return along[-1]
    return along[min(max(along.index(here) + moves[key], 0), len(along) - 1)]


def colour_of(ink: Ink) -> str:
    """Return a colour of the theme."""
    theme = current_theme()
    if ink.heat is None:
        return theme.role(ink.tone) if ink.tone else theme.palette[ink.place % len(theme.palette)]
    if ink.ramp == "worth":
        return theme.heat((ink.heat + 1) / 2)
    ends = (theme.region_fail, theme.region_pass) if ink.ramp == "change" else (theme.palette[1], theme.palette[0])
    return mix(ends[ink.heat >= 0], theme.surface, abs(ink.heat))
