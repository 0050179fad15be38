"""What builds read: limits with an exit status of their own, JUnit XML, a summary in Markdown."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from factories import fill_store

from rtc_inspector.app.ci import finish
from rtc_inspector.app.cli import main
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import RunSettings


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs on the same regions, of which the second passes everything and the third nothing."""
    folder = tmp_path_factory.mktemp("built")
    with open_store(folder / "runs.db") as store:
        for seed in (3, 4, 5):
            fill_store(store, folder / "shop", 26, 3, settings=RunSettings(seed=seed))
        for run_id, value in ((2, 1.0), (3, 0.0)):
            store._db.execute(
                "UPDATE measures SET value = ? "
                "WHERE name = 'rtc' AND item_id IN (SELECT id FROM items WHERE run_id = ?)",
                (value, run_id),
            )
        store._db.commit()
    return folder / "runs.db"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["2", "3", "--fail-if-worse"], 3, "is better than run 3"),
        (["3", "2", "--fail-if-worse"], 0, ""),
        (["2", "3"], 0, ""),
        (["3", "2", "--fail-below", "rtc=0.9"], 0, ""),
        (["2", "3", "--fail-below", "rtc=0.3"], 3, "RTC of run 3 is 0.000, below 0.3."),
    ],
)
def test_a_comparison_fails_by_its_limits(
    database: Path, words: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *words, "--db", str(database)]) == status
    errors = capsys.readouterr().err
    assert said in errors and bool(errors) == bool(status)


@pytest.mark.parametrize("limit", ["speed=1", "rtc=nan"])
def test_a_limit_of_nothing_is_refused(database: Path, limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "1", "2", "--fail-below", limit, "--db", str(database)]) == 2
    assert "holds for nothing" in capsys.readouterr().err


def test_a_limit_of_a_run_is_refused_before_a_model_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(tmp_path), "--model", "none.gguf", "--db", str(tmp_path / "r.sqlite")]
    assert main([*words, "--fail-below", "pass@1=0.5"]) == 2
    assert "Measures are: " in capsys.readouterr().err and not (tmp_path / "r.sqlite").exists()
    with pytest.raises(SystemExit, match="2"):
        main([*words, "--fail-below", "half"])
    assert "'half' is no limit" in capsys.readouterr().err


def test_a_comparison_as_junit_and_as_a_summary(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit, summary = tmp_path / "j.xml", tmp_path / "s.md"
    summary.write_text("before\n")
    assert main(["compare", "2", "3", "--db", str(database), "--junit", str(junit), "--summary", str(summary)]) == 0
    root = Xml.parse(junit).getroot()
    with open_reader(database) as reader:
        judged = [item for item in reader.items(3) if item.headline is not None]
    assert root.attrib == {"tests": str(len(judged)), "failures": str(len(judged)), "errors": "0", "skipped": "0"}
    (suite,) = root
    assert suite.attrib["name"].startswith("run 2 (") and len(suite) == len(judged)
    assert suite[0].find("failure").attrib["message"] == "RTC 0.00, in run 2 1.00"  # type: ignore[union-attr]
    said = summary.read_text()
    assert said.startswith("before\n### run 2 (") and "is better than run 3" in said
    assert said.count("\n| ") == 2 + 20 and f"and {len(judged) - 20} more" in said


@pytest.fixture
def finished(database: Path) -> Mapping[str, str]:
    with open_reader(database) as reader:
        headlines = [item.headline for item in reader.items(1) if not item.extra]
    judged = [value for value in headlines if value is not None]
    return {
        "tests": str(len(headlines)),
        "skipped": str(len(headlines) - len(judged)),
        "failures": str(sum(value <= 0.5 for value in judged)),
    }


def test_a_run_as_junit_and_as_a_summary(database: Path, finished: Mapping[str, str], tmp_path: Path) -> None:
    asked = Namespace(junit=tmp_path / "j.xml", summary=tmp_path / "s.md", fail_below=[("rtc", 1.0)])
    with open_reader(database) as reader:
        assert finish(reader, [1], asked) == 3
    assert finished.items() <= Xml.parse(tmp_path / "j.xml").getroot().attrib.items()
    said = (tmp_path / "s.md").read_text()
    assert "finished" in said.splitlines()[0] and "| RTC | " in said and "| region that fails | RTC |" in said
