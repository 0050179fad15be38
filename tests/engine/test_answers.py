"""Answers in every form: what a model wrote around its code, what it thought before, and code that holds such marks."""

from __future__ import annotations

import pytest
from answer_forms import CUT, FENCED, FORMS, NAME, PROGRAMS, THOUGHTS

from rtc_inspector.core.generation import Generation, Message, Prompt
from rtc_inspector.core.models.answers import FORMATS, answer_of, formats, parted
from rtc_inspector.core.models.extraction import extract_code, extract_description, extract_edit, extract_program
from rtc_inspector.core.models.function_prompts import MASK, extract_name, mask_prompt
from rtc_inspector.core.types import Item, Span

QUESTION = Prompt((Message("user", "Write it."),), prefill="```python\n", stop=("\n```",))


def asked(text: str, prompt: Prompt = QUESTION, tag: str = "", **more: str) -> tuple[str, str, tuple[str, ...]]:
    """The answer that a method reads, what it was begun with, and what was taken off; asked of a server in turns."""
    rendered = more.pop("rendered", "[user]\nWrite it.")
    answer = answer_of(Generation("a", text, rendered, 1, 1, 0.0, "stop", **more), prompt, tag)
    return answer.text, answer.prompt.prefill, answer.steps


def test_there_are_as_many_as_promised() -> None:
    assert len(PROGRAMS) >= 30 and len(FORMS) >= 40 and len(FORMATS) >= 9


@pytest.mark.parametrize("form", FORMS)
def test_a_program_comes_out_as_it_went_in(form: str) -> None:
    """Any of the programs in the place of a file's one line: nothing of it is lost, and nothing around it is left."""
    if form == "long usage after":
        return  # without a name the longest block answers
    file = "pass\n"
    place = Item("k", "cell", "m.py", Span(0, 4), 1, 1, "pass")
    wrong = []
    for name, program in PROGRAMS.items():
        text, prefill, _ = asked(FORMS[form](program))
        found = extract_code(text, place, file, prefill)
        if found.text != program:
            wrong.append((name, found))
    assert not wrong


@pytest.mark.parametrize("form", FORMS)
def test_a_function_that_was_asked_for_by_name_is_found(form: str) -> None:
    """As in a benchmark: the body of a function that the file begins."""
    file = f"def {NAME}(x):\n    pass\n"
    place = Item("k", "problem", "m.py", Span(file.index("pass"), len(file) - 1), 2, 2, "pass")
    plain = {name: PROGRAMS[name] for name in ("one", "docstring", "loop", "think mark", "fence doc", "fence text")}
    for name, program in plain.items():
        text, prefill, _ = asked(FORMS[form](program))
        found = extract_program(text, place, file, prefill, NAME)
        assert found.text == program.split("\n    ", 1)[1], (name, found)


@pytest.mark.parametrize("form", FORMS)
def test_an_edit_comes_out_as_it_went_in(form: str) -> None:
    old = "def asked(x):\n    return 'as it was'"
    wrong = []
    for name, program in PROGRAMS.items():
        text, prefill, _ = asked(FORMS[form](program))
        found = extract_edit(text, old, prefill)
        if found.text.strip("\n") != program:
            wrong.append((name, found))
    assert not wrong


def test_the_code_that_was_shown_is_not_the_edit() -> None:
    old, new = "if a:\n    return 1\n# and so on", "if b:\n    return 1"
    for form in sorted(set(FENCED) - {"long usage after"}):
        raw = f"The old code is\n\n```python\n{old}\n```\n\nand it becomes:\n\n{FENCED[form](new)}"
        assert extract_edit(raw, old, "").text == new, form


@pytest.mark.parametrize("cut", CUT)
def test_thoughts_without_an_end_are_no_answer(cut: str) -> None:
    text, _, steps = asked(CUT[cut])
    assert (text, steps) == ("", ("thoughts-unended",))
    assert extract_description(text).steps == ("empty",)


def test_thoughts_that_the_prompt_began_have_no_mark_of_their_own() -> None:
    begun = {"rendered": "<|user|>Write it.<|assistant|><think>\n"}
    assert asked("Well, well", **begun) == ("", "", ("thoughts-unended",))
    assert asked("Well.\n</think>\nx = 1", **begun) == ("x = 1", "", ("thoughts-dropped",))
    harmony = {"rendered": "<|start|>user<|message|>Write it.<|end|><|start|>assistant"}
    assert asked("<|channel|>final<|message|>(x)", **harmony) == ("(x)", "", ("thoughts-dropped",))


def test_what_a_server_sends_apart_is_said() -> None:
    assert asked("x = 1", thoughts="Well.") == ("x = 1", "", ("thoughts-apart",))


def test_a_beginning_counts_where_it_was_sent() -> None:
    """A file's model goes on behind the fence; a server in turns was never given it."""
    assert asked("x = 1", rendered="Write it.```python\n") == ("x = 1", "```python\n", ())


def test_a_tag_of_ones_own() -> None:
    assert asked("<ponder>Well.</ponder>\nx = 1")[0].startswith("<ponder>")
    assert asked("<ponder>Well.</ponder>\nx = 1", tag="ponder")[0] == "x = 1"
    assert parted("[P]Well.[/P]x", formats("[P]"))[1] == "x"


@pytest.mark.parametrize(
    "words",
    [
        "Returns what stands behind </think>, or all of it.",
        "Takes the text up to </think>",
        "Splits at `<think>` and `</think>`.",
        'Joins "<think>" and the text.',
        "analysis of the text is left out",
        "Wraps the code in a fence (```).",
    ],
)
def test_words_about_such_marks_are_words(words: str) -> None:
    text, _, steps = asked(words)
    assert (extract_description(text).text, steps) == (words, ())


@pytest.mark.parametrize("form", THOUGHTS)
def test_a_description_is_found_behind_thoughts(form: str) -> None:
    words = "Raises an error when the stack is empty."
    for said in (THOUGHTS[form](words), THOUGHTS[form](words).replace(f"```python\n{words}\n```", words)):
        assert extract_description(asked(said)[0]).text.removeprefix("Here it is:\n\n") == words


FUNCTION = '''def pick(values, start=0):
    """Pick the best."""
    # begin with the first
    best = values[start]
    for value in values:
        if value > best:
            best = value  # better
    return {"best": best, 'of': len(values)}'''
HIDDEN = [at for at in range(len(FUNCTION)) if FUNCTION.startswith(("best", "values", "value "), at)]
LAYOUTS = {
    "as it is": lambda f: f,
    "without comments": lambda f: f.replace("    # begin with the first\n", "").replace("  # better", ""),
    "without docstring": lambda f: f.replace('    """Pick the best."""\n', ""),
    "other quotes": lambda f: f.replace("'of'", '"of"'),
    "formatted": lambda f: f.replace("(values, start=0)", "(\n    values,\n    start=0,\n)"),
    "more blank lines": lambda f: f.replace("\n    for", "\n\n    for"),
    "deeper": lambda f: "\n".join(f"    {line}" for line in f.split("\n")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_hidden_name_is_found_whatever_the_layout(layout: str) -> None:
    names = 0
    for at in HIDDEN:
        name = next(n for n in ("values", "value", "best") if FUNCTION.startswith(n, at))
        if at > 0 and FUNCTION[at - 1] in "\"' " and FUNCTION[at - 1 :].startswith(('"best', " best.")):
            continue  # in a string or a docstring, where no names are hidden
        prompt = mask_prompt(FUNCTION, at, len(name), lambda p: True, "chat")
        for form, wrap in FORMS.items():
            text, prefill, _ = asked(wrap(LAYOUTS[layout](FUNCTION)), prompt)
            assert prefill == ""
            found = extract_name(text, answer_of(Generation("", "", "q", 0, 0, 0, "stop"), prompt).prompt)
            assert found.text == name, (form, at, found)
        names += 1
    assert names >= 8


@pytest.mark.parametrize(
    "answer",
    [
        "best",
        "`best`",
        "The name is `best`.",
        'It must be "best".',
        "```\nbest\n```",
        "**best**",
        "best = values[start]",
    ],
)
def test_a_hidden_name_alone(answer: str) -> None:
    at = FUNCTION.index("best = values")
    prompt = mask_prompt(FUNCTION, at, 4, lambda p: True, "chat")
    assert MASK in prompt.messages[-1].content
    plain = answer_of(Generation("", "", "q", 0, 0, 0, "stop"), prompt).prompt
    assert extract_name(answer, plain).text == "best"


def test_a_name_that_the_answer_begins_with() -> None:
    """As of a file's model, whose answer goes on where the name stood."""
    prompt = mask_prompt(FUNCTION, FUNCTION.index("best = values"), 4, lambda p: True, "chat")
    assert extract_name(" best = values[start]", prompt).text == "best"
