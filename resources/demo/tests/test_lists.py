from pocketlab import lists


def test_figures():
    assert [lists.average([2, 4]), lists.average([1, 2, 6])] == [3, 3]
    assert [lists.largest([3, 9, -2]), lists.largest([-3])] == [9, -3]
    assert [lists.spread([4, 1, 9]), lists.spread([5])] == [8, 0]
    assert [lists.count_even([1, 2, 4, 7, 0]), lists.count_even([])] == [3, 0]


def test_only_positive():
    assert lists.only_positive([3, 0, -1, 5]) == [3, 5]


def test_words():
    assert lists.long_words(["to", "window", "seven", "kitchen"]) == ["window", "kitchen"]
    assert lists.by_length(["abc", "d", "ef"]) == ["d", "ef", "abc"]


def test_new_lists():
    assert lists.without_doubles([3, 1, 3, 2, 1]) == [1, 2, 3]
    assert lists.squares([3, -1, 0]) == [9, 1, 0]
