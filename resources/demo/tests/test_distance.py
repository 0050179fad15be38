import pytest

from pocketlab.distance import (
    common_subsequence,
    edit_distance,
    similarity,
    soundex,
    suggest,
)


def test_edit_distance():
    cases = [
        ("", "", 0),
        ("same", "same", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("cat", "cut", 1),
        ("cat", "cats", 1),
        ("flaw", "lawn", 2),
        ("form", "from", 1),
        ("abcd", "badc", 2),
        ("ca", "abc", 3),
        ("saturday", "sunday", 3),
        ("xabx", "xbax", 1),
    ]
    for left, right, edits in cases:
        assert edit_distance(left, right) == edits
        assert edit_distance(right, left) == edits


def test_similarity():
    assert similarity("", "") == 1.0
    assert similarity("abcd", "abcx") == 0.75
    assert similarity("ab", "xyzw") == 0.0
    assert similarity("abcd", "ab") == 0.5


def test_common_subsequence():
    cases = [
        ("abcde", "ace", "ace"),
        ("abc", "xyz", ""),
        ("", "abc", ""),
        ("ab", "ba", "a"),
        ("nematode", "empty", "emt"),
        ("xaby", "axby", "xby"),
        ("zabc", "abcz", "abc"),
        ("aab", "ab", "ab"),
    ]
    for left, right, shared in cases:
        assert common_subsequence(left, right) == shared


def test_suggest_orders_by_distance():
    known = ["commit", "comet", "commits", "summit"]
    assert suggest("comit", known) == ["comet", "commit"]
    assert suggest("commmit", known) == ["commit", "commits"]


def test_suggest_prefers_the_same_first_letter():
    assert suggest("tell", ["bell", "tall", "well"]) == ["tall", "bell", "well"]


def test_suggest_ignores_case_but_returns_the_known_spelling():
    assert suggest("READM", ["ReadMe", "license"]) == ["ReadMe"]
    assert suggest("Tell", ["bell", "Tall"]) == ["Tall", "bell"]


def test_suggest_always_allows_one_edit():
    assert suggest("go", ["gp", "xy"]) == ["gp"]


def test_suggest_allows_a_third():
    assert suggest("abcdef", ["abcdxy", "abcxyz"]) == ["abcdxy"]


def test_suggest_returns_no_more_than_asked():
    assert suggest("aa", ["ab", "ac", "ad", "ae"]) == ["ab", "ac", "ad"]
    assert suggest("aa", ["ad", "ac"], most=1) == ["ac"]


def test_soundex():
    cases = [
        ("Robert", "R163"),
        ("Rupert", "R163"),
        ("Ashcraft", "A261"),
        ("Tymczak", "T522"),
        ("Pfister", "P236"),
        ("Honeyman", "H555"),
        ("O'Hara", "O600"),
        ("Lee", "L000"),
        ("Washington", "W252"),
    ]
    for name, code in cases:
        assert soundex(name) == code


def test_soundex_needs_a_letter():
    with pytest.raises(ValueError, match="at least one letter"):
        soundex("123")
