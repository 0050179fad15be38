"""Prompts of the editing task, and how answers are read."""

from __future__ import annotations

import pytest

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import Prompt
from rtc_inspector.core.models.extraction import extract_edit
from rtc_inspector.core.trips.editing import (
    UNINFORMATIVE,
    edit_backward_prompt,
    edit_forward_prompt,
    fence_for,
    wording,
)

OLD = "    if a:\n        return 1\n    return 2"
NEW = "    if a and b:\n        return 1\n    return 2"


def always(prompt: Prompt) -> bool:
    return True


def test_the_forward_question_shows_both_sides_after_three_shots() -> None:
    prompt = edit_forward_prompt(OLD, NEW, always)
    assert [message.role for message in prompt.messages] == ["system", *["user", "assistant"] * 3, "user"]
    question = prompt.messages[-1].content
    for words in ("concisely", "accurately", "natural language", f"[old]\n```\n{OLD}\n```", f"[new]\n```\n{NEW}\n```"):
        assert words in question
    assert (prompt.prefill, prompt.stop, prompt.truncated) == ("", (), False)


def test_the_backward_question_never_shows_the_new_code() -> None:
    prompt = edit_backward_prompt(OLD, "Also ask for b.", always)
    question = prompt.messages[-1].content
    assert OLD in question
    assert "Also ask for b." in question
    assert "a and b" not in "".join(message.content for message in prompt.messages)
    assert (prompt.prefill, prompt.stop) == ("```\n", ("\n```",))
    assert UNINFORMATIVE == "Edit."


def test_the_shots_are_the_same_both_ways_and_are_edits() -> None:
    forward, backward = edit_forward_prompt(OLD, NEW, always), edit_backward_prompt(OLD, "x", always)
    for number, shot in enumerate(wording().shots):
        assert forward.messages[2 + 2 * number].content == shot.description
        assert backward.messages[2 + 2 * number].content == f"```\n{shot.new}\n```"
        assert shot.old != shot.new
        assert extract_edit(shot.new, shot.old, "```\n").text == shot.new
    assert len(wording().shots) == 3


def test_shots_give_way_to_a_small_window_and_it_is_said() -> None:
    whole = sum(len(message.content) for message in edit_forward_prompt(OLD, NEW, always).messages)

    def fits(room: int) -> Prompt:
        return edit_forward_prompt(OLD, NEW, lambda p: sum(len(m.content) for m in p.messages) <= room)

    assert not fits(whole).truncated
    assert fits(whole - 1).truncated
    assert len(fits(whole - 1).messages) == 6
    with pytest.raises(ModelError, match="does not fit"):
        fits(10)


def test_a_fence_in_the_code_gets_a_longer_one_around_it() -> None:
    old = "before\n```python\nx\n```\nafter"
    prompt = edit_backward_prompt(old, "x", always)
    assert fence_for(old) == "````"
    assert prompt.prefill == "````\n"
    assert f"````\n{old}\n````" in prompt.messages[-1].content
    assert extract_edit(old + "\n````\nand so on", old, prompt.prefill).text == old


@pytest.mark.parametrize(
    ("raw", "steps"),
    [
        (NEW, ()),
        (NEW + "\n\n", ()),
        (NEW + "\n```\nThis adds b.", ("fence",)),
        ("```python\n" + NEW + "\n```", ("fence",)),
        ("```\n" + NEW, ("fence-unterminated",)),
        ("[new]\n" + NEW, ("label-dropped",)),
        (NEW.replace("\n    ", "\n").removeprefix("    "), ("reindented",)),
        (NEW.replace("\n", "\r\n"), ()),
    ],
)
def test_answers_are_unwrapped(raw: str, steps: tuple[str, ...]) -> None:
    found = extract_edit(raw, OLD, "```\n")
    assert (found.text, found.steps) == (NEW, steps)


def test_an_answer_without_a_prefill_may_talk_first() -> None:
    assert extract_edit(f"Here it is:\n\n```py\n{NEW}\n```\nDone.", OLD, "").text == NEW
    assert extract_edit(NEW, OLD, "").text == NEW


def test_line_ends_are_those_of_the_file() -> None:
    found = extract_edit(NEW, OLD.replace("\n", "\r\n"), "```\n")
    assert found.text == NEW.replace("\n", "\r\n")
    assert found.steps == ("newlines",)


@pytest.mark.parametrize(
    "answer",
    [
        "else:\n    return 3",  # nothing of the old code is there to go by
        "    return 1\n    return 2",  # one line was moved by the edit itself
        "if a:\n        return 1\nreturn 2",  # the lines disagree
    ],
)
def test_code_that_is_not_plainly_moved_stays_where_it_is(answer: str) -> None:
    assert extract_edit(answer, OLD, "```\n").text == answer


@pytest.mark.parametrize("raw", ["", "  \n", "```", "```\n```"])
def test_no_code_is_empty(raw: str) -> None:
    found = extract_edit(raw, OLD, "```\n")
    assert found.text.strip() == ""
    assert "empty" in found.steps
