"""Benchmark files on the command line: what is taken for one, and how bad ones end."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from rtc_inspector.app import running
from rtc_inspector.app.cli import build_parser, main
from rtc_inspector.app.looking import _print_items
from rtc_inspector.app.options import sampling_settings
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.settings import BenchmarkSettings, RunSettings
from rtc_inspector.core.types import Item, Span
from rtc_inspector.resources import path as resource

UNTESTED = (
    '{"task_id": "a", "prompt": "def f():\\n", "entry_point": "f", "canonical_solution": "    return 1\\n",'
    ' "test": "def check(candidate):\\n    assert True\\n"}'
)


def settings(*words: str) -> RunSettings:
    options: argparse.Namespace = build_parser().parse_args(["run", *words])
    return sampling_settings(options)


def test_a_benchmark_file_in_the_place_of_a_project_says_what_task_it_is(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.touch()
    chosen = settings(str(file), "--solve-samples", "10", "--mask-names")
    assert chosen.task == "benchmark"
    assert chosen.benchmark == BenchmarkSettings(str(file.resolve()), solve_samples=10, mask_names=True)
    assert chosen.benchmark == RunSettings.from_json(chosen.to_json()).benchmark
    assert settings("--benchmark", "humaneval").benchmark.file == "humaneval"
    assert settings(str(tmp_path)).task == "synthesis"
    with pytest.raises(UserError, match="A benchmark file is for the task benchmark"):
        settings(str(file), "--task", "editing")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no problem"),
        ('{"task_id": "a"}\n[]\n', "line 1: is no problem of a benchmark"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_file_is_refused_before_anything_runs(
    tmp_path: Path, text: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, database = tmp_path / "own.jsonl", tmp_path / "runs.sqlite"
    if text is not None:
        file.write_text(text)
    assert main(["run", str(file), "--task", "benchmark", "--db", str(database)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "task", "text", "said"),
    [
        ("own.jsonl", "benchmark", "{", "line 1: is not JSON"),
        ("own.jsonl", "benchmark", UNTESTED, "No problem of own.jsonl can be used: a: no test calls its function."),
        ("own.jsonl", "chain", "{", "line 1: is not JSON"),
        ("own.ipynb", "notebook", "{", "own.ipynb is not JSON"),
        (
            "own.ipynb",
            "notebook",
            '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "%time x"}]}',
            "No cell of own.ipynb can be judged: own.ipynb:1: it holds commands of the notebook",
        ),
        ("arcade.json", "notebook", '[{"turns": []}]', "has no `turns` in episode 1"),
    ],
)
def test_a_bad_file_costs_no_loading_of_a_model(
    tmp_path: Path, name: str, task: str, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model that is named does not even exist: the file is what is complained of."""
    file = tmp_path / name
    file.write_text(text)
    words = ["run", str(file), "--task", task, "--model", str(tmp_path / "none.gguf"), "--db", str(tmp_path / "r")]
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("task", "said"), [("benchmark", "No benchmark was named"), ("notebook", "No notebook was")])
def test_a_method_that_needs_a_file_asks_for_that(task: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--task", task]) == 2
    assert said in capsys.readouterr().err


def test_drawn_problems_are_listed_by_their_keys(capsys: pytest.CaptureFixture[str]) -> None:
    """Their files were written for the run: nobody has seen them."""
    problem = Item("HumanEval/7", "problem", "problems/p_0008.py", Span(30, 40), 3, 4, "return 1\n")
    _print_items([problem, replace(problem, kind="region", path="shop/cart.py")], "problem")
    said = capsys.readouterr().out
    assert "HumanEval/7" in said and "p_0008" not in said
    assert "shop/cart.py:3-4" in said


def test_a_folder_stands_for_its_own_functions_where_a_method_takes_them(tmp_path: Path) -> None:
    assert settings(str(tmp_path), "--task", "chain").benchmark.file is None
    assert settings(str(tmp_path), "--task", "notebook").benchmark.file == str(tmp_path)
    file = tmp_path / "arcade.json"
    file.write_text('[{"turns": [{"turn": {"code": {"value": "1"}}}]}]')
    assert settings(str(file)).task == "notebook"


@pytest.mark.parametrize(
    ("words", "file"), [((), ""), (("--task", "benchmark"), "pocket.jsonl"), (("--task", "notebook"), "tour.ipynb")]
)
def test_a_demonstration_in_the_window_opens_on_what_it_runs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], file: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(running, "has_screen", lambda: True)
    opened: list[Path] = []

    def show(project: Path, database: Path, settings: RunSettings) -> int:
        opened.append(project)
        return 0

    monkeypatch.setattr(running, "show", show)
    assert main(["demo", *words, "--db", str(tmp_path / "runs.sqlite")]) == 0
    assert Path(origin_of(opened[0]).file).name == file
    assert file or opened == [resource("demo")]


@pytest.mark.parametrize("given", ["-1", "3", "warm"])
def test_a_temperature_is_a_number(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        settings("--benchmark", "humaneval", "--solve-temperature", given)
    assert "is not a number from 0 to 2" in capsys.readouterr().err
