from pocketlab import scores


def test_total_points():
    assert scores.total_points([3, 5]) == 8


def test_average_points():
    assert scores.average_points([2, 4]) == 3
    assert scores.average_points([1, 2, 6]) == 3


def test_best_round():
    assert scores.best_round([3, 9, 4]) == 9


def test_spread_of_points():
    assert scores.spread_of_points([3, 9, 4]) == 6


def test_good_rounds():
    assert scores.good_rounds([3, 10, 12, 9]) == [10, 12]


def test_doubled_points():
    assert scores.doubled_points([3, 0, 4]) == [6, 0, 8]


def test_last_round():
    assert scores.last_round([3, 9, 4]) == 4


def test_number_of_rounds():
    assert scores.number_of_rounds([3, 9, 4]) == 3


def test_ranking():
    assert scores.ranking([3, 9, 4]) == [9, 4, 3]
