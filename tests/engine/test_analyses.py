"""The figures that every method has, from a kind's own words: measures, directions, files, facets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from factories import fill_store

from rtc_inspector.core.analyses import scores
from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.figures import Histogram, Table
from rtc_inspector.core.figures.reading import row_words
from rtc_inspector.core.kinds import TASKS, Kind, Measure, task
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.store.reader import Reader


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("analyses")
    with open_store(folder / "runs.db") as store:
        for seed in (3, 4):
            fill_store(store, folder / "shop", 30, seed)
    with open_reader(folder / "runs.db") as made:
        yield made


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> Kind:
    """A method whose headline is better when it is less, in place of synthesis."""
    measures = (
        Measure("rtc", "drop", "What was lost", higher_is_better=False),
        Measure("lift", "change", "Of the drop", lowest=-1.0, higher_is_better=None),
    )
    kind = replace(task("synthesis"), noun="problem", measures=measures, headline="rtc")
    monkeypatch.setattr("rtc_inspector.core.kinds.TASKS", {**TASKS, "synthesis": kind})
    return kind


def test_measures_are_called_as_their_kind_calls_them(reader: Reader, chain: Kind) -> None:
    found = {figure.name: figure for figure in analyse(reader, [1])}
    assert found["running"].title == "drop and change as problems are completed"
    assert found["running"].y.better == "down"  # type: ignore[union-attr]
    assert [series.name for series in found["running"].series] == ["drop", "change"]  # type: ignore[union-attr]
    files = found["files"]
    assert isinstance(files, Table)
    assert [(column.label, column.better) for column in files.columns[1:]] == [
        ("Problems", ""),
        ("Admitted", ""),
        ("Drop", "down"),
    ]
    first = files.rows[0]
    items = {item.id: item for item in reader.items(1)}
    assert [items[link.item or 0].headline for link in first.links] == sorted(
        (item.headline for item in items.values() if item.path == first.cells[0] and item.headline is not None),
        reverse=True,
    ), "the worst first, which here is the greatest"


def test_the_spread_of_another_measure_is_chosen(reader: Reader) -> None:
    made = next(figure for figure in analyse(reader, [1], chosen={"measure": "lift"}) if figure.name == "spread")
    assert isinstance(made, Histogram)
    assert (made.x.low, made.x.high, made.x.form) == (-1.0, 1.0, "signed")
    assert sorted(each.value for each in made.values) == sorted(
        i.secondary for i in reader.items(1) if i.secondary is not None
    )
    assert list(made.choices[0].options) == ["rtc", "baseline", "lift", "cut", "shown", "limited"]


def test_the_run_and_its_figures_say_the_same(reader: Reader) -> None:
    run = reader.run(1)
    made = next(figure for figure in analyse(reader, [1]) if figure.name == "scores")
    assert isinstance(made, Table)
    told = task("synthesis").averaged
    assert [row.cells[:3] for row in made.rows][: len(told)] == [
        (measure.title, run.scores[measure.name], run.scores[measure.name].n) for measure in told
    ]
    assert [row.cells[0] for row in made.rows[len(told) :]] == [
        "answers empty",
        "answers cut",
        "without code",
        "unparsable",
    ]
    written = {row.cells[0]: row_words(made, row)[1] for row in made.rows}
    signed = {measure.title for measure in told if measure.lowest < 0}
    assert "lift" in signed and {name for name, words in written.items() if words[0] in "+-"} == signed


def test_problems_are_listed_by_their_keys_in_the_order_of_their_benchmark(reader: Reader) -> None:
    items = [
        replace(
            item, kind="problem", key=f"HumanEval/{number}", path=f"problems/p_{number:04}.py", measures={"rtc": 1.0}
        )
        for item, number in zip(reader.items(1), (10, 2, 1), strict=False)
    ]
    (table,) = scores.files(items, reader.run(1))
    assert (table.title, table.head.short, table.columns[0].label) == ("By region", "Regions", "Region")
    assert [row.cells[0] for row in table.rows] == ["HumanEval/1", "HumanEval/2", "HumanEval/10"]
    assert table.columns[1].label == "RTC", "each stands alone: nothing is counted"


def test_items_without_a_file_have_no_table_of_files(reader: Reader) -> None:
    items = [replace(item, path="") for item in reader.items(1)]
    assert list(scores.files(items, reader.run(1))) == []


def test_an_unknown_analysis_is_named_with_those_there_are(reader: Reader) -> None:
    with pytest.raises(UserError, match="astrology") as raised:
        analyse(reader, [1], "astrology")
    assert "scores" in raised.value.remedy


def test_only_a_run_that_may_grow_is_provisional(reader: Reader) -> None:
    ended = next(figure for figure in analyse(reader, [1]) if figure.name == "running")
    growing = scores.running(task("synthesis"), {1: reader.running(1)}, growing=True)
    assert "Provisional" not in ended.note and "Provisional until the run is done." in growing.note
