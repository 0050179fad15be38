"""The figure of two compared runs."""

from __future__ import annotations

from core.comparison.values import Comparison, Pair
from core.figures import Axis, Estimate, Link, Point, Scatter, Tone
from core.kinds import noun


def scatter(comparison: Comparison) -> Scatter:
    """RTC of each common item in both runs, one point for all that lie together; it leads to those of the first run."""
    at: dict[tuple[float, float], list[Pair]] = {}
    for pair in comparison.pairs:
        at.setdefault((round(pair.first.rtc or 0.0, 6), round(pair.second.rtc or 0.0, 6)), []).append(pair)
    first, second = comparison.first.id, comparison.second.id
    better, worse = (sum(len(pairs) for (x, y), pairs in at.items() if (y - x) * sign > 0) for sign in (1, -1))
    return Scatter(
        name=f"compared-{first}-{second}",
        title=f"RTC in runs {first} and {second}",
        note=f"{better} better in run {second}, {worse} in run {first}, {len(comparison.pairs) - better - worse} alike",
        x=Axis(f"RTC in run {first}", 0, 1, "up"),
        y=Axis(f"RTC in run {second}", 0, 1, "up"),
        points=tuple(
            Point(
                Estimate(x),
                Estimate(y),
                tone=_tone(x, y),
                count=len(pairs),
                links=tuple(Link(first, pair.first.id) for pair in pairs),
            )
            for (x, y), pairs in sorted(at.items())
        ),
        diagonal=True,
        noun=f"{noun(comparison.first.task)}s",
    )


def _tone(x: float, y: float) -> Tone:
    return "good" if y > x else "bad" if y < x else "muted"
