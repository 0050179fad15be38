"""Answers as models write them, and what is taken out of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from rtc_inspector.core.models.extraction import extract_code, extract_description, extract_program
from rtc_inspector.core.models.prompts import backward_prompt
from rtc_inspector.core.regions.candidates import enumerate_candidates
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import Item, SourceFile, Span

FILE = '''import os


class Stack:
    def pop(self):
        """Take one."""
        count = len(self.items)
        if not count:
            raise IndexError("empty")
        return self.items.pop()


def tail(x):
    if x:
        y = 1
        z = 2
    return x
'''
REGION = 'if not count:\n            raise IndexError("empty")'


def item(part: str = REGION, text: str = FILE) -> Item:
    start = text.index(part)
    return Item("k", "region", "m.py", Span(start, start + len(part)), 1, 2, part)


@pytest.mark.parametrize(
    ("raw", "text", "steps"),
    [
        ("Raises an error when empty.", "Raises an error when empty.", ()),
        ("Description: Raises an error.", "Raises an error.", ("label-dropped",)),
        ("**Description:** Raises an error.\n\nMore words.", "Raises an error.\n\nMore words.", ("label-dropped",)),
        ("```python\nx = 1\n```\nSets x.", "Sets x.", ("fence-dropped",)),
        ("Sets x.\n```python\nx = 1", "Sets x.", ("fence-dropped",)),
        ('"Sets x."', "Sets x.", ("unquoted",)),
        ("The code does this:\n\n- sets x\n\nThe end.", "The code does this:\n\n- sets x\n\nThe end.", ()),
        (" Sets x\n    # to 1.\n    #\n    # Then y.", "Sets x\nto 1.\n\nThen y.", ("comment-signs-dropped",)),
        ("  \n", "", ("empty",)),
    ],
)
def test_descriptions(raw: str, text: str, steps: tuple[str, ...]) -> None:
    found = extract_description(raw)
    assert (found.text, found.steps) == (text, steps)


BARE = 'if not count:\n    raise IndexError("empty")'
INDENTED = '        if not count:\n            raise IndexError("empty")'
METHOD = """def pop(self):
    '''Take one.'''
    count = len(self.items)
    if not count:
        raise IndexError("empty")
    return self.items.pop()"""


@pytest.mark.parametrize(
    ("raw", "prefill", "steps"),
    [
        (REGION, "", ()),
        (BARE, "", ("reindented",)),
        (INDENTED + "\n", "```python\n", ("reindented",)),
        (f"```python\n{BARE}\n```", "", ("fence", "reindented")),
        (f"Here is the code:\n\n```python\n{BARE}\n```\nIt raises.", "", ("fence", "reindented")),
        (f"```\n{BARE}", "", ("fence-unterminated", "reindented")),
        (f"```python\n{BARE}\n```\nor\n```python\npass\n```", "", ("fence", "reindented")),
        (f"```python\n{BARE}", "```python\n", ("fence-unterminated", "reindented")),
        (f"{BARE}\n```\nThat was it.", "```python\n", ("fence", "reindented")),
        (f"Sure, this is the code:\n{BARE}\nThis code raises an error.", "", ("prose", "reindented")),
        (f"# TODO: Refuse when empty.\n# And say why.\n{BARE}", "", ("todo-dropped", "reindented")),
        (METHOD, "", ("function-body", "around-dropped", "reindented")),
        ("class Stack:\n    " + METHOD.replace("\n", "\n    "), "", ("class-body", "around-dropped", "reindented")),
        (FILE, "", ("whole-file", "around-dropped", "reindented")),
        (f"count = len(self.items)\n{BARE}\nreturn self.items.pop()", "", ("around-dropped", "reindented")),
    ],
)
def test_code_comes_out_as_it_must_stand(raw: str, prefill: str, steps: tuple[str, ...]) -> None:
    found = extract_code(raw, item(), FILE, prefill)
    assert found.text == REGION
    assert found.steps == steps


def test_a_different_answer_is_kept_as_it_is() -> None:
    found = extract_code("return None", item(), FILE, "```python\n")
    assert (found.text, found.steps) == ("return None", ())
    broken = extract_code("if (", item(), FILE, "```python\n")
    assert broken.text == "if ("
    assert extract_code("", item(), FILE, "```python\n").steps == ("empty",)


def test_a_repeated_neighbour_alone_is_not_thrown_away() -> None:
    assert extract_code("count = len(self.items)", item(), FILE, "").text == "count = len(self.items)"


def test_a_function_with_the_region_in_a_nested_block() -> None:
    answer = "def tail(x):\n    if x:\n        y = 1\n        z = 3\n    return x"
    assert extract_code(answer, item("z = 2"), FILE, "").text == "z = 3"


def test_tabs_and_windows_line_ends_are_the_file_s() -> None:
    text = "def f(x):\r\n\tif x:\r\n\t\treturn 1\r\n\treturn 2\r\n"
    found = extract_code("if not x:\n\treturn 3", item("if x:\r\n\t\treturn 1", text), text, "")
    assert found.text == "if not x:\r\n\t\treturn 3"
    assert found.steps == ("reindented", "newlines")


def test_the_inside_of_strings_does_not_move() -> None:
    raw = 'text = """one\n  two\nthree"""\nreturn text'
    found = extract_code(raw, item(), FILE, "")
    assert found.text == 'text = """one\n  two\nthree"""\n        return text'


def sources() -> list[Path]:
    folder = Path(__file__).parents[2] / "core" / "models"
    return sorted(folder.glob("*.py"))


@pytest.mark.parametrize("path", sources(), ids=lambda p: p.name)
def test_the_region_itself_survives_in_every_wrapping(path: Path) -> None:
    text = path.read_text()
    source = SourceFile(path.name, text, "utf-8", False)
    whole = ast.dump(ast.parse(text))
    for region in enumerate_candidates(source, RegionSettings())[::151]:
        x = Item("k", "region", path.name, region.span, region.start_line, region.end_line, region.text)
        prefill = backward_prompt(text, region.span, "d", lambda p: True).prefill
        for raw, start in ((region.text, prefill), (f"So:\n```python\n{region.text}\n```\n", "")):
            answer = extract_code(raw, x, text, start).text
            assert ast.dump(ast.parse(text[: region.span.start] + answer + text[region.span.end :])) == whole


PROGRAM = "import math\n\n\ndef halved(x):\n    return x / 2\n\n\ndef asked(x):\n    return halved(x)\n"
BODY = Span(PROGRAM.index("return halved"), len(PROGRAM) - 1)
HELPER = "def is_even(n):\n    return n % 2 == 0"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        # A whole answer: what the body needs stays, what the file has, what nobody needs and what only runs goes.
        (
            f"import re\nimport math\nLIMIT = 3\nUNUSED = 4\n\n{HELPER}\n\n\ndef odd(n):\n    return not is_even(n)\n\n"
            "def halved(x):\n    return 0\n\ndef asked(x):\n    # as it was\n    if x > LIMIT:\n"
            "        return re.escape(x)\n    return odd(x)\n\nprint(asked(3))\n",
            "if x > LIMIT:\n        return re.escape(x)\n    return odd(x)\n\n\nimport re\n\n\nLIMIT = 3\n\n\n"
            f"{HELPER}\n\n\ndef odd(n):\n    return not is_even(n)",
        ),
        (f"    y = 1\n    return is_even(x)\n\n\n{HELPER}\n", f"y = 1\n    return is_even(x)\n\n\n{HELPER}"),
        ("    return x\n", "return x"),
        (f"return x\n\n{HELPER}\n", "return x\n\n    def is_even(n):\n        return n % 2 == 0"),
    ],
)
def test_a_program_keeps_what_it_needs_beside_its_function(raw: str, text: str) -> None:
    item = Item("k", "problem", "p.py", BODY, 8, 8, PROGRAM[BODY.start : BODY.end])
    found = extract_program(raw, item, PROGRAM, "", "asked")
    assert found.text == text
    assert ("kept-beside" in found.steps) is ("\n\n\n" in text)
    compile(PROGRAM[: BODY.start] + found.text + PROGRAM[BODY.end :], "p.py", "exec")
