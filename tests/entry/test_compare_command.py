"""`compare`: its text, its lines of JSON, its CSV, and its two clear lines when it cannot."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from factories import fill_store

from rtc_inspector.app import output
from rtc_inspector.app.cli import main
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import RunSettings


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    with open_store(folder / "runs.db") as store:
        for seed, items in ((3, 26), (4, 26), (5, 8)):
            fill_store(store, folder / "shop", items, seed, settings=RunSettings(seed=seed))
    return folder / "runs.db"


def test_two_runs_are_told_in_words_and_tables(
    database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "SHOWN", 5)
    assert main(["compare", "1", "2", "--db", str(database)]) == 0
    said = capsys.readouterr().out
    for words in (
        "Undecided: over",
        "more could decide",
        "McNemar's exact test",
        "what differs",
        "shop/module_000.py",
    ):
        assert words in said
    assert "disagreements more: see --json or --csv" in said


def test_json_has_a_line_for_each_comparison_and_disagreement(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "1", "2", "3", "--db", str(database), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    wholes = [line for line in lines if line["event"] == "comparison"]
    assert [(line["reference"], line["run"]) for line in wholes] == [(1, 2), (1, 3)]
    for whole in wholes:
        items = [line for line in lines if line["event"] == "disagreement" and line["run"] == whole["run"]]
        assert len(items) == whole["disagreements"]
        sizes = [abs(item["difference"]) for item in items]
        assert sizes == sorted(sizes, reverse=True)
        assert whole["rtc"]["ci_low"] <= whole["rtc"]["difference"] <= whole["rtc"]["ci_high"]


def test_csv_has_a_record_for_each_common_item(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pairs.csv"
    assert main(["compare", "1", "2", "--db", str(database), "--csv", str(out), "--json"]) == 0
    whole = json.loads(capsys.readouterr().out.splitlines()[0])
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == whole["rtc"]["items"]
    mean = sum(float(row["difference"]) for row in rows) / len(rows)
    assert mean == pytest.approx(whole["rtc"]["difference"], abs=1e-6)


@pytest.mark.parametrize(
    ("runs", "word"),
    [(("1",), "two runs"), (("2", "2"), "more than once"), (("1", "9"), "1, 2, 3")],
)
def test_bad_runs_are_two_clear_lines(
    database: Path, runs: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *runs, "--db", str(database)]) == 2
    errors = capsys.readouterr().err
    assert len(errors.splitlines()) == 2
    assert word in errors


def test_what_cannot_be_written_is_said(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "1", "2", "--db", str(database), "--csv", str(tmp_path / "no" / "x.csv")]) == 2
    assert "x.csv cannot be written" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "one", "2", "--db", str(database)])
    assert "'one' is not a whole number" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "1", "2", "--csv"),
        ("compare", "1", "2", "--html"),
        ("report", "--run", "1", "--out"),
        ("export", "--run", "1", "--format", "csv", "--out"),
        ("labels", "export", "--format", "csv", "--out"),
    ],
)
def test_no_database_is_written_over(
    database: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """A slip of the hand would cost every run in it."""
    before = database.read_bytes()
    assert main([*arguments, str(database), "--db", str(database)]) == 2
    assert "which is not written over" in capsys.readouterr().err
    assert database.read_bytes() == before


def test_the_list_of_runs_says_lift_over_its_baseline_with_the_number_of_regions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")  # no line of the figures is broken in a usual terminal
    with open_store(tmp_path / "runs.sqlite") as store:
        fill_store(store, tmp_path / "shop", 12, 1)
    assert main(["runs", "--db", str(tmp_path / "runs.sqlite")]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"RTC \d\.\d\d \(\d\.\d\d to \d\.\d\d\), n \d+, few", printed)
    assert re.search(r"lift -?\d\.\d\d \(-?\d\.\d\d to -?\d\.\d\d\), n \d+", printed)
    assert re.search(r"over baseline \d\.\d\d \(\d\.\d\d to \d\.\d\d\), n \d+", printed)
