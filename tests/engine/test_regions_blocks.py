"""Where statements stand, held against LibCST's own positions and against odd files."""

from __future__ import annotations

import ast
import dataclasses
import re
import shlex
import textwrap
from types import ModuleType

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider
from real_modules import as_file, own_core, source_of

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.regions.candidates import parse_blocks
from rtc_inspector.core.syntax import Lines
from rtc_inspector.core.types import SourceFile


def statements(text: str) -> list[list[str]]:
    """The text of every statement, block by block, outermost first."""
    blocks = sorted(parse_blocks(as_file(text)), key=lambda block: block.statements[0].start)
    return [[text[span.start : span.end] for span in block.statements] for block in blocks]


class _Located(cst.CSTVisitor):
    """Spans of all statements by LibCST's position provider, which leaves decorators and semicolons out."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, text: str) -> None:
        self.text, self.lines = text, Lines(text)
        self.spans: set[tuple[int, int]] = set()

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, cst.Module | cst.IndentedBlock):
            for statement in original_node.body:
                place = self.get_metadata(PositionProvider, statement)
                decorators = getattr(statement, "decorators", ())
                first = self.get_metadata(PositionProvider, decorators[0]) if decorators else place
                self.spans.add((self.at(first.start), self.at(place.end)))

    def at(self, place: object) -> int:
        return self.lines.bounds(place.line)[0] + place.column


def check_against_libcst(file: SourceFile) -> None:
    visitor = _Located(file.text)
    MetadataWrapper(cst.parse_module(file.text)).visit(visitor)
    ours = {(span.start, span.end) for block in parse_blocks(file) for span in block.statements}
    ours = {(start, end - (file.text[end - 1] == ";")) for start, end in ours}
    assert ours == visitor.spans


@pytest.mark.parametrize("module", [re, textwrap, dataclasses, shlex], ids=lambda module: module.__name__)
def test_standard_library_agrees_with_libcst(module: ModuleType) -> None:
    check_against_libcst(source_of(module))


def test_own_source_agrees_with_libcst() -> None:
    for file in own_core()[::15]:
        check_against_libcst(file)


ODD = (
    "# -*- coding: utf-8 -*-\n"
    "'''Doc, mit Umläuten: äöü'''\n"
    "import os; import sys\n"
    "ключ = {'日本': '🐍', 'x': 1}; other = '🐍';\n"
    "\f\n"
    "@decorate\n"
    "# a comment with an @ in it\n"
    "@decorate(  # one more @\n"
    "    '🐍')\n"
    "async def f(a,\n"
    "\t\tb='é'):\n"
    "\t'''Doc.'''\n"
    "\ttry:\n"
    "\t\tawait a\n"
    "\texcept (ValueError, TypeError) :\n"
    "\t\tpass ;\n"
    "\telse:\n"
    "\t\tif a: return b; x = 2\n"
    "\t\telif b: x = 'é' ; y = 1\n"
    "\t\telse:\n"
    "\t\t\tx = 3\n"
    "\tfinally:\n"
    "\t\twith a as c, \\\n"
    "\t\t\t b: z = '''\n"
    "a \x0b \x1c \u2028 b'''\n"
    "\tmatch a:\n"
    "\t\tcase [1, *_]: x = 4\n"
    "\t\tcase {'é': q} if q:\n"
    "\t\t\tx = 5\n"
    "\treturn lambda: (yield)  # trailing\n"
    "class C: a = 1; b = 2\n"
    "x = (\n"
    "    1 +\n"
    "\n"
    "    2  # inside\n"
    ")"
)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("end", ["", "\n", "\n\n  # the end", "  # the end"], ids=repr)
def test_odd_file_with_any_newlines(newline: str, end: str) -> None:
    text = (ODD + end).replace("\n", newline)
    expected = [
        ["'''Doc, mit Umläuten: äöü'''", "import os; import sys", "ключ = {'日本': '🐍', 'x': 1}; other = '🐍';"],
        ["'''Doc.'''", "try:", "match a:", "return lambda: (yield)"],
        ["await a"],
        ["pass ;"],
        ["if a: return b; x = 2"],
        ["x = 3"],
        ["with a as c, \\"],
        ["x = 5"],
    ]
    found = statements(text)
    assert [len(block) for block in found] == [6, 4, 1, 1, 1, 1, 1, 1]
    firsts = [[re.split(r"\r\n|\r|\n", statement)[0] for statement in block] for block in found]
    assert firsts[0][:3] == expected[0]
    assert firsts[0][3:] == ["@decorate", "class C: a = 1; b = 2", "x = ("]
    assert firsts[1:] == expected[1:]
    assert found[0][3].endswith("return lambda: (yield)")
    assert found[0][5].endswith(")")
    assert found[1][1].endswith("\x0b \x1c \u2028 b'''")


def test_statements_behind_a_colon_are_no_block() -> None:
    assert statements("if a: b = 1; c = 2\nelse: d = 3\n") == [["if a: b = 1; c = 2\nelse: d = 3"]]


def test_semicolons_belong_to_their_line() -> None:
    assert statements("a = 1; b = 2 ;\nc = 3;  # d\n") == [["a = 1; b = 2 ;", "c = 3;"]]


def test_trailing_and_leading_comments_stay_outside() -> None:
    assert statements("# before\na = 1  # behind\n# after\n") == [["a = 1"]]


def test_blanks_that_libcst_loses_do_not_shift_anything() -> None:
    text = "try:\n    a = 1\nexcept (A, B) : b = 2\nc = 3\n"
    assert statements(text) == [["try:\n    a = 1\nexcept (A, B) : b = 2", "c = 3"], ["a = 1"]]


@pytest.mark.parametrize(
    ("text", "documented"),
    [
        ("'a'\n", True),
        ("'a' 'b'\n", True),
        ("r'''a'''; x = 1\n", True),
        ("('a')\n", True),
        ("b'a'\n", False),
        ("f'a'\n", False),
        ("'a' f'b'\n", False),
        ("'a' % 1\n", False),
        ("x = 1\n'a'\n", False),
        ("if x:\n    'a'\n", False),
        ("class C:\n    'a'\n", True),
        ("async def f():\n    'a'\n", True),
    ],
)
def test_docstrings(text: str, documented: bool) -> None:
    tree = ast.parse(text)
    scopes = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.AsyncFunctionDef)]
    assert documented == any(ast.get_docstring(node) is not None for node in scopes)
    assert documented == any(block.docstring for block in parse_blocks(as_file(text)))


def test_empty_and_comment_only_files_have_no_block() -> None:
    assert parse_blocks(as_file("")) == ()
    assert parse_blocks(as_file("# nothing\n")) == ()


def test_deep_nesting_is_refused_in_words() -> None:
    text = "x = " + "+".join(["1"] * 3000) + "\n"
    try:
        blocks = parse_blocks(as_file(text))
    except ProjectError as error:
        assert "m.py" in error.problem
    else:
        assert len(blocks) == 1
