from tiny.figures import absolute, average, double, is_even, rectangle_area
from tiny.lists import largest, last_item, squares, without_negatives
from tiny.words import first_letter, initials, longest_word


def test_rectangle_area():
    assert [rectangle_area(2, 3), rectangle_area(5, 1), rectangle_area(0, 7)] == [6, 5, 0]


def test_is_even():
    assert [bool(is_even(number)) for number in (0, 1, 2, 7, -4)] == [True, False, True, False, True]


def test_average():
    assert [average([2, 4]), average([5]), average([1, 2, 6])] == [3, 5, 3]


def test_double():
    assert [double(0), double(3), double(-2)] == [0, 6, -4]


def test_absolute():
    assert [absolute(number) for number in (0, 4, -4)] == [0, 4, 4]


def test_first_letter():
    assert [first_letter(word) for word in ("tree", "a", "Zoo")] == ["t", "a", "Z"]


def test_initials():
    assert [initials(name) for name in ("Ada Lovelace", "alan mathison turing")] == ["AL", "AMT"]


def test_longest_word():
    assert longest_word(["to", "become", "wise"]) == "become"


def test_largest():
    assert [largest([3]), largest([1, 9, 2]), largest([-5, -2, -9])] == [3, 9, -2]


def test_last_item():
    assert [last_item([4]), last_item([1, 2, 3]), last_item("abc")] == [4, 3, "c"]


def test_squares():
    assert [squares([]), squares([1, -2, 3])] == [[], [1, 4, 9]]


def test_without_negatives():
    assert without_negatives([3, -1, 0, -7, 2]) == [3, 0, 2]
