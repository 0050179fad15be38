"""Files of others' samples: every form that is read, and every bad line named before anything is stored."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.source.benchmark import read_samples

KEYS = ("HumanEval/0", "HumanEval/1", "MBPP/11")


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_samples_and_results_of_humaneval(tmp_path: Path) -> None:
    rows = [
        {"task_id": "HumanEval/1", "completion": "    return 1\r\n", "result": "passed", "passed": True},
        {"task_id": "HumanEval/0", "completion": "    return 2\n", "result": "failed: ", "passed": False},
        {"task_id": "HumanEval/1", "completion": "    pass\n", "result": "timed out", "passed": False},
    ]
    found = read_samples(written(tmp_path / "codex.v2_results.jsonl", rows), KEYS, verdicts=True)
    assert found.author == "codex" and list(found.programs) == ["HumanEval/1", "HumanEval/0"]
    first, third = found.programs["HumanEval/1"]
    assert (first.text, first.whole, first.passed, third.passed) == ("    return 1\n", False, True, False)


def test_samples_of_evalplus_and_mbpp(tmp_path: Path) -> None:
    rows = [
        {"task_id": "Mbpp/11", "solution": "def f(): ...", "model": "Coder-7B"},
        {"task_id": 11, "solution": "def f(): return 1", "model": "Coder-7B"},
    ]
    path = tmp_path / "samples.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    found = read_samples(path, KEYS, verdicts=False)
    assert found.author == "Coder-7B"
    assert [program.whole for program in found.programs["MBPP/11"]] == [True, True]


def test_a_folder_of_programs(tmp_path: Path) -> None:
    for name, text in (("HumanEval_0/10.py", "ten"), ("HumanEval_0/2.py", "two"), ("MBPP_11/0.py", "nought")):
        (tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "model" / name).write_text(text)
    (tmp_path / "model" / "notes.txt").write_text("not a folder")
    found = read_samples(tmp_path / "model", KEYS, verdicts=False)
    assert found.author == "model"
    assert [program.text for program in found.programs["HumanEval/0"]] == ["two", "ten"]
    with pytest.raises(ProjectError, match="no verdicts"):
        read_samples(tmp_path / "model", KEYS, verdicts=True)
    (tmp_path / "model" / "HumanEval_9").mkdir()
    with pytest.raises(ProjectError, match="HumanEval_9 is no problem of the benchmark"):
        read_samples(tmp_path / "model", KEYS, verdicts=False)


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("{nonsense", "is not JSON"),
        ([1, 2], "is not a JSON object"),
        ({"completion": "x"}, "has no `task_id`"),
        ({"task_id": "HumanEval/7", "completion": "x"}, "HumanEval/7, which the benchmark has not"),
        ({"task_id": "HumanEval/0", "code": "x"}, "has neither `completion` nor `solution`"),
        ({"task_id": "HumanEval/0", "completion": 5}, "`completion` is not a text"),
        ({"task_id": "HumanEval/0", "solution": None}, "has no `solution`"),
        ({"task_id": "HumanEval/0", "solution": "x", "passed": "yes"}, "`passed` is neither true nor false"),
        ({"task_id": True, "solution": "x"}, "has no `task_id`"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, row: Any, wrong: str) -> None:
    good = {"task_id": "HumanEval/0", "completion": "x"}
    path = written(tmp_path / "samples.jsonl", [good, row, good, row])
    with pytest.raises(ProjectError) as caught:
        read_samples(path, KEYS, verdicts=False)
    lines = caught.value.problem.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["samples.jsonl, line 2", "samples.jsonl, line 4"]
    assert all(wrong in line for line in lines)


def test_verdicts_that_are_not_there_cannot_be_trusted(tmp_path: Path) -> None:
    path = written(tmp_path / "samples.jsonl", [{"task_id": "HumanEval/0", "completion": "x"}])
    with pytest.raises(ProjectError, match="no verdict to trust"):
        read_samples(path, KEYS, verdicts=True)
    path.write_text("")
    with pytest.raises(ProjectError, match="holds no sample"):
        read_samples(path, KEYS, verdicts=False)
