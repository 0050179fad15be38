"""The words of the prompts in a person's place: what is taken, what is refused, and what a model is asked then."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import task
from rtc_inspector.core.models.prompts import backward_prompt, forward_prompt
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.setting import described
from rtc_inspector.core.settings.words import changed, instructions, read_words, words_of
from rtc_inspector.core.types import Span
from rtc_inspector.resources import path as resource_path

FILE = "def add(a, b):\n    return a + b\n"
REGION = Span(19, 31)


def always(prompt: object) -> bool:
    return True


def test_what_a_person_changes_in_the_window_is_what_a_model_is_asked() -> None:
    texts = {each.key: each.text for each in instructions("synthesis")}
    texts["system"] = 'Be "brief".\n\tAnd exact.'
    texts["backward.question"] = "{file}\n\nWrite what {todo} says, in Python."
    own = changed("synthesis", texts)
    assert {each.key: each.text for each in instructions("synthesis", own)} == texts
    assert "forward" not in own, "what is as it was is not stored"
    asked = backward_prompt(FILE, REGION, "Adds.", always, own=own).messages
    assert asked[0].content == texts["system"] and asked[-1].content.endswith("# TODO: Adds. says, in Python.")
    assert asked[1].content.endswith("in Python."), "worked examples are asked alike"
    assert forward_prompt(FILE, REGION, always, own=own).messages[0].content == texts["system"]
    assert changed("synthesis", {each.key: each.text for each in instructions("synthesis")}) == ""
    shots = "[[shots]]\nwhere = 'f'\nbefore = ''\nregion = 'x'\nafter = ''\ndescription = 'y'\n"
    assert words_of("synthesis", changed("synthesis", texts, shots))["shots"] == words_of("synthesis", shots)["shots"]


@pytest.mark.parametrize("name", ["synthesis", "editing"])
def test_the_programs_own_file_is_taken_as_it_is(name: str) -> None:
    own = read_words(str(resource_path("prompts", f"{name}.toml")))
    assert words_of(name, own) == words_of(name)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("[backward]\nquestion = 'Write {todo}.'\n", "backward.question lacks {file}"),
        ("[forward]\nquestion = '{file} {region} {style}'\n", "forward.question has no {style}; it has"),
        ("[forward]\nquestion = '{file} {region'\n", "write a brace as {{ or }}"),
        ("[forwards]\nquestion = ''\n", "nothing called forwards; there is version, system"),
        ("system = 3\n", "system is a text"),
        ("[[shots]]\nwhere = 'f'\n", "each of shots has the texts where, before, region"),
        ("system = \n", "Invalid value"),
    ],
)
def test_words_that_would_ask_nothing_are_refused_with_a_sentence(own: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        words_of("synthesis", own)
    assert said in refused.value.problem and "synthesis.toml" in refused.value.remedy


def test_the_option_names_a_file_and_the_run_keeps_its_text(tmp_path: Path) -> None:
    each = described(RunSettings)["prompts"]
    file = tmp_path / "words.toml"
    file.write_text('system = "Be brief."')
    assert each.option == "--prompts" and each.read(str(file)) == 'system = "Be brief."\n'
    assert not each.problem('system = "Be brief."\n'), "a stored text is no name of a file"
    assert "cannot be read" in each.problem(str(tmp_path / "none.toml"))
    assert [task(name).has("prompts") for name in ("synthesis", "editing", "chain")] == [True, True, False]
