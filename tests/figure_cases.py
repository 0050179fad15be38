"""One figure of every kind, with gaps where a value is not defined."""

from __future__ import annotations

from rtc_inspector.core.figures import (
    Axis,
    Bar,
    Bars,
    Categories,
    Cell,
    Column,
    Figure,
    Grid,
    Guide,
    Head,
    Histogram,
    Lines,
    Link,
    Observation,
    Point,
    Row,
    Scatter,
    Sentence,
    Series,
    Table,
)
from rtc_inspector.core.types import Estimate


def spread(values: list[float], **others: object) -> Histogram:
    """One group, a link to item 0, 1, ... behind each value."""
    observed = tuple(Observation(value, link=Link(item=at)) for at, value in enumerate(values))
    return Histogram(Head("spread", "Spread"), x=Axis("RTC", 0, 1), noun="regions", values=observed, **others)


def one_of_each() -> list[Figure]:
    """Scatter, lines, bars, histogram, grid, table, sentence."""
    point = Point(Estimate(0.5, 0.4, 0.6, 10), Estimate(0.25), name="small", links=(Link(run=3),))
    lonely = Point(Estimate(0.9), Estimate(), name="undefined")
    return [
        Scatter(
            Head("models", "Models"),
            x=Axis("pass@1", 0, 1, "up"),
            y=Axis("RTC"),
            points=(point, lonely),
            diagonal=True,
            guides=(Guide("x", 0.75, "threshold"),),
        ),
        Lines(
            Head("running", "Running"),
            x=Axis("regions"),
            y=Axis("mean"),
            series=(Series("RTC", (point,)), Series("lift", (lonely,), "good", "signed")),
        ),
        Bars(
            Head("classes", "Classes"),
            categories=Categories("step", ("1", "2")),
            y=Axis("share"),
            bars=(
                Bar("1", Estimate(0.75), "pass", "good", (Link(item=4),)),
                Bar("1", Estimate(0.25), "fail", "bad"),
                Bar("2", Estimate(), "pass", "good"),
            ),
            stacked=True,
        ),
        spread([0.0, 1 / 3, 1 / 3, 1.0]),
        Grid(
            Head("steps", "Steps"),
            rows=Categories("problem", ("a", "b")),
            columns=Categories("step", ("1", "2")),
            scale=Axis("TOM", 0, 1, "up"),
            cells=(Cell("a", "1", Estimate(0.5, n=4), links=(Link(item=7, sample=9),)), Cell("b", "2")),
        ),
        Table(
            Head("files", "Files"),
            columns=(Column("file"), Column("RTC", "number", "up", bar=True), Column("lift", "signed")),
            rows=(
                Row(("a.py", Estimate(0.5, 0.25, 0.75), None), links=(Link(item=1), Link(item=2))),
                Row(("b.py", None, -0.125)),
            ),
        ),
        Sentence(Head("finding", "Finding"), text="Below four models nothing follows."),
    ]
