"""Editing runs on a real model, through the command line: their record, and going on with them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pygit2
import pytest

OLD = "def area(w, h):\n    return w * h\n\n\ndef edge(w, h):\n    return 2 * (w + h)\n"
SHORT = (
    "--forward-samples",
    1,
    "--forward-max-tokens",
    24,
    "--backward-max-tokens",
    32,
    "--prompt-style",
    "completion",
)
EDITS = (("area", "surface"), ("2 *", "2.0 *"), ("w + h", "h + w"))


def run_app(*arguments: object, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rtc_inspector", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def environment(small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    base = tmp_path_factory.mktemp("editing")
    return {
        **os.environ,
        "RTC_TEST_MODEL": str(small_model),
        "XDG_DATA_HOME": str(base / "data"),
        "XDG_CACHE_HOME": str(base / "cache"),
    }


def model(environment: dict[str, str]) -> tuple[str, str]:
    return "--model", environment["RTC_TEST_MODEL"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with three edits and no tests: none are needed."""
    root = tmp_path_factory.mktemp("project")
    repository = pygit2.init_repository(str(root), initial_head="main")
    text = OLD
    commit(repository, text, "Begin")
    for old, new in EDITS:
        text = text.replace(old, new)
        commit(repository, text, f"Put {new} for {old}\n\nA longer story.")
    return root


def commit(repository: pygit2.Repository, text: str, message: str) -> None:
    (Path(repository.workdir) / "shapes.py").write_text(text)
    repository.index.add_all()
    repository.index.write()
    ada = pygit2.Signature("Ada", "ada@example.org", 1_700_000_000, 0)
    parents = [] if repository.head_is_unborn else [repository.head.target]
    repository.create_commit("HEAD", ada, ada, message, repository.index.write_tree(), parents)


@pytest.fixture(scope="module")
def first(project: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a small run; its events lie beside it."""
    database = tmp_path_factory.mktemp("runs") / "runs.sqlite"
    arguments = ("--task", "editing", "--regions", 2, *SHORT, *model(environment), "--db", database, "--json")
    result = run_app("run", project, *arguments, environment=environment)
    assert result.returncode == 0, result.stderr
    (database.parent / "events.jsonl").write_text(result.stdout)
    return database


def test_every_sample_is_accounted_for(first: Path, project: Path) -> None:
    events = [json.loads(line) for line in (first.parent / "events.jsonl").read_text().splitlines()]
    assert events[-1]["status"] == "finished"
    assert (events[-1]["items"], events[-1]["samples"]) == (2, 6)
    items = [event for event in events if event["event"] == "item"]
    assert {item["kind"] for item in items} == {"edit"}
    assert all(item["old_text"] != item["text"] and item["origin"]["commit"] for item in items)
    with sqlite3.connect(first) as connection:
        rows = connection.execute(
            "SELECT role, author, counted, count(*) FROM samples GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )
        assert rows.fetchall() == [
            ("backward", "model", 0, 2),
            ("backward", "model", 1, 2),
            ("baseline", "model", 1, 2),
            ("forward", "commit", 0, 2),
            ("forward", "model", 1, 2),
        ]
        judged = connection.execute("SELECT DISTINCT oracle, outcome IN ('pass', 'fail') FROM verdicts")
        assert judged.fetchall() == [("exact-match", 1)]
        assert connection.execute("SELECT count(*) FROM scores WHERE metric = 'unchanged'").fetchone() == (6,)
        head = str(pygit2.Repository(str(project)).head.target)
        assert connection.execute("SELECT revision FROM projects").fetchall() == [(head,)]
    connection.close()


def traces(database: Path) -> set[tuple[object, ...]]:
    """What a run made, without what differs between any two runs (ids, times)."""
    with sqlite3.connect(database) as connection:
        rows = connection.execute(
            "SELECT i.key, s.role, s.author, p.author, s.seed, s.text, v.outcome, v.detail FROM samples s"
            " JOIN items i ON i.id = s.item_id LEFT JOIN samples p ON p.id = s.parent_id"
            " LEFT JOIN last_verdicts v ON v.sample_id = s.id"
        ).fetchall()
    connection.close()
    return set(rows)


def test_a_killed_run_goes_on_with_the_same_history_after_new_commits(
    first: Path, project: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    database = tmp_path / "runs.sqlite"
    own = shutil.copytree(project, tmp_path / "project")
    arguments = ("--task", "editing", "--regions", 2, *SHORT, *model(environment), "--db", database, "--json")
    command = [str(word) for word in (sys.executable, "-m", "rtc_inspector", "run", own, *arguments)]
    pipe = subprocess.PIPE  # of one page, so that the run waits for its reader
    with subprocess.Popen(command, env=environment, stdout=pipe, text=True, pipesize=4096) as process:
        assert process.stdout is not None
        judged = (line for line in process.stdout if '"event": "verdict"' in line)
        assert next(judged)
        process.kill()
    before = traces(database)
    texts, verdicts = {row[:-2] for row in before}, {row for row in before if row[-2]}
    assert texts <= {row[:-2] for row in traces(first)}, "the last samples may not have been judged yet"
    assert verdicts and verdicts <= traces(first)
    commit(pygit2.Repository(str(own)), "# all gone\n", "Start over")
    result = run_app("run", "--resume", 1, "--db", database, "--json", environment=environment)
    assert result.returncode == 0, result.stderr
    assert traces(database) == traces(first)
    made = [line for line in result.stdout.splitlines() if '"event": "sample"' in line]
    assert len(made) == len(traces(first)) - len(before)


def test_sample_prints_what_a_run_takes(first: Path, environment: dict[str, str]) -> None:
    with sqlite3.connect(first) as connection:
        root, revision = connection.execute("SELECT root, revision FROM projects").fetchone()
        keys = [row[0] for row in connection.execute("SELECT key FROM items ORDER BY id")]
    connection.close()
    arguments = ("--task", "editing", "--revision", revision, "--regions", 2, "--json")
    result = run_app("sample", root, *arguments, environment=environment)
    assert result.returncode == 0, result.stderr
    printed = [json.loads(line) for line in result.stdout.splitlines()]
    assert [item["key"] for item in printed] == keys
    assert {"language", "change", "size"} == set(printed[0]["facets"])


def test_a_file_of_edits_needs_no_project(environment: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "edits.jsonl"
    file.write_text(json.dumps({"old": OLD, "new": OLD.replace("2 *", "3 *")}) + "\n")
    database = tmp_path / "runs.sqlite"
    arguments = ("--edits", file, *SHORT, *model(environment), "--db", database, "--json")
    result = run_app("run", *arguments, environment=environment)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout.splitlines()[-1])["items"] == 1
    file.write_text(json.dumps({"old": OLD, "new": "changed since"}) + "\n")
    again = run_app("run", "--resume", 1, "--db", database, environment=environment)
    assert again.returncode == 2
    assert "have changed since run 1 began" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--task", "editing"), "is not in a git repository"),
        (("--edits", "none.jsonl"), "cannot be read"),
        (("--task", "editing", "--since", "soon"), "is not"),
        (("--task", "editing", "--edits", "other.jsonl"), "cannot be read"),
        (("--task", "synthesis", "--edits", "none.jsonl"), "--edits is for the task editing"),
    ],
)
def test_refusals_are_two_lines(
    environment: dict[str, str], tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = run_app("sample", tmp_path, *arguments, environment=environment)
    assert result.returncode == 2
    assert words in result.stderr
    said = [line for line in result.stderr.splitlines() if not line.endswith("...")]
    assert len(said) == 2
