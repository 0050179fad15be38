"""Which tests run first."""

from __future__ import annotations

from rtc_inspector.core.oracle.baseline import Baseline
from rtc_inspector.core.oracle.trial import enclosing, first_stage, nearest_files_first, promising_first, shares
from rtc_inspector.core.oracle.verdicts import Allowances
from rtc_inspector.core.types import Change, CoverageMap, SourceFile, Span, Suite, TestCase


def change(path: str, line: int, text: str = "\n" * 100) -> Change:
    start = len("".join(text.splitlines(keepends=True)[: line - 1]))
    return Change(SourceFile(path, text, "utf-8", False), Span(start, start + 1), "")


def baseline() -> Baseline:
    tests = ("a.py::far", "b.py::near", "b.py::slow", "c.py::other")
    lines = {"x.py": {5: frozenset({1, 2}), 90: frozenset({0})}, "y.py": {5: frozenset({3})}}
    cases = tuple(TestCase(test, 2.0 if "slow" in test else 1.0) for test in tests)
    suite = Suite(cases, {}, CoverageMap(tests, lines, {"x.py": frozenset({2})}), 1.0, "3.11.7")
    return Baseline(suite, 0.1, 0.0, (), (), frozenset(), (), Allowances(), True, frozenset())


def test_tests_near_the_region_lead_and_each_runs_once() -> None:
    tests = ["c.py::other", "a.py::far", "b.py::slow", "b.py::near", "b.py::near"]
    assert promising_first([change("x.py", 2)], tests, baseline()) == (
        "b.py::near",
        "b.py::slow",
        "a.py::far",
        "c.py::other",
    )


def test_tests_near_any_place_lead() -> None:
    tests = ["a.py::far", "c.py::other"]
    places = [change("x.py", 2), change("y.py", 5)]
    assert promising_first(places, tests, baseline()) == ("c.py::other", "a.py::far")


def test_tests_named_after_a_class_lead_where_its_body_is_changed() -> None:
    text = "class Far:\n    names = 1\n\n    def method(self):\n        return 2\n" + "\n" * 100
    tests = ["b.py::near", "a.py::far"]
    assert promising_first([change("x.py", 2, text)], tests, baseline()) == ("a.py::far", "b.py::near")
    assert promising_first([change("x.py", 5, text)], tests, baseline()) == ("b.py::near", "a.py::far")


def test_the_names_around_a_change_are_told_by_indentation() -> None:
    text = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        if 1:\n            x = 2\ny = 3\n"
    assert enclosing(change("x.py", 7, text)) == ["g", "A"]
    assert enclosing(change("x.py", 2, text)) == ["f", "A"]
    assert enclosing(change("x.py", 8, text)) == []


def test_the_first_stage_is_of_the_file_that_most_of_the_leading_tests_are_in_the_foremost_above_all() -> None:
    near, far = ["a.py::one", "a.py::two"], [f"{file}.py::{number}" for number in range(6) for file in "bcd"]
    assert first_stage([*near, *far]) == tuple(near)
    assert first_stage(["a.py::one", "b.py::one", "b.py::two", "b.py::three"])[0] == "b.py::one"
    assert first_stage([]) == ()


def test_what_confirms_a_pass_begins_with_files_that_come_near_and_leaves_their_tests_together() -> None:
    tests = ("c.py::other", "a.py::far", "b.py::slow", "b.py::near")
    ordered = nearest_files_first([change("x.py", 2)], tests, baseline())
    assert ordered == ("b.py::slow", "b.py::near", "a.py::far", "c.py::other")
    assert shares(ordered, 2, baseline()) == [ordered[:2], ordered[2:]]
    assert shares(ordered[:2], 2, baseline()) == [ordered[:1], ordered[1:2]], "a file may be cut"
    assert shares(ordered[:1], 2, baseline()) == [ordered[:1]]
