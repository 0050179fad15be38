"""Positions between the store's characters and the editor's lines and UTF-16 columns."""

from __future__ import annotations

import pytest
from pygments.token import Text

from rtc_inspector.ui.code.blocks import SourceText
from rtc_inspector.ui.diff.colouring import tokenise

TEXT = "a = 1\r\nb = '😀' + c\rd\n\nend"


def test_lines_end_at_any_of_the_three_ends() -> None:
    source = SourceText(TEXT)
    assert [source.line(number) for number in range(5)] == ["a = 1", "b = '😀' + c", "d", "", "end"]
    assert source.shown() == "a = 1\nb = '😀' + c\nd\n\nend"


@pytest.mark.parametrize("offset", range(len(TEXT) + 1))
def test_every_offset_comes_back_from_its_place(offset: int) -> None:
    source = SourceText(TEXT)
    inside_line_end = TEXT[offset - 1 : offset + 1] == "\r\n"
    assert source.offset(*source.position(offset)) == (offset - 1 if inside_line_end else offset)


def test_columns_count_utf_16_units() -> None:
    source = SourceText(TEXT)
    assert source.position(TEXT.index("+")) == (1, 9)
    assert TEXT[source.offset(1, 9)] == "+"


def test_offsets_beyond_the_text_are_its_end() -> None:
    source = SourceText("ab\ncd")
    assert source.position(99) == (1, 2)
    assert source.offset(1, 99) == 5


def test_separators_that_qt_would_break_at_are_replaced_one_for_one() -> None:
    text = "x = '\u2028\u2029\x00'\ny"
    assert SourceText(text).shown() == "x = '\ufffd\ufffd\ufffd'\ny"


def test_tokens_stand_on_their_lines_at_utf_16_columns() -> None:
    lines = tokenise('s = "😀" # c\ndef f():\n    pass\n', "m.py")
    assert len(lines) == 4
    comment = next(span for span in lines[0] if "Comment" in str(span[2]))
    assert comment[:2] == (9, 3)
    assert (4, 4) in [span[:2] for span in lines[2]]


def test_a_string_over_lines_is_coloured_on_each() -> None:
    lines = tokenise('x = """one\ntwo"""\n', "m.py")
    assert all(any("String" in str(kind) for _, _, kind in line) for line in lines[:2])


def test_an_unknown_kind_of_file_is_plain() -> None:
    assert tokenise("anything\nat all", "notes.unknown-ending") == [[(0, 8, Text)], [(0, 6, Text)]]
