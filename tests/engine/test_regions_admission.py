"""Deleting regions, and what admission makes of the verdicts."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import random
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from real_modules import as_file, own_core, source_of

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.regions.admission import NO_COMPILE, NO_EFFECT, admit, copied, deletion
from rtc_inspector.core.regions.candidates import enumerate_candidates
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import Candidate, Oracle, Outcome, Region, SourceFile, Span, Suite, TestResult, Verdict

EVERY = RegionSettings(min_characters=1, max_characters=10_000, allow_docstring_start=True)


def parses(text: str) -> bool:
    try:
        compile(text, "m.py", "exec", dont_inherit=True)  # four times as fast as ast.parse, and stricter
    except SyntaxError as error:
        return "nonlocal" in error.msg
    return True


def rounds(regions: list[Region]) -> Iterator[list[Region]]:
    """All regions, in groups that do not touch one another, so that a group can be deleted at once."""
    left = regions
    while left:
        group: list[Region] = []
        others: list[Region] = []
        for region in left:
            free = not group or region.start_line > group[-1].end_line + 1
            (group if free else others).append(region)
        yield group
        left = others


def without_all(file: SourceFile, group: list[Region]) -> str:
    text = file.text
    for region in reversed(group):
        text = text[: region.span.start] + deletion(file, region) + text[region.span.end :]
    return text


MODULES = [source_of(module) for module in (re, textwrap, dataclasses, contextlib, shlex)]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("file", [*MODULES, *own_core()[::16]], ids=lambda file: file.path)
def test_every_deletion_leaves_a_file_that_parses(file: SourceFile) -> None:
    """Groups of deletions at a time, which is much faster; one by one where a whole group is refused."""
    for group in rounds(enumerate_candidates(file, RegionSettings(allow_docstring_start=True))):
        if not parses(without_all(file, group)):
            assert len(group) > 1, group[0].text
            for region in group:
                assert parses(without_all(file, [region])), region.text


class _Remove(ast.NodeTransformer):
    """Takes the statements on some lines out of a tree, and leaves `pass` in a block that would be empty."""

    def __init__(self, region: Region) -> None:
        self.region = region

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                kept = [statement for statement in block if not self.inside(statement)]
                emptied = not kept and not isinstance(node, ast.Module)
                setattr(node, name, [ast.Pass()] if emptied else kept)
        return super().generic_visit(node)

    def inside(self, statement: ast.stmt) -> bool:
        end = statement.end_lineno or statement.lineno
        return self.region.start_line <= statement.lineno and end <= self.region.end_line


@pytest.mark.parametrize("file", [source_of(textwrap), source_of(shlex)], ids=lambda file: file.path)
def test_a_deletion_takes_its_statements_and_nothing_else(file: SourceFile) -> None:
    regions = enumerate_candidates(file, RegionSettings())
    for region in random.Random(1).sample(regions, 20):
        expected = _Remove(region).visit(ast.parse(file.text))
        assert ast.unparse(ast.parse(without_all(file, [region]))) == ast.unparse(expected)


ODD = '''\
from __future__ import annotations
from __future__ import division
import os  # stays
class A:
	"""Doc."""
	x = 1; y = 2;
	@property
	def f(self): return 1
	def g(self):
		try: pass
		except (A, B) : pass
		else:
			self.x = 1  # trailing
		# the end
		if self: return 2
	# after
def h():
    n = 0
    def k():
        nonlocal n
        n += 1
    match n:
        case 0:
            k()
        case _:
            return n
    return k
if os:
    x = """
  text
"""
else:
    y = 1'''


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
def test_odd_blocks(newline: str) -> None:
    file = as_file(ODD.replace("\n", newline))
    regions = enumerate_candidates(file, EVERY)
    assert len(regions) > 50
    for region in regions:
        assert parses(without_all(file, [region])), region.text


@pytest.mark.parametrize(
    ("text", "region_text", "expected"),
    [
        ("if a:\n    b = 1  # why\nc = 2\n", "b = 1", "if a:\n    pass  # why\nc = 2\n"),
        ("if a:\n    b = 1\n    c = 2\n", "b = 1", "if a:\n    \n    c = 2\n"),
        ("if a:\n    b = 1\n    c = 2\n", "b = 1\n    c = 2", "if a:\n    pass\n"),
        ("a = 1\n", "a = 1", "\n"),
        ("a = 1;\nb = 2\n", "a = 1;", "\nb = 2\n"),
        ("def f():\n    'Doc.'\n    return 1\n", "return 1", "def f():\n    'Doc.'\n    \n"),
    ],
)
def test_what_is_left(text: str, region_text: str, expected: str) -> None:
    file = as_file(text)
    (region,) = (r for r in enumerate_candidates(file, EVERY) if r.text == region_text)
    assert without_all(file, [region]) == expected


class AssertingOracle:
    """Judges by running the candidate's text, then one line of asserts, in a fresh interpreter."""

    name = "tests/asserting"
    image_digest = ""

    def __init__(self, checks: dict[str, str]) -> None:
        self.checks = checks
        self.judged: list[tuple[str, Sequence[str]]] = []

    def suite(self, progress: Callable[[str, int, int], None]) -> Suite:
        raise NotImplementedError

    def judge(
        self,
        candidate: Candidate,
        tests: Sequence[str],
        *,
        every_test: bool = False,
        again: bool = False,
        confirm: bool = True,
    ) -> Verdict:
        self.judged.append((candidate.replacement, tests))
        script = "\n".join([candidate.new_text, *(self.checks[test] for test in tests)])
        done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, check=False)
        return Verdict(Outcome.FAIL if done.returncode else Outcome.PASS, 0.0)

    def close(self) -> None:
        pass


class ScriptedOracle(AssertingOracle):
    """Gives the verdicts it was told to, as a sandbox that fails would."""

    def __init__(self, *outcomes: Outcome) -> None:
        super().__init__({})
        self.outcomes = list(outcomes)

    def judge(
        self,
        candidate: Candidate,
        tests: Sequence[str],
        *,
        every_test: bool = False,
        again: bool = False,
        confirm: bool = True,
    ) -> Verdict:
        self.judged.append((candidate.replacement, tests))
        return Verdict(self.outcomes.pop(0), 0.0, detail="the container is gone")


FILE = as_file("def double(n):\n    note = str(n)\n    n = n * 2\n    return n\n")
CHECKS = {"t::double": "assert double(2) == 4"}


def region(text: str, tests: tuple[str, ...] = ("t::double",), at_import: bool = False) -> Region:
    (found,) = (r for r in enumerate_candidates(FILE, EVERY) if r.text == text)
    return replace(found, tests=tests, runs_at_import=at_import)


def test_a_region_that_matters_is_admitted() -> None:
    oracle: Oracle = AssertingOracle(CHECKS)
    item = admit(region("n = n * 2"), FILE, oracle)
    assert item.admitted
    assert item.reason == ""
    assert (item.key, item.kind, item.path) == (f"m.py:{item.span.start}-{item.span.end}", "region", "m.py")
    assert FILE.text[item.span.start : item.span.end] == item.text == "n = n * 2"
    assert item.tests == ("t::double",)
    assert (item.start_line, item.end_line) == (3, 3)


def test_a_region_that_stands_twice_in_its_file_is_marked() -> None:
    """The lines count, not how far they are indented; a line that only holds them is no copy."""
    text = "def f(n):\n    n = n * 2\n    return n\n\n\nclass A:\n    def g(self, n):\n        n = n * 2\n"
    file = replace(FILE, text=text)
    start = text.index("n = n * 2")
    twice = replace(region("n = n * 2"), span=Span(start, start + len("n = n * 2")))
    assert copied(twice, file)
    assert not copied(twice, replace(file, text=text.replace("        n = n * 2", "        m = n = n * 2")))
    assert not copied(region("n = n * 2"), FILE)
    assert admit(region("n = n * 2"), FILE, AssertingOracle(CHECKS)).facets == {}


def test_a_region_without_effect_is_dropped() -> None:
    item = admit(region("note = str(n)"), FILE, AssertingOracle(CHECKS))
    assert (item.admitted, item.reason) == (False, NO_EFFECT)


def test_a_region_whose_tests_fail_anyway_is_dropped() -> None:
    item = admit(region("n = n * 2"), FILE, AssertingOracle({"t::double": "assert other_test_ran"}))
    assert not item.admitted
    assert item.reason.startswith("its own text does not pass its tests (fail)")


def test_a_region_without_tests_is_never_judged() -> None:
    oracle = AssertingOracle(CHECKS)
    item = admit(region("n = n * 2", tests=()), FILE, oracle)
    assert (item.admitted, item.reason) == (False, "no test covers it")
    assert oracle.judged == []


def test_a_deletion_that_does_not_compile_is_dropped() -> None:
    file = as_file("def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    return g\n")
    (found,) = (r for r in enumerate_candidates(file, EVERY) if r.text == "n = 0")
    oracle = AssertingOracle(CHECKS)
    item = admit(replace(found, tests=("t::double",)), file, oracle)
    assert (item.admitted, item.reason) == (False, NO_COMPILE)
    assert oracle.judged == []


def test_a_syntax_error_of_the_targets_own_python_is_dropped() -> None:
    item = admit(region("n = n * 2"), FILE, ScriptedOracle(Outcome.SYNTAX_ERROR))
    assert (item.admitted, item.reason) == (False, NO_COMPILE)


def test_a_failing_sandbox_gets_a_second_try() -> None:
    oracle = ScriptedOracle(Outcome.INFRASTRUCTURE, Outcome.FAIL, Outcome.PASS)
    assert admit(region("n = n * 2"), FILE, oracle).admitted
    assert [replacement for replacement, _ in oracle.judged] == ["", "", "n = n * 2"]


def test_a_sandbox_that_fails_twice_drops_the_region_with_its_reason() -> None:
    oracle = ScriptedOracle(Outcome.INFRASTRUCTURE, Outcome.INFRASTRUCTURE, Outcome.PASS)
    item = admit(region("n = n * 2"), FILE, oracle)
    assert not item.admitted
    assert item.reason == "its deletion could not be judged: the container is gone"


@pytest.mark.parametrize("deleted", [(Outcome.FAIL,), (Outcome.INFRASTRUCTURE, Outcome.INFRASTRUCTURE)])
def test_a_sandbox_that_fails_on_the_own_text_too_drops_nothing(deleted: tuple[Outcome, ...]) -> None:
    oracle = ScriptedOracle(*deleted, Outcome.INFRASTRUCTURE, Outcome.INFRASTRUCTURE)
    with pytest.raises(SandboxError, match=r"^The unchanged m\.py could not be judged: the container is gone"):
        admit(region("n = n * 2"), FILE, oracle)


def test_a_deletion_under_which_no_test_ran_says_nothing() -> None:
    item = admit(region("n = n * 2", at_import=True), FILE, ScriptedOracle(Outcome.NOT_EXECUTED))
    assert (item.admitted, item.reason) == (False, "no test ran without it: the container is gone")


OTHERS = set(Outcome) - {Outcome.PASS, Outcome.SYNTAX_ERROR, Outcome.NOT_EXECUTED, Outcome.INFRASTRUCTURE}


@pytest.mark.parametrize("outcome", sorted(OTHERS))
def test_every_other_verdict_admits_when_the_own_text_passes(outcome: Outcome) -> None:
    assert admit(region("n = n * 2"), FILE, ScriptedOracle(outcome, Outcome.PASS)).admitted


def test_a_file_whose_own_text_is_taken_for_tampering_is_dropped() -> None:
    oracle = ScriptedOracle(Outcome.FAIL, Outcome.TAMPERED)
    item = admit(region("n = n * 2", at_import=True), FILE, oracle)
    assert (item.admitted, item.reason) == (
        False,
        "its own text does not pass its tests (tampered): the container is gone",
    )


def test_the_own_text_is_asked_of_the_tests_that_saw_the_deletion_alone() -> None:
    class Reporting(AssertingOracle):
        def judge(
            self,
            candidate: Candidate,
            tests: Sequence[str],
            *,
            every_test: bool = False,
            again: bool = False,
            confirm: bool = True,
        ) -> Verdict:
            assert not confirm  # the whole suite has nothing to say of a deletion, nor of the untouched file
            verdict = super().judge(candidate, tests)
            ran = tests[:1] if verdict.outcome is Outcome.FAIL else tests
            return replace(verdict, tests=tuple(TestResult(test, str(verdict.outcome)) for test in ran))

    oracle = Reporting({**CHECKS, "t::other": "pass"})
    assert admit(region("n = n * 2", ("t::double", "t::other")), FILE, oracle).admitted
    assert [tests for _, tests in oracle.judged] == [("t::double", "t::other"), ("t::double",)]
