"""The bundled benchmark, judged as a generated project in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_oracle_attacks import AT_IMPORT, ATTACKS, HONEST

from rtc_inspector.core.oracle import identity, suite
from rtc_inspector.core.oracle.bench.project import node_ids, program_file, program_path, write_project
from rtc_inspector.core.oracle.zygote import Zygote
from rtc_inspector.core.rewrites.names import mask_name
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.core.trips.judged import Judged, open_judged, open_written
from rtc_inspector.core.types import Candidate, Outcome, Problem, Span, Verdict
from rtc_inspector.resources import path as resource

PROBLEMS = {problem.entry: problem for problem in read_benchmark(resource("benchmark", "pocket.jsonl")).problems}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    root = write_project(list(PROBLEMS.values()), "own", tmp_path_factory.mktemp("cache"))
    with ExitStack() as stack:
        settings = OracleSettings(confirm_whole_suite=False, cache=False, test_timeout_floor=0.5)
        yield open_judged(stack, root, settings, lambda text: None, lambda *_: None)


def judge(judged: Judged, problem: Problem, body: str) -> Verdict:
    file = judged.codebase.file(program_path(problem))
    return judged.oracle.judge(Candidate(file, problem.body, body), node_ids(problem), every_test=True)


def signatures(verdict: Verdict) -> list[str]:
    return [test.signature for test in sorted(verdict.tests, key=lambda test: test.node_id)]


def test_every_reference_passes_in_every_run(judged: Judged) -> None:
    assert len(judged.suite.tests) == 62 and not judged.suite.excluded
    assert not any(file.is_test for file in judged.codebase.files if file.path.startswith("problems/"))
    for name in ("add", "drop_negatives", "interleave"):
        problem = PROBLEMS[name]
        verdict = judge(judged, problem, problem.program[problem.body.start : problem.body.end] + "  # as it was")
        assert verdict.outcome is Outcome.PASS and set(signatures(verdict)) == {"pass"}


def test_people_hear_of_problems_not_of_the_files_written_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    broken = replace(PROBLEMS["add"], program="import surely_missing\n" + PROBLEMS["add"].program)
    root = write_project([broken, PROBLEMS["largest"]], "own", tmp_path / "cache")
    said: list[str] = []
    with ExitStack() as stack:
        settings = OracleSettings(cache=False, identity_runs=1)
        open_written(stack, root, settings, said.append, lambda *_: None, "", "")
    assert any("the tests of Pocket/0" in text for text in said) and not any("p_0" in text for text in said)


def test_an_endless_reference_is_left_out_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "EACH_SECONDS", 1.0)
    add = PROBLEMS["add"]
    program = add.program[: add.body.start] + "while True: pass\n"
    endless = replace(add, program=program, body=Span(add.body.start, len(program) - 1))
    root = write_project([endless, PROBLEMS["largest"]], "own", tmp_path)
    said: list[str] = []
    with ExitStack() as stack:
        settings = OracleSettings(cache=False, identity_runs=1, suite_timeout=30.0)
        made = open_written(stack, root, settings, said.append, lambda *_: None, "", "")
    assert {test.node_id for test in made.suite.tests} == set(node_ids(PROBLEMS["largest"]))
    (sentence,) = [text for text in said if "does not end" in text]
    assert sentence.startswith(f"test 1 of {endless.key} does not end within 1 s")


def test_a_reference_that_hangs_while_it_is_imported_is_left_out_by_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "EACH_SECONDS", 1.0)
    monkeypatch.setattr(identity, "COLLECTING", 4.0)
    add = PROBLEMS["add"]
    endless = replace(add, program=f"{add.program}\nwhile True: pass\n")
    root = write_project([endless, PROBLEMS["largest"]], "own", tmp_path)
    said: list[str] = []
    with ExitStack() as stack:
        settings = OracleSettings(cache=False, identity_runs=1, suite_timeout=60.0)
        made = open_written(stack, root, settings, said.append, lambda *_: None, "", "")
    assert {test.node_id for test in made.suite.tests} == set(node_ids(PROBLEMS["largest"]))
    (sentence,) = [text for text in said if "imported within" in text]
    assert sentence.startswith(f"the tests of {endless.key} cannot be imported within 1 s"), sentence


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("add", "return a - b", ["value -1", "value -2", "pass", "value -0.5"]),
        ("add", "pass", ["value None"] * 4),
        ("drop_negatives", "numbers.sort()", ["value None changed ([-2, 1, 3], )", "pass"]),
        ("interleave", "return iter([*first, *second])", ["value iterator [1, 2, 3, 10]"]),
        ("parse_clock", "return int(text)", ["error ValueError: invalid literal for int() with base 10: '01:30'"]),
        ("longest_run", "while values: pass\n    return 0", ["timeout", "pass", "timeout", "timeout"]),
    ],
)  # fmt: skip
def test_what_a_wrong_program_gave_is_kept(judged: Judged, name: str, body: str, expected: list[str]) -> None:
    verdict = judge(judged, PROBLEMS[name], body)
    assert verdict.outcome in (Outcome.FAIL, Outcome.TIMEOUT)
    assert signatures(verdict)[: len(expected)] == expected


def test_programs_with_their_name_masked_pass_too(judged: Judged) -> None:
    for name in ("count", "f", "longest_run"):
        problem = PROBLEMS[name]
        file = judged.codebase.file(program_path(problem))
        masked = mask_name(program_file(problem, problem.program), name)
        assert f"def {name}(" not in masked and "candidate = func" in masked
        verdict = judged.oracle.judge(Candidate(file, Span(0, len(file.text)), masked), node_ids(problem))
        assert verdict.outcome is Outcome.PASS, verdict.detail


def test_a_program_without_the_function_has_one_signature(judged: Judged) -> None:
    problem = PROBLEMS["add"]
    file = judged.codebase.file(program_path(problem))
    verdict = judged.oracle.judge(
        Candidate(file, Span(0, len(file.text)), "x = 1\n"), node_ids(problem), every_test=True
    )
    assert verdict.outcome is Outcome.IMPORT_ERROR
    (said,) = set(signatures(verdict))
    assert said.startswith("error ") and "candidate" in said


def test_nothing_of_a_solution_is_taken_for_a_test(tmp_path: Path) -> None:
    program = "def test_three(n):\n    return n\n\n\nclass TestThree:\n    def test_me(self): pass\n"
    body = Span(program.index("return"), program.index("\n\n"))
    problem = Problem(
        "a", 1, "test_three", ("test_three",), "", program, body, program, body, asserts=("assert test_three(3) == 3",)
    )
    with ExitStack() as stack:
        root = write_project([problem], "own", tmp_path)
        settings = OracleSettings(confirm_whole_suite=False, cache=False)
        made = open_judged(stack, root, settings, lambda text: None, lambda *_: None)
        assert [test.node_id for test in made.suite.tests] == list(node_ids(problem))


TOTAL = "RATE = 2\n\n\ndef total(prices):\n    result = sum(prices)\n    return result\n"


@pytest.fixture(scope="module")
def total(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Judged, Problem]]:
    """A problem that the attacks on the tests of any project are aimed at."""
    start = TOTAL.index("result")
    asserts = ("assert total([1, 2]) == 3", "assert total([1] * 5) == 5", "assert total([]) == 0")
    problem = Problem(
        "a", 1, "total", ("total",), "", TOTAL, Span(start, len(TOTAL) - 1), TOTAL, Span(start, 0), asserts=asserts
    )
    with ExitStack() as stack:
        root = write_project([problem], "total", tmp_path_factory.mktemp("total"))
        limits = {"test_timeout_floor": 0.5, "total_timeout_floor": 1.5}
        limits |= {"memory_mib": 384, "scratch_mib": 32, "processes": 32}
        settings = OracleSettings(confirm_whole_suite=False, cache=False, **limits)  # type: ignore[arg-type]
        yield open_judged(stack, root, settings, lambda text: None, lambda *_: None), problem


def judge_total(total: tuple[Judged, Problem], span: Span, text: str) -> Verdict:
    judged, problem = total
    file = judged.codebase.file(program_path(problem))
    text = text.replace("test_basket", "test_p_0001").replace("module.unittest", "module._problem")
    return judged.oracle.judge(Candidate(file, span, text), node_ids(problem))


def test_what_records_the_answers_is_not_replaced_while_the_program_is_imported(total: tuple[Judged, Problem]) -> None:
    patch = (
        "\nimport rtc_recording\nrtc_recording.checked = lambda function: lambda test: lambda record_property: None\n"
    )
    verdict = judge_total(total, Span(0, len(TOTAL)), TOTAL.replace("sum(prices)", "0") + patch)
    assert verdict.outcome is Outcome.TAMPERED and "rtc_recording.checked" in verdict.detail


@pytest.mark.parametrize(
    "reading",
    [
        "import linecache, os; linecache.getlines(os.path.abspath('tests/test_p_0001.py'))",
        "import inspect, sys; inspect.getsource(sys.modules['test' + '_p_0001'])",
        "import linecache; assert not any(path.endswith('test' + '_p_0001.py') for path in linecache.cache)",
    ],
)
def test_a_program_does_not_find_the_text_of_its_tests(total: tuple[Judged, Problem], reading: str) -> None:
    """Neither by reading it, which is heard, nor where somebody has read it before."""
    verdict = judge_total(total, total[1].body, f"{reading}; return sum(prices)")
    expected = Outcome.PASS if "assert" in reading else Outcome.TAMPERED
    assert verdict.outcome is expected, verdict.detail


@pytest.mark.parametrize("name", [name for name in AT_IMPORT if name != "patched test runner"])  # there is none
def test_an_attack_at_import_does_not_pass_as_a_program(total: tuple[Judged, Problem], name: str) -> None:
    verdict = judge_total(total, Span(0, len("RATE = 2")), AT_IMPORT[name])
    assert verdict.outcome not in (Outcome.PASS, Outcome.INFRASTRUCTURE, Outcome.NOT_EXECUTED), verdict.detail
    clean = judge_total(total, Span(0, len("RATE = 2")), f"RATE = 2  # {name}")
    assert clean.outcome is Outcome.PASS, clean.detail


@pytest.mark.parametrize("name", HONEST)
def test_unusual_but_honest_programs_pass(total: tuple[Judged, Problem], name: str) -> None:
    verdict = judge_total(total, total[1].body, HONEST[name])
    assert verdict.outcome is Outcome.PASS, verdict.detail


OWN = "\n    # open()"
"""A program that has this anywhere gets a process of its own at first sight."""
COMPUTING = {
    "right": "return sum(prices)",
    "wrong": "return sum(prices) + 1",
    "error": "return prices['x']",
    "no value": "pass",
    "without end": "while True: pass",
    "without end in one step": "return 10 ** 10 ** 10",
    "error for too much memory": "try: return [0] * 10 ** 12\n    except Exception: return 0",
    "too deep": "return total(prices)",
    "depth": "def f(n):\n        try: return f(n + 1)\n        except RecursionError: return n\n    return f(0)",
    "iterator": "return iter(prices)",
    "left in the middle": (
        "def g():\n        try: yield 1\n        finally: print('late')\n"
        "    x = [g()]\n    next(x[0])\n    x.append(x)\n    return sum(prices)"
    ),
    "much printed": "print('x' * 10 ** 6)\n    return 7",
    "held by a library": "from typing import List\n    List[total]\n    return sum(prices)",
}


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each request that was answered: whether by a process that judges many."""
    found: list[bool] = []
    usual = Zygote.run

    def run(self: Zygote, *values: Any, **named: Any) -> dict[str, Any]:
        reply = usual(self, *values, **named)
        found.append(reply["shared"])
        return reply

    monkeypatch.setattr(Zygote, "run", run)
    return found


@pytest.mark.parametrize("name", COMPUTING)
def test_a_shared_process_says_what_one_of_its_own_says(
    total: tuple[Judged, Problem], replies: list[bool], name: str
) -> None:
    judged, problem = total
    file = judged.codebase.file(program_path(problem))
    said = []
    for mark in ("", OWN):
        candidate = Candidate(file, problem.body, COMPUTING[name] + mark)
        verdict = judged.oracle.judge(candidate, node_ids(problem), every_test=True)
        said.append(replace(verdict, seconds=0.0, tests=tuple(replace(test, seconds=0.0) for test in verdict.tests)))
    assert said[0] == said[1]
    assert [replies[0], replies[-1]] == [True, False]
    clean = judge_total(total, problem.body, f"return sum(prices)  # after {sorted(COMPUTING).index(name)}")
    assert clean.outcome is Outcome.PASS and replies[-1] and not clean.output


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_does_not_pass_as_a_program_and_shares_no_process(
    total: tuple[Judged, Problem], replies: list[bool], name: str
) -> None:
    verdict = judge_total(total, total[1].body, ATTACKS[name])
    assert verdict.outcome not in (Outcome.PASS, Outcome.INFRASTRUCTURE, Outcome.NOT_EXECUTED), verdict.detail
    assert not any(replies) or name == "memory"  # that one does nothing but compute
    clean = judge_total(total, total[1].body, f"return sum(prices)  # beside {sorted(ATTACKS).index(name)}")
    assert clean.outcome is Outcome.PASS and replies[-1], clean.detail


ENDLESS = "def g():\n        try: yield\n        finally:\n            while True: pass\n    x = [g()]\n    next(x[0])"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("return (", Outcome.SYNTAX_ERROR),
        ("return [0] * 10 ** 12", Outcome.OUT_OF_MEMORY),
        (ENDLESS + "\n    x.append(x)\n    return sum(prices)", Outcome.PASS),
    ],
)
def test_a_process_of_its_own_judges_what_a_shared_one_cannot(
    total: tuple[Judged, Problem], replies: list[bool], text: str, outcome: Outcome
) -> None:
    assert judge_total(total, total[1].body, text).outcome is outcome
    assert not replies[0]
