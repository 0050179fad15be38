"""Chat templates in a sandbox, and text from token bytes."""

from __future__ import annotations

import random

import pytest

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import PLAIN, Block, Message
from rtc_inspector.core.models.answers import FORMATS, Ending, Format, TextStream, begun_by, formats
from rtc_inspector.core.models.engine import loops
from rtc_inspector.core.models.template import Renderer, completion, merge_system

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


def stream(
    pieces: list[bytes], stops: tuple[str, ...] = (), block: Block | None = None, most: int = 0, thinking: bool = False
) -> tuple[list[str], TextStream]:
    answer = TextStream(Ending(stops, block, most), thinking)
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
    assert answer.text == "".join(given) == "x = 1" and answer.reason == "stop"
    given, answer = stream([b"x\n", b"``", b"y"], ("\n```",))
    assert answer.text == "".join(given) == "x\n``y" and not answer.reason
    given, answer = stream([b"a\n``"], ("\n```",))
    assert answer.text == "".join(given) == "a\n``"


BODY = Block("    ")


def signs(text: str) -> list[bytes]:
    return [sign.encode() for sign in text]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("return 1\n\n\ndef other():", "return 1"),
        ("return 1\n  # less deep", "return 1"),
        ("if x:\n        y()\n\n    return 2\nclass", "if x:\n        y()\n\n    return 2"),
        ('return """\nat the margin\n"""\nnext', 'return """\nat the margin\n"""'),
        ("return f(\n        1,\n)\nnext", "return f(\n        1,\n)"),
        ("return f(1,\ndef other():", "return f(1,"),
    ],
)
def test_an_answer_in_a_file_ends_below_its_block(written: str, kept: str) -> None:
    """Inside strings and before closing brackets lines may stand anywhere; what is outside is never streamed."""
    for pieces in (signs(written), [written.encode()]):
        given, answer = stream(pieces, block=BODY)
        assert (answer.text, "".join(given), answer.reason) == (kept, kept, "stop")


def test_a_description_in_a_file_ends_with_its_comment() -> None:
    given, answer = stream(
        signs("Adds them:\n    # - one\n    # - two\n    total = 1"), block=Block("    ", comment="#")
    )
    assert answer.text == "".join(given) == "Adds them:\n    # - one\n    # - two"
    assert stream(signs("All of it."), block=BODY)[1].text == "All of it."


def test_an_answer_far_longer_than_it_can_be_is_cut() -> None:
    given, answer = stream(signs("x" * 50), most=20)
    assert answer.reason == "length" and answer.text == "".join(given) == "x" * 21


def test_nothing_in_a_models_thoughts_ends_its_answer() -> None:
    thoughts = "<think>\nA fence:\n```\nor so\n</think>\n"
    _, answer = stream(signs(thoughts + "x = 1\n```\nmore"), ("\n```",))
    assert answer.text == thoughts + "x = 1" and not answer.thinking
    _, answer = stream(signs("hm\n```\n"), ("\n```",), thinking=True)
    assert answer.thinking and not answer.reason


def test_a_passage_over_and_over_is_a_loop() -> None:
    choose = random.Random(1)
    start = [choose.randrange(9) for _ in range(100)]
    assert not loops(start) and not loops([])
    for period in (1, 3, 40, 64):
        passage = list(range(100, 100 + period))
        rounds = max(4, -(-64 // period))
        assert loops(start + passage * rounds) and not loops(start + passage * (rounds - 1))
    assert not loops(start + list(range(65)) * 6), "longer than what is looked for"


def test_a_template_that_begins_the_thoughts_gets_no_answer_begun_among_them() -> None:
    renderer = Renderer("{{ messages[0].content }}<think>\n", "chat", "", "")
    assert renderer.render([Message("user", "Why?")], "```python\n") == "Why?<think>"
    assert begun_by("Why?<think>\n") and not begun_by("Why?<think>\n\n</think>\n\n")
    renderer = Renderer("{{ messages[0].content }}<ponder>\n", "chat", "", "", forms=formats("ponder"))
    assert renderer.render([Message("user", "Why?")], "```python\n") == "Why?<ponder>"


def test_a_plain_text_is_asked_as_it_is_in_every_style() -> None:
    for renderer in (Renderer(None, "completion", "", ""), Renderer("chat", "chat", "", "")):
        assert renderer.render([Message(PLAIN, "def f(x):\n")], "    ") == "def f(x):\n    "


@pytest.mark.parametrize("form", [form for form in FORMATS if not form.needs_both], ids=lambda form: form.opening)
def test_thoughts_of_every_format_end_no_answer(form: Format) -> None:
    thoughts = f"{form.opening}\nA fence:\n```\nor so\n{form.closing}\n"
    _, answer = stream(signs(thoughts + "x = 1\n```\nmore"), ("\n```",))
    assert answer.text == thoughts + "x = 1" and not answer.thinking


def test_a_template_that_leaves_the_channel_to_the_model_gets_no_answer_begun() -> None:
    renderer = Renderer("{{ messages[0].content }}<|start|>assistant", "chat", "", "")
    assert renderer.render([Message("user", "Why?")], "```python\n") == "Why?<|start|>assistant"
