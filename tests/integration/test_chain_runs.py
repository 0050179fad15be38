"""Identity chains, whole: a made-up model behind a real server, real programs in a real sandbox, figures by hand."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chains import PROBLEMS, echo, forgetful, garbage, said, second, settings
from chat_server import Answer, ChatServer, chat_server, completion

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.figures import Bars, Grid, Lines, Sentence, Table
from rtc_inspector.core.metrics.output_match import Lost
from rtc_inspector.core.run.events import Control, RunFinished, SampleReady
from rtc_inspector.core.run.pipeline import resume, start
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import ChainSettings, EndpointSettings, RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.trips.protocol import Tree
from rtc_inspector.core.trips.trees import chain_of, lost_in
from rtc_inspector.core.types import Estimate, Form


def written(folder: Path) -> Path:
    path = folder / "own.jsonl"
    path.write_text("".join(json.dumps(problem) + "\n" for problem in PROBLEMS))
    return path


@pytest.fixture
def problems(tmp_path: Path, known: Path) -> Path:
    return written(tmp_path)


@pytest.fixture(scope="module")
def forgotten(tmp_path_factory: pytest.TempPathFactory, known: Path) -> Path:
    """Problems with the run of a model that forgets the first of them from the second step on."""
    problems = written(tmp_path_factory.mktemp("forgotten"))
    with chat_server(forgetful) as server:
        run(problems, server)
    return problems


def run(problems: Path, server: ChatServer, stop_after: int | None = None, **chain: Any) -> RunFinished:
    control, seen = Control(), []

    def emit(event: object) -> None:
        if isinstance(event, SampleReady):
            seen.append(event)
            if len(seen) == stop_after:
                control.stop()

    with open_store(problems.parent / "runs.sqlite") as store:
        return start(settings(problems, server, **chain), problems.parent, store, emit, control)


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


def test_one_output_that_changes_at_a_step_breaks_the_chain_there(forgotten: Path) -> None:
    found = measures(forgotten)["Own/1"]
    assert [found[f"sc_{step}"] for step in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert [found[f"ssc_{step}"] for step in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert found["tom"] == pytest.approx((1 + 3 / 4 + 1) / 3), "TOM is the share of tests with the same output"
    assert (found["pass@1"], found["sc"], found["kept"], found["steps"]) == (1.0, 0.0, 1.0, 3.0)
    assert found["pfm"] == pytest.approx(2 / 3), "passing, passing, failing, failing"


def by_chance(number: int, body: dict[str, Any]) -> Answer:
    """Writes the first problem so that one of its four tests gets another value each time it is run."""
    kind, code = said(body)
    if "number" not in code or kind == "describe":
        return forgetful(number, body)
    told = len(re.findall(r"Told", code))
    chance = "import random\n    random.seed()\n    return random.random() if number == 5 else number + 1"
    header = code.partition("\n")[0]
    return 200, completion(f"```python\n{header}\n    {chance}  # told {told}\n```", model="m"), {}


def test_a_test_that_says_two_things_about_one_program_is_left_out(problems: Path) -> None:
    with chat_server(by_chance) as server:
        assert run(problems, server, steps=1).problems == ()
    found = measures(problems)["Own/1"]
    assert (found["tom"], found["sc"], found["ssc"], found["pass@1"]) == (1.0, 1.0, 0.0, 0.0)
    with open_reader(problems.parent / "runs.sqlite") as reader:
        item = next(item for item in reader.items(1) if item.key == "Own/1")
        verdicts = [row.verdict for row in reader.samples(item.id) if row.form == Form.CODE]
        signatures = [[test.signature for test in reader.tests(each.id)] for each in verdicts if each is not None]
    assert [sorted(each) for each in signatures] == [["pass", "pass", "pass", "unstable"]] * 2


def test_a_chain_that_was_stopped_goes_on_with_the_same_texts(problems: Path, forgotten: Path) -> None:
    with chat_server(forgetful) as server:
        assert run(problems, server, stop_after=6).status == "interrupted"
        with open_store(problems.parent / "runs.sqlite") as store:
            assert resume(1, store, lambda event: None, Control()).status == "finished"
    assert _texts(problems.parent / "runs.sqlite") == _texts(forgotten.parent / "runs.sqlite")


def test_a_chain_of_five_steps_that_was_killed_goes_on_with_the_same_texts(problems: Path) -> None:
    """`kill -9` while the seventh answer is awaited: what was stored is kept, and nothing of it is asked for again."""
    database, reached, released = problems.parent / "runs.sqlite", threading.Event(), threading.Event()

    def stuck(number: int, body: dict[str, Any]) -> Answer:
        if number == 7:
            reached.set()
            released.wait(60)
        return forgetful(number, body)

    def inspector(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "rtc_inspector", "run", *words, "--db", str(database)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    with chat_server(stuck) as server:
        one = inspector(
            str(problems), "--task", "chain", "--steps", "5", "--endpoint", server.address, "--concurrency", "1"
        )
        assert reached.wait(60)
        with open_reader(database) as reader:  # the seventh may be asked for while the sixth is being stored
            end = time.monotonic() + 20
            while reader.run(1).samples < 6 + 2 and time.monotonic() < end:
                time.sleep(0.05)
            one.kill()
            one.wait()
            released.set()
            assert reader.run(1).samples == 6 + 2, "six answers and the words of two people"
        before = len(server.asked)
        assert inspector("--resume", "1").wait(120) == 0
        asked_after = len(server.asked) - before
    resumed = _texts(database)
    database.unlink()
    with chat_server(forgetful) as server:
        run(problems, server, steps=5)
        assert before - 1 + asked_after == len(server.asked), "nothing that was stored was asked for again"
    assert resumed == _texts(database)
    assert {len(texts) for texts in resumed.values()} == {12}


def _texts(database: Path) -> dict[str, list[str]]:
    with open_reader(database) as reader:
        return {item.key: [row.text for row in reader.samples(item.id)] for item in reader.items(1)}


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


def test_its_figures(forgotten: Path) -> None:
    with open_reader(forgotten.parent / "runs.sqlite") as reader:
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
        assert isinstance(summary, Sentence) and "1.00" in summary.text and "0.50" in summary.text
        _leads_to_a_sample(reader, grid)


# --------------------------------------------------------------------------- a project's own functions

COUNTING = '''"""Counting."""

import math


def doubled(number):
    """Return the number times two."""
    return number * 2


def undocumented(number):
    return number


def untested(number):
    """Return the number less one."""
    return number - 1


def unnoticed(number):
    """Return nothing of interest."""
    return math.floor(number)


class Tree:
    """A tree of numbers."""

    def __init__(self, value, *below):
        self.value, self.below = value, below

    def total(self, deeper=True):  # of all
        """Return the sum of the values.

        Those of all trees below, unless told otherwise.
        """
        if not deeper:
            return self.value
        return self.total(
            False
        ) + sum(each.value for each in self.below)
'''
TESTS = """from counting import Tree, doubled, unnoticed


def test_doubled():
    assert doubled(4) == 8


def test_doubled_text():
    assert doubled("a") == "aa"


def test_total():
    assert Tree(1, Tree(2), Tree(3)).total() == 6


def test_unnoticed():
    unnoticed(2)
"""


@pytest.fixture
def counting(tmp_path: Path) -> Path:
    root = tmp_path / "counting"
    (root / "tests").mkdir(parents=True)
    (root / "counting.py").write_text(COUNTING.replace("\n", "\r\n"), newline="")
    (root / "tests" / "test_counting.py").write_text(TESTS)
    (root / "conftest.py").write_text("")
    return root


def own_functions(server: ChatServer, **chain: Any) -> RunSettings:
    chosen = ChainSettings(**{"steps": 2, "start": "reference", **chain})
    return RunSettings(task="chain", regions=5, endpoint=EndpointSettings(server.address, attempts=1), chain=chosen)


def _run_own(root: Path, server: ChatServer, **chain: Any) -> RunFinished:
    with open_store(root.parent / "runs.sqlite") as store:
        return start(own_functions(server, **chain), root, store, lambda event: None, Control())


def test_chains_on_a_projects_own_functions(counting: Path) -> None:
    """Each in its own file under its own name and at its own depth, while models see it alone and nameless."""
    with chat_server(echo) as server:
        finished = _run_own(counting, server)
        asked = [said(body)[1] for body in server.asked]
    assert (finished.items, finished.problems) == (2, ())
    with open_reader(counting.parent / "runs.sqlite") as reader:
        items = {item.key: item for item in reader.items(1)}
        by_role = {key: [row.text for row in reader.samples(item.id)] for key, item in items.items()}
    dropped = {key: item.reason for key, item in items.items() if not item.admitted}
    assert dropped == {
        "counting.py:untested": "no test covers it",
        "counting.py:unnoticed": "deleting it changes no test result",
    }
    total = items["counting.py:Tree.total"]
    assert total.measures["pass@1"] == total.measures["sc"] == 1.0
    assert total.directive == "Return the sum of the values.\n\nThose of all trees below, unless told otherwise."
    assert total.text.startswith("if not deeper:\r\n            return self.value\r\n")
    assert not any("total" in text for text in asked)
    assert any("self.func(" in text and "def func(self, deeper=True):  # of all\n    if not" in text for text in asked)
    assert all("import math" in text for text in asked)
    assert by_role["counting.py:Tree.total"][-1].count("self.func(") == 1, "a program is stored as it was written"


def wrong_on_texts(number: int, body: dict[str, Any]) -> Answer:
    """Adds three wherever it is to write code: what the tests then say of it differs from what they said before."""
    kind, code = said(body)
    if kind == "describe":
        return 200, completion("Return the number times two.", model="m"), {}
    return 200, completion(f"```python\n{code.partition(chr(10))[0]}\n    return number + 3\n```", model="m"), {}


def test_what_a_projects_tests_say_tells_programs_apart(counting: Path) -> None:
    with chat_server(wrong_on_texts) as server:
        _run_own(counting, server)
    with open_reader(counting.parent / "runs.sqlite") as reader:
        item = next(item for item in reader.items(1) if item.key == "counting.py:doubled")
        first = next(row for row in reader.samples(item.id) if row.role == "backward")
        assert first.verdict is not None
        signatures = {test.node_id.rpartition(":")[2]: test.signature for test in reader.tests(first.verdict.id)}
    assert signatures["test_doubled"].startswith("error AssertionError: assert 7 == 8")
    assert signatures["test_doubled_text"] == 'error TypeError: can only concatenate str (not "int") to str'
    assert item.measures["sc_1"] == 0.0 and item.measures["tom"] == 0.5, "wrong from then on, and always the same"


def test_a_project_without_such_functions_is_refused(counting: Path) -> None:
    (counting / "counting.py").write_text("def doubled(number):\n    return number * 2\n")
    (counting / "tests" / "test_counting.py").write_text(
        "from counting import doubled\n\n\ndef test_doubled():\n    assert doubled(4) == 8\n"
    )
    with chat_server(echo) as server, pytest.raises(ProjectError, match="no function to make a chain of"):
        _run_own(counting, server)


# --------------------------------------------------------------------------- crossed with a second model


@pytest.mark.parametrize(
    ("describes", "writes", "lost"),
    [
        ("Told 1 times.", "return 0", Lost.WORDS),  # from better words the first model writes it right
        ("Told 9 times.", "return number + 1", Lost.CODE),  # the words said enough for somebody else
        ("Told 1 times.", "return number + 1", Lost.BETWEEN),
        ("Told 9 times.", "return 0", Lost.BOTH),
    ],
)
def test_a_second_model_tells_where_the_meaning_was_lost(
    problems: Path, describes: str, writes: str, lost: Lost
) -> None:
    with chat_server(forgetful) as server, chat_server(second(describes, writes)) as other:
        other.served = [{"id": "n", "owned_by": "test"}]
        crossed = replace(
            settings(problems, server, cross=True),
            backward_endpoint=EndpointSettings(other.address, concurrency=1, attempts=1),
        )
        with open_store(problems.parent / "runs.sqlite") as store:
            finished = start(crossed, problems.parent, store, lambda event: None, Control())
        assert {said(body)[0] for body in other.asked} == {"describe", "write"}
        assert len(other.asked) == 2, "the chain is the first model's own, and one of the two chains broke"
    assert (finished.status, finished.problems) == ("finished", ())
    with open_reader(problems.parent / "runs.sqlite") as reader:
        item = next(item for item in reader.items(1) if item.key == "Own/1")
        tree = Tree(reader.samples(item.id), reader.tests)
        assert lost_in(tree, chain_of(tree)) is lost
        assert item.measures["sc_1"] == 1.0 and item.measures["sc_2"] == 0.0, "the chain itself is as it was"
        assert item.measures["lost_in_words"] == (lost is Lost.WORDS)
        assert item.measures["lost_in_code"] == (lost is Lost.CODE)
        assert not any(name.startswith("lost") for name in next(i for i in reader.items(1) if i != item).measures)
        table = next(figure for figure in analyse(reader, [1]) if figure.name == "lost")
        assert isinstance(table, Table) and len(table.rows) == 1
        key, step, where, *toms = table.rows[0].cells
        assert (key, step, where) == ("Own/1", 2, lost.value)
        found = [tom.value for tom in toms if isinstance(tom, Estimate)]
        # `return 0` is right for one of four; words told nine times make the model go wrong as at the break.
        assert found == [0.75, 0.25 if writes == "return 0" else 1.0, 1.0 if describes == "Told 1 times." else 0.75]


def test_crossing_takes_a_second_model(problems: Path) -> None:
    with chat_server(echo) as server, pytest.raises(UserError, match="crossed with a second model"):
        run(problems, server, cross=True)


def _check_lines(figure: object) -> None:
    assert isinstance(figure, Lines)
    values = {series.name: [point.y.value for point in series.points] for series in figure.series}
    assert values == {"SSC": [1.0, 1.0, 0.5, 0.5], "SC": [1.0, 0.5, 0.5]}


def test_programs_that_do_not_parse_are_not_consistent(problems: Path) -> None:
    """The paper's SC of them is 1: it stays, beside a headline of 0, and every face names such chains."""
    with chat_server(garbage) as server:
        finished = run(problems, server, steps=2)
    values = {name: score.value for name, score in finished.measures.items()}
    assert (values["ssc"], values["sc"], values["sc_parsing"], values["none_parses"]) == (0.0, 1.0, None, 1.0)
    with open_reader(problems.parent / "runs.sqlite") as reader:
        row, items = reader.run(1), reader.items(1)
        by_name = {figure.name: figure for figure in analyse(reader, [1])}
    assert row.headline.value == 0.0
    assert row.remarks == [
        "no program of the chain parses: 2 of 2 problems",
        "of 10 answers 1.00 code that does not parse; are they read rightly?",
    ]
    assert {(item.headline, item.tally) for item in items} == {(0.0, "0/2")}
    assert by_name["scores"].note.startswith("No program of the chain parses: 2 of 2 problems. Of 10 answers")
    grid, breaks, table, summary = (by_name[name] for name in ("tom", "breaks", "table", "summary"))
    assert isinstance(grid, Grid) and {(cell.value.value, cell.text) for cell in grid.cells} == {(None, "no parse")}
    assert not any(cell.tone == "good" for cell in grid.cells)
    assert isinstance(breaks, Bars) and {bar.category for bar in breaks.bars if bar.value.value} == {"none parses"}
    assert isinstance(table, Table) and table.rows[0].cells[-1] == 2
    assert isinstance(summary, Sentence) and "Of 2 of 2 chains no program parses" in summary.text
    told = subprocess.run(
        [sys.executable, "-m", "rtc_inspector", "runs", "--db", str(problems.parent / "runs.sqlite")],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "SSC 0.00" in told and "SC 1.00" in told and "no program of the chain parses: 2 of 2" in told


def _leads_to_a_sample(reader: Reader, grid: Grid) -> None:
    link = grid.cells[0].links[0]
    assert link.item is not None and link.sample in {row.id for row in reader.samples(link.item)}
