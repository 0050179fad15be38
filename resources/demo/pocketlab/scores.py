"""Points of a game, round by round."""


def total_points(points: list[int]) -> int:
    """Return the sum of all points."""
    if points == []:
        raise ValueError("nothing was played yet")
    total = sum(points)
    return total


def average_points(points: list[int]) -> float:
    """Return the average of the points."""
    if points == []:
        raise ValueError("nothing was played yet")
    average = sum(points) / len(points)
    return average


def best_round(points: list[int]) -> int:
    """Return the highest number of points."""
    if points == []:
        raise ValueError("nothing was played yet")
    best = max(points)
    return best  # of all rounds


def worst_round(points: list[int]) -> int:
    """Return the lowest number of points."""
    if points == []:
        raise ValueError("nothing was played yet")
    worst = min(points)
    return worst  # of all rounds


def spread(points: list[int]) -> int:
    """Return the difference between the best and the worst round."""
    if points == []:
        raise ValueError("nothing was played yet")
    difference = max(points) - min(points)
    return difference


def good_rounds(points: list[int]) -> list[int]:
    """Return the points of the good rounds."""
    if points == []:
        raise ValueError("nothing was played yet")
    return [number for number in points if number >= 10]


def squared_points(points: list[int]) -> list[int]:
    """Return the square of each number of points."""
    if points == []:
        raise ValueError("nothing was played yet")
    return [number * number for number in points]


def ranking(points: list[int]) -> list[int]:
    """Return the points of all players, the winner first."""
    if points == []:
        raise ValueError("nobody played")
    ordered = sorted(points, reverse=True)
    return ordered


def is_even_score(points: int) -> bool:
    """Tell whether the number of points is even."""
    if points < 0:
        raise ValueError("points are not negative")
    even = points % 2 == 0
    return even
