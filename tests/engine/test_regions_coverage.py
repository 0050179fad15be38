"""Which candidates count as covered, on code that really runs under a line tracer."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from real_modules import as_file

from rtc_inspector.core.regions.candidates import enumerate_candidates
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import CoverageMap, Region, SourceFile, Span

ALL = RegionSettings(min_characters=1, max_characters=10_000)
ANY = RegionSettings(min_characters=1, max_characters=10_000, coverage="any")
DOCSTRINGS = RegionSettings(min_characters=1, max_characters=10_000, allow_docstring_start=True)
Test = Callable[[dict[str, Any]], object]


@contextmanager
def traced(name: str, lines: set[int]) -> Iterator[None]:
    def local(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            lines.add(frame.f_lineno)
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: local if frame.f_code.co_filename == name else None)
    try:
        yield
    finally:
        sys.settrace(before)


def trace(file: SourceFile, tests: dict[str, Test]) -> CoverageMap:
    """Import the file, then run each test on its names, and note every line."""
    at_import: set[int] = set()
    names: dict[str, Any] = {"__name__": "m"}
    code = compile(file.text, file.path, "exec")
    with traced(file.path, at_import):
        exec(code, names)  # noqa: S102 - the code is ours
    lines: dict[int, set[int]] = defaultdict(set)
    for index, test in enumerate(tests.values()):
        seen: set[int] = set()
        with traced(file.path, seen):
            test(names)
        for line in seen:
            lines[line].add(index)
    return CoverageMap(
        tuple(tests),
        {file.path: {line: frozenset(seen) for line, seen in lines.items()}},
        {file.path: frozenset(at_import)},
    )


def covered(text: str, tests: dict[str, Test], settings: RegionSettings = ALL) -> dict[str, Region]:
    file = as_file(text)
    regions = enumerate_candidates(file, settings)
    return {region.text: region for region in cover(regions, trace(file, tests), settings, file)}


TEXT = '''\
"""Doc."""
LIMIT = 3


def grade(points):
    """Doc."""
    if points > LIMIT:
        label = (
            "many"
        )
    else:
        label = "few"
    return label


def unused():
    return LIMIT
'''
MANY: Test = lambda names: names["grade"](5)  # noqa: E731
FEW: Test = lambda names: names["grade"](1)  # noqa: E731
BRANCH = 'if points > LIMIT:\n        label = (\n            "many"\n        )\n    else:\n        label = "few"'


def test_tests_are_those_that_run_the_lines_in_suite_order() -> None:
    regions = covered(TEXT, {"t::few": FEW, "t::many": MANY, "t::none": lambda names: None})
    assert regions['label = "few"'].tests == ("t::few",)
    assert regions['label = (\n            "many"\n        )'].tests == ("t::many",)
    assert regions[BRANCH].tests == ("t::few", "t::many")
    assert regions["return label"].tests == ("t::few", "t::many")
    assert not regions["return label"].runs_at_import


def test_all_lines_or_any_line() -> None:
    assert BRANCH not in covered(TEXT, {"t::few": FEW})
    assert covered(TEXT, {"t::few": FEW}, ANY)[BRANCH].tests == ("t::few",)


def test_regions_at_import_have_the_whole_suite() -> None:
    regions = covered(TEXT, {"t::few": FEW, "t::many": MANY})
    assert regions["LIMIT = 3"].runs_at_import
    assert regions["LIMIT = 3"].tests == ("t::few", "t::many")


def test_a_function_whose_body_never_runs_is_not_covered() -> None:
    tests = {"t::few": FEW, "t::many": MANY}
    unused = "def unused():\n    return LIMIT"
    assert not any(text.startswith("def unused") for text in covered(TEXT, tests))
    assert covered(TEXT, tests, ANY)[unused].runs_at_import


def test_a_whole_function_runs_at_import_by_its_header() -> None:
    text = TEXT[TEXT.index("def grade") : TEXT.index("\n\n\ndef unused")]
    assert covered(TEXT, {"t::few": FEW, "t::many": MANY})[text].runs_at_import


def test_without_tests_nothing_is_covered() -> None:
    assert covered(TEXT, {}) == {}
    assert covered(TEXT, {}, ANY) == {}


def test_a_file_no_test_imports_is_not_covered() -> None:
    file = as_file(TEXT)
    elsewhere = CoverageMap(("t::a",), {"other.py": {2: frozenset({0})}}, {"other.py": frozenset({2})})
    assert cover(enumerate_candidates(file, ANY), elsewhere, ANY, file) == []


def test_a_module_first_imported_inside_a_test_still_needs_the_whole_suite() -> None:
    file = as_file("LIMIT = 3\nOTHER = 4\n")
    lazy = CoverageMap(("t::a", "t::b"), {"m.py": {1: frozenset({1}), 2: frozenset({1})}}, {})
    regions = cover(enumerate_candidates(file, ALL), lazy, ALL, file)
    assert [region.text for region in regions] == ["LIMIT = 3", "LIMIT = 3\nOTHER = 4", "OTHER = 4"]
    assert all(region.runs_at_import and region.tests == ("t::a", "t::b") for region in regions)


def test_a_function_called_at_import_needs_the_whole_suite() -> None:
    text = "def make():\n    table = {}\n    return table\n\n\nTABLE = make()\n"
    regions = covered(text, {"t::a": lambda names: names["make"](), "t::b": lambda names: None})
    assert regions["table = {}"].runs_at_import
    assert regions["table = {}"].tests == ("t::a", "t::b")


def test_class_bodies_run_at_import_and_methods_do_not() -> None:
    text = "class Box:\n    size = 3\n\n    def grow(self):\n        self.size += 1\n        return self\n"
    regions = covered(text, {"t::a": lambda names: names["Box"]().grow(), "t::b": lambda names: None})
    assert regions["size = 3"].runs_at_import
    assert regions["self.size += 1"].tests == ("t::a",)


def test_a_class_inside_a_function_runs_when_that_does() -> None:
    text = "def make():\n    class Box:\n        size = 3\n    return Box\n"
    region = covered(text, {"t::a": lambda names: names["make"](), "t::b": lambda names: None})["size = 3"]
    assert (region.runs_at_import, region.tests) == (False, ("t::a",))


MULTILINE = '''\
def build(a, *, b=1):
    """Doc."""
    global COUNT
    COUNT = 1
    value = {
        "a":
            a,
        "b": [
            b for b in range(b)
            if b
        ],
    }
    text = """
    one
    two
    """
    call = sorted(
        value,
        key=lambda key: (
            len(key)
        ),
    )
    with open(
        "/dev/null"
    ) as file, \\
            file:
        pass
    try:
        assert (
            a
        ), "no"
    finally:
        COUNT += 1
    for key in (
        call
    ):
        if (
            key ==
            "a"
        ):
            continue
        elif key == "b":
            text += key
        while True:
            break
    x: int
    y: int = (
        2
    )
    "a string that does nothing"
    match a:
        case (
            1 | 2
        ):
            pass
        case _:
            pass
    @staticmethod
    @(
        lambda function: function
    )
    def inner(
        c,
        d=2
    ):
        return c
    class Box:
        """Box."""
        ...
    inner(1)
    return (
        yield
    )
'''


def run_build(names: dict[str, Any]) -> None:
    list(names["build"](1))
    list(names["build"](3))


def test_every_statement_over_several_lines_counts_as_one() -> None:
    """All of a function that runs in full is covered, however its lines break."""
    regions = covered(MULTILINE, {"t::a": run_build}, DOCSTRINGS)
    every = {region.text for region in enumerate_candidates(as_file(MULTILINE), DOCSTRINGS)}
    strings = {'"a string that does nothing"', '"""Doc."""', '"""Box."""', '"""Doc."""\n    global COUNT'}
    assert every - set(regions) == {"global COUNT", "x: int", *strings}


def test_a_string_behind_a_colon_does_not_hide_its_statement() -> None:
    text = "class Odd(Exception): 'Doc.'\nclass Even(Exception):\n    'Doc.'\n'a string'; x = 1\n"
    regions = covered(text, {"t::a": lambda names: None})
    assert set(text.splitlines()[:1]) | {"'a string'; x = 1"} <= set(regions)


def test_an_exception_handler_that_never_runs_is_missing() -> None:
    text = "def f():\n    try:\n        x = 1\n    except ValueError:\n        x = 2\n    return x\n"
    regions = covered(text, {"t::a": lambda names: names["f"]()})
    assert set(regions) == {"x = 1", "return x"}


def test_windows_newlines() -> None:
    regions = covered(TEXT.replace("\n", "\r\n"), {"t::few": FEW, "t::many": MANY})
    assert regions['label = "few"'].tests == ("t::few",)
    assert BRANCH.replace("\n", "\r\n") in regions


def test_regions_of_one_file_share_their_tests() -> None:
    regions = covered(TEXT, {"t::few": FEW, "t::many": MANY})
    assert regions[BRANCH].tests is regions["return label"].tests


@pytest.mark.parametrize("coverage", ["all", "any"])
def test_nothing_but_tests_and_import_flag_is_changed(coverage: str) -> None:
    settings = RegionSettings(min_characters=1, coverage=coverage)
    file = as_file(TEXT)
    before = {region.span: region for region in enumerate_candidates(file, settings)}
    for region in cover(list(before.values()), trace(file, {"t::few": FEW, "t::many": MANY}), settings, file):
        assert region.text == before[region.span].text
        assert region.start_line == before[region.span].start_line
        assert region.weight == 0.0


def test_a_part_of_one_statement_is_covered_by_those_that_run_it() -> None:
    text = "def f(n):\n    return {\n        'a': 1,\n        'b': 2,\n    }[n]\n\n\ndef g():\n  return {\n  'c': 3}\n"
    file = as_file(text)
    traces = trace(file, {"t::a": lambda names: names["f"]("a"), "t::b": lambda names: None})
    for part, tests in (("'b': 2", ("t::a",)), ("'c': 3", None)):
        start = text.index(part)
        line = 1 + text.count("\n", 0, start)
        region = Region(file.path, Span(start, start + len(part)), line, line, part)
        found = cover([region], traces, ANY, file)
        assert [region.tests for region in found] == ([tests] if tests else [])
