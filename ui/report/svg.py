"""Figures as HTML: inline SVG in the page's own colours, so that it follows its light and dark theme; tables as tables.

The values behind every mark are its title, which a browser shows under the pointer and a screen reader reads.
"""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from rtc_inspector.core.figures import Figure, Grid, Scatter, Sentence, Table, Tone
from rtc_inspector.core.figures.layout import MORE, Box, Curve, Drawn, Ink, Layout, Span, Spot, cells_of, laid_out
from rtc_inspector.core.figures.reading import explained, marks, row_words
from rtc_inspector.core.types import Estimate

WIDTH, HEIGHT, SQUARE = 1000, 280, 460
"""Of a drawing; the page scales it. A scatter is square, for its axes often are of one kind."""
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 22, 40
COLOURS = 6  # different colours of lines before they begin again; `--c0` and so on in the style sheet
DASHES = ("", "6 4", "2 3", "8 3 2 3")  # as STROKES
LETTER = 6.2  # width of a letter, about: no browser is at hand that would measure words
_CLASSES: dict[Tone, str] = {"": "", "good": "pass", "bad": "notpass", "warn": "muted", "muted": "muted"}
_DOT = '<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"><title>{}</title></circle>'
_SPOT = '<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" fill-opacity=".35" stroke="{}"><title>{}</title></circle>'
_BAR = '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"><title>{}</title></rect>'


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
    label, square = f"{figure.title}. {figure.note}".strip(), isinstance(figure, Scatter)
    canvas = _Canvas(laid_out(figure), *((SQUARE, SQUARE) if square else (WIDTH, HEIGHT)))
    head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}"{}>').format(
        canvas.width, canvas.height, label, Markup(' class="square"') if square else ""
    )
    return head + Markup("").join(canvas.draw(figure)) + Markup("</svg>")


class _Canvas:
    """Turns values into places, and draws them."""

    def __init__(self, layout: Layout, width: int, height: int) -> None:
        self.layout, self.width, self.height = layout, width, height

    def x(self, value: float) -> float:
        axis = self.layout.x
        return LEFT + (self.width - LEFT - RIGHT) * (value - axis.low) / ((axis.high - axis.low) or 1.0)

    def y(self, value: float) -> float:
        return TOP + (self.height - TOP - BOTTOM) * (1 - self.layout.y.share(value))

    def draw(self, figure: Drawn) -> Iterator[Markup]:
        layout = self.layout
        yield from self._axes()
        texts = iter(marks(figure))
        for curve in layout.curves:
            yield from self._curve(curve, [next(texts).text for _ in curve.points])
        if layout.curves:
            yield from self._names()
        if layout.diagonal:
            (low, high), y = (layout.x.low, layout.x.high), self.y
            yield _line(self.x(low), y(low), self.x(high), y(high))
        for spot in sorted(layout.spots, key=lambda each: -each.size):  # the small ones on top
            yield from self._spot(spot)
        for box in layout.boxes:
            yield from self._box(box)
        if layout.boxes:
            yield from self._legend()
        for guide in layout.guides:
            if guide.axis == "x":
                yield _line(self.x(guide.at), TOP, self.x(guide.at), self.height - BOTTOM)
                yield _text(self.x(guide.at) + 4, TOP + 10, guide.label, "start")
            else:
                yield _line(LEFT, self.y(guide.at), self.width - RIGHT, self.y(guide.at))
                yield _text(self.width - RIGHT, self.y(guide.at) - 4, guide.label, "end")

    def _axes(self) -> Iterator[Markup]:
        across, up = self.layout.x, self.layout.y
        for value, words in up.ticks:
            dashes = Markup(' stroke-dasharray="4 4"') if value == 0 and up.low < 0 else ""
            yield Markup('<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" stroke="var(--line)"{}/>').format(
                LEFT, self.width - RIGHT, self.y(value), self.y(value), dashes
            )
            yield _text(LEFT - 6, self.y(value) + 4, words, "end")
        fits = max(3, int((self.width - LEFT - RIGHT) / max(1, len(across.ticks)) / LETTER))
        for value, words in across.ticks:
            short = words if len(words) <= fits else f"{words[: fits - 1]}…"
            yield _text(self.x(value), self.height - BOTTOM + 16, short, "middle")
        yield _text(self.width - RIGHT, self.height - 6, across.label + MORE[across.better], "end")
        yield _text(4, 12, up.label + self.layout.sides + MORE[up.better], "start")

    def _curve(self, curve: Curve, texts: Sequence[str]) -> Iterator[Markup]:
        colour = _colour(curve.ink)
        ends = [(x, high) for x, _, high in curve.band] + [(x, low) for x, low, _ in reversed(curve.band)]
        yield Markup('<polygon points="{}" fill="{}" opacity=".14"/>').format(self._places(ends), colour)
        line = '<polyline points="{}" fill="none" stroke="{}" stroke-width="2" stroke-dasharray="{}"/>'
        yield Markup(line).format(self._places(curve.points), colour, DASHES[curve.stroke])
        for (x, y), words in zip(curve.points, texts, strict=True) if curve.dotted else ():
            yield Markup(_DOT).format(self.x(x), self.y(y), colour, words)

    def _places(self, points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)

    def _names(self) -> Iterator[Markup]:
        """Draw the name at the end of each line; those that would meet are pushed down, a line of text each."""
        ends = (
            (self.y(c.points[-1][1]), self.x(c.points[-1][0]), c.name, c.ink) for c in self.layout.curves if c.points
        )
        before = -math.inf
        for y, x, name, ink in sorted(ends, key=lambda each: each[:3]):
            before = max(y - 7, before + 13)
            yield _text(x - 4, before, name, "end", _colour(ink))

    def _spot(self, spot: Spot) -> Iterator[Markup]:
        mark, colour = spot.mark, _colour(spot.ink)
        x, y = self.x(mark.x), self.y(mark.y)
        yield from self._error(x, spot.up, colour)
        if spot.across is not None:
            yield _line(self.x(spot.across[0]), y, self.x(spot.across[1]), y, colour)
        yield Markup(_SPOT).format(x, y, max(4.5, 20 * spot.size), colour, colour, mark.text)
        if spot.name:
            yield _text(x + 7, y - 7, spot.name, "start", "var(--text)")
        elif spot.count:
            yield _text(x, y + 4, spot.count, "middle", "var(--text)")

    def _box(self, box: Box) -> Iterator[Markup]:
        left, width = self.x(box.middle - box.width / 2), self.x(box.width) - self.x(0)
        ends = self.y(box.below), self.y(box.above)
        colour, words = _colour(box.ink), box.mark.text
        yield Markup(_BAR).format(left, min(ends), max(width, 1.0), abs(ends[0] - ends[1]), colour, words)
        yield from self._error(self.x(box.middle), box.error, "var(--text)")
        if width > 30:
            yield _text(left + width / 2, self.y(max(box.above, 0.0)) - 4, box.short, "middle")

    def _error(self, x: float, span: Span | None, colour: str) -> Iterator[Markup]:
        if span is not None:
            yield _line(x, self.y(span[0]), x, self.y(span[1]), colour)

    def _legend(self) -> Iterator[Markup]:
        x = float(self.width - RIGHT)
        for name, ink in reversed(self.layout.names):
            yield _text(x, 12, f"■ {name}", "end", _colour(ink))
            x -= (len(name) + 4) * LETTER


def _colour(ink: Ink) -> str:
    if ink.heat is None:
        return f"var(--{ink.tone})" if ink.tone else f"var(--c{ink.place % COLOURS})"
    low, middle, high = {
        "worth": ("bad", "warn", "good"),
        "change": ("bad", "bg", "good"),
        "plain": ("c1", "bg", "c0"),
    }[ink.ramp]
    return f"color-mix(in srgb,var(--{high if ink.heat >= 0 else low}) {abs(ink.heat):.0%},var(--{middle}))"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "") -> Markup:
    dashes = "" if colour else Markup(' stroke-dasharray="5 4"')
    line = '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}"{}/>'
    return Markup(line).format(x1, y1, x2, y2, colour or "var(--muted)", dashes)


def _text(x: float, y: float, words: str, anchor: str, colour: str = "") -> Markup:
    style = Markup(' style="fill:{};font-weight:600"').format(colour) if colour else ""
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>').format(x, y, anchor, style, words)


def _table(figure: Table) -> Markup:
    if not figure.rows:
        return Markup("" if figure.note else '<p class="muted">None.</p>')  # the note says so
    sides = [Markup("") if column.form == "text" else Markup(' class="n"') for column in figure.columns]
    heads = Markup("").join(
        Markup('<th{} title="{}">{}</th>').format(side, column.tip or explained(column.label), column.label)
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
        tone = Markup(' class="{}"').format(_CLASSES[row.tone]) if row.tone else Markup("")
        lines.append(Markup("<tr{}>{}</tr>").format(tone, Markup("").join(cells)))
    return Markup("<table><tr>{}</tr>\n{}</table>").format(heads, Markup("\n").join(lines))


def _grid(figure: Grid) -> Markup:
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in figure.columns.names)
    lines = []
    for name, cells in cells_of(figure):
        parts = [Markup('<th scope="row">{}</th>').format(name)]
        for cell in cells:
            look = Markup('class="undefined"')
            if cell.ink is not None:
                share = 14 if cell.faded else 42
                look = Markup('style="background:color-mix(in srgb,{} {}%,var(--bg))"').format(_colour(cell.ink), share)
            parts.append(Markup('<td {} title="{}">{}</td>').format(look, cell.tip, cell.words))
        lines.append(Markup("<tr>{}</tr>").format(Markup("").join(parts)))
    return Markup(
        '<div class="wide"><table class="heat"><caption>{}</caption><tr><th>{}</th>{}</tr>\n{}</table></div>'
    ).format(
        figure.scale.label + MORE[figure.scale.better],
        f"{figure.rows.label} \\ {figure.columns.label}",
        heads,
        Markup("\n").join(lines),
    )
