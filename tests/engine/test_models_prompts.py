"""Prompts: what is shown, what is cut, and what is never shown."""

from __future__ import annotations

import ast
import re

import pytest

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import PLAIN, Block, Prompt
from rtc_inspector.core.models.extraction import extract_code
from rtc_inspector.core.models.prompts import UNINFORMATIVE, backward_prompt, forward_prompt, wording
from rtc_inspector.core.types import Item, Span

FILE = '''"""Doc."""

import os
from sys import path


class Stack:
    """A stack."""

    def __init__(self):
        self.items = []

    @property
    def top(self):
        if not self.items:
            raise IndexError("empty")
        # the last one
        return self.items[-1]


def other():
    return os.getpid()
'''


def span_of(text: str, part: str) -> Span:
    start = text.index(part)
    return Span(start, start + len(part))


def always(prompt: Prompt) -> bool:
    return True


def words(prompt: Prompt) -> int:
    return sum(len(m.content.split()) for m in prompt.messages)


REGION = span_of(FILE, 'if not self.items:\n            raise IndexError("empty")')


def test_three_shots_and_the_file_with_the_region() -> None:
    prompt = forward_prompt(FILE, REGION, always)
    assert [m.role for m in prompt.messages] == ["system", *["user", "assistant"] * 3, "user"]
    question = prompt.messages[-1].content
    assert FILE.rstrip() in question
    assert "lines 15 to 16, in `Stack.top`" in question
    assert question.count('raise IndexError("empty")') == 2
    assert not prompt.truncated and prompt.prefill == ""


def test_shots_are_the_same_whatever_is_asked() -> None:
    one, two = forward_prompt(FILE, REGION, always), forward_prompt("x = 1\n", Span(0, 5), always)
    assert one.messages[:-1] == two.messages[:-1]
    for shot in wording().shots:
        ast.parse("\n".join(part.strip("\n") for part in (shot.before, shot.region, shot.after)))


def test_backward_shows_the_description_and_never_the_region() -> None:
    prompt = backward_prompt(FILE, REGION, "Refuse when empty.\n\nSay why.", always)
    question = prompt.messages[-1].content
    expected = FILE.replace('if not self.items:\n            raise IndexError("empty")', "# TODO")
    assert expected.rstrip() in question
    assert question.endswith("\n        # TODO: Refuse when empty.\n        #\n        # Say why.\n```")
    assert "IndexError" not in question
    assert prompt.prefill == "```python\n" and prompt.stop == ("\n```",)
    empty = backward_prompt(FILE, REGION, UNINFORMATIVE, always).messages[-1].content
    assert "        # TODO: Implement.\n" in empty


def test_what_shares_the_region_s_lines_stays() -> None:
    text = "def f():\n\tx = 1; y = 2  # both\n\treturn x\n"
    question = backward_prompt(text, span_of(text, "y = 2"), "Set y.", always).messages[-1].content
    assert "\tx = 1; # TODO\n\t# both\n\treturn x" in question and "\n\t# TODO: Set y.\n" in question


def test_windows_line_ends_are_shown_plainly() -> None:
    text = FILE.replace("\n", "\r\n")
    region = span_of(text, 'if not self.items:\r\n            raise IndexError("empty")')
    assert "\r" not in forward_prompt(text, region, always).messages[-1].content
    assert "# TODO: Implement." in backward_prompt(text, region, UNINFORMATIVE, always).messages[-1].content


BIG = (
    "import os\nimport re\n\n\n"
    + "".join(f"def f{i}(x):\n    y = x + {i}\n    return y * {i}\n\n\n" for i in range(600))
    + "class Deep:\n    def method(self):\n"
    + "".join(f"        a{i} = {i}\n" for i in range(300))
    + "        return a1\n"
)


@pytest.mark.parametrize("part", ["a150 = 150", "y = x + 300"])
@pytest.mark.parametrize("room", [480, 700, 2000])
def test_a_large_file_is_cut_by_whole_statements(part: str, room: int) -> None:
    asked: list[int] = []

    def fits(prompt: Prompt) -> bool:
        asked.append(words(prompt))
        return asked[-1] <= room

    prompt = forward_prompt(BIG, span_of(BIG, part), fits)
    assert prompt.truncated and words(prompt) <= room
    assert len(asked) < 16
    shown = prompt.messages[-1].content.split("```python\n")[1].split("\n```")[0]
    ast.parse(shown)
    assert "# ..." in shown and "import os\nimport re" in shown
    if part.startswith("a150"):
        assert "class Deep:\n    def method(self):" in shown and "a149 = 149" in shown and "a151 = 151" in shown
        assert "in `Deep.method`" in prompt.messages[-1].content
    else:
        assert "def f300(x):" in shown and "return y * 300" in shown


def test_regions_of_one_function_and_all_descriptions_share_the_cut_file() -> None:
    """What differs stands last, so that the file is evaluated once."""

    def fits(prompt: Prompt) -> bool:
        return sum(len(m.content) for m in prompt.messages) < 7000

    text = BIG.replace("y = x + 300", "y = x + 300\n    if y > x:\n        raise ValueError(y)\n    y += 1")
    parts = ("y = x + 300\n", "if y > x:\n        raise ValueError(y)\n    y += 1\n    return y")
    shown = [forward_prompt(text, span_of(text, part.strip()), fits) for part in parts]
    files = [prompt.messages[-1].content.split("Describe briefly")[0] for prompt in shown]
    assert files[0] == files[1] and all(prompt.truncated for prompt in shown)
    asked = [backward_prompt(text, span_of(text, parts[1]), words, fits) for words in ("Short.", "Long. " * 80, "")]
    assert len({prompt.messages[-1].content.split("# TODO:")[0] for prompt in asked}) == 1
    assert all(fits(prompt) for prompt in (*shown, *asked))


def test_what_cannot_fit_is_said() -> None:
    with pytest.raises(ModelError, match="does not fit"):
        forward_prompt(FILE, REGION, lambda p: False)


def test_imports_outlive_far_statements_and_signatures_outlive_imports() -> None:
    region = span_of(BIG, "a150 = 150")
    smallest = min((forward_prompt(BIG, region, lambda p, n=n: words(p) <= n) for n in range(430, 520, 15)), key=words)
    shown = smallest.messages[-1].content
    assert "class Deep:" in shown and "a150 = 150" in shown


def test_a_file_that_python_cannot_parse_is_cut_by_lines() -> None:
    text = "print 'old'\n" * 300 + "value = 1\n" + "print 'old'\n" * 300
    prompt = forward_prompt(text, span_of(text, "value = 1"), lambda p: words(p) < 600)
    assert prompt.truncated and "value = 1" in prompt.messages[-1].content


# --------------------------------------------------------------------------- the layout of the paper


def test_in_the_paper_s_layout_the_description_stands_in_the_file() -> None:
    prompt = backward_prompt(FILE, REGION, "Refuse when empty.\n\nSay why.", always, layout="paper")
    question = prompt.messages[-1].content
    todo = "# TODO: Refuse when empty.\n        #\n        # Say why."
    assert FILE.replace('if not self.items:\n            raise IndexError("empty")', todo).rstrip() in question
    assert question.count("TODO:") == 1 and question.endswith("and nothing else.")
    assert all("# TODO: " in shot.content for shot in prompt.messages[1:-1:2]), "the shots are laid out the same way"


def test_what_shares_the_region_s_lines_stays_in_the_paper_s_layout_too() -> None:
    text = "def f():\n\tx = 1; y = 2  # both\n\treturn x\n"
    question = (
        backward_prompt(text, span_of(text, "y = 2"), "Set y.\nNow.", always, layout="paper").messages[-1].content
    )
    assert "\tx = 1; # TODO: Set y.\n\t# Now.\n\t# both\n\treturn x" in question


# --------------------------------------------------------------------------- the style `code`


def code(prompt: Prompt) -> str:
    (message,) = prompt.messages
    assert message.role == PLAIN
    return message.content


def test_in_code_style_the_file_ends_at_the_region_and_goes_on_there() -> None:
    prompt = backward_prompt(FILE, REGION, "Refuse when empty.\n\nSay why.", always, style="code")
    before = FILE[: FILE.index("        if not self.items")]
    todo = "        # TODO: Refuse when empty.\n        #\n        # Say why.\n"
    assert code(prompt).endswith(f"\n\n\n{before}{todo}") and "IndexError" not in code(prompt)
    assert prompt.prefill == " " * 7, "the last blank belongs to the token that the model writes first"
    assert prompt.block == Block("        ") and "\n        # TODO" in prompt.stop
    assert not prompt.truncated and 0 < prompt.shown < 1
    described = forward_prompt(FILE, REGION, always, style="code")
    assert code(described).endswith('raise IndexError("empty")\n        # END\n        # Summary:')
    assert described.stop == ("\n        # Summary:",), "a second summary is none of this region"
    assert described.block == Block("        ", comment="#") and "the last one" not in code(described)


@pytest.mark.parametrize(("style", "layout"), [("code", "shared"), ("chat", "shared"), ("chat", "paper")])
def test_what_is_to_be_described_is_marked_in_every_style_and_in_the_shots(style: str, layout: str) -> None:
    """In a file of two functions nobody could tell else which one, or how much of it, is meant."""
    two = "def one(x):\n    return x\n\n\ndef other(x):\n    x += 1\n    return x\n"
    prompt = forward_prompt(two, Span(two.index("x += 1"), two.index("x += 1") + 6), always, style, layout)
    marked = re.findall(r"^ *# BEGIN\n(.*?)\n *# END$", "\n".join(m.content for m in prompt.messages), re.M | re.S)
    shots = [shot.region.strip("\n") for shot in wording().shots]
    assert marked == [*shots, "    x += 1"]
    question = prompt.messages[-1].content
    assert (two.rstrip() in question) is (style == "chat" and layout == "shared"), "shared: what was read of the file"


def test_an_answer_in_code_style_stands_at_the_region() -> None:
    item = Item("k", "region", "m.py", REGION, 15, 16, FILE[REGION.start : REGION.end])
    prompt = backward_prompt(FILE, REGION, "Refuse.", always, style="code")
    for raw in (f" {item.text}", f" {item.text}\n        # the last one\n        return self.items[-1]"):
        assert extract_code(raw, item, FILE, prompt.prefill).text == item.text


def test_the_line_below_the_region_ends_an_answer_in_code_style() -> None:
    text = FILE.replace("        # the last one\n", "")
    assert (
        "\n        return self.items[-1]\n"
        in backward_prompt(text, span_of(text, text[REGION.start : REGION.end]), "Do.", always, style="code").stop
    )
    assert backward_prompt("x = 1\ny = 2\n", Span(0, 5), "Do.", always, style="code").stop == ("\n# TODO", "\n\n\n")


def test_shots_in_code_style_are_python_and_the_same_for_all() -> None:
    one, two = (code(backward_prompt(text, Span(0, 5), "Do.", always, style="code")) for text in ("x = 1\n", "y = 2\n"))
    assert one == two
    ast.parse(one)
    ast.parse(code(forward_prompt("x = 1\n", Span(0, 5), always, style="code")))


def test_a_large_file_in_code_style_is_cut_before_the_region_only() -> None:
    region = span_of(BIG, "y = x + 300")
    prompt = backward_prompt(BIG, region, "Adds.", lambda p: words(p) <= 400, style="code")
    assert prompt.truncated and words(prompt) <= 400 and code(prompt).endswith("def f300(x):\n    # TODO: Adds.\n")
    assert "f301" not in code(prompt) and 0 < prompt.shown < 0.2
    first = span_of(BIG, "y = x + 0")
    prompt = backward_prompt(BIG, first, "Adds.", lambda p: words(p) <= 400, style="code")
    assert not prompt.truncated, "what stands below is never shown in this style, so nothing was cut"


def test_how_much_of_the_file_is_shown_is_told() -> None:
    assert forward_prompt(FILE, REGION, always).shown == 1.0
    half = forward_prompt(BIG, span_of(BIG, "y = x + 300"), lambda p: words(p) <= 2000)
    shown = half.messages[-1].content.split("```python\n")[1].split("\n```")[0]
    assert half.shown == pytest.approx(len(shown) / len(BIG), abs=0.05)
    problem = "def add(a, b):\n\n    # The sum.\n    total = a\n    total += b\n    return total\n"
    for region in ("total = a\n    total += b\n    return total", "total += b\n    return total", "return total"):
        assert forward_prompt(problem, span_of(problem, region), always).shown == 1.0, "its own lines are not around it"
