"""Verdicts of real candidates in a real sandbox, by code swap and by fresh import."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle_projects import Opened, shop, write

from rtc_inspector.core.oracle import project_oracle, trial
from rtc_inspector.core.oracle.cache import VerdictCache
from rtc_inspector.core.oracle.project_oracle import ProjectOracle
from rtc_inspector.core.oracle.trial import Trial
from rtc_inspector.core.oracle.worker import Worker
from rtc_inspector.core.types import Candidate, Change, Outcome, Span, Verdict

PATH = "shop/basket.py"
BODY = "result = 0\n    for price in prices:\n        result += price\n    return result"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    project = Opened(shop(tmp_path_factory.mktemp("shop")))
    yield project
    project.oracle.close()


def oracle_of(opened: Opened) -> ProjectOracle:
    assert isinstance(opened.oracle, ProjectOracle)
    return opened.oracle


def test_the_suite_is_trusted_and_covered(opened: Opened) -> None:
    assert len(opened.suite.tests) == 10
    assert dict(opened.suite.excluded) == {}
    assert oracle_of(opened)._baseline is not None and oracle_of(opened)._baseline.code_swap
    many = [test for test in opened.covering(PATH, 8) if "test_many" in test]
    assert many == ["tests/test_basket.py::test_many[1]", "tests/test_basket.py::test_many[5]"]
    assert opened.covering(PATH, 11) == opened.covering(PATH, 8)
    assert "tests/test_basket.py::TestTotal::test_sub" in opened.covering(PATH, 8)


def test_a_module_fixture_covers_for_every_test_that_uses_it(opened: Opened) -> None:
    assert "tests/test_basket.py::test_till" in opened.covering(PATH, 28)


def test_lines_that_run_at_import_are_known(opened: Opened) -> None:
    lines = opened.suite.coverage.import_lines[PATH]
    assert {3, 39} <= lines
    assert 8 not in lines
    assert oracle_of(opened)._workers[0]._plan.config["rewritten"] == ["tests/test_basket.py"]


OUTCOMES = [
    (BODY, "return sum(prices)", Outcome.PASS),
    (BODY, "return sum(prices) + 1", Outcome.FAIL),
    (BODY, "return sum(prices", Outcome.SYNTAX_ERROR),
    (BODY, "while True: pass", Outcome.TIMEOUT),
    (BODY, "return bytearray(1 << 33)", Outcome.OUT_OF_MEMORY),
    (BODY, "import os; os.abort()", Outcome.CRASH),
    ("RATE = 2", "RATE = 2 + nope", Outcome.IMPORT_ERROR),
    ("RATE = 2", "RATE = 3", Outcome.FAIL),
    ("RATE = 2", "RATE = 1 + 1", Outcome.PASS),
    ("return {n: n * n for n in range(5)}", "return {}", Outcome.FAIL),
    ("self.paid.append(amount)", "self.paid += [amount]", Outcome.PASS),
    ("self.paid.append(amount)", "pass", Outcome.FAIL),
]


@pytest.mark.parametrize(("old", "new", "outcome"), OUTCOMES)
def test_outcomes(opened: Opened, old: str, new: str, outcome: Outcome) -> None:
    verdict = opened.oracle.judge(opened.candidate(PATH, old, new), opened.tests)
    assert verdict.outcome is outcome, verdict.detail
    assert verdict.oracle == "tests/bubblewrap"
    assert verdict.detail


def test_no_tests_is_not_executed(opened: Opened) -> None:
    assert opened.oracle.judge(opened.candidate(PATH, BODY, "x"), []).outcome is Outcome.NOT_EXECUTED


def test_every_test_gives_each_outcome_with_message_and_output(opened: Opened) -> None:
    verdict = opened.oracle.judge(opened.candidate(PATH, BODY, "return 3"), opened.covering(PATH, 8), every_test=True)
    results = {test.node_id.rpartition("::")[2]: test for test in verdict.tests}
    assert results["test_total"].outcome == "failed" or results["test_many[1]"].outcome == "failed"
    assert len(verdict.tests) == len(opened.covering(PATH, 8))
    assert "assert 3 == 1" in results["test_many[1]"].message
    assert "adding up" in verdict.output


def test_a_first_failure_ends_the_run(opened: Opened) -> None:
    verdict = opened.oracle.judge(opened.candidate(PATH, BODY, "return None"), opened.tests)
    assert sum(test.outcome == "failed" for test in verdict.tests) == 1


def test_identical_texts_are_judged_once(opened: Opened) -> None:
    candidate = opened.candidate(PATH, BODY, "return sum(prices) + 2")
    first = opened.oracle.judge(candidate, opened.tests)
    again = opened.oracle.judge(candidate, opened.tests)
    assert again == dataclasses.replace(first, seconds=0.0, reused=True)


def test_the_whole_suite_confirms_what_covering_tests_pass(opened: Opened) -> None:
    """Only `names` is asked about; the change breaks `total` as well."""
    file = opened.codebase.file(PATH)
    changed = file.text.replace("result = 0", "result = 1").replace("item.upper()", "item.upper()  ")
    candidate = Candidate(file, Span(0, len(file.text)), changed)
    verdict = opened.oracle.judge(candidate, opened.covering(PATH, 16))
    assert verdict.outcome is Outcome.FAIL
    assert "whole suite" in verdict.detail


def test_swapped_code_meets_the_whole_suite_in_one_run(opened: Opened) -> None:
    names = opened.covering(PATH, 16)
    bad = opened.oracle.judge(opened.candidate(PATH, BODY, "return 7 + sum(prices)"), names)
    assert bad.outcome is Outcome.FAIL and "whole suite" in bad.detail
    assert [test.outcome for test in bad.tests] == ["passed"] * len(names) + ["failed"]
    good = opened.candidate(PATH, BODY, "return sum(prices[:])")
    first, second = (opened.oracle.judge(good, tests) for tests in (names, opened.covering(PATH, 8)))
    assert first.outcome is second.outcome is Outcome.PASS
    assert (
        f"whole suite of {len(opened.tests)}" in first.detail and f"whole suite of {len(opened.tests)}" in second.detail
    )
    assert [test.node_id for test in first.tests] == names
    assert "adding up" in second.output and "adding up" not in first.output


def test_identity_of_every_statement_passes(opened: Opened) -> None:
    file = opened.codebase.file(PATH)
    lines = file.text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() and not line.strip().startswith('"""'):
            start = sum(map(len, lines[:number]))
            span = Span(start, start + len(line.rstrip()))
            text = file.text[span.start : span.end] + f"  # {number}"
            verdict = opened.oracle.judge(Candidate(file, span, text), opened.tests)
            assert verdict.outcome is Outcome.PASS, (line, verdict.detail)


PROGRAM_TEST = """import subprocess
import sys

from kit import price, shop


def test_price():
    assert price.rounded(1.26) == 1.3
    assert shop.costs([1.26, 2.01]) == [1.3, 2.0]


def test_in_a_program_that_is_started():
    code = "from kit import shop; print(shop.costs([0.26]))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[0.3]\\n", run.stderr
"""


def test_changes_of_several_files_are_judged_at_once(tmp_path: Path) -> None:
    """A function is renamed in the file that defines it and in the one that calls it."""
    price = "def rounded(value):\n    return cut(value)\n\n\ndef cut(value):\n    return round(value, 1)\n"
    shop = "from kit.price import cut\n\n\ndef costs(values):\n    return [cut(value) for value in values]\n"
    files = {"kit/__init__.py": "", "kit/price.py": price, "kit/shop.py": shop, "tests/test_kit.py": PROGRAM_TEST}
    opened = Opened(write(tmp_path, files))

    def renamed(path: str, old: str, new: str) -> Change:
        file = opened.codebase.file(path)
        return Change(file, Span(0, len(file.text)), file.text.replace(old, new))

    def judged(first: Change, *others: Change) -> Outcome:
        candidate = Candidate(first.file, first.span, first.replacement, others)
        return opened.oracle.judge(candidate, opened.tests).outcome

    one, other = (renamed(path, "cut", "trimmed") for path in ("kit/price.py", "kit/shop.py"))
    assert judged(one, other) is Outcome.PASS
    assert judged(other, one) is Outcome.PASS
    assert judged(one) is Outcome.IMPORT_ERROR
    assert judged(one, renamed("kit/shop.py", "cut", "trim")) is Outcome.IMPORT_ERROR
    assert judged(one, renamed("kit/shop.py", "cut(", "trimmed(")) is not Outcome.PASS
    assert judged(renamed("kit/price.py", "value, 1", "value, 0"), other) is Outcome.IMPORT_ERROR
    both = renamed("kit/price.py", "1)", "0)"), renamed("kit/shop.py", "values]", "values]  # the same")
    assert judged(*both) is Outcome.FAIL
    assert judged(one, renamed("kit/shop.py", "return", "return [")) is Outcome.SYNTAX_ERROR
    opened.oracle.close()


MUTANTS = [
    ("result = 0", "result = 1"),
    ("result += price", "result -= price"),
    ("result += price", "result += price or 0"),
    ("return result", "return result or None"),
    ("return [item.upper() for item in items]", "return [item.lower() for item in items]"),
    ("return [item.upper() for item in items]", "yield from (item.upper() for item in items)"),
    ("return [item.upper() for item in items]", "return list(map(str.upper, items))"),
    ("return price * RATE", "return price + RATE"),
    ("return price * RATE", "return RATE * price"),
    ("if amount <= 0:", "if amount < 0:"),
    ("if amount <= 0:", "if not amount > 0:"),
    ("self.paid = []", "self.paid = ()"),
    ("self.paid = []", "self.paid = list()"),
    ("return total(self.paid)", "return amount"),
    ("return price * RATE", "return price * RATE\n\n\nRATE = 5"),
    ("return price * RATE", "global RATE\n    return price * RATE"),
]


def test_code_swap_and_fresh_import_agree(opened: Opened) -> None:
    oracle = oracle_of(opened)
    worker, baseline = oracle._workers[0], oracle._baseline
    assert baseline is not None
    verdicts = {}
    for swap in (True, False):
        worker._baseline = dataclasses.replace(baseline, code_swap=swap)
        oracle._verdicts = VerdictCache()
        verdicts[swap] = [
            opened.oracle.judge(opened.candidate(PATH, old, new), opened.tests).outcome for old, new in MUTANTS
        ]
    worker._baseline = baseline
    assert verdicts[True] == verdicts[False]
    assert {Outcome.PASS, Outcome.FAIL} <= set(verdicts[True])


def test_a_killed_process_is_replaced_and_never_the_candidates_fault(opened: Opened) -> None:
    worker = oracle_of(opened)._workers[0]
    opened.oracle.judge(opened.candidate(PATH, BODY, "return 1"), opened.tests)
    for zygote in worker._zygotes.values():
        zygote._process.kill()
    verdict = opened.oracle.judge(opened.candidate(PATH, BODY, "return sum(prices)  # again"), opened.tests)
    assert verdict.outcome is Outcome.PASS


def test_a_process_killed_in_the_middle_is_replaced(opened: Opened) -> None:
    worker = oracle_of(opened)._workers[0]
    opened.oracle.judge(opened.candidate(PATH, BODY, "return 4"), opened.tests)
    killer = threading.Timer(0.3, lambda: [zygote._process.kill() for zygote in list(worker._zygotes.values())])
    killer.start()
    slow = "import time\n    time.sleep(0.15)\n    return sum(prices)"
    verdict = opened.oracle.judge(opened.candidate(PATH, BODY, slow), opened.tests)
    killer.join()
    assert verdict.outcome is Outcome.PASS


def test_a_closed_oracle_says_so(tmp_path: Path) -> None:
    project = Opened(shop(tmp_path), sandbox="none")
    project.oracle.close()
    project.oracle.close()
    verdict = project.oracle.judge(project.candidate(PATH, BODY, "return 4"), project.tests)
    assert verdict.outcome is Outcome.INFRASTRUCTURE
    assert not verdict.outcome.judged


def test_without_a_sandbox_the_verdicts_are_the_same(tmp_path: Path) -> None:
    project = Opened(shop(tmp_path), sandbox="none", workers=2)
    try:
        good = project.oracle.judge(project.candidate(PATH, BODY, "return sum(prices)"), project.tests)
        kill = f"import os; os.kill(os.getppid(), {int(signal.SIGKILL)}); return 0"
        bad = project.oracle.judge(project.candidate(PATH, BODY, kill), project.tests)
    finally:
        project.oracle.close()
    assert good.outcome is Outcome.PASS
    assert bad.outcome in (Outcome.FAIL, Outcome.CRASH, Outcome.INFRASTRUCTURE)
    assert os.getpid()


def parted(folder: Path, **settings: object) -> Opened:
    """A project of three test files, of which one calls the function that is changed."""
    tests = {f"test_{name}.py": f"import thing\ndef test(): assert thing.{name}(2) == 4\n" for name in "abc"}
    code = "def a(n):\n    return n + n\n\n\ndef b(n):\n    return n * SCALE\n\n\nSCALE = 2\nc = b\n"
    return Opened(write(folder, {"thing.py": code, **tests}), **settings)


def test_idle_judges_share_what_confirms_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_oracle, "WORTH_SHARING", 0.0)
    opened, asked, usual = parted(tmp_path, workers=2), list[tuple[int, tuple[str, ...]]](), Worker.judge

    def judge(self: Worker, asked_now: Trial) -> Verdict:
        asked.append((id(self), asked_now.tests))
        return usual(self, asked_now)

    monkeypatch.setattr(Worker, "judge", judge)
    verdict = opened.oracle.judge(opened.candidate("thing.py", "n + n", "2 * n"), ["test_a.py::test"])
    assert verdict.detail == "All 1 covering tests passed, and the whole suite of 3."
    assert [tests for _, tests in asked[:1]] == [("test_a.py::test",)]
    assert sorted(tests for _, tests in asked[1:3]) == [("test_b.py::test",), ("test_c.py::test",)]
    assert len({worker for worker, _ in asked[1:3]}) == 2
    wrong = opened.candidate("thing.py", "n * SCALE", "n + n + (n > 1)")
    verdict = opened.oracle.judge(wrong, ["test_a.py::test"])
    assert verdict.outcome is Outcome.FAIL and verdict.detail.startswith(project_oracle.ONLY_WHOLE)
    monkeypatch.setattr(trial, "FIRST", 1)
    asked.clear()
    verdict = opened.oracle.judge(opened.candidate("thing.py", "SCALE = 2", "SCALE = 1 + 1"), opened.tests)
    assert verdict.detail == "All 3 tests passed." and [len(tests) for _, tests in asked[:3]] == [1, 1, 1]
    assert len({worker for worker, _ in asked[1:3]}) == 2, "covering tests are shared out as well"
    opened.oracle.close()


def test_a_pass_of_the_covering_tests_is_said_only_where_all_of_them_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_oracle, "WORTH_SHARING", 0.0)
    monkeypatch.setattr(trial, "FIRST", 1)
    opened = parted(tmp_path, workers=2)
    covering = ["test_a.py::test", "test_b.py::test"]
    wrong = opened.candidate("thing.py", "SCALE = 2\nc = b", "SCALE = 3\nc = a")
    verdict = opened.oracle.judge(wrong, covering)
    assert verdict.outcome is Outcome.FAIL and "test_b.py::test" in verdict.detail
    assert not verdict.detail.startswith(project_oracle.ONLY_WHOLE)
    wrong = opened.candidate("thing.py", "SCALE = 2\nc = b", "SCALE = 2\nc = len")
    verdict = opened.oracle.judge(wrong, covering)
    assert verdict.detail.startswith(project_oracle.ONLY_WHOLE)
    assert [test.outcome for test in verdict.tests] == ["passed", "passed", "failed"]
    opened.oracle.close()


def test_a_user_can_have_passes_confirmed_by_the_nearest_tests_alone(tmp_path: Path) -> None:
    opened = parted(tmp_path, confirm_seconds=1e-9)
    verdict = opened.oracle.judge(opened.candidate("thing.py", "n + n", "2 * n"), ["test_a.py::test"])
    assert verdict.outcome is Outcome.PASS
    assert verdict.detail == "All 1 covering tests passed, and of 2 others the 1 nearest."
    opened.oracle.close()
