"""Points, grades and who has passed."""


def grade(points: int) -> str:
    """Return the letter that stands for so many points."""
    if points >= 90:
        return "A"
    if points >= 75:
        return "B"
    if points >= 50:
        return "C"
    return "F"


def has_passed(points: int) -> bool:
    """Tell whether so many points are enough."""
    return points >= 50


def bonus_points(points: int, homework: int) -> int:
    """Return the points with those for homework, never more than 100."""
    points = points + homework
    if points > 100:
        points = 100
    return points


def average_points(results: list[int]) -> float:
    """Return the mean of all results; 0 when there are none."""
    if not results:
        return 0
    return sum(results) / len(results)


def best_result(results: list[int]) -> int:
    """Return the highest of the results; 0 when there are none."""
    best = 0
    for result in results:
        if result > best:
            best = result
    return best


def count_passed(results: list[int]) -> int:
    """Return how many of the results are enough."""
    count = 0
    for result in results:
        if result >= 50:
            count += 1
    return count


def passed_names(results: dict[str, int]) -> list[str]:
    """Return the names of those who have passed."""
    names = []
    for name, points in results.items():
        if points >= 50:
            names.append(name)
    return names


def without_worst(results: list[int]) -> list[int]:
    """Return the results without the worst one, in order."""
    ordered = sorted(results)
    return ordered[1:]


def medal(place: int) -> str:
    """Return the medal for a place; nothing after the third."""
    if place == 1:
        return "gold"
    if place == 2:
        return "silver"
    if place == 3:
        return "bronze"
    return ""
