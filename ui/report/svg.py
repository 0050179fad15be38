"""Figures as HTML: inline SVG in the page's own colours, so that it follows its light and dark theme; tables as tables.

The values behind every mark are its title, which a browser shows under the pointer and a screen reader reads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from markupsafe import Markup

from rtc_inspector.core.figures import (
    Bars,
    Estimate,
    Figure,
    Form,
    Grid,
    Guide,
    Histogram,
    Lines,
    Point,
    Scatter,
    Sentence,
    Table,
    Tone,
)
from rtc_inspector.core.figures.reading import (
    bar_width,
    bin_words,
    bins,
    groups_of,
    heat,
    in_words,
    labelled,
    marks,
    number,
    row_words,
    spans,
    tick_words,
    ticks,
    y_label,
)

WIDTH, HEIGHT, SQUARE = 1000, 280, 460
"""Of a drawing; the page scales it. A scatter is square, for its axes often are of one kind."""
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 22, 40
COLOURS = 6
"""Different colours of lines before they begin again; `--c0` and so on in the style sheet."""
MOST_DOTS = 60
"""Points of a line up to which each is drawn, with its title."""
LETTER = 6.2
"""Width of a letter, about."""
_DOT = '<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"><title>{}</title></circle>'
_SPOT = '<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" fill-opacity=".35" stroke="{}"><title>{}</title></circle>'


def drawn(figure: Figure) -> Markup:
    """Return the figure without its title and note."""
    if isinstance(figure, Table):
        return _table(figure)
    if isinstance(figure, Grid):
        return _grid(figure)
    if isinstance(figure, Sentence):
        return Markup('<p class="{}">{}</p>').format(_CLASSES[figure.tone], figure.text)
    if not marks(figure):
        return Markup('<p class="muted">{}</p>').format(figure.note or "Nothing to show yet.")
    canvas = _Canvas(figure)
    parts = [*canvas.axes(), *_drawing(figure, canvas), *canvas.guides(figure.guides)]
    label = f"{figure.title}. {figure.note}".strip()
    head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}"{}>').format(
        canvas.width, canvas.height, label, Markup(' class="square"') if isinstance(figure, Scatter) else ""
    )
    return head + Markup("").join(parts) + Markup("</svg>")


def _drawing(figure: Scatter | Lines | Bars | Histogram, canvas: _Canvas) -> Iterator[Markup]:
    if isinstance(figure, Lines):
        return _lines(figure, canvas)
    if isinstance(figure, Scatter):
        return _scatter(figure, canvas)
    return _bars(figure, canvas) if isinstance(figure, Bars) else _histogram(figure, canvas)


class _Canvas:
    """Turns values into places, and draws the axes."""

    def __init__(self, figure: Scatter | Lines | Bars | Histogram) -> None:
        self.width, self.height = (SQUARE, SQUARE) if isinstance(figure, Scatter) else (WIDTH, HEIGHT)
        (self._x0, self._x1), (self._y0, self._y1) = spans(figure)
        self._figure = figure

    def x(self, value: float) -> float:
        return LEFT + (self.width - LEFT - RIGHT) * (value - self._x0) / ((self._x1 - self._x0) or 1.0)

    def y(self, value: float) -> float:
        """Return the place of a value; values beyond the axis lie on its end."""
        share = (min(max(value, self._y0), self._y1) - self._y0) / ((self._y1 - self._y0) or 1.0)
        return TOP + (self.height - TOP - BOTTOM) * (1 - share)

    def axes(self) -> Iterator[Markup]:
        """Draw levels with their values, ticks or names below, and what both axes mean."""
        figure = self._figure
        several = isinstance(figure, Histogram) and len(groups_of(figure)) > 1
        form: Form = "share" if several else "count" if isinstance(figure, Histogram) else figure.y.form
        for value in ticks(self._y0, self._y1, 5, form):
            y, dashes = self.y(value), Markup(' stroke-dasharray="4 4"') if value == 0 and self._y0 < 0 else ""
            yield Markup('<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" stroke="var(--line)"{}/>').format(
                LEFT, self.width - RIGHT, y, y, dashes
            )
            yield _text(LEFT - 6, y + 4, tick_words(abs(value) if several else value, form), "end")
        if isinstance(figure, Bars):
            room = (self.width - LEFT - RIGHT) / max(1, len(figure.categories.names))
            for at, name in enumerate(figure.categories.names):
                yield _text(self.x(at), self.height - BOTTOM + 16, _short(name, room), "middle")
        else:
            for value in _x_ticks(figure, self._x0, self._x1):
                yield _text(self.x(value), self.height - BOTTOM + 16, tick_words(value, figure.x.form), "middle")
        below = figure.categories.label if isinstance(figure, Bars) else labelled(figure.x)
        yield _text(self.width - RIGHT, self.height - 6, below, "end")
        yield _text(4, 12, y_label(figure), "start")

    def guides(self, guides: Sequence[Guide]) -> Iterator[Markup]:
        """Draw lines to compare with."""
        for guide in guides:
            if guide.axis == "x":
                x = self.x(guide.at)
                yield _line(x, TOP, x, self.height - BOTTOM)
                yield _text(x + 4, TOP + 10, guide.label, "start")
            else:
                y = self.y(guide.at)
                yield _line(LEFT, y, self.width - RIGHT, y)
                yield _text(self.width - RIGHT, y - 4, guide.label, "end")


def _lines(figure: Lines, canvas: _Canvas) -> Iterator[Markup]:
    """Draw bands first, then lines; the name at the end of each line, moved apart where they would meet."""
    names: list[tuple[float, float, str, str]] = []
    said = iter(marks(figure))
    for place, series in enumerate(figure.series):
        colour = _colour(series.tone, place)
        points = [p for p in series.points if p.x.value is not None and p.y.value is not None]
        if not points:
            continue
        bounded = [p for p in points if p.y.low is not None and p.y.high is not None]
        upper = [_at(canvas, p, p.y.high) for p in bounded]
        lower = [_at(canvas, p, p.y.low) for p in reversed(bounded)]
        yield Markup('<polygon points="{}" fill="{}" opacity=".14"/>').format(" ".join(upper + lower), colour)
        line = '<polyline points="{}" fill="none" stroke="{}" stroke-width="2" stroke-dasharray="{}"/>'
        places = " ".join(_at(canvas, p, p.y.value) for p in points)
        yield Markup(line).format(places, colour, "6 4" if series.dashed else "")
        for mark in islice(said, len(points)):
            if len(points) <= MOST_DOTS:
                yield Markup(_DOT).format(canvas.x(mark.x), canvas.y(mark.y), colour, mark.text)
        last = points[-1]
        names.append((canvas.y(last.y.value or 0.0), canvas.x(last.x.value or 0.0), series.name, colour))
    before = -math.inf
    for y, x, name, colour in sorted(names):
        # Names of lines that end close together are pushed down, a line of text each.
        before = max(y - 7, before + 13)
        yield _text(x - 4, before, name, "end", colour)


def _at(canvas: _Canvas, point: Point, y: float | None) -> str:
    return f"{canvas.x(point.x.value or 0.0):.1f},{canvas.y(y or 0.0):.1f}"


def _scatter(figure: Scatter, canvas: _Canvas) -> Iterator[Markup]:
    """Draw error bars, then spots whose area grows with what lies there, the small ones on top."""
    if figure.diagonal:
        yield _line(canvas.x(canvas._x0), canvas.y(canvas._x0), canvas.x(canvas._x1), canvas.y(canvas._x1))
    points = [p for p in figure.points if p.x.value is not None and p.y.value is not None]
    most = max([8, *(p.count for p in points)])
    said = sorted(zip(points, marks(figure), strict=True), key=lambda each: -each[0].count)
    tones = {id(point): _colour(point.tone, 0) for point in points}
    for point, mark in said:
        colour = tones[id(point)]
        yield from _error_bar(canvas, mark.x, point.y, colour)
        if point.x.low is not None and point.x.high is not None:
            y = canvas.y(mark.y)
            yield _line(canvas.x(point.x.low), y, canvas.x(point.x.high), y, colour)
        radius = max(4.5, 20 * math.sqrt(point.count / most)) if most > 8 or point.count > 1 else 4.5
        yield Markup(_SPOT).format(canvas.x(mark.x), canvas.y(mark.y), radius, colour, colour, mark.text)
        words = point.name or (f"{point.count}" if point.count > 1 else "")
        if words:
            anchor, dx, dy = ("start", 7, -7) if point.name else ("middle", 0, 4)
            yield _text(canvas.x(mark.x) + dx, canvas.y(mark.y) + dy, words, anchor, "var(--text)")


def _bars(figure: Bars, canvas: _Canvas) -> Iterator[Markup]:
    """Draw groups side by side, or stacked from below."""
    groups = groups_of(figure)
    room = canvas.x(1) - canvas.x(0)
    width = room * 0.8 / (1 if figure.stacked else len(groups))
    tops: dict[str, float] = {}
    said = iter(marks(figure))
    for bar in figure.bars:
        value = bar.value.value
        if value is None:
            continue
        mark = next(said)
        under = tops.get(bar.category, 0.0) if figure.stacked else 0.0
        tops[bar.category] = under + value
        place = groups.index(bar.group)
        left = canvas.x(mark.x) - room * 0.4 + (0 if figure.stacked else width * place)
        colour = _colour(bar.tone, place)
        yield _rectangle(left, canvas.y(under), canvas.y(under + value), width * 0.96, colour, mark.text)
        if not figure.stacked:
            yield from _error_bar(canvas, mark.x, bar.value, "var(--text)", left + width * 0.48)
            if width > 34 and bar.value.low is None:
                yield _text(left + width / 2, canvas.y(max(value, 0.0)) - 4, number(value, figure.y.form), "middle")
    yield from _legend(
        canvas, [(group, _colour(_tone_of(figure, group), at)) for at, group in enumerate(groups) if group]
    )


def _tone_of(figure: Bars, group: str) -> Tone:
    return next(bar.tone for bar in figure.bars if bar.group == group)


def _histogram(figure: Histogram, canvas: _Canvas) -> Iterator[Markup]:
    """Draw counts upwards; of two groups the second one downwards."""
    found, groups = bins(figure), groups_of(figure)
    width = (canvas.x(bar_width(found)) - canvas.x(0)) * 0.92
    for each, mark in zip(found, marks(figure), strict=True):
        at = groups.index(each.group)
        colour = _colour(figure.groups.get(each.group, ""), at)
        if len(groups) == 1 and figure.x.better:
            colour = (
                "var(--bad)"
                if each.middle == figure.x.low
                else "var(--good)"
                if each.middle == figure.x.high
                else colour
            )
        yield _rectangle(
            canvas.x(mark.x) - width / 2, canvas.y(0), canvas.y(mark.y), width, colour, bin_words(figure, each)
        )
        if width > 26 and len(groups) == 1:
            yield _text(canvas.x(mark.x), canvas.y(mark.y) - 4, f"{each.count:,}", "middle")
    if len(groups) > 1:
        yield from _legend(
            canvas, [(group, _colour(figure.groups.get(group, ""), at)) for at, group in enumerate(groups)]
        )


def _legend(canvas: _Canvas, entries: Sequence[tuple[str, str]]) -> Iterator[Markup]:
    """Draw names in their colours, at the top right."""
    x = float(canvas.width - RIGHT)
    for name, colour in reversed(entries):
        yield _text(x, 12, f"■ {name}", "end", colour)
        # No browser is at hand that would measure the words.
        x -= (len(name) + 4) * LETTER


def _error_bar(canvas: _Canvas, x: float, value: Estimate, colour: str, at: float | None = None) -> Iterator[Markup]:
    if value.low is not None and value.high is not None:
        place = canvas.x(x) if at is None else at
        yield _line(place, canvas.y(value.low), place, canvas.y(value.high), colour)


def _x_ticks(figure: Scatter | Lines | Histogram, low: float, high: float) -> list[float]:
    """Return the values themselves where bars stand for single values."""
    if isinstance(figure, Histogram):
        found = bins(figure)
        if found and found[0].low == found[0].high:
            return [round(each.low, 2) for each in found]
    return ticks(low, high, 5 if isinstance(figure, Scatter) else 10, figure.x.form)


_CLASSES: dict[Tone, str] = {"": "", "good": "pass", "bad": "notpass", "warn": "muted", "muted": "muted"}


def _colour(tone: Tone, place: int) -> str:
    return f"var(--{tone})" if tone else f"var(--c{place % COLOURS})"


def _rectangle(x: float, below: float, above: float, width: float, colour: str, words: str) -> Markup:
    top, height = min(below, above), abs(below - above)
    bar = '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"><title>{}</title></rect>'
    return Markup(bar).format(x, top, max(width, 1.0), height, colour, words)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "") -> Markup:
    dashes = "" if colour else Markup(' stroke-dasharray="5 4"')
    line = '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}"{}/>'
    return Markup(line).format(x1, y1, x2, y2, colour or "var(--muted)", dashes)


def _text(x: float, y: float, words: str, anchor: str, colour: str = "") -> Markup:
    style = Markup(' style="fill:{};font-weight:600"').format(colour) if colour else ""
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>').format(x, y, anchor, style, words)


def _short(name: str, room: float) -> str:
    fits = max(3, int(room / LETTER))
    return name if len(name) <= fits else f"{name[: fits - 1]}…"


def _table(figure: Table) -> Markup:
    """Draw a table: figures to the right, bars as meters."""
    if not figure.rows:
        return Markup("" if figure.note else '<p class="muted">None.</p>')  # the note says so
    sides = [Markup("") if column.form == "text" else Markup(' class="n"') for column in figure.columns]
    heads = Markup("").join(
        Markup('<th{} title="{}">{}</th>').format(side, column.tip, column.label)
        for side, column in zip(sides, figure.columns, strict=True)
    )
    lines = []
    for row in figure.rows:
        cells = []
        for side, column, cell, words in zip(sides, figure.columns, row.cells, row_words(figure, row), strict=True):
            value = cell.value if isinstance(cell, Estimate) else cell
            meter = Markup("")
            if column.bar and isinstance(value, (int, float)):
                meter = Markup('<meter min="0" max="1" value="{:.4f}"></meter> ').format(value)
            cells.append(Markup("<td{}>{}{}</td>").format(side, meter, words))
        lines.append(Markup("<tr{}>{}</tr>").format(_row_class(row.tone), Markup("").join(cells)))
    return Markup("<table><tr>{}</tr>\n{}</table>").format(heads, Markup("\n").join(lines))


def _row_class(tone: Tone) -> Markup:
    return Markup(' class="{}"').format(_CLASSES[tone]) if tone else Markup("")


def _grid(figure: Grid) -> Markup:
    """Draw a table of coloured cells; an undefined one is grey."""
    cells = {(cell.row, cell.column): cell for cell in figure.cells}
    said = {(cell.row, cell.column): mark.text for cell, mark in zip(figure.cells, marks(figure), strict=True)}
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in figure.columns.names)
    lines = []
    for row in figure.rows.names:
        made = [Markup('<th scope="row">{}</th>').format(row)]
        for column in figure.columns.names:
            cell = cells.get((row, column))
            value = cell.value.value if cell is not None else None
            if cell is None or (value is None and not cell.tone):
                made.append(
                    Markup('<td class="undefined" title="{}">{}</td>').format(
                        said.get((row, column), f"{row}, {column}: not defined"), cell.text if cell else ""
                    )
                )
                continue
            colour = f"var(--{cell.tone})" if cell.tone else _heat_colour(figure, value or 0.0)
            share = 14 if cell.faded else 42
            words = cell.text or in_words(Estimate(value), figure.scale.form)
            made.append(
                Markup('<td style="background:color-mix(in srgb,{} {}%,var(--bg))" title="{}">{}</td>').format(
                    colour, share, said[row, column], words
                )
            )
        lines.append(Markup("<tr>{}</tr>").format(Markup("").join(made)))
    corner = f"{figure.rows.label} \\ {figure.columns.label}"
    scale = labelled(figure.scale)
    return Markup(
        '<div class="wide"><table class="heat"><caption>{}</caption><tr><th>{}</th>{}</tr>\n{}</table></div>'
    ).format(scale, corner, heads, Markup("\n").join(lines))


def _heat_colour(figure: Grid, value: float) -> Markup:
    """Return a colour from bad over warn to good; without a better end, from one plain colour to another."""
    at = heat(figure, value)
    low, middle, high = ("bad", "warn", "good") if figure.scale.better else ("c1", "bg", "c0")
    middle = "bg" if figure.centre is not None else middle
    end = high if at >= 0 else low
    return Markup("color-mix(in srgb,var(--{}) {:.0f}%,var(--{}))").format(end, abs(at) * 100, middle)
