"""Labels on the command line: agreement, files out and in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from factories import fill_store

from rtc_inspector.app.cli import main
from rtc_inspector.core.run.results import open_store


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Ann and Bob have labelled four samples of one run and differ on one."""
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        run_id = fill_store(store, tmp_path / "shop", 6, 5)
        for place, row in enumerate(store.reader.reconstructions(run_id)[:4]):
            store.add_label(row.sample_id, "ambiguous" if place % 2 else "recites", "Ann", "")
            store.add_label(row.sample_id, "ambiguous" if place else "other", "Bob", "why\nso")
            if place == 2:
                store.add_label(row.sample_id, "recites", "Bob", "")
    return path


def test_agreement_is_printed_and_given_as_json(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["labels", "agreement", "--db", str(database), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["coefficient"], found["samples"], found["disputed"]) == ("Cohen's kappa", 4, 1)
    assert found["overall"]["value"] == pytest.approx(0.6)
    assert found["overall"]["low"] <= 0.6 <= found["overall"]["high"]
    assert main(["labels", "agreement", "--db", str(database), "--run", "1"]) == 0
    assert "Cohen's kappa: 0.60 (" in capsys.readouterr().out


def test_without_labels_it_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_store(tmp_path / "empty.sqlite"):
        pass
    assert main(["labels", "agreement", "--db", str(tmp_path / "empty.sqlite")]) == 0
    assert "needs two annotators" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["jsonl", "csv", "label-studio"])
def test_what_is_exported_is_imported_once(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    file = tmp_path / "labels"
    assert main(["labels", "export", "--db", str(database), "--format", kind, "--out", str(file)]) == 0
    text = file.read_text("utf-8")
    file.write_text(text.replace("recites", "line-by-line"), "utf-8")
    for new in (3, 0):
        assert main(["labels", "import", str(file), "--db", str(database)]) == 0
        assert capsys.readouterr().out.strip() == f"{new} new labels"


def test_what_cannot_be_done_is_said(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["import", str(tmp_path / "absent")],
        ["import", str(database)],
        ["export", "--format", "csv", "--run", "9"],
        ["export", "--format", "csv", "--out", str(tmp_path / "no" / "where")],
    ):
        assert main(["labels", *arguments, "--db", str(database)]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 2
    assert main(["labels", "import", str(database), "--db", str(tmp_path / "no.sqlite")]) == 2
    assert not (tmp_path / "no.sqlite").exists()
