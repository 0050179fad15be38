"""One layout of a figure for all painters: axes with their ticks, curves, bars and spots in the values of the axes.

Window, page and terminal turn values into places and colours, and decide nothing else.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rtc_inspector.core.figures import Axis, Bars, Better, Form, Grid, Guide, Histogram, Lines, Scatter, Tone
from rtc_inspector.core.figures.reading import Bin, Mark, bins, groups_of, in_words, marks, number
from rtc_inspector.core.types import Estimate

Drawn = Scatter | Lines | Bars | Histogram
Span = tuple[float, float]

MOST_DOTS = 60  # points of a line up to which each is drawn
SETTLED = 0.08  # share of a line's points whose intervals are too wide to be worth the height of the drawing
STROKES = ("━━", "╍╍", "••", "━•")  # lines one after the other, so that they differ by more than their colour
MORE = {"up": " (more is better)", "down": " (less is better)", "": ""}


@dataclass(frozen=True, slots=True)
class Ink:
    """A colour: of a tone, else the one at a place of the palette, or in place of both one of a ramp.

    `heat`: from -1 to 1, from bad over a warning to good (`worth`), over nothing (`change`), or between plain colours.
    """

    tone: Tone = ""
    place: int = 0
    heat: float | None = None
    ramp: Literal["worth", "change", "plain"] = "worth"


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis: its range, what it means, and its ticks with their words."""

    low: float
    high: float
    label: str
    better: Better
    ticks: tuple[tuple[float, str], ...]

    def share(self, value: float) -> float:
        """Return where a value lies, from 0 to 1; values beyond the axis lie on its end."""
        return (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1.0)


@dataclass(frozen=True, slots=True)
class Curve:
    """A line. `stroke`: its place in STROKES; `band`: x with the bounds there, where they are known."""

    name: str
    ink: Ink
    stroke: int
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...]

    @property
    def dotted(self) -> bool:
        return len(self.points) <= MOST_DOTS


@dataclass(frozen=True, slots=True)
class Box:
    """A bar; `above` is the end that its value stands at, downwards as well."""

    mark: Mark
    middle: float
    width: float
    below: float
    above: float
    ink: Ink
    error: Span | None
    # `head`, `words`: what it stands for, and its value
    head: str
    words: str
    short: str  # what may stand above it; empty where its interval stands there
    alone: bool  # nothing stands on it, so that its whole column means it


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a scatter. `size`: the root of its share of the largest count; 0 where nothing is counted."""

    mark: Mark
    ink: Ink
    size: float
    name: str
    count: str
    across: Span | None
    up: Span | None


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything of a drawing. `sides`: what stands above and below 0, where that are two groups."""

    x: Scale
    y: Scale
    curves: tuple[Curve, ...] = ()
    boxes: tuple[Box, ...] = ()
    spots: tuple[Spot, ...] = ()
    guides: tuple[Guide, ...] = ()
    diagonal: bool = False
    names: tuple[tuple[str, Ink], ...] = ()
    sides: str = ""


def laid_out(figure: Drawn) -> Layout:
    """Return the layout of a figure."""
    if isinstance(figure, Lines):
        return _lines(figure)
    if isinstance(figure, Scatter):
        return _scatter(figure)
    return _bars(figure) if isinstance(figure, Bars) else _histogram(figure)


def _lines(figure: Lines) -> Layout:
    curves = []
    for place, series in enumerate(figure.series):
        points = [(p.x.value, p.y) for p in series.points if p.x.value is not None and p.y.value is not None]
        values = tuple((x, y.value) for x, y in points if y.value is not None)
        # A single point has no interval: the band leaves it out, the line does not.
        band = tuple((x, y.low, y.high) for x, y in points if y.low is not None and y.high is not None)
        curves.append(Curve(series.name, Ink(series.tone, place), place % len(STROKES), values, band))
    x, y = spans(figure)
    names = tuple((each.name, each.ink) for each in curves)
    return Layout(_scale(figure.x, x, 10), _scale(figure.y, y, 5), tuple(curves), guides=figure.guides, names=names)


def _scatter(figure: Scatter) -> Layout:
    points = [p for p in figure.points if p.x.value is not None and p.y.value is not None]
    most = max([8, *(p.count for p in points)])
    counted = any(p.count > 1 for p in points)
    spots = tuple(
        Spot(
            mark=mark,
            ink=Ink(point.tone),
            size=math.sqrt(point.count / most) if counted else 0.0,
            name=point.name,
            count=str(point.count) if point.count > 1 else "",
            across=_bounds(point.x),
            up=_bounds(point.y),
        )
        for point, mark in zip(points, marks(figure), strict=True)
    )
    x, y = spans(figure)
    scales = _scale(figure.x, x, 5), _scale(figure.y, y, 5)
    return Layout(*scales, spots=spots, guides=figure.guides, diagonal=figure.diagonal)


def _bars(figure: Bars) -> Layout:
    groups = groups_of(figure)
    width = 0.8 / (1 if figure.stacked else len(groups))  # a fifth of the room between categories stays empty
    boxes = []
    bars = [bar for bar in figure.bars if bar.value.value is not None]
    for bar, mark in zip(bars, marks(figure), strict=True):
        place, value = groups.index(bar.group), bar.value.value or 0.0
        below = mark.y - value / 2 if figure.stacked else 0.0
        error = None if figure.stacked else _bounds(bar.value)
        boxes.append(
            Box(
                mark=mark,
                middle=mark.x if figure.stacked else mark.x - 0.4 + width * (place + 0.5),
                width=width * 0.95,
                below=below,
                above=below + value,
                ink=Ink(bar.tone, place),
                error=error,
                head=" ".join(filter(None, (bar.category, bar.group))),
                words=in_words(bar.value, figure.y.form),
                short="" if error or figure.stacked else number(value, figure.y.form),
                alone=not figure.stacked,
            )
        )
    (x0, x1), y = spans(figure)
    named = tuple((float(at), name) for at, name in enumerate(figure.categories.names))
    tones = {bar.group: bar.tone for bar in reversed(figure.bars)}
    names = tuple((group, Ink(tones[group], at)) for at, group in enumerate(groups) if group)
    x = Scale(x0, x1, figure.categories.label, "", named)
    return Layout(x, _scale(figure.y, y, 5), boxes=tuple(boxes), guides=figure.guides, names=names)


def _histogram(figure: Histogram) -> Layout:
    found, groups = bins(figure), groups_of(figure)
    width, several = bar_width(found) * 0.92, len(groups) > 1
    (x0, x1), (y0, y1) = spans(figure)
    boxes = []
    for each, mark in zip(found, marks(figure), strict=True):
        head = tick_words(round(each.low, 2), figure.x.form)
        if each.low != each.high:
            head += f" to {tick_words(round(each.high, 2), figure.x.form)}"
        ink = Ink(figure.groups.get(each.group, ""), groups.index(each.group))
        if figure.x.better and not several:
            ink = Ink(heat=_towards_better(figure.x, x0, x1, None, each.middle))
        boxes.append(
            Box(
                mark=mark,
                middle=mark.x,
                width=width,
                below=0.0,
                above=mark.y,
                ink=ink,
                error=None,
                head=head,
                words=f"{each.count:,} ({number(each.share)})",
                short="" if several else f"{each.count:,}",
                alone=True,
            )
        )
    form: Form = "number" if several else "count"
    levels = tuple((value, tick_words(abs(value), form)) for value in ticks(y0, y1, 5, form))
    y = Scale(y0, y1, f"share of {figure.noun}" if several else figure.noun, "", levels)
    x = _scale(figure.x, (x0, x1), 10)
    if found and found[0].low == found[0].high:  # bars stand for single values
        named = tuple((each.low, tick_words(round(each.low, 2), figure.x.form)) for each in found)
        x = Scale(x0, x1, figure.x.label, figure.x.better, named)
    names = tuple((group, Ink(figure.groups.get(group, ""), at)) for at, group in enumerate(groups) if several)
    sides = f", {groups[0]} above and {groups[1]} below" if several else ""
    return Layout(x, y, boxes=tuple(boxes), guides=figure.guides, names=names, sides=sides)


def _scale(axis: Axis, span: Span, most: int) -> Scale:
    levels = tuple((value, tick_words(value, axis.form)) for value in ticks(*span, most, axis.form))
    return Scale(*span, axis.label, axis.better, levels)


def _bounds(estimate: Estimate) -> Span | None:
    return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell of a heat map. `ink`: None where nothing is defined, which is grey."""

    words: str
    tip: str
    ink: Ink | None = None
    faded: bool = False


def cells_of(figure: Grid) -> Iterator[tuple[str, list[Shown]]]:
    """Yield each row's name and cells, from the top."""
    cells = {(cell.row, cell.column): (cell, mark) for cell, mark in zip(figure.cells, marks(figure), strict=True)}
    for row in figure.rows.names:
        row_cells = []
        for column in figure.columns.names:
            if (row, column) not in cells:
                row_cells.append(Shown("", f"{row}, {column}: not defined"))
                continue
            cell, mark = cells[row, column]
            value = cell.value.value
            if value is None and not cell.tone:
                row_cells.append(Shown(cell.text, mark.text))
                continue
            ink = Ink(cell.tone)
            if not cell.tone and value is not None:
                changes: Literal["worth", "change"] = "worth" if figure.centre is None else "change"
                ink = Ink(heat=heat(figure, value), ramp=changes if figure.scale.better else "plain")
            row_cells.append(Shown(cell.text or number(value, figure.scale.form), mark.text, ink, cell.faded))
        yield row, row_cells


def heat(figure: Grid, value: float) -> float:
    """Return where a value stands on the colours of a grid, from -1 (worst, or far below the centre) to 1.

    A scale without a centre takes the middle of its range for it; where less is better, less is 1.
    """
    values = [cell.value.value for cell in figure.cells if cell.value.value is not None]
    low = figure.scale.low if figure.scale.low is not None else min(values)
    high = figure.scale.high if figure.scale.high is not None else max(values)
    return _towards_better(figure.scale, low, high, figure.centre, value)


def _towards_better(axis: Axis, low: float, high: float, centre: float | None, value: float) -> float:
    low, high = low if axis.low is None else axis.low, high if axis.high is None else axis.high
    middle = (low + high) / 2 if centre is None else centre
    reach = max(high - middle, middle - low) or 1.0
    return max(-1.0, min(1.0, (value - middle) / reach)) * (-1 if axis.better == "down" else 1)


def spans(figure: Drawn) -> tuple[Span, Span]:
    """Return the ranges of x and y to draw: what the axes say, else what the values need.

    Bars and lines keep 0 in sight, so that a small difference looks small.
    """
    if isinstance(figure, Scatter):
        x = [each for point in figure.points for each in _seen(point.x)]
        y = [each for point in figure.points for each in _seen(point.y)]
        return _padded(figure.x, x), _padded(figure.y, y)
    if isinstance(figure, Histogram):
        found = bins(figure)
        low, high = _span(figure.x, [each for b in found for each in (b.low, b.high)], 1.0)
        margin = bar_width(found) / 2 if found and found[0].low == found[0].high else 0.0
        if len(groups_of(figure)) > 1:
            most = max((each.share for each in found), default=1.0) * 1.08
            return (low - margin, high + margin), (-most, most)
        return (low - margin, high + margin), (0.0, max([4, *(each.count for each in found)]) * 1.08)
    levels = [guide.at for guide in figure.guides if guide.axis == "y"]
    if isinstance(figure, Bars):
        tops: dict[str, float] = {}
        for bar in figure.bars:
            tops[bar.category] = tops.get(bar.category, 0.0) + (bar.value.value or 0.0)
        y = [*tops.values()] if figure.stacked else [each for bar in figure.bars for each in _seen(bar.value)]
        return (-0.5, len(figure.categories.names) - 0.5), _span(figure.y, [0.0, *y, *levels], 0.2)
    points = [(point.x.value, point.y) for series in figure.series for point in series.points]
    x = [value for value, _ in points if value is not None]
    begin = min(x, default=0.0) + SETTLED * (max(x, default=0.0) - min(x, default=0.0))
    y = [
        each
        for value, at in points
        if value is not None
        for each in (_seen(at) if value >= begin else _seen(Estimate(at.value)))
    ]
    return _span(figure.x, x, 1.0), _span(figure.y, [0.0, *y, *levels], 0.2)


def bar_width(found: Sequence[Bin]) -> float:
    """Return the width of a histogram's bars: the bins', or most of the smallest distance between single values."""
    if not found:
        return 1.0
    if found[0].low != found[0].high:
        return found[0].high - found[0].low
    gaps = [b.middle - a.middle for a, b in pairwise(found)]
    return 0.86 * min([0.2 * max(1.0, found[-1].high - found[0].low), *gaps])


def _seen(estimate: Estimate) -> list[float]:
    return [each for each in (estimate.value, estimate.low, estimate.high) if each is not None]


def _span(axis: Axis, values: Sequence[float], least: float) -> Span:
    low = axis.low if axis.low is not None else min(values, default=0.0)
    high = axis.high if axis.high is not None else max(values, default=low)
    return low, max(high, low + least) if axis.high is None else high


def _padded(axis: Axis, values: Sequence[float]) -> Span:
    low, high = _span(axis, values, 1e-9)
    room = 0.08 * (high - low) if high - low > 1e-6 else 0.5
    return low - room, high + room


def ticks(low: float, high: float, most: int = 6, form: Form = "number") -> list[float]:
    """Return round numbers, at most about `most`: 1, 2 or 5 times a power of ten apart; counts are whole."""
    if high <= low:
        return [low]
    rough = max((high - low) / most, 1.0 if form == "count" else 0.0)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(at * step, 12) + 0.0 for at in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_words(value: float, form: Form) -> str:
    """Return a tick's words, with no more digits than it has."""
    if form == "count":
        return number(value, form)
    return f"{value:+.10g}" if form == "signed" and value else f"{value:.10g}"
