"""What the command line promises: exit statuses, clear sentences, JSON lines."""

from __future__ import annotations

import json
import sqlite3
from contextlib import ExitStack
from pathlib import Path

import pytest
from projects import Inspector

from rtc_inspector.app import running, storing
from rtc_inspector.app.cli import main
from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.store.writer import Store


def refused(result: object, *words: str) -> None:
    """Exit 2 with one line on what is wrong and one on what to do, and no traceback."""
    status, errors = result.returncode, result.stderr  # type: ignore[attr-defined]
    assert status == 2, errors
    assert "Traceback" not in errors
    lines = [line for line in errors.strip().splitlines() if not line.startswith("note:") and not line.endswith("...")]
    assert len(lines) == 2, errors
    for word in words:
        assert word.lower() in errors.lower(), errors


def test_version_and_help(inspector: Inspector, inside: Inspector) -> None:
    assert inspector("--version").stdout.startswith("rtc-inspector 0.")
    text = inside("--help").stdout
    for command in (
        "open",
        "demo",
        "sample",
        "run",
        "judge",
        "runs",
        "report",
        "compare",
        "export",
        "models",
        "doctor",
    ):
        assert command in text


def test_unknown_option_says_where_to_look(inside: Inspector) -> None:
    refused(inside("run", ".", "--nonsense"), "--nonsense", "--help")


def test_not_a_folder(inside: Inspector, tmp_path: Path) -> None:
    refused(inside("sample", tmp_path / "nowhere"), "nowhere")


def test_empty_project(inside: Inspector, tmp_path: Path) -> None:
    refused(inside("sample", tmp_path), "python file")


def test_no_tests(inside: Inspector, project: Path) -> None:
    (project / "tests" / "test_shop.py").unlink()
    refused(inside("sample", project), "test")


def test_no_region_admitted(inside: Inspector, project: Path) -> None:
    (project / "tests" / "test_shop.py").write_text("from shop import total\n\n\ndef test_it():\n    total([1], 1)\n")
    result = inside("sample", project)
    refused(result, "admitted")
    assert "changes no test" in " ".join(result.stdout.split()), "the table says why each was dropped"


def test_interpreter_missing(inside: Inspector, project: Path) -> None:
    refused(inside("sample", project, "--python", "/nowhere/python"), "/nowhere/python")


@pytest.mark.parametrize("content", [b"", b"GGUF", b"no model at all" * 100])
def test_not_a_model(inside: Inspector, project: Path, tmp_path: Path, content: bytes) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(content)
    refused(inside("run", project, "--model", model, "--db", tmp_path / "runs.sqlite"), "model.gguf")
    assert not list(tmp_path.glob("runs.sqlite*")), "no empty database is left behind"


def test_a_refused_run_leaves_the_database_that_another_began_on_meanwhile(tmp_path: Path) -> None:
    database = tmp_path / "runs.sqlite"
    with ExitStack() as other, pytest.raises(ModelError), running._opened(database):
        other.enter_context(open_store(database))
        raise ModelError("There is no such model.", "Name another.")
    assert database.exists()


def test_model_missing(inside: Inspector, project: Path, tmp_path: Path) -> None:
    refused(inside("run", project, "--model", tmp_path / "none.gguf", "--db", tmp_path / "r.sqlite"), "none.gguf")


def test_not_a_database(inside: Inspector, tmp_path: Path) -> None:
    database = tmp_path / "runs.sqlite"
    database.write_text("this is no database, " * 100)
    refused(inside("runs", "--db", database), "runs.sqlite")
    assert database.read_text().startswith("this is no database")


def test_a_database_of_another_version_is_refused_untouched(inside: Inspector, tmp_path: Path) -> None:
    database = tmp_path / "runs.sqlite"
    Store.open(database).close()
    with sqlite3.connect(database) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {version + 1000}")
    connection.close()
    before = database.read_bytes()
    refused(inside("runs", "--db", database), "another version")
    assert database.read_bytes() == before


def test_unknown_run(inside: Inspector, tmp_path: Path) -> None:
    database = tmp_path / "runs.sqlite"
    Store.open(database).close()
    refused(inside("export", "--db", database, "--run", 7, "--format", "csv"), "7")
    refused(inside("run", "--resume", 7, "--db", database), "7")
    before = (tmp_path / "kept.csv").write_text("of an earlier run\n")
    refused(inside("export", "--db", database, "--run", 7, "--format", "csv", "--out", tmp_path / "kept.csv"), "7")
    assert (tmp_path / "kept.csv").stat().st_size == before


def test_resuming_makes_no_database(inside: Inspector, tmp_path: Path) -> None:
    refused(inside("run", "--resume", 1, "--db", tmp_path / "wrong.sqlite"), "wrong.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_data_folder_that_cannot_be_made(inside: Inspector, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(inside("runs", XDG_DATA_HOME=str(tmp_path / "file")), "--db")


def test_brackets_are_no_markup(inside: Inspector, project: Path) -> None:
    renamed = project.rename(project.with_name("it's [b] :smile: shop"))
    refused(inside("sample", renamed), "[] parametrization")  # pytest's own words: it cannot start there
    (renamed / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\ntestpaths = ["tests"]\n')
    tests = renamed / "tests" / "test_shop.py"
    tests.write_text(
        "import pytest\nfrom shop import total\n\n\n@pytest.mark.parametrize('name', ['[/red]'])\n"
        "def test_it(name):\n    assert total([1], 1)\n    assert name == 'x'\n\n\n"
        "def test_total():\n    total([1], 1)\n"
    )
    (renamed / "[b].py").write_text("x = (\n")
    link = project.with_name("link")
    link.symlink_to(renamed)
    result = inside("sample", link)
    refused(result, "admitted")
    assert "Left out [b].py" in result.stderr
    assert "test_it[[/red]]" in result.stderr


def test_sample_prints_regions_that_stand_in_the_file_and_writes_nothing(inspector: Inspector, project: Path) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    result = inspector("sample", project, "--no-cache", "--json")
    assert result.returncode == 0, result.stderr
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert any(row["admitted"] for row in rows)
    text = (project / "shop.py").read_text()
    for row in rows:
        assert row["path"] == "shop.py"
        assert text[row["start"] : row["end"]] == row["text"]
        assert 32 <= len(row["text"]) <= 384
        assert row["tests"]


def test_what_the_terminal_cannot_encode_is_escaped(inspector: Inspector, tmp_path: Path) -> None:
    edits = tmp_path / "edits.jsonl"
    edit = {"old": "alpha = compute(beta)", "new": "alpha = compute(gamma)", "path": "caf\u00e9 \u2713 \U0001f600.py"}
    edits.write_text(json.dumps(edit))
    lines = inspector("sample", tmp_path, "--edits", edits, "--json", PYTHONIOENCODING="ascii")
    assert lines.returncode == 0 and json.loads(lines.stdout)["path"] == edit["path"]


def test_judge_tells_right_from_wrong(inside: Inspector, project: Path, tmp_path: Path) -> None:
    text = (project / "shop.py").read_text()
    start = text.index("subtotal -= ")
    end = text.index("\n", start)
    outcomes = {}
    for name, code in (("same", text[start:end]), ("wrong", "subtotal -= discount"), ("broken", "subtotal -=")):
        (tmp_path / name).write_text(code)
        span = ("--path", "shop.py", "--start", start, "--end", end)
        result = inside("judge", project, *span, "--replacement", tmp_path / name, "--json")
        assert result.returncode == 0, result.stderr
        verdict = json.loads(result.stdout)
        outcomes[name] = verdict["outcome"]
        assert verdict["seconds"] >= 0
        assert verdict["tests"] or name == "broken"
    assert outcomes == {"same": "pass", "wrong": "fail", "broken": "syntax-error"}


def test_judge_takes_paths_from_the_projects_folder_wherever_it_is_called(
    inside: Inspector, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "code").write_text("x")
    span = ("--start", 9999, "--end", 10000, "--replacement", tmp_path / "code")
    refused(inside("judge", project, "--path", "shop.py", *span, cwd=project / "tests"), "9999", "shop.py")
    refused(inside("judge", project, "--path", "../shop.py", *span, cwd=project / "tests"), "9999", "shop.py")


def test_doctor_reports_each_part(inside: Inspector) -> None:
    rows = [json.loads(line) for line in inside("doctor", "--json").stdout.splitlines()]
    assert {"qt", "llama.cpp", "docker", "bubblewrap", "landlock"} <= {row["name"] for row in rows}
    assert all(row["works"] or row["remedy"] for row in rows)


def test_models_lists_the_bundled_one(inside: Inspector) -> None:
    rows = [json.loads(line) for line in inside("models", "--json").stdout.splitlines()]
    assert any("SmolLM2" in row["path"] for row in rows)


def test_a_bug_is_two_lines_and_a_trace_in_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(storing, "runs_command", lambda options: 1 // 0)
    assert main(["runs"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert "division" in first
    assert "ZeroDivisionError" in Path(second.rpartition(" in ")[2].removesuffix(".")).read_text()
