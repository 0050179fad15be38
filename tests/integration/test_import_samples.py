"""Samples of others' systems as runs: judged here or trusted, gone on with, and audited beside each other."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rtc_inspector.app.cli import main
from rtc_inspector.core.generation import Role
from rtc_inspector.core.run.events import Control, Event, Progress
from rtc_inspector.core.run.pipeline import resume
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.resources import path as resource

POCKET = resource("benchmark", "pocket.jsonl")
ROWS = [json.loads(line) for line in POCKET.read_text("utf-8").splitlines()]
PROBLEMS = read_benchmark(POCKET).problems
SKIPPED = 3
"""A problem that no system attempts."""


def samples(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def completions() -> list[dict[str, Any]]:
    """Of each problem the reference, and a program that does nothing."""
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(ROWS):
        if number != SKIPPED:
            right = {"task_id": row["task_id"], "completion": row["canonical_solution"], "passed": True}
            rows += [right, {"task_id": row["task_id"], "completion": "    return None\n", "passed": False}]
    return rows


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run 1: completions judged here. Run 2: the same, trusted. Run 3: whole programs judged here."""
    folder = tmp_path_factory.mktemp("imported")
    plain = samples(folder / "codex.jsonl", completions())
    solutions = [
        {"task_id": row["task_id"], "solution": f"import os\n\n{row['prompt']}{row['canonical_solution']}\n\nx = 1\n"}
        for number, row in enumerate(ROWS)
        if number != SKIPPED
    ]
    solutions[1]["solution"] = "```python\nno program ("
    whole = samples(folder / "plus.jsonl", solutions)
    shared = ["--benchmark", str(POCKET), "--db", str(folder / "runs.db"), "--json"]
    assert main(["import-samples", str(plain), *shared]) == 0
    assert main(["import-samples", str(plain), "--trust-verdicts", "--name", "told", *shared]) == 0
    assert main(["import-samples", str(whole), *shared]) == 0
    return folder / "runs.db"


def test_completions_are_judged_as_the_benchmark_does(database: Path) -> None:
    with open_reader(database) as reader:
        run = reader.run(1)
        assert (run.task, run.model_name, run.status) == ("imported", "codex", "finished")
        assert run.scores["pass@1"].value == pytest.approx(0.5) and run.scores["pass@1"].n == len(ROWS) - 1
        assert f"codex did not attempt 1 of {len(ROWS)} problems." in run.problems
        items = reader.items(1)
        absent = [item for item in items if not item.admitted]
        assert [(item.key, item.reason) for item in absent] == [(ROWS[SKIPPED]["task_id"], "not attempted")]
        for item in items:
            for sample in reader.samples(item.id):
                passed = sample.verdict is not None and sample.verdict.outcome == "pass"
                assert passed == (sample.index == 0), (item.key, sample.verdict)
                assert (sample.author, sample.role, sample.counted) == ("codex", Role.SOLVE, True)
                assert sample.raw_text in [row["completion"] for row in completions()]


def test_the_function_by_itself_is_what_is_shown_and_compared(database: Path) -> None:
    with open_reader(database) as reader:
        for run_id, how in ((1, "completion"), (3, "solution")):
            for item in reader.items(run_id):
                assert item.text.startswith("def ") and '"""' not in item.text
                right = [s for s in reader.samples(item.id) if s.index == 0 and "no program" not in s.raw_text]
                for sample in right:
                    assert sample.text.strip() == item.text.strip() and sample.extraction_steps == (how,)
                    assert sample.scores["edit_sim"] == pytest.approx(1.0, abs=0.02)


def test_the_file_s_verdicts_are_taken_on_request(database: Path) -> None:
    with open_reader(database) as reader:
        verdicts = [
            [(s.verdict.outcome, s.text) for item in reader.items(run) for s in reader.samples(item.id) if s.verdict]
            for run in (1, 2)
        ]
        assert [text for _, text in verdicts[0]] == [text for _, text in verdicts[1]]
        assert [(outcome == "pass") for outcome, _ in verdicts[0]] == [outcome == "pass" for outcome, _ in verdicts[1]]
        run = reader.run(2)
        assert (run.model_name, run.sandbox) == ("told", "samples file")


def test_what_is_no_program_fails_and_keeps_its_text(database: Path) -> None:
    with open_reader(database) as reader:
        rows = {item.key: reader.samples(item.id) for item in reader.items(3)}
        (bad,) = rows[ROWS[1]["task_id"]]
        assert bad.verdict is not None and bad.verdict.outcome == "syntax-error"
        assert reader.run(3).scores["pass@1"].value == pytest.approx(1 - 1 / (len(ROWS) - 1))


def test_imported_systems_are_audited_beside_each_other(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "audit.html"
    words = ["analyse", "1", "2", "3", "--kind", "audit", "--db", str(database)]
    assert main([*words, "--json", "--html", str(page)]) == 0
    figures = {each["figure"]: each for each in map(json.loads, capsys.readouterr().out.splitlines())}
    assert "tells pass from fail with AUC 1.00" in figures["summary"]["data"]["text"]
    systems = [row["cells"][:4] for row in figures["systems"]["data"]["rows"]]
    many = len(ROWS) - 1
    assert systems == [
        ["codex, run 1", 2 * many, many, 1],
        ["told, run 2", 2 * many, many, 1],
        ["plus, run 3", many, many, 1],
    ]
    shown = unescape(page.read_text("utf-8"))
    assert [figure["title"] for figure in figures.values() if figure["title"] not in shown] == []
    assert main([*words, "--json"]) == 0
    again = {each["figure"]: each for each in map(json.loads, capsys.readouterr().out.splitlines())}
    assert again == figures, "and nothing is computed twice"


def test_an_import_that_was_stopped_goes_on(tmp_path: Path) -> None:
    path = samples(tmp_path / "codex.jsonl", completions())
    database = tmp_path / "runs.db"
    words = ["import-samples", str(path), "--benchmark", str(POCKET), "--trust-verdicts", "--db", str(database)]
    assert main([*words, "--json"]) == 0
    with open_store(database) as store:
        store._db.execute("DELETE FROM samples WHERE id > 9")
        store._db.execute("UPDATE items SET done = 0")
        before = [sample.id for item in store.reader.items(1) for sample in store.reader.samples(item.id)]
        seen: list[Event] = []
        finished = resume(1, store, seen.append, Control())
        assert finished.status == "finished"
        after = [sample.id for item in store.reader.items(1) for sample in store.reader.samples(item.id)]
        assert before == after[: len(before)] and len(after) == len(completions())
        last = [event for event in seen if isinstance(event, Progress) and event.stage == "samples"][-1]
        assert (last.done, last.total) == (len(after), len(after))


def test_what_is_missing_or_wrong_is_said_in_two_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = samples(tmp_path / "codex.jsonl", [{"task_id": "HumanEval/999", "completion": "x"}])
    assert main(["import-samples", str(path)]) == 2
    assert "No benchmark was named." in capsys.readouterr().err
    words = ["--benchmark", str(POCKET), "--db", str(tmp_path / "runs.db")]
    assert main(["import-samples", str(path), *words]) == 2
    assert "codex.jsonl, line 1: has the `task_id` HumanEval/999" in capsys.readouterr().err
    assert main(["import-samples", str(tmp_path / "none.jsonl"), *words]) == 2
    assert "cannot be read" in capsys.readouterr().err
