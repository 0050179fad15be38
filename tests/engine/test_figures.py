"""Figures as data: what they refuse, how they read in words, and what scripts get."""

import json

import pytest
from figure_cases import one_of_each, spread

from rtc_inspector.core.figures import (
    Axis,
    Categories,
    Cell,
    Choice,
    Grid,
    Head,
    Histogram,
    Lines,
    Link,
    Observation,
    Point,
    Scatter,
    Sentence,
    Series,
    Table,
)
from rtc_inspector.core.figures.layout import heat, spans, ticks
from rtc_inspector.core.figures.reading import bins, csv, marks, to_json
from rtc_inspector.core.types import Estimate


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
def test_an_estimate_refuses_what_is_not_a_number(wrong: float) -> None:
    with pytest.raises(ValueError, match="not defined"):
        Estimate(wrong)
    with pytest.raises(ValueError, match="not defined"):
        Estimate(0.5, wrong, 1.0)


def test_json_leaves_out_what_is_not_defined() -> None:
    for figure in one_of_each():
        line = json.dumps(to_json(figure), allow_nan=False)
        assert isinstance(figure, Table) or "null" not in line  # a table's empty cell keeps its column
        made = json.loads(line)
        assert list(made) == ["figure", "kind", "title", "data"]
    grid = to_json(one_of_each()[4])["data"]
    assert grid["cells"][0]["value"] == {"value": 0.5, "n": 4}
    assert grid["cells"][0]["links"] == [{"item": 7, "sample": 9}]
    assert grid["cells"][1]["value"] == {}
    table = to_json(one_of_each()[5])["data"]
    assert table["rows"][1]["cells"] == ["b.py", None, -0.125]


def test_choices_are_told_with_what_they_offer() -> None:
    metric = Choice("metric", "Metric", {"bleu": "BLEU"}, "bleu")
    figure = Sentence(Head("a", "A"), text="", choices=(metric,))
    assert to_json(figure)["data"]["choices"] == [
        {"name": "metric", "label": "Metric", "options": {"bleu": "BLEU"}, "chosen": "bleu"}
    ]


def test_few_values_get_a_bar_each_and_many_ten_bins() -> None:
    few = bins(spread([0.0, 1 / 3, 0.3333333333, 1.0]))
    assert [(each.low, each.high, each.count, each.share) for each in few] == [
        (0.0, 0.0, 1, 0.25),
        (0.333333, 0.333333, 2, 0.5),
        (1.0, 1.0, 1, 0.25),
    ]
    assert few[1].links == (Link(item=1), Link(item=2))
    many = bins(spread([at / 20 for at in range(21)]))
    assert [each.count for each in many] == [2] * 9 + [3]
    assert (many[-1].low, many[-1].high) == (pytest.approx(0.9), pytest.approx(1.0))
    assert not bins(spread([]))


def test_bins_take_values_at_the_edges_and_outside_of_the_axis() -> None:
    values = [-0.5, 0.1, 0.2, 0.3, 0.6, 0.7, 1.5, *(at / 100 for at in range(0, 100, 7))]
    found = bins(spread(values))
    assert sum(each.count for each in found) == len(values)
    by_low = {round(each.low, 3): each.count for each in found}
    assert by_low[0.3] == sum(0.3 <= value < 0.4 for value in values)
    alike = spread([2.0] * 3)
    assert [each.count for each in bins(alike)] == [3]


def test_two_groups_stand_back_to_back_in_shares_of_their_own() -> None:
    values = (*(Observation(0.9, "passed") for _ in range(4)), Observation(0.1, "failed"), Observation(0.9, "failed"))
    figure = Histogram(
        Head("bleu", ""),
        x=Axis("BLEU", 0, 1),
        noun="reconstructions",
        values=values,
        groups={"passed": "good", "failed": "bad"},
        most_bins=20,
    )
    assert [(round(each.low, 2), each.group, each.share) for each in bins(figure)] == [
        (0.9, "passed", 1.0),
        (0.1, "failed", 0.5),
        (0.9, "failed", 0.5),
    ]
    assert [round(mark.y, 2) for mark in marks(figure)] == [1.0, -0.5, -0.5]


def test_marks_say_what_they_are_and_lead_to_what_is_behind_them() -> None:
    told = [[mark.text for mark in marks(figure)] for figure in one_of_each()]
    assert told == [
        ["small: pass@1 0.50 (0.40 to 0.60), RTC 0.25"],
        ["RTC 0.25, regions 0.50"],
        ["1, pass: 0.75", "1, fail: 0.25"],
        ["RTC 0.00: 1 of 4 regions (0.25)", "RTC 0.33: 2 of 4 regions (0.50)", "RTC 1.00: 1 of 4 regions (0.25)"],
        ["a, 1: 0.50, n = 4", "b, 2: –"],
        ["a.py, 0.50 (0.25 to 0.75), –", "b.py, –, -0.12"],
        ["Below four models nothing follows."],
    ]
    assert marks(one_of_each()[0])[0].links == (Link(run=3),)
    assert [(mark.x, mark.y) for mark in marks(one_of_each()[2])] == [(0, 0.375), (0, 0.875)]
    assert [(mark.x, mark.y) for mark in marks(one_of_each()[4])] == [(0, 0), (1, -1)]


def test_a_table_for_export_has_bounds_beside_values_and_gaps_where_none_is_defined() -> None:
    rows = [csv(figure).splitlines() for figure in one_of_each()]
    assert rows[1] == [
        "regions,RTC,RTC low,RTC high,lift,lift low,lift high",
        "0.500000,0.250000,,,,,",
        "0.900000,,,,,,",
    ]
    assert rows[3][:3] == ["RTC,group,run,item,sample", "0.000000,,,0,", "0.333333,,,1,"]
    assert rows[4][1] == "a,1,0.500000,,,4,,,7,9"
    assert rows[5] == ["file,RTC,RTC low,RTC high,lift", "a.py,0.500000,0.250000,0.750000,", "b.py,,,,-0.125000"]


def test_lines_with_other_points_share_one_table() -> None:
    def line(name: str, *points: tuple[float, float]) -> Series:
        return Series(name, tuple(Point(Estimate(x), Estimate(y)) for x, y in points))

    figure = Lines(Head("sc", ""), x=Axis("step"), y=Axis("SC"), series=(line("a", (1, 1.0)), line("b", (2, 0.5))))
    assert csv(figure).splitlines()[1:] == ["1,1.000000,,,,,", "2,,,,0.500000,,"]


def test_ticks_are_round_and_counts_are_whole() -> None:
    assert ticks(0, 1, 5) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(-0.3, 0.31, 5) == [-0.2, 0.0, 0.2]
    assert ticks(0, 3, 10) == [0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert ticks(0, 3, 10, "count") == [0, 1, 2, 3]
    assert ticks(2, 2) == [2]


def test_a_drawing_keeps_nought_in_sight_and_early_wide_bands_out() -> None:
    points = [Point(Estimate(float(at)), Estimate(0.5, 0.4, 0.6)) for at in range(1, 40)]
    points[0] = Point(Estimate(1.0), Estimate(0.5, -3.0, 4.0))
    lines = Lines(Head("l", ""), x=Axis("n", 0), y=Axis("mean"), series=(Series("a", tuple(points)),))
    assert spans(lines) == ((0, 39.0), (0.0, 0.6))
    scatter = Scatter(Head("s", ""), x=Axis("x", 0, 1), y=Axis("y"), points=(Point(Estimate(0.5), Estimate(0.25)),))
    (x0, x1), (y0, y1) = spans(scatter)
    assert x0 < 0 and x1 > 1 and y0 < 0.25 < y1
    assert spans(one_of_each()[2]) == ((-0.5, 1.5), (0.0, 1.0))


def test_heat_runs_from_worst_to_best_whatever_the_direction() -> None:
    def grid(better: str, centre: float | None, low: float | None, high: float | None) -> Grid:
        cells = (Cell("a", "1", Estimate(-0.5)), Cell("a", "2", Estimate(0.25)), Cell("a", "3"))
        names = Categories("r", ("a",)), Categories("c", ("1", "2", "3"))
        return Grid(
            Head("g", ""),
            rows=names[0],
            columns=names[1],
            scale=Axis("v", low, high, better),
            cells=cells,
            centre=centre,
        )  # type: ignore[arg-type]

    assert [heat(grid("up", None, 0, 1), value) for value in (0, 0.5, 1)] == [-1, 0, 1]
    assert [heat(grid("down", None, 0, 1), value) for value in (0, 0.5, 1)] == [1, 0, -1]
    assert [heat(grid("", 0, None, None), value) for value in (-0.5, 0, 0.25)] == [-1, 0, 0.5]
