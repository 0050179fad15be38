"""Points of a game, round by round."""


def total_points(points_of_each_round: list[int]) -> int:
    """Return all points of a player together."""
    if points_of_each_round == []:
        raise ValueError("nothing was played yet")
    return sum(points_of_each_round)


def average_points(points_of_each_round: list[int]) -> float:
    """Return the average number of points in a round."""
    if points_of_each_round == []:
        raise ValueError("nothing was played yet")
    return sum(points_of_each_round) / len(points_of_each_round)


def best_round(points_of_each_round: list[int]) -> int:
    """Return the points of the best round."""
    if points_of_each_round == []:
        raise ValueError("nothing was played yet")
    return max(points_of_each_round)


def spread_of_points(points_of_each_round: list[int]) -> int:
    """Return how far the best and the worst round lie apart."""
    if points_of_each_round == []:
        raise ValueError("nothing was played yet")
    return max(points_of_each_round) - min(points_of_each_round)


def good_rounds(points_of_each_round: list[int]) -> list[int]:
    """Return the points of the good rounds."""
    if points_of_each_round == []:
        raise ValueError("nothing was played yet")
    return [points for points in points_of_each_round if points >= 10]


def doubled_points(points_of_each_round: list[int]) -> list[int]:
    """Return the points of a player who holds the joker."""
    if points_of_each_round == []:
        raise ValueError("nothing was played yet")
    return [points * 2 for points in points_of_each_round]


def last_round(points_of_each_round: list[int]) -> int:
    """Return the points of the round that was played last."""
    if points_of_each_round == []:
        raise ValueError("nothing was played yet")
    return points_of_each_round[len(points_of_each_round) - 1]


def number_of_rounds(points_of_each_round: list[int]) -> int:
    """Return how many rounds were played."""
    if points_of_each_round == []:
        raise ValueError("nothing was played yet")
    return len(points_of_each_round)


def ranking(points_of_each_player: list[int]) -> list[int]:
    """Return the points of all players, the winner first."""
    if points_of_each_player == []:
        raise ValueError("nobody played")
    return sorted(points_of_each_player, reverse=True)
