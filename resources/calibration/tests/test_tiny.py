from tiny.figures import average, clamp, is_even, rectangle_area
from tiny.lists import factorial, largest, longest_word, without_negatives
from tiny.words import count_vowels, initials, is_palindrome, reverse_words


def test_rectangle_area():
    assert [rectangle_area(2, 3), rectangle_area(5, 1), rectangle_area(0, 7)] == [6, 5, 0]


def test_is_even():
    assert [bool(is_even(number)) for number in (0, 1, 2, 7, -4)] == [True, False, True, False, True]


def test_average():
    assert [average([2, 4]), average([5]), average([1, 2, 6])] == [3, 5, 3]


def test_clamp():
    assert [clamp(5, 0, 10), clamp(-5, 0, 10), clamp(50, 0, 10)] == [5, 0, 10]


def test_count_vowels():
    assert [count_vowels(text) for text in ("", "sky", "Apple", "UMBRELLA")] == [0, 0, 2, 3]


def test_reverse_words():
    assert [reverse_words(text) for text in ("one", "one two", "to be or not")] == ["one", "two one", "not or be to"]


def test_initials():
    assert [initials(name) for name in ("Ada Lovelace", "alan mathison turing")] == ["AL", "AMT"]


def test_is_palindrome():
    assert [bool(is_palindrome(text)) for text in ("", "Never odd or even", "abca")] == [True, True, False]


def test_largest():
    assert [largest([3]), largest([1, 9, 2]), largest([-5, -2, -9])] == [3, 9, -2]


def test_without_negatives():
    assert without_negatives([3, -1, 0, -7, 2]) == [3, 0, 2]


def test_factorial():
    assert [factorial(number) for number in (0, 1, 2, 5)] == [1, 1, 2, 120]


def test_longest_word():
    assert longest_word(["to", "become", "wise"]) == "become"
