import pytest

from pocketlab.text import initials, outdent, shorten, slugify, unique_slug, wrap


def test_slug():
    cases = [
        ("Hello, World!", "hello-world"),
        ("Crème brûlée", "creme-brulee"),
        ("Salt & Pepper", "salt-and-pepper"),
        ("Don't panic", "dont-panic"),
        ("  spaced   out  ", "spaced-out"),
        ("Area 51", "area-51"),
        ("???", "untitled"),
        ("", "untitled"),
    ]
    for title, slug in cases:
        assert slugify(title) == slug


def test_slug_loses_whole_words():
    assert slugify("one two three", limit=9) == "one-two"
    assert slugify("one two three", limit=13) == "one-two-three"
    assert slugify("one two three", limit=12) == "one-two"


def test_slug_stops_at_the_first_word_that_does_not_fit():
    assert slugify("one threeandmore two", limit=8) == "one"


def test_slug_cuts_a_long_first_word():
    assert slugify("incomprehensible", limit=6) == "incomp"


def test_slug_default_limit():
    assert slugify("a" * 50) == "a" * 40


def test_unique_slug_without_clash():
    assert unique_slug("My Page", {"other"}) == "my-page"


def test_unique_slug_takes_the_next_number():
    assert unique_slug("My Page", {"my-page"}) == "my-page-2"
    assert unique_slug("My Page", {"my-page", "my-page-2", "my-page-3"}) == "my-page-4"


def test_wrap_breaks_between_words():
    assert wrap("the quick brown fox", 10) == ["the quick", "brown fox"]


def test_wrap_fills_a_line_exactly():
    assert wrap("abcd efgh", 9) == ["abcd efgh"]
    assert wrap("abcd efgh", 8) == ["abcd", "efgh"]


def test_wrap_indents_later_lines():
    assert wrap("one two three four", 9, indent="  ") == [
        "one two",
        "  three",
        "  four",
    ]


def test_wrap_cuts_long_words():
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrap("abcdefghij", 4, indent=" ") == ["abcd", " efg", " hij"]
    assert wrap("to abcdefghij", 4) == ["to", "abcd", "efgh", "ij"]


def test_wrap_of_nothing():
    assert wrap("   ", 5) == []


def test_wrap_goes_on_after_a_cut_word():
    assert wrap("abcdef g h", 4) == ["abcd", "ef g", "h"]


def test_wrap_needs_room():
    with pytest.raises(ValueError, match="width 2 leaves no room"):
        wrap("text", 2, indent="  ")


def test_shorten_leaves_short_text():
    assert shorten("a  b\nc", 5) == "a b c"


def test_shorten_cuts_after_a_word():
    assert shorten("the quick brown fox", 14) == "the quick..."
    assert shorten("the quick brown fox", 12) == "the quick..."
    assert shorten("the quick brown fox", 11) == "the..."


def test_shorten_drops_punctuation_before_the_mark():
    assert shorten("Well, then: we go home", 14) == "Well, then..."


def test_shorten_cuts_a_single_long_word():
    assert shorten("incomprehensible", 8) == "incom..."
    assert shorten("incomprehensible", 8, mark="~") == "incompr~"


def test_initials():
    cases = [
        ("Ada Lovelace", "AL"),
        ("ludwig van beethoven", "LB"),
        ("Van Morrison", "VM"),
        ("Jean-Luc Picard", "J-LP"),
        ("", ""),
    ]
    for name, letters in cases:
        assert initials(name) == letters


def test_outdent_removes_the_common_margin():
    assert outdent("\n    a\n      b\n\n    c\n") == "a\n  b\n\nc"


def test_outdent_counts_a_tab_as_four():
    assert outdent("\tone\n      two") == "one\n  two"


def test_outdent_of_blank_lines():
    assert outdent("  \n\n   ") == ""
