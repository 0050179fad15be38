"""Identity chains, whole: a made-up model behind a real server, real programs in a real sandbox, figures by hand."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, ChatServer, chat_server, completion

from core.analyses.registry import analyse
from core.control import Control
from core.events import RunFinished, SampleReady
from core.figures import Bars, Grid, Lines, Sentence, Table
from core.results import open_reader, open_store
from core.run.pipeline import resume, start
from core.settings import BenchmarkSettings, ChainSettings, EndpointSettings, RunSettings
from core.store.reader import Reader

PROBLEMS = [
    {
        "task_id": "Own/1",
        "prompt": 'def plus_one(number):\n    """Return the number plus one."""\n',
        "entry_point": "plus_one",
        "canonical_solution": "    return number + 1\n",
        "test": "def check(candidate):\n    assert candidate(0) == 1\n    assert candidate(1) == 2\n"
        "    assert candidate(5) == 6\n    assert candidate(-1) == 0\n",
    },
    {
        # The name stands inside other words, and is as short as a name can be (as HumanEval/106's).
        "task_id": "Own/2",
        "prompt": 'def f(offers):\n    """Return the first of the offers."""\n',
        "entry_point": "f",
        "canonical_solution": "    first = offers[0]\n    return first\n",
        "test": "def check(candidate):\n    assert candidate([3, 2]) == 3\n    assert candidate('ab') == 'a'\n",
    },
]


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(problem) + "\n" for problem in PROBLEMS))
    return path


def settings(problems: Path, server: ChatServer, **chain: Any) -> RunSettings:
    return RunSettings(
        task="chain",
        regions=2,
        endpoint=EndpointSettings(server.address, concurrency=1, attempts=1),
        benchmark=BenchmarkSettings(file=str(problems)),
        chain=ChainSettings(**{"steps": 3, **chain}),
    )


def run(problems: Path, server: ChatServer, stop_after: int | None = None, **chain: Any) -> RunFinished:
    control, seen = Control(), []

    def emit(event: object) -> None:
        if isinstance(event, SampleReady):
            seen.append(event)
            if len(seen) == stop_after:
                control.stop()

    with open_store(problems.parent / "runs.sqlite") as store:
        return start(settings(problems, server, **chain), problems.parent, store, emit, control)


def said(body: dict[str, Any]) -> tuple[str, str]:
    """What a question is, `describe` or `write`, and the code in it."""
    question = str(body["messages"][-1]["content"])
    code = re.findall(r"```python\n(.*?)\n```", question, re.DOTALL)[-1]
    return ("write" if '"""' in code else "describe"), code


RIGHT = {
    "Return the number plus one.": "    return number + 1",
    "Return the first of the offers.": "    return offers[0]",
}


def echo(number: int, body: dict[str, Any]) -> Answer:
    """Describes code by quoting it, and writes what is quoted; a person's words it follows rightly."""
    kind, code = said(body)
    if kind == "describe":
        return 200, completion(code.partition("\n")[2], model="m"), {}
    words = code.partition('"""')[2].rpartition('"""')[0]
    made = RIGHT.get(words.strip(), words.rstrip())
    return 200, completion(f"```python\n{code.partition(chr(10))[0]}\n{made}\n```", model="m"), {}


def forgetful(number: int, body: dict[str, Any]) -> Answer:
    """Counts the descriptions of the first problem and goes wrong on one of four tests from the second on."""
    kind, code = said(body)
    if "number" not in code:
        return echo(number, body)
    if kind == "describe":
        told = re.search(r"# told (\d)", code)
        return 200, completion(f"Told {int(told[1]) + 1 if told else 1} times.", model="m"), {}
    times = re.search(r"Told (\d)", code)
    told = f"  # told {times[1]}" if times else ""
    body_text = "return 7 if number == 5 else number + 1" if times and int(times[1]) >= 2 else "return number + 1"
    return 200, completion(f"```python\n{code.partition(chr(10))[0]}\n    {body_text}{told}\n```", model="m"), {}


def measures(problems: Path) -> dict[str, dict[str, float]]:
    with open_reader(problems.parent / "runs.sqlite") as reader:
        return {item.key: dict(item.measures) for item in reader.items(1)}


def test_a_model_that_repeats_the_code_keeps_its_meaning_and_is_seen_to_recite(problems: Path) -> None:
    with chat_server(echo) as server:
        finished = run(problems, server)
    assert finished.problems == ()
    assert (finished.status, finished.items) == ("finished", 2)
    assert {name: finished.measures[name].value for name in ("pass@1", "sc", "ssc", "tom", "pfm")} == dict.fromkeys(
        ("pass@1", "sc", "ssc", "tom", "pfm"), 1.0
    )
    with open_reader(problems.parent / "runs.sqlite") as reader:
        for item in reader.items(1):
            chain = reader.samples(item.id)
            assert [row.role for row in chain] == ["forward", "solve", *["forward", "backward"] * 3]
            assert [row.step for row in chain] == [0, 0, 1, 1, 2, 2, 3, 3]
            assert all(later.parent_id == row.id for row, later in itertools.pairwise(chain))
            asked = [reader.prompt(row.prompt_hash) for row in chain if row.step > 0]
            name = item.origin["function"]
            assert not any(re.search(rf"\b{name}\b", prompt) for prompt in asked), "names are masked from nl_1 on"
            assert "offers" in asked[0] or "number" in asked[0], "and nothing else is"
    recited = [row.recitation for row in chain if row.role == "forward" and row.step > 0]
    assert min(value or 0.0 for value in recited) > 0.9


def test_one_output_that_changes_at_a_step_breaks_the_chain_there(problems: Path) -> None:
    with chat_server(forgetful) as server:
        run(problems, server)
    found = measures(problems)["Own/1"]
    assert [found[f"sc_{step}"] for step in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert [found[f"ssc_{step}"] for step in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert found["tom"] == pytest.approx((1 + 3 / 4 + 1) / 3), "TOM is the share of tests with the same output"
    assert (found["pass@1"], found["sc"], found["kept"], found["steps"]) == (1.0, 0.0, 1.0, 3.0)
    assert found["pfm"] == pytest.approx(2 / 3), "passing, passing, failing, failing"


def test_a_chain_that_was_stopped_goes_on_with_the_same_texts(problems: Path) -> None:
    with chat_server(forgetful) as server:
        assert run(problems, server, stop_after=6).status == "interrupted"
        with open_store(problems.parent / "runs.sqlite") as store:
            assert resume(1, store, lambda event: None, Control()).status == "finished"
        with open_reader(problems.parent / "runs.sqlite") as reader:
            broken = [[row.text for row in reader.samples(item.id)] for item in reader.items(1)]
    (problems.parent / "runs.sqlite").unlink()
    with chat_server(forgetful) as server:
        run(problems, server)
    with open_reader(problems.parent / "runs.sqlite") as reader:
        assert [[row.text for row in reader.samples(item.id)] for item in reader.items(1)] == broken


def test_it_may_begin_with_the_reference(problems: Path) -> None:
    with chat_server(echo) as server:
        run(problems, server, start="reference", steps=1)
        assert {said(body)[0] for body in server.asked} == {"describe", "write"}
        assert len(server.asked) == 4, "no program is asked for at first"
    with open_reader(problems.parent / "runs.sqlite") as reader:
        (item, *_) = reader.items(1)
        first = next(row for row in reader.samples(item.id) if row.role == "solve")
        assert (first.author, first.text, first.counted) == ("reference", item.text, True)
    assert measures(problems)["Own/1"]["pass@1"] == 1.0


def test_the_papers_shot_is_the_first_problem_and_left_out(problems: Path) -> None:
    with chat_server(echo) as server:
        finished = run(problems, server, paper_shot=True, steps=1)
        assert all("number + 1" in json.dumps(body["messages"][:-1]) for body in server.asked)
    assert finished.items == 1
    assert list(measures(problems)) == ["Own/2"]


def test_its_figures(problems: Path) -> None:
    with chat_server(forgetful) as server:
        run(problems, server)
    with open_reader(problems.parent / "runs.sqlite") as reader:
        by_name = {figure.name: figure for figure in analyse(reader, [1])}
        _check_lines(by_name["by-step"])
        grid = by_name["tom"]
        assert isinstance(grid, Grid)
        cells = {(cell.row, cell.column): cell.value.value for cell in grid.cells}
        assert cells["Own/1", "step 2"] == 0.75 and cells["Own/2", "step 3"] == 1.0
        classes, breaks, table, summary = (by_name[name] for name in ("classes", "breaks", "table", "summary"))
        assert isinstance(classes, Bars) and isinstance(breaks, Bars) and isinstance(table, Table)
        counted = {(bar.category, bar.group): bar.value.value for bar in classes.bars}
        assert counted["step 2", "pass-fail"] == 1 and counted["step 1", "pass-pass"] == 2
        assert {bar.category: bar.value.value for bar in breaks.bars}["step 2"] == 1
        assert isinstance(summary, Sentence) and "100 %" in summary.text and "50 %" in summary.text
        _leads_to_a_sample(reader, grid)


def _check_lines(figure: object) -> None:
    assert isinstance(figure, Lines)
    values = {series.name: [point.y.value for point in series.points] for series in figure.series}
    assert values == {"SC": [1.0, 0.5, 0.5], "SSC": [1.0, 1.0, 0.5, 0.5]}


def _leads_to_a_sample(reader: Reader, grid: Grid) -> None:
    link = grid.cells[0].links[0]
    assert link.item is not None and link.sample in {row.id for row in reader.samples(link.item)}
