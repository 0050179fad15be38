"""Directives: reading files of them, taking words out of programs, and the statistics of two judges."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from factories import model_info, suite

from rtc_inspector.app.cli import build_parser
from rtc_inspector.app.options import sampling_settings
from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.comparison.compare import compare_runs
from rtc_inspector.core.comparison.comparison import verdict
from rtc_inspector.core.errors import ModelError, ProjectError, UserError
from rtc_inspector.core.figures import Column, Figure, Histogram, Lines, Sentence, Table
from rtc_inspector.core.generation import Extraction, Prompt, Role, Sample
from rtc_inspector.core.kinds import TASKS, project_of
from rtc_inspector.core.metrics.paired import TwoByTwo
from rtc_inspector.core.metrics.validity import auc, by_cluster, curve, youden
from rtc_inspector.core.models.function_prompts import TOO_LONG, summary_prompt, whole_program_prompt, write_prompt
from rtc_inspector.core.oracle.bench.project import node_ids, without_binding
from rtc_inspector.core.rewrites.names import without_comments
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import BenchmarkSettings, DirectiveSettings, RunSettings
from rtc_inspector.core.source.directives import by_hand, holds_directives, read_directives, without_examples
from rtc_inspector.core.trips.directive import drawn, file_problem
from rtc_inspector.core.types import Estimate, Form, Item, Outcome, Span, Verdict
from rtc_inspector.resources import path as resource

ADD = {"id": "add", "directive": "Add two numbers.", "header": "def add(a, b):", "tests": ["assert add(1, 2) == 3"]}


def written(folder: Path, *rows: object, name: str = "own.jsonl") -> Path:
    path = folder / name
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


# --------------------------------------------------------------------------- files


def test_a_line_becomes_a_program_with_a_hole(tmp_path: Path) -> None:
    prelude = "import os\nLIMIT = 3"
    path = written(
        tmp_path,
        {**ADD, "prelude": prelude},
        {"directive": "Say hello."},
        {**ADD, "id": 7, "reference": "return a + b"},
    )
    add, hello, solved = read_directives(path).every
    assert (add.key, hello.key, solved.key) == ("add", "line 2", "7")
    assert add.problem.program == "import os\nLIMIT = 3\n\n\ndef add(a, b):\n    pass\n"
    assert (add.header, add.tested, add.solved, hello.header, hello.tested) == (
        "def add(a, b):",
        True,
        False,
        "",
        False,
    )
    assert hello.problem.program == "pass\n" and hello.problem.asked == "# Say hello.\npass\n"
    assert solved.problem.program == "def add(a, b):\n    return a + b\n" and solved.solved
    for each in (add, hello, solved):
        problem = each.problem
        assert problem.program[problem.body.start : problem.body.end] in ("pass", "return a + b")
        assert problem.asked[problem.asked_body.start : problem.asked_body.end] in ("pass", "return a + b")
    assert '"""Add two numbers."""' in add.problem.asked
    assert "UNWRITTEN as candidate" in file_problem(add).program and file_problem(add).entry == "candidate"
    assert "rtc_recording" not in without_binding(file_problem(add).program), "people see their own code"
    assert file_problem(solved).entry == "add"


@pytest.mark.parametrize(
    ("tests", "count"),
    [
        (["assert add(1, 2) == 3", "assert add(0, 0) == 0"], 2),
        ("small = 1\nassert add(small, 2) == 3\nassert add(0, 0) == 0", 2),
        ("text = '''a\n  b'''\nassert add(text, 'c') == 'a\\n  bc'", 1),
        ("def check(candidate):\n    assert candidate(1, 2) == 3\n", 1),
    ],
)
def test_tests_may_be_asserts_or_a_check(tmp_path: Path, tests: object, count: int) -> None:
    (add,) = read_directives(written(tmp_path, {**ADD, "tests": tests})).every
    assert len(node_ids(file_problem(add))) == count


def test_plain_text_holds_a_directive_a_line(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeffAdd two numbers.\r\n\r\n  Say “hello”.  ".encode())
    assert [(each.key, each.words) for each in read_directives(path).every] == [
        ("line 1", "Add two numbers."),
        ("line 3", "Say “hello”."),
    ]


def test_a_benchmark_is_a_file_of_directives(tmp_path: Path) -> None:
    every = read_directives(resource("benchmark", "pocket.jsonl")).every
    assert len(every) == 16 and all(each.tested and each.solved for each in every)
    first = every[0]
    assert (first.words, first.header) == ("Return the sum of a and b.", "def add(a, b):")
    assert not any(">>>" in each.words for each in every) and all(each.words for each in every)
    code = "import functools\n\n\n@functools.cache\ndef double(n):\n    return 2 * n\n"
    (mbpp,) = read_directives(
        written(tmp_path, {"task_id": 1, "text": "Double it.", "code": code, "test_list": ["assert double(2) == 4"]})
    ).every
    assert mbpp.header == "@functools.cache\ndef double(n):"


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("Add them.\n>>> add(1, 2)\n3", "Add them."),
        ("Add them.\n\n    Examples:\n    add(1, 2) is 3", "Add them."),
        ("Add them.\nFor example:\nadd(1, 2) == 3", "Add them."),
        ("Add the examples of the list.", "Add the examples of the list."),
        ("Add them.\n\nadd(1, 2) == 3\nadd(0, 0) ➞ 0", "Add them."),
        (">>> add(1, 2)\n3", ">>> add(1, 2)\n3"),
    ],
)
def test_examples_are_no_part_of_a_directive(words: str, left: str) -> None:
    assert without_examples(words, "add") == left


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"directive": "  "}, "`directive` is empty"),
        ({"directive": "a\0b"}, "`directive` holds a NUL character"),
        ({"directive": 3}, "`directive` is not a text"),
        ({**ADD, "header": "add two"}, "`header` is no `def` line"),
        ({**ADD, "header": "class Add:"}, "`header` is no `def` line"),
        ({**ADD, "header": "def add(a, b): return 1"}, "`header` is no `def` line"),
        ({**ADD, "header": ""}, "has `tests` but no `header`"),
        ({**ADD, "prelude": "import ("}, "`prelude` is not Python"),
        ({**ADD, "tests": ["assert ("]}, "`tests` is not Python"),
        ({**ADD, "tests": 3}, "`tests` is neither a text nor a list of texts"),
        ({**ADD, "reference": "return ("}, "`reference` is not Python"),
        ({**ADD, "id": []}, "`id` is neither a text nor a whole number"),
        ("{", "is not JSON"),
        ([1], "is not a JSON object"),
    ],
)
def test_every_bad_line_is_named(tmp_path: Path, row: object, said: str) -> None:
    with pytest.raises(ProjectError) as raised:
        read_directives(written(tmp_path, {"directive": "Fine."}, row, "null"))
    first, second = raised.value.problem.split("\n")
    assert first.startswith(f"own.jsonl, line 2: {said}"), first
    assert second == "own.jsonl, line 3: is not a JSON object."


def test_names_are_unique_and_files_hold_something(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="line 2: has the `id` add that line 1 has"):
        read_directives(written(tmp_path, ADD, ADD))
    for name, data in (("a.txt", b"\n \n"), ("b.jsonl", b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ProjectError, match="holds no directive"):
            read_directives(tmp_path / name)
    (tmp_path / "c.txt").write_bytes(b"caf\xe9")
    with pytest.raises(ProjectError, match="is not UTF-8 text"):
        read_directives(tmp_path / "c.txt")
    (tmp_path / "d.txt").write_bytes(b"a\0b")
    with pytest.raises(ProjectError, match="NUL"):
        read_directives(tmp_path / "d.txt")
    with pytest.raises(ProjectError, match="cannot be read"):
        read_directives(tmp_path / "none.txt")


def test_a_file_of_directives_brings_its_task(tmp_path: Path) -> None:
    own, text = written(tmp_path, ADD), written(tmp_path, "Add two numbers.", name="own.txt")
    packed = tmp_path / "own.jsonl.gz"
    packed.write_bytes(gzip.compress(own.read_bytes()))
    damaged = written(tmp_path, "no gzip", name="bad.jsonl.gz")
    pocket = resource("benchmark", "pocket.jsonl")
    assert [holds_directives(each) for each in (own, text, packed)] == [True] * 3
    assert [holds_directives(each) for each in (pocket, damaged, tmp_path, tmp_path / "none.txt")] == [False] * 4
    for file, task in ((own, "directive"), (text, "directive"), (pocket, "benchmark")):
        options = build_parser("run").parse_args(["run", str(file)])
        settings = sampling_settings(options)
        assert (settings.task, settings.benchmark.file) == (task, str(file))
    chosen = build_parser("run").parse_args(["run", str(pocket), "--task", "directive"])
    assert sampling_settings(chosen).task == "directive"
    with pytest.raises(UserError, match="A file of directives is for the task directive"):
        sampling_settings(build_parser("run").parse_args(["run", str(own), "--task", "chain"]))
    words = build_parser("run").parse_args(["run", "--directive", "Add.", "--header", "def add(a, b):"])
    settings = sampling_settings(words)
    assert (settings.task, settings.directive.words, settings.directive.header) == (
        "directive",
        "Add.",
        "def add(a, b):",
    )
    assert project_of(settings, None) == Path.cwd()
    with pytest.raises(UserError, match="--directive is for the task directive"):
        sampling_settings(build_parser("run").parse_args(["run", "--directive", "Add.", "--task", "editing"]))


def test_written_by_hand_it_is_read_as_a_line_is() -> None:
    (only,) = by_hand("Add.", "def add(a, b):", "assert add(1, 2) == 3").every
    assert (only.words, only.tested) == ("Add.", True)
    with pytest.raises(ProjectError, match="What was written cannot be used: `directive` is empty"):
        by_hand(" ")
    assert by_hand("Add.").fingerprint != by_hand("Add!").fingerprint


def test_our_own_six() -> None:
    every = read_directives(resource("directives", "six.jsonl")).every
    assert len(every) == 6 and all(each.tested and each.solved for each in every)
    for each in every:
        space: dict[str, Any] = {}
        exec(each.problem.program, space)  # noqa: S102
        for source in each.problem.asserts:
            exec(source, space)  # noqa: S102


# --------------------------------------------------------------------------- what is shown and asked


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ('def f(x):\n    """Do.\n\n    More."""  # why\n    # c\n    return x  # d\n', "def f(x):\n    return x"),
        ('def f(x):\n    """Do."""\n', "def f(x):\n    pass"),
        ('def f(x):\n    y = """a\n    # no comment\n\n"""\n    return "# no"', None),
        (
            "class A:\n    'text'\n    def f(self):\n        'text'\n        return 1",
            "class A:\n    def f(self):\n        return 1",
        ),
        ('def f(x):\n    """Do.\n    # c\n    return (', "def f(x):\n"),
        ("def f(x):\n    # c\n    return (", "def f(x):\n    return ("),
        ("", ""),
    ],
)
def test_what_is_said_to_people_is_taken_out_of_code(source: str, left: str | None) -> None:
    assert without_comments(source) == (source if left is None else left)


def fits(prompt: Prompt) -> bool:
    return True


@pytest.mark.parametrize("style", ["chat", "completion", "code"])
def test_the_summary_sees_the_code_and_the_program_the_words(style: str) -> None:
    asked = write_prompt("import os\n\n\ndef size(path):", "Tell the size.", fits, style)
    text = "\n".join(message.content for message in asked.messages)
    assert "import os" in text and '"""Tell the size."""' in text
    whole = whole_program_prompt("", "Tell the size.", fits, style)
    assert "Tell the size." in whole.messages[-1].content
    summary = summary_prompt("def size(path):\n    return 1", fits, style)
    end = "\n# In words:" if style == "code" else "\n```"
    assert summary.messages[-1].content.endswith(f"def size(path):\n    return 1{end}")
    for ask in (
        lambda: write_prompt("def size(path):", "Tell.", lambda prompt: False, style, what=TOO_LONG),
        lambda: whole_program_prompt("", "Tell.", lambda prompt: False, style),
    ):
        with pytest.raises(ModelError, match="A directive, with the code above its function, does not fit"):
            ask()
    with pytest.raises(ModelError, match="A program to be summarised does not fit"):
        summary_prompt("def f(): pass", lambda prompt: False, style)


def test_one_program_at_temperature_0() -> None:
    assert len(drawn(DirectiveSettings())) == 21
    assert drawn(DirectiveSettings(temperatures=(0.0, 0.5), draws=2)) == [0.0, 0.5, 0.5]
    assert TASKS["directive"].samples(RunSettings(task="directive")) == {Role.SOLVE: 21, Role.FORWARD: 63}


# --------------------------------------------------------------------------- two judges


def test_the_papers_table_proves_nothing() -> None:
    """CWE-20: 20 of 25 pass, 20 of 25 are similar, and no failure in common."""
    table = TwoByTwo(15, 5, 5, 0)
    assert (table.n, table.first, table.second, table.neither) == (25, 20, 20, 0)
    assert table.agreement == 0.6
    assert table.phi == pytest.approx(-0.25) and table.kappa == pytest.approx(-0.25)
    assert table.expected_overlap == 1.0
    assert table.overlap_p == pytest.approx(0.2918, abs=5e-5)
    assert table.fisher_p == pytest.approx(0.544, abs=5e-4)


def test_a_judge_that_says_one_thing_correlates_with_nothing() -> None:
    everything = TwoByTwo.of([(True, True)] * 25)  # CWE-79
    assert everything.agreement == 1.0
    assert everything.phi is everything.kappa is everything.fisher_p is None
    assert TwoByTwo.of([]).agreement is None and TwoByTwo.of([]).overlap_p is None
    alike = TwoByTwo.of([(True, True), (False, False)] * 3)
    assert (alike.phi, alike.kappa) == (1.0, 1.0)
    assert alike.overlap_p == pytest.approx(1 / 20), "three of three in common, of six: by chance once in C(6, 3)"


def test_a_cosine_that_tells_all_has_its_threshold_between() -> None:
    scored = [(0.2, False), (0.3, False), (0.7, True), (0.9, True)]
    assert youden(scored) == 0.5
    assert [point[:2] for point in curve(scored)] == [(0, 0), (0, 0.5), (0, 1), (0.5, 1), (1, 1)]
    assert curve([(0.5, True)]) == [] and youden([(0.5, True)]) is None
    assert youden([(0.2, True), (0.8, False)]) is None, "the wrong way round no threshold helps"
    tied = [(0.5, True), (0.5, False), (0.5, True)]
    assert [point[:2] for point in curve(tied)] == [(0, 0), (1, 1)]


def test_the_area_under_the_curve_is_the_auc() -> None:
    scored = [(n * 37 % 101 / 101, n * 53 % 7 > 3) for n in range(60)]
    points = curve(scored)
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points))
    assert area == pytest.approx(auc([value for value, _ in scored], [passed for _, passed in scored]))


def test_intervals_resample_whole_directives() -> None:
    def area(scored: Any) -> float | None:
        return auc([value for value, _ in scored], [passed for _, passed in scored])

    telling = [(0.1, False), (0.9, True)] * 5
    misleading = [(0.1, True), (0.9, False)] * 5
    assert by_cluster([telling] * 4, area) is None, "what every draw says alike is no certainty"
    low, high = by_cluster([telling, telling, telling, misleading], area) or (0.0, 0.0)
    assert low < 0.6 and high == 1.0
    assert by_cluster([telling], area) is None
    assert by_cluster([[(0.1, True)]] * 5, area) is None


# --------------------------------------------------------------------------- figures


def stored(database: Path, made: dict[str, list[tuple[float, bool | None, list[float | None]]]], **chosen: Any) -> int:
    """A run whose programs have these temperatures, verdicts and cosines of their summaries; the id of the run."""
    settings = RunSettings(
        task="directive",
        benchmark=BenchmarkSettings(file="own.jsonl"),
        directive=DirectiveSettings(embedder_name="tiny-embedder", **chosen),
    )
    with open_store(database) as store:
        project = store.add_project(database.parent, "own", None, False)
        info = model_info("m")
        run_id = store.start_run(
            project, settings, info, info, sandbox="tests/bubblewrap", image_digest="", app_version="1",
            fingerprint="f", suite=suite(),
        )  # fmt: skip
        for key, programs in made.items():
            item = Item(key, "directive", "", Span(0, 0), 1, 1, f"Do {key}.", form=Form.TEXT, directive=f"Do {key}.")
            item_id = store.add_item(run_id, item)
            cosines = [mean(known) for each in programs if (known := [c for c in each[2] if c is not None])]
            if cosines:
                store.set_measures(item_id, {"cosine": mean(cosines)}, done=True)
            for index, (heat, passes, cosines) in enumerate(programs):
                program = store.add_sample(item_id, None, sample(Role.SOLVE, index, f"return {key!r}, {index}", heat))
                if passes is not None:
                    outcome = Outcome.PASS if passes else Outcome.FAIL
                    store.add_verdict(program, Verdict(outcome, 0.1, detail="As told."))
                for place, cosine in enumerate(cosines):
                    words = "" if cosine is None else f"It does {key}."
                    summary = store.add_sample(item_id, program, sample(Role.FORWARD, place, words, 0.0))
                    if cosine is not None:
                        store.add_scores(summary, {"cosine": cosine})
        store.finish_run(run_id, "finished", [])
    return run_id


def sample(role: Role, index: int, text: str, heat: float) -> Sample:
    return Sample(role, index, "asked", 0, heat, text, Extraction(text), 1, 1, 0.1, "stop")


def figures(database: Path, run_id: int) -> dict[str, Figure]:
    with open_reader(database) as reader:
        return {figure.name: figure for figure in analyse(reader, [run_id], "directive")}


def value(table: Figure, name: str, column: int = 1) -> float | None:
    assert isinstance(table, Table) and isinstance(table.columns[column], Column)
    cell = next(row.cells[column] for row in table.rows if row.cells[0] == name)
    assert cell is None or isinstance(cell, Estimate | float | int)
    return cell.value if isinstance(cell, Estimate) else cell


PAPER = [
    *[(1.0, True, [0.8])] * 15,
    *[(1.0, True, [0.7])] * 5,
    *[(1.0, False, [0.8])] * 5,
]


def test_the_papers_run_gives_the_papers_figures(tmp_path: Path) -> None:
    found = figures(tmp_path / "r.sqlite", stored(tmp_path / "r.sqlite", {"CWE-20": PAPER}))
    table = found["table"]
    assert isinstance(table, Table)
    assert [row.cells[1:] for row in table.rows] == [(15, 5), (5, 0)] * 2
    agreement = found["agreement"]
    assert value(agreement, "Agreement") == pytest.approx(0.6)
    assert value(agreement, "Phi") == pytest.approx(-0.25) == value(agreement, "Cohen's kappa")
    assert (value(agreement, "Failures in common"), value(agreement, "Expected by chance")) == (0, 1.0)
    assert value(agreement, "Chance of that overlap") == pytest.approx(0.2918, abs=5e-5)
    assert value(agreement, "Fisher's exact p") == pytest.approx(0.544, abs=5e-4)
    threshold = found["threshold"]
    assert isinstance(threshold, Sentence)
    assert threshold.text == "Too few to choose a threshold: 20 pass and 5 fail, and it takes 10 of each."
    assert all("tiny-embedder" in found[name].note for name in ("table", "agreement", "temperature", "cosines", "roc"))
    summary = found["summary"]
    assert isinstance(summary, Sentence)
    assert "20 of 25 pass their tests, 20 reach a cosine of 0.75; both say the same of 15." in summary.text
    read = {name: found[name] for name in ("similar-failing", "passing-dissimilar")}
    assert {name: len(table.rows) for name, table in read.items() if isinstance(table, Table)} == dict.fromkeys(read, 5)


def test_the_mean_cosine_is_the_one_that_the_run_itself_has(tmp_path: Path) -> None:
    """Over directives: one with a single program counts as much as one with three."""
    database = tmp_path / "r.sqlite"
    made = {"a": [(0.5, True, [0.9])], "b": [(0.5, n == 1, [n / 10]) for n in range(1, 4)], "c": [(0.5, True, [0.7])]}
    run_id = stored(database, made)
    with open_store(database) as store:
        cosine = store.reader.run(run_id).scores["cosine"]
    summary = figures(database, run_id)["summary"]
    assert isinstance(summary, Sentence) and cosine.value == pytest.approx(0.6)
    assert f"The mean cosine over directives is 0.60 ({cosine.low:.2f} to {cosine.high:.2f})." in summary.text


def test_equal_programs_count_once_but_in_the_papers_table(tmp_path: Path) -> None:
    database = tmp_path / "r.sqlite"
    run_id = stored(database, {"a": [(0.0, True, [0.9]), (0.5, False, [0.1])]}, draws=5, temperatures=(0.0, 0.5))
    with open_store(database) as store:
        (item,) = store.reader.items(run_id)
        twin = store.add_sample(item.id, None, sample(Role.SOLVE, 2, "return 'a', 0  \n", 0.5))
        store.add_verdict(twin, Verdict(Outcome.PASS, 0.1))
    table = figures(database, run_id)["table"]
    assert isinstance(table, Table)
    assert [row.cells[1:] for row in table.rows] == [(1, 0), (0, 1), (6, 0), (0, 1)]


def test_a_cosine_that_is_the_verdict_is_found(tmp_path: Path) -> None:
    one = [(0.5, n % 2 == 0, [0.8 if n % 2 == 0 else 0.2] * 3) for n in range(8)]
    found = figures(tmp_path / "r.sqlite", stored(tmp_path / "r.sqlite", dict.fromkeys("abc", one)))
    roc, threshold, averaging = found["roc"], found["threshold"], found["averaging"]
    assert isinstance(roc, Lines) and roc.note.startswith("AUC 1.00: ")
    assert value(threshold, "Threshold") == value(threshold, "Chosen on others") == pytest.approx(0.5)
    assert value(threshold, "Right with it") == 1.0
    assert isinstance(averaging, Lines)
    assert [(point.x.value, point.y.value) for point in averaging.series[0].points] == [(1, 1), (2, 1), (3, 1)]
    cosines = found["cosines"]
    assert isinstance(cosines, Histogram) and [guide.at for guide in cosines.guides] == [0.75, pytest.approx(0.5)]
    heat = found["temperature"]
    assert isinstance(heat, Lines)
    assert {each.name: each.points[0].y.value for each in heat.series} == {
        "mean cosine": pytest.approx(0.5),
        "share that passes": 0.5,
    }


def test_without_tests_only_similarity_is_told(tmp_path: Path) -> None:
    found = figures(tmp_path / "r.sqlite", stored(tmp_path / "r.sqlite", {"a": [(0.5, None, [0.8, 0.6])]}))
    assert set(found) == {"summary", "temperature", "cosines", "directives"}
    summary = found["summary"]
    assert isinstance(summary, Sentence) and "No program is judged by tests" in summary.text


def test_what_says_nothing_is_not_similar_and_counted(tmp_path: Path) -> None:
    made = {"a": [(0.5, True, [None, None]), (0.5, True, [0.9, None]), (0.5, False, [0.9, 0.7])]}
    found = figures(tmp_path / "r.sqlite", stored(tmp_path / "r.sqlite", made))
    table, summary = found["table"], found["summary"]
    assert isinstance(table, Table) and [row.cells[1:] for row in table.rows][:2] == [(1, 1), (1, 0)]
    assert isinstance(summary, Sentence) and "Of 6 summaries 3 said nothing: they have no cosine." in summary.text


# --------------------------------------------------------------------------- comparing runs


def test_two_runs_are_compared_by_similarity(tmp_path: Path) -> None:
    """Solved for McNemar's test is what is similar, not what has a cosine above 0."""
    file = tmp_path / "r.sqlite"
    first = stored(file, {"a": [(0.0, True, [0.9])], "b": [(0.0, True, [0.3])], "c": [(0.0, True, [0.5])]})
    second = stored(file, {"a": [(0.0, True, [0.7])], "b": [(0.0, True, [0.8])], "c": [(0.0, True, [0.5])]})
    with open_reader(file) as reader:
        (found,) = compare_runs(reader, [first, second])
    assert found.title == "similarity" and [pair.first.file for pair in found.pairs] == ["b", "a", "c"]
    assert [pair.difference for pair in found.pairs] == pytest.approx([0.5, -0.2, 0.0])
    test = found.mcnemar
    assert (test.both, test.only_first, test.only_second, test.neither) == (0, 1, 1, 1)
    assert "similarity of run 2 minus that of run 1 is +0.10" in verdict(found)
    assert [each.path for each in found.files] == ["a", "b", "c"]


def test_similarity_by_two_embedding_models_is_not_compared(tmp_path: Path) -> None:
    file = tmp_path / "r.sqlite"
    runs = [stored(file, {"a": [(0.0, True, [0.9])]}, embedder_sha256=each) for each in ("1" * 64, "2" * 64)]
    with open_reader(file) as reader, pytest.raises(UserError, match="by tiny-embedder, another file"):
        compare_runs(reader, runs)
