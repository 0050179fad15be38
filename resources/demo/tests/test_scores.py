from pocketlab import scores


def test_total_points():
    assert scores.total_points([3, 5]) == 8


def test_average_points():
    assert scores.average_points([2, 4]) == 3
    assert scores.average_points([1, 2, 6]) == 3


def test_best_round():
    assert scores.best_round([3, 9, 4]) == 9


def test_worst_round():
    assert scores.worst_round([3, 9, 4]) == 3


def test_spread():
    assert scores.spread([3, 9, 4]) == 6


def test_good_rounds():
    assert scores.good_rounds([3, 10, 12, 9]) == [10, 12]


def test_squared_points():
    assert scores.squared_points([3, 0, 4]) == [9, 0, 16]


def test_ranking():
    assert scores.ranking([3, 9, 4]) == [9, 4, 3]


def test_is_even_score():
    assert scores.is_even_score(4) is True
    assert scores.is_even_score(3) is False
