"""Places of models among others: simultaneous intervals, and who cannot be told apart."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from factories import fill_store

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.analyses.ranking import Rank, ranked
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.figures import Link, Sentence, Table
from rtc_inspector.core.kinds import task
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.run.results import open_store

RTC = task("synthesis").measure("rtc")
Rows = dict[str, tuple[dict[str, dict[str, float]], tuple[Link, ...]]]


def rows(**values: list[float]) -> Rows:
    return {
        name: ({str(at): {"rtc": value} for at, value in enumerate(each)}, (Link(1),)) for name, each in values.items()
    }


def placed(found: Rows, decide: bool = True) -> dict[str, Rank]:
    common = list(next(iter(found.values()))[0])
    return {each.name: each for each in ranked(RTC, found, common, decide)}


def test_ranks_are_as_wide_as_the_differences_leave_them() -> None:
    good, near, bad = [1.0] * 60, [1.0] * 58 + [0.0] * 2, [0.0] * 55 + [1.0] * 5
    places = placed(rows(bad=bad, near=near, good=good))
    assert list(places) == ["good", "near", "bad"]
    assert [(each.best, each.worst) for each in places.values()] == [(1, 2), (1, 2), (3, 3)]
    assert [each.alike for each in places.values()] == [(1,), (0,), ()]


def test_intervals_of_means_hold_together() -> None:
    values = [1.0] * 30 + [0.0] * 20
    place = placed(rows(one=values, two=values, three=values))["one"]
    alone = interval(values)
    together = interval(values, level=1 - 0.05 / 3)
    assert (place.mean.low, place.mean.high) == together[1:]
    assert together[1] < alone[1] and alone[2] < together[2]
    assert (place.best, place.worst, len(place.alike)) == (1, 3, 2)


def test_nobody_is_called_better_while_runs_grow() -> None:
    places = placed(rows(good=[1.0] * 50, bad=[0.0] * 50), decide=False)
    assert [(each.best, each.worst, each.alike) for each in places.values()] == [(1, 2, (1,)), (1, 2, (0,))]


def test_models_that_saw_other_parts_of_the_files_are_not_told_apart() -> None:
    found = rows(good=[1.0] * 50, bad=[0.0] * 50)
    for measures in found["bad"][0].values():
        measures["shown"] = 0.5
    assert all(each.alike for each in placed(found).values())


def test_equal_models_are_told_apart_in_at_most_one_series_of_twenty() -> None:
    """Five equal models in 120 series: all ten differences together may err in 5 of 100 (binomial, three sigma)."""
    chance, wrong, series = random.Random(7), 0, 120
    for _ in range(series):
        hard = [chance.random() for _ in range(40)]
        found = rows(**{name: [float(chance.random() < each) for each in hard] for name in "abcde"})
        wrong += any(len(each.alike) < 4 for each in placed(found).values())
    assert wrong <= 0.05 * series + 3 * math.sqrt(series * 0.05 * 0.95)


def test_a_single_run_has_no_ranking_and_several_are_ranked_when_asked(tmp_path: Path) -> None:
    database = tmp_path / "runs.sqlite"
    with open_store(database) as store:
        first, second = (fill_store(store, tmp_path / "shop", 12, 3, model=name) for name in ("One", "Two"))
        assert not any("ranking" in figure.name for figure in analyse(store.reader, [first]))
        with pytest.raises(UserError, match="two runs or more"):
            analyse(store.reader, [first], "ranking")
        verdict, table, *_ = analyse(store.reader, [first, second], "ranking")
        assert isinstance(verdict, Sentence) and isinstance(table, Table)
        assert [row.links for row in table.rows] == [(Link(first),), (Link(second),)]
        assert verdict.text.endswith("the two cannot be told apart.")
        assert [row.cells[0] for row in table.rows] == ["1–2", "1–2"]
        assert [row.cells[-1] for row in table.rows] == [
            store.reader.run(each).answers.words or "all could be read" for each in (first, second)
        ]
