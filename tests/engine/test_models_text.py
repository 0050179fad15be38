"""Chat templates in a sandbox, and text from token bytes."""

from __future__ import annotations

import pytest

from core.errors import ModelError
from core.generation import Message
from core.models.template import Renderer, completion, merge_system
from core.models.textstream import TextStream

TURNS = [Message("system", "Be brief."), Message("user", "Why?")]


def test_a_template_renders_turns_and_prefill() -> None:
    source = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}"
    source += "{% if add_generation_prompt %}[me]{% endif %}"
    assert Renderer(source, "auto", "", "").render(TURNS, "So") == "[system] Be brief.\n[user] Why?\n[me]So"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ messages.append(1) }}",
        "{% for m in messages %}{{ m.__class__.__base__.__subclasses__()[0] }}{% endfor %}",
    ],
)
def test_a_template_cannot_reach_python(source: str) -> None:
    with pytest.raises(ModelError, match="template"):
        Renderer(source, "auto", "", "").render(TURNS, "")


def test_a_template_that_refuses_system_turns_gets_them_in_the_question() -> None:
    source = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ messages[0].content }}"
    )
    assert Renderer(source, "auto", "", "").render(TURNS, "") == "Be brief.\n\nWhy?"
    assert merge_system(TURNS[1:]) == TURNS[1:]


def test_a_broken_template_is_a_sentence() -> None:
    with pytest.raises(ModelError, match="template"):
        Renderer("{% for %}", "auto", "", "")


def test_base_models_are_asked_in_plain_text() -> None:
    renderer = Renderer(None, "auto", "", "")
    assert renderer.style == "completion"
    turns = [*TURNS, Message("assistant", "Because."), Message("user", "How?")]
    expected = "Be brief.\n\n### Task\nWhy?\n\n### Answer\nBecause.\n\n### Task\nHow?\n\n### Answer\n"
    assert renderer.render(turns, "```") == expected + "```" == completion(turns) + "```"
    with pytest.raises(ModelError, match="no chat template"):
        Renderer(None, "chat", "", "")
    assert Renderer("x", "completion", "", "").style == "completion"


def stream(pieces: list[bytes], stops: tuple[str, ...] = ()) -> tuple[list[str], TextStream]:
    answer = TextStream(stops)
    given = [answer.push(piece) for piece in pieces]
    return [*given, answer.finish()], answer


def test_characters_split_over_tokens_come_whole() -> None:
    data = "aé😀b".encode()
    given, answer = stream([data[i : i + 1] for i in range(len(data))])
    assert answer.text == "".join(given) == "aé😀b"
    assert all("\ufffd" not in part for part in given)
    assert stream([b"a", b"\xf0\x9f"])[1].text == "a\ufffd"


def test_stop_texts_are_cut_off_and_never_streamed() -> None:
    given, answer = stream([b"x = 1", b"\n``", b"`", b" more"], ("\n```",))
    assert answer.text == "".join(given) == "x = 1" and answer.stopped
    given, answer = stream([b"x\n", b"``", b"y"], ("\n```",))
    assert answer.text == "".join(given) == "x\n``y" and not answer.stopped
    given, answer = stream([b"a\n``"], ("\n```",))
    assert answer.text == "".join(given) == "a\n``"
