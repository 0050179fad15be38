"""`analyse`: its figures in the terminal, as lines of JSON and as a page, and its two clear lines when it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from factories import fill_store
from figure_cases import one_of_each

from rtc_inspector.app.cli import main
from rtc_inspector.app.figures import print_figures
from rtc_inspector.core.figures import Scatter, Table
from rtc_inspector.core.figures.reading import marks
from rtc_inspector.core.metrics.metric import metric
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.types import Estimate


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analysed")
    with open_store(folder / "runs.db") as store:
        for seed in (3, 4):
            fill_store(store, folder / "shop", 26, seed)
    return folder / "runs.db"


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_json_has_a_line_a_figure(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "1", "--db", str(database), "--json"]) == 0
    found = lines(capsys)
    assert [(each["figure"], each["kind"]) for each in found] == [
        ("running", "lines"),
        ("spread", "histogram"),
        ("metric", "histogram"),
        ("scores", "table"),
        ("costs", "table"),
        ("files", "table"),
        ("metrics", "table"),
    ]
    assert all(list(each) == ["figure", "kind", "title", "data"] for each in found)


def test_what_a_figure_leaves_to_choose_is_chosen_by_name(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = []
    for words in ([], ["--choose", "metric=bleu"]):
        assert main(["analyse", "1", "--db", str(database), "--json", "--kind", "scores", *words]) == 0
        found = next(each for each in lines(capsys) if each["figure"] == "metric")
        chosen.append((found["data"]["choices"][0]["chosen"], found["data"]["x"]["label"]))  # type: ignore[index]
    assert chosen == [("edit_sim", metric("edit_sim").title), ("bleu", metric("bleu").title)]


def test_several_runs_stand_side_by_side(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "1", "2", "--db", str(database), "--html", str(tmp_path / "a.html")]) == 0
    said = capsys.readouterr().out
    for words in (
        "RTC as regions are completed",
        "Lift as regions are completed",
        "RTC, run 2",
        "By file, run 1",
        "RTC in runs 1 and 2",
    ):
        assert words.lower() in said.lower()
    assert "RTC in runs 1 and 2" in (tmp_path / "a.html").read_text("utf-8")


def test_every_kind_of_figure_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_figures(one_of_each())
    said = capsys.readouterr().out
    for figure in one_of_each():
        assert figure.title in said
    for words in ("small: pass@1 0.50 (0.40 to 0.60), RTC 0.25", "RTC 0.25", "1 pass", "0.75", "0.33", "2 (0.50)"):
        assert words in said
    assert marks(one_of_each()[6])[0].text in said
    assert "nan" not in said.lower()


def test_points_that_begin_alike_have_signs_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    scatter = one_of_each()[0]
    assert isinstance(scatter, Scatter)
    small = scatter.points[0]
    for name, signs in (("large", "sl"), ("smaller", "AB")):
        print_figures([replace(scatter, points=(small, replace(small, name=name, x=Estimate(0.9))))])
        said = capsys.readouterr().out
        plotted = {sign for line in said.splitlines() for sign in line.partition("│")[2]}
        assert set(signs) <= plotted
        assert f"{signs[0]} small: pass@1 0.50" in said and f"{signs[1]} {name}: pass@1 0.90" in said


def test_a_table_without_a_row_says_its_note(capsys: pytest.CaptureFixture[str]) -> None:
    table = one_of_each()[5]
    assert isinstance(table, Table)
    print_figures([replace(table, rows=(), note="There is none.")])
    assert capsys.readouterr().out.split("\n")[:2] == ["Files", "There is none."]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["1", "--kind", "astrology"], "There is no analysis 'astrology'."),
        (["1", "1"], "Run 1 is named more than once."),
        (["9"], "no run 9"),
        (["1", "--choose", "metric"], "'metric' chooses nothing."),
    ],
)
def test_what_cannot_be_done_is_said_in_two_lines(
    database: Path, capsys: pytest.CaptureFixture[str], words: list[str], problem: str
) -> None:
    assert main(["analyse", *words, "--db", str(database)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and problem in said[0]
