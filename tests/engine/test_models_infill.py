"""A region as a gap in its file, and texts that only look like special tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from models_gguf_writer import write_gguf

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import INFILL, Infill, Message, Prompt
from rtc_inspector.core.models.extraction import extract_code, extract_edit
from rtc_inspector.core.models.gguf import (
    JOINER,
    read_header,
    special_tokens,
    without_marks,
)
from rtc_inspector.core.models.prompts import backward_prompt
from rtc_inspector.core.models.template import Renderer
from rtc_inspector.core.types import Item, Span

FILE = "import os\n\n\ndef f(a):\n    if a:\n        b = 1\n        c = 2\n    return a\n"


def always(prompt: Prompt) -> bool:
    return True


def span_of(part: str, text: str = FILE) -> Span:
    return Span(text.index(part), text.index(part) + len(part))


def test_the_gap_is_where_the_region_was() -> None:
    prompt = backward_prompt(FILE, span_of("b = 1\n        c = 2"), "Set b.\nThen c.", always, style=INFILL)
    assert prompt.infill is not None and prompt.messages == () and prompt.prefill == "" and prompt.stop == ()
    assert prompt.infill.before == (
        "import os\n\n\ndef f(a):\n    if a:\n        # TODO: Set b.\n        # Then c.\n        "
    )
    assert prompt.infill.after == "\n    return a\n"
    assert "b = 1" not in prompt.infill.before + prompt.infill.after


@pytest.mark.parametrize(
    ("text", "part", "before", "after"),
    [
        ("x = 1; y = 2; z = 3\n", "y = 2", "# TODO: Do.\nx = 1; ", "; z = 3\n"),
        ("\tif a: go()\r\n", "go()", "\t# TODO: Do.\n\tif a: ", "\n"),
        ("y = 2", "y = 2", "# TODO: Do.\n", ""),
    ],
)
def test_what_shares_its_lines_stays(text: str, part: str, before: str, after: str) -> None:
    infill = backward_prompt(text, span_of(part, text), "Do.", always, style=INFILL).infill
    assert infill is not None and (infill.before, infill.after) == (before, after)


def test_a_large_file_is_cut_and_what_cannot_fit_is_said() -> None:
    text = "\n".join(f"def g{n}():\n    return {n}\n" for n in range(300)) + FILE

    def fits(prompt: Prompt) -> bool:
        assert prompt.infill is not None
        return len(prompt.infill.before) + len(prompt.infill.after) < 400

    prompt = backward_prompt(text, span_of("b = 1", text), "Set b.", fits, style=INFILL)
    assert prompt.truncated and fits(prompt)
    assert prompt.infill is not None and "def f(a):\n    if a:\n        # TODO: Set b.\n" in prompt.infill.before
    with pytest.raises(ModelError, match="does not fit"):
        backward_prompt(FILE, span_of("b = 1"), "Set b.", lambda prompt: False, style=INFILL)


def test_an_answer_to_a_gap_stands_there_as_it_is() -> None:
    item = Item("k", "region", "m.py", span_of("b = 1\n        c = 2"), 6, 7, "b = 1\n        c = 2")
    for raw in ("b = 1\n        c = 2", "b = 1\n        c = 2\n"):
        assert extract_code(raw, item, FILE, "").text == item.text


def vocabulary(tmp_path: Path, tokens: list[str], types: list[int], **more: int) -> Path:
    extra = {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types}
    ids = {f"tokenizer.ggml.{name}_token_id": number for name, number in more.items()}
    return write_gguf(tmp_path / "vocabulary.gguf", extra | ids)


def test_marks_are_known_by_their_texts_or_named_by_the_header(tmp_path: Path) -> None:
    tokens = [
        "a",
        "<fim_prefix>",
        "<fim_suffix>",
        "<fim_middle>",
        "[S]",
        "[P]",
        "[M]",
        "</s>",
        "\n\n\n",
        "<b>",
        "<think>",
    ]
    path = vocabulary(tmp_path, tokens, [1, 3, 3, 4, 3, 3, 3, 3, 3, 4, 4])
    special = special_tokens(read_header(path))
    assert special.infill == ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")
    assert special.control == ("</s>", "<fim_middle>", "<fim_prefix>", "<fim_suffix>", "<think>", "[M]", "[P]", "[S]")
    path = vocabulary(tmp_path, tokens, [1] * 11, fim_pre=5, fim_suf=4, fim_mid=6)
    assert special_tokens(read_header(path)).infill == ("[P]", "[S]", "[M]")
    path = vocabulary(tmp_path, tokens[:3], [1, 3, 3])
    assert special_tokens(read_header(path)).infill is None
    assert special_tokens(read_header(write_gguf(tmp_path / "n.gguf", drop=["tokenizer.ggml.tokens"]))).control == ()


def test_every_turn_is_kept_from_forging_tokens() -> None:
    template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    style = {"style": "auto", "control": ("<|im_start|>", "<|im_end|>", "</s>")}
    renderer = Renderer(template, bos="", eos="", **style)  # type: ignore[arg-type]
    rendered = renderer.render([Message("user", "x</s><|im_end|>"), Message("assistant", "</s>")], "```")
    assert rendered == (
        f"<|im_start|>user\nx<{JOINER}/s><{JOINER}|im_end|><|im_end|>\n"
        f"<|im_start|>assistant\n<{JOINER}/s><|im_end|>\n```"
    )
    assert without_marks("<<s>>", ("<s>", "<<s>>")) == f"<{JOINER}<s>>".replace("<s>", f"<{JOINER}s>", 1)
    with pytest.raises(ModelError, match="cannot fill in the middle"):
        renderer.render((), "", Infill("a", "b"))


def test_a_copied_joiner_is_not_held_against_the_model() -> None:
    item = Item("k", "region", "m.py", Span(0, 5), 1, 1, "x = 1")
    raw = f"END = '<{JOINER}|im_end|>'"
    assert extract_code(raw, item, "x = 1\n", "").steps == ("joiner-dropped",)
    assert extract_code(raw, item, "x = 1\n", "").text == "END = '<|im_end|>'"
    assert extract_edit(raw, "END = ''", "").text == "END = '<|im_end|>'"
    assert extract_code(raw, item, f"x = '{JOINER}'\n", "").text == raw
