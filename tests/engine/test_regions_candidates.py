"""Every candidate of real files keeps the rules of the paper's section 4.2."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import re
import textwrap
from dataclasses import replace

import pytest
from real_modules import as_file, own_core, source_of

from rtc_inspector.core.regions.candidates import enumerate_candidates, parse_blocks
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import SourceFile

DEFAULT = RegionSettings()
FILES = [*map(source_of, (re, textwrap, dataclasses, argparse)), *own_core()[::4]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_rules_on_every_candidate(file: SourceFile) -> None:
    runs = {
        (first.start, last.end)
        for block in parse_blocks(file)
        for i, first in enumerate(block.statements)
        for last in block.statements[i:]
    }
    lines = re.split(r"\r\n|\r|\n", file.text)
    candidates = enumerate_candidates(file, DEFAULT)
    for region in candidates:
        assert 32 <= len(region.text) <= 384
        assert region.text == file.text[region.span.start : region.span.end]
        assert (region.span.start, region.span.end) in runs
        assert lines[region.start_line - 1].strip().startswith(region.text.splitlines()[0].strip())
        assert region.text.splitlines()[-1].strip() in lines[region.end_line - 1]
        assert region.path == file.path
    spans = [(region.span.start, region.span.end) for region in candidates]
    assert spans == sorted(set(spans))
    assert set(spans) == {span for span in runs if 32 <= span[1] - span[0] <= 384} - starting_with_docstring(file, runs)


def starting_with_docstring(file: SourceFile, runs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(file.text)) if isinstance(node, scopes)]
    firsts = {node.body[0].lineno for node in nodes if ast.get_docstring(node) is not None}
    return {run for run in runs if file.text.count("\n", 0, run[0]) + 1 in firsts}


def test_every_run_of_a_small_block() -> None:
    text = "a = 1\nbb = 2\nccc = 3\n"
    settings = RegionSettings(min_characters=6, max_characters=14)
    texts = [region.text for region in enumerate_candidates(as_file(text), settings)]
    assert texts == ["a = 1\nbb = 2", "bb = 2", "bb = 2\nccc = 3", "ccc = 3"]


@pytest.mark.parametrize(("length", "expected"), [(31, 0), (32, 1), (384, 1), (385, 0)])
def test_bounds_are_inclusive(length: int, expected: int) -> None:
    text = "x = '" + "é" * (length - 6) + "'\n"
    assert len(enumerate_candidates(as_file(text), DEFAULT)) == expected


def test_windows_newlines_count_as_two_characters() -> None:
    settings = RegionSettings(min_characters=12, max_characters=12)
    assert len(enumerate_candidates(as_file("a = 1\r\nb = 2\r\n"), settings)) == 1
    assert len(enumerate_candidates(as_file("a = 1\nb = 2\n"), settings)) == 0


def test_regions_never_cross_blocks() -> None:
    text = "if a:\n    b = 1\n    c = 2\nd = 3\n"
    settings = RegionSettings(min_characters=1, max_characters=100)
    texts = {region.text for region in enumerate_candidates(as_file(text), settings)}
    whole = "if a:\n    b = 1\n    c = 2"
    assert texts == {"b = 1", "c = 2", "b = 1\n    c = 2", whole, f"{whole}\nd = 3", "d = 3"}


def test_docstring_starts_are_a_setting() -> None:
    file = as_file('def f():\n    """A docstring that is long enough."""\n    return 1\n')
    settings = RegionSettings(allow_docstring_start=True)
    assert [region.text[:5] for region in enumerate_candidates(file, DEFAULT)] == ["def f"]
    assert [region.text[:5] for region in enumerate_candidates(file, settings)] == ["def f", '"""A ', '"""A ']


def test_test_files_have_no_candidates() -> None:
    file = source_of(textwrap)
    assert enumerate_candidates(file, DEFAULT)
    assert enumerate_candidates(replace(file, is_test=True), DEFAULT) == []


def test_lines_of_a_decorated_function() -> None:
    file = as_file("import a\n\n\n@a.b(1)\n@a.c\ndef f(x):\n    return x + 1\n")
    region = enumerate_candidates(file, DEFAULT)[-1]
    assert (region.start_line, region.end_line) == (4, 7)
    assert region.text.startswith("@a.b(1)\n@a.c\ndef f(x):")
