"""Charts as SVG text in the page's own colours, so that they follow its light and dark theme."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from core.store.rows import ItemRow, RunningPoint, Score

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 1000, 260, 44, 12, 12, 34
"""Of a drawing and its margins; the page scales it."""
MOST_VALUES = 13
"""Distinct values up to which each gets a bar of its own; else ten equal bins."""
_BAR = '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"><title>{}</title></rect>'
_DIAGONAL = '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="var(--muted)" stroke-dasharray="5 4"/>'
_SPOT = '<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" fill-opacity=".35" stroke="{}"><title>{}</title></circle>'


def running_chart(points: Sequence[RunningPoint]) -> Markup | None:
    """Running RTC and lift with their bands; None below two points."""
    series = [
        (name, colour, dash, [(p.items, score) for p in points if (score := pick(p)).low is not None])
        for name, colour, dash, pick in _SERIES
    ]
    if len(points) < 2 or len(series[0][3]) < 2:
        return None
    most = points[-1].items
    lowest = min([0.0, *(score.low or 0.0 for *_, drawn in series for items, score in drawn if items > most * 0.08)])
    lowest = math.floor(lowest * 5) / 5

    def at(items: float, value: float) -> str:
        x = LEFT + (WIDTH - LEFT - RIGHT) * items / most
        y = TOP + (HEIGHT - TOP - BOTTOM) * (1 - (max(value, lowest) - lowest) / (1 - lowest))
        return f"{x:.1f},{y:.1f}"

    steps = [lowest + place * 0.2 for place in range(round((1 - lowest) / 0.2) + 1)]
    parts = [_level(value, at) for value in steps]
    for name, colour, dash, drawn in series:
        parts += _line(name, colour, dash, drawn, at)
    parts.append(_text(WIDTH - RIGHT, HEIGHT - 8, f"{most} completed", "end"))
    return _svg("RTC and lift after each completed region, with 95 % intervals", parts)


def spread_chart(items: Sequence[ItemRow], noun: str) -> Markup | None:
    """How RTC is spread over judged items; None where there are none."""
    values = [round(item.rtc, 6) for item in items if item.rtc is not None]
    if not values:
        return None
    bars = _bars(values)
    most = max(count for *_, count in bars)
    width = (WIDTH - LEFT - RIGHT) / max(len(bars), 4)
    parts = []
    for place, (words, middle, count) in enumerate(bars):
        height = (HEIGHT - TOP - BOTTOM - 16) * count / most
        x, y = LEFT + place * width + width * 0.1, HEIGHT - BOTTOM - height
        colour = "var(--bad)" if middle == 0 else "var(--good)" if middle == 1 else "var(--accent)"
        said = f"RTC {words}: {count} {noun}s"
        parts.append(Markup(_BAR).format(x, y, width * 0.8, height, colour, said))
        parts.append(_text(x + width * 0.4, y - 4, str(count), "middle"))
        parts.append(_text(x + width * 0.4, HEIGHT - 14, words, "middle"))
    return _svg(f"{noun}s by RTC", parts)


def scatter_chart(pairs: Counter[tuple[float, float]], first: str, second: str) -> Markup:
    """RTC in two runs; the area of a spot grows with the items there."""
    side = 420
    room = side - LEFT - 62

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + 30 + room * x, 44 + room * (1 - y)

    (x0, y0), (x1, y1) = at(0, 0), at(1, 1)
    parts = [Markup(_DIAGONAL).format(x0, y0, x1, y1)]
    most = max([8, *pairs.values()])
    for (x, y), count in sorted(pairs.items(), key=lambda each: -each[1]):
        colour = "var(--good)" if y > x else "var(--bad)" if y < x else "var(--muted)"
        cx, cy = at(x, y)
        words = f"{count} with RTC {x:.2f} in {first}, {y:.2f} in {second}"
        parts.append(Markup(_SPOT).format(cx, cy, max(4.0, 20 * math.sqrt(count / most)), colour, colour, words))
        if count > 1:
            parts.append(_text(cx, cy + 4, str(count), "middle", "var(--text)"))
    for value in (0.0, 0.5, 1.0):
        parts.append(_text(at(value, 0)[0], side - 22, f"{value:.1f}", "middle"))
        parts.append(_text(20, at(0, value)[1] + 4, f"{value:.1f}", "middle"))
    parts.append(_text(x1, side - 4, f"RTC in {first} →", "end"))
    parts.append(_text(4, 12, f"↑ RTC in {second}", "start"))
    return _svg(f"RTC of each item in {first} and {second}", parts, side, side)


_SERIES: tuple[tuple[str, str, str, Callable[[RunningPoint], Score]], ...] = (
    ("RTC", "var(--accent)", "", lambda point: point.rtc),
    ("lift", "var(--good)", "6 4", lambda point: point.lift),
)


def _line(
    name: str, colour: str, dash: str, drawn: Sequence[tuple[int, Score]], at: Callable[[float, float], str]
) -> list[Markup]:
    """The band, the means, and the name at the line's end."""
    upper = [at(items, score.high or 0.0) for items, score in drawn]
    lower = [at(items, score.low or 0.0) for items, score in reversed(drawn)]
    means = [at(items, score.value or 0.0) for items, score in drawn]
    if not means:
        return []
    x, y = means[-1].split(",")
    band = Markup('<polygon points="{}" fill="{}" opacity=".16"/>').format(" ".join(upper + lower), colour)
    line = Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="2" stroke-dasharray="{}"/>')
    return [
        band,
        line.format(" ".join(means), colour, dash),
        _text(float(x), float(y) + (16 if dash else -7), name, "end", colour),
    ]


def _bars(values: Sequence[float]) -> list[tuple[str, float, int]]:
    """Words, middle and count of each bar."""
    counts = Counter(values)
    if len(counts) <= MOST_VALUES:
        return [(f"{value:.2f}", value, counts[value]) for value in sorted(counts)]
    placed = Counter(min(9, int(value * 10)) for value in values)
    return [(f"{at / 10:.1f} to {(at + 1) / 10:.1f}", at / 10 + 0.05, placed[at]) for at in range(10)]


def _level(value: float, at: Callable[[float, float], str]) -> Markup:
    y = float(at(0, value).split(",")[1])
    dashes = "" if abs(value) > 1e-9 else ' stroke-dasharray="4 4"'
    line = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.0f}" y2="{y:.0f}" stroke="var(--line)"{dashes}/>'
    return Markup(line) + _text(LEFT - 8, y + 4, f"{value + 0.0:.1f}", "end")


def _text(x: float, y: float, words: str, anchor: str, colour: str = "") -> Markup:
    style = f' style="fill:{colour};font-weight:600"' if colour else ""
    return Markup(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>') + escape(words) + Markup("</text>")


def _svg(label: str, parts: Sequence[Markup], width: int = WIDTH, height: int = HEIGHT) -> Markup:
    head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">').format(width, height, label)
    return head + Markup("").join(parts) + Markup("</svg>")
