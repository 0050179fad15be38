"""The figure of two compared runs."""

from __future__ import annotations

from rtc_inspector.core.comparison.values import Comparison, Pair
from rtc_inspector.core.figures import Axis, Better, Estimate, Link, Point, Scatter, Tone
from rtc_inspector.core.kinds import task


def scatter(comparison: Comparison) -> Scatter:
    """The headline of each common item in both runs; what lies together is one point, leading to the first run's."""
    at: dict[tuple[float, float], list[Pair]] = {}
    for pair in comparison.pairs:
        at.setdefault((round(pair.first.headline or 0.0, 6), round(pair.second.headline or 0.0, 6)), []).append(pair)
    first, second = comparison.first.id, comparison.second.id
    kind, sign = task(comparison.first.task), comparison.better
    measure = kind.measure(kind.headline)
    up: Better = "up" if sign > 0 else "down" if sign < 0 else ""
    better, worse = (
        sum(len(pairs) for (x, y), pairs in at.items() if (y - x) * (sign or 1) * side > 0) for side in (1, -1)
    )
    more = "better" if sign else "higher"
    return Scatter(
        name=f"compared-{first}-{second}",
        title=f"{measure.title} in runs {first} and {second}",
        note=f"{better} {more} in run {second}, {worse} in run {first}, {len(comparison.pairs) - better - worse} alike",
        x=Axis(f"{measure.title} in run {first}", measure.lowest, measure.highest, up),
        y=Axis(f"{measure.title} in run {second}", measure.lowest, measure.highest, up),
        points=tuple(
            Point(
                Estimate(x),
                Estimate(y),
                tone=_tone((y - x) * sign),
                count=len(pairs),
                links=tuple(Link(first, pair.first.id) for pair in pairs),
            )
            for (x, y), pairs in sorted(at.items())
        ),
        diagonal=True,
        noun=kind.nouns,
    )


def _tone(gain: float) -> Tone:
    return "good" if gain > 0 else "bad" if gain < 0 else "muted"
