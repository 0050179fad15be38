"""Whole benchmark runs against a server that answers by rule: the closed forms of RTC beside pass@k."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from chat_server import Answer, chat_server, completion

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.figures import Bars, Table
from rtc_inspector.core.generation import Role
from rtc_inspector.core.run.events import Control, Event, ItemReady, RunFinished
from rtc_inspector.core.run.pipeline import resume, start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.run.scoring import score_runs
from rtc_inspector.core.settings import (
    BenchmarkSettings,
    EndpointSettings,
    OracleSettings,
    RunSettings,
    SamplesSettings,
)
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.trips.benchmark import masked_problem, open_benchmark
from rtc_inspector.core.types import SIGNATURE, Problem
from rtc_inspector.resources import path as resource
from rtc_inspector.ui.presenters import recites

POCKET = resource("benchmark", "pocket.jsonl")
PROBLEMS = read_benchmark(POCKET).problems
MASKED = tuple(map(masked_problem, PROBLEMS))


def x(problem: Problem) -> str:
    return problem.program[problem.body.start : problem.body.end]


class Rule:
    """Describes each body by its number, and writes from a number the body it stands for.

    Attributes:
        describe: what is said of a problem.
        knows: whether code is written right from the numbered words, from the docstring, and from nothing.
    """

    def __init__(self, words: bool = True, docstring: bool = True, nothing: bool = False) -> None:
        self.describe: Callable[[int], str] = lambda number: f"This is number {number}."
        self.knows = (words, docstring, nothing)

    def __call__(self, count: int, body: dict[str, object]) -> Answer:
        question = str(body["messages"][-1]["content"])  # type: ignore[index]
        return 200, completion(self.answer(question), model="m"), {}

    def answer(self, question: str) -> str:
        masked = "def func(" in question
        problems = MASKED if masked else PROBLEMS
        words, docstring, nothing = self.knows
        if "# TODO" not in question:
            return self.describe(
                max((n for n, p in enumerate(problems) if x(p) in question), key=lambda n: len(x(problems[n])))
            )
        if found := re.search(r"This is number (\d+)", question):
            return fenced(x(problems[int(found[1])]) if words else "pass")
        named = next((p for p in PROBLEMS if f"def {p.entry}(" in question.split("# TODO")[0]), None)
        told = "as its docstring says" in question
        return fenced(x(named) if named and (docstring if told else nothing) else "pass")


def fenced(code: str) -> str:
    return f"```python\n    {code}\n```"


def run(tmp_path: Path, rule: Rule, **benchmark: object) -> tuple[RunFinished, list[Event], list[SampleRow]]:
    chosen = BenchmarkSettings(**{"file": str(POCKET), **benchmark})  # type: ignore[arg-type]
    settings = RunSettings(
        task="benchmark",
        regions=5,
        forward_samples=2,
        benchmark=chosen,
        oracle=OracleSettings(sandbox="bubblewrap", workers=1),
    )
    events: list[Event] = []
    tmp_path.mkdir(exist_ok=True)
    with chat_server(rule) as server, open_store(tmp_path / "runs.sqlite") as store:
        settings = replace(settings, endpoint=EndpointSettings(server.address))
        finished = start(settings, tmp_path, store, events.append, Control())
        asked = len(server.asked)
        assert resume(finished.run_id, store, lambda event: None, Control()).status == finished.status
        assert len(server.asked) == asked  # what is there is not made again
        rows = [row for item in store.reader.items(finished.run_id) for row in store.reader.samples(item.id)]
    return finished, events, rows


def measured(finished: RunFinished) -> dict[str, float | None]:
    return {name: finished.measures[name].value for name in ("pass@1", "rtc", "baseline", "lift")}


def test_references_as_an_echo_model(tmp_path: Path) -> None:
    finished, _, rows = run(tmp_path, Rule())
    assert finished.status == "finished", finished.problems
    assert measured(finished) == {"pass@1": 1.0, "rtc": 1.0, "baseline": 0.0, "lift": 1.0}
    written = [row for row in rows if row.author == "docstring"]
    assert len(written) == 5 and not any(row.counted for row in written)
    solved = [row for row in rows if row.role == Role.SOLVE]
    assert {row.parent_id for row in solved} == {row.id for row in written}
    assert {row.temperature for row in solved} == {0.0}


def test_its_runs_are_audited_as_whole_functions_beside_imported_samples(tmp_path: Path) -> None:
    """What the echo model wrote is the reference; an imported system's programs stand in the same columns."""
    finished, *_ = run(tmp_path, Rule())
    lines = [json.loads(line) for line in POCKET.read_text("utf-8").splitlines()]
    samples = tmp_path / "codex.jsonl"
    rows = [{"task_id": line["task_id"], "completion": "    return None\n", "passed": False} for line in lines]
    samples.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    settings = RunSettings(
        task="imported",
        benchmark=BenchmarkSettings(file=str(POCKET)),
        samples=SamplesSettings(str(samples), trusted=True),
    )
    with open_store(tmp_path / "runs.sqlite") as store:
        imported = start(settings, samples, store, lambda event: None, Control())
        runs = [finished.run_id, imported.run_id]
        score_runs(store, runs, lambda *_: None)
        for row in store.reader.candidates(finished.run_id):
            assert row.origin[SIGNATURE].startswith("def ")
            assert row.scores["codebleu:function"] == 1.0 or not row.passed
        figures = {figure.name: figure for figure in analyse(store.reader, runs, "audit")}
    systems, ties = figures["systems"], figures["ties"]
    assert isinstance(systems, Table) and [row.cells[2] for row in systems.rows] == [5, len(lines)]
    assert isinstance(ties, Bars) and len(ties.bars) >= 10, "both attempted the same problems, under the same keys"


def test_a_model_that_writes_nothing_and_one_that_needs_no_words(tmp_path: Path) -> None:
    nothing = run(tmp_path / "a", Rule(words=False, docstring=False))[0]
    assert measured(nothing) == {"pass@1": 0.0, "rtc": 0.0, "baseline": 0.0, "lift": 0.0}
    everything = run(tmp_path / "b", Rule(nothing=True))[0]
    assert measured(everything) == {"pass@1": 1.0, "rtc": 1.0, "baseline": 1.0, "lift": 0.0}


def test_a_description_that_recites_is_seen(tmp_path: Path) -> None:
    rule = Rule()
    rule.describe = lambda number: f"This is number {number}. {' '.join(x(PROBLEMS[number]).split())}"
    finished, _, rows = run(tmp_path, rule)
    assert measured(finished)["rtc"] == 1.0
    said = [row.recitation for row in rows if row.role == Role.FORWARD and row.author == "model"]
    assert max(one or 0 for one in said) == 1.0
    described = [row for row in rows if row.role == Role.FORWARD and row.author == "model"]
    assert described and all(map(recites, described)), "each is flagged where it is shown"


def test_with_masked_names_only_solutions_see_the_name(tmp_path: Path) -> None:
    finished, events, rows = run(tmp_path, Rule(nothing=True), mask_names=True, solve_samples=5)
    # From nothing, the rule writes by the function's name: masked, it does not know what is asked for.
    assert measured(finished) == {"pass@1": 1.0, "rtc": 1.0, "baseline": 0.0, "lift": 1.0}
    assert finished.measures["pass@5"].value == 1.0
    items = [event.item for event in events if isinstance(event, ItemReady)]
    assert {item.origin["function"] for item in items} == {"func"}
    assert {row.temperature for row in rows if row.role == Role.SOLVE} == {0.8}


def wrong(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    lines = POCKET.read_text().splitlines()[: len(changes)]
    rows = [json.loads(line) | {name: value} for line, (name, value) in zip(lines, changes, strict=True)]
    file = tmp_path / "own.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_reference_that_fails_and_a_problem_without_tests_are_dropped_with_the_reason(tmp_path: Path) -> None:
    file = wrong(
        tmp_path,
        ("task_id", "own/0"),
        ("canonical_solution", "    return number\n"),
        ("test", "def check(candidate):\n    assert True\n"),
        ("prompt", "import absent_library\ndef reverse_text(text):\n"),
    )
    finished, events, _ = run(tmp_path, Rule(), file=str(file))
    dropped = {event.item.key: event.item.reason for event in events if isinstance(event, ItemReady)}
    assert dropped.pop("own/0") == ""
    assert dropped["Pocket/1"].startswith("its reference does not pass its tests: one fails")
    assert dropped["Pocket/2"] == "no test calls its function"
    assert dropped["Pocket/3"] == "its program cannot be imported"
    assert finished.measures["rtc"].n == 1


def test_a_benchmark_none_of_whose_references_passes_ends_in_a_sentence(tmp_path: Path) -> None:
    file = wrong(tmp_path, ("canonical_solution", "    return None\n"))
    with pytest.raises(ProjectError, match="references of own") as refused:
        run(tmp_path, Rule(), file=str(file))
    said = refused.value.problem
    assert re.search(r"None of their 4 tests passes in every run: test [1-4] of Pocket/0 fails: ", said)
    assert "project" not in said and "p_0001" not in said, "nobody knows the project that is generated"


def test_a_reference_that_never_ends_is_named(tmp_path: Path) -> None:
    file = wrong(tmp_path, ("canonical_solution", "    while True:\n        pass\n"))
    oracle = OracleSettings(sandbox="bubblewrap", workers=1, suite_timeout=2.0)
    settings = RunSettings(task="benchmark", benchmark=BenchmarkSettings(str(file)), oracle=oracle)
    with ExitStack() as stack, pytest.raises(ProjectError) as refused:
        open_benchmark(stack, tmp_path, settings, lambda text: None, lambda *_: None)
    said = refused.value.problem
    assert re.search(
        r"own\.jsonl cannot be judged: Their own tests did not end within \d+ s in test [1-4] of Pocket/0", said
    )
