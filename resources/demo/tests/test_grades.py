from pocketlab import grades


def test_grade():
    letters = {100: "A", 90: "A", 89: "B", 75: "B", 74: "C", 50: "C", 49: "F", 0: "F"}
    for points, letter in letters.items():
        assert grades.grade(points) == letter


def test_has_passed():
    assert [grades.has_passed(points) for points in (49, 50, 51)] == [False, True, True]


def test_bonus_points():
    assert [grades.bonus_points(60, 5), grades.bonus_points(98, 5)] == [65, 100]


def test_average_points():
    assert [grades.average_points([]), grades.average_points([4]), grades.average_points([1, 2, 6])] == [0, 4, 3]


def test_best_result():
    assert [grades.best_result([]), grades.best_result([4, 9, 7])] == [0, 9]


def test_who_passed():
    assert grades.count_passed([49, 50, 90, 3]) == 2
    assert grades.passed_names({"Ann": 50, "Ben": 49, "Cy": 88}) == ["Ann", "Cy"]


def test_without_worst():
    assert grades.without_worst([7, 3, 9]) == [7, 9]
    assert grades.without_worst([5]) == []


def test_medal():
    assert [grades.medal(place) for place in (1, 2, 3, 4)] == ["gold", "silver", "bronze", ""]
