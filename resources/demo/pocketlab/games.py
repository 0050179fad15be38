"""Rules of small games: dice, cards and scores."""


def dice_points(first: int, second: int) -> int:
    """Return the points for a throw of two dice."""
    points = first + second
    if first == second:
        points = points * 2
    return points


def card_value(card: str) -> int:
    """Return what a card counts."""
    if card == "ace":
        return 11
    if card in ("jack", "queen", "king"):
        return 10
    return int(card)


def hand_value(cards: list[str]) -> int:
    """Return what all cards of a hand count together."""
    total = 0
    for card in cards:
        total += card_value(card)
    return total


def fizz(number: int) -> str:
    """Return what a player says when it is the number's turn."""
    if number % 15 == 0:
        return "fizzbuzz"
    if number % 3 == 0:
        return "fizz"
    if number % 5 == 0:
        return "buzz"
    return str(number)


def winner(scores: dict[str, int]) -> str:
    """Return the name with the highest score."""
    best = ""
    for name in scores:
        if best == "" or scores[name] > scores[best]:
            best = name
    return best


def level(score: int) -> int:
    """Return the level that a score has reached."""
    if score < 0:
        raise ValueError("a score is not negative")
    if score < 1000:
        return 1
    if score < 5000:
        return 2
    return 3


def lives_left(lives: int, hits: int) -> int:
    """Return the lives that are left after some hits."""
    left = lives - hits
    if left < 0:
        left = 0
    return left


def beats(mine: str, other: str) -> bool:
    """Tell whether my hand beats the other one."""
    if mine == "rock":
        return other == "scissors"
    if mine == "paper":
        return other == "rock"
    return other == "paper"


def add_score(scores: dict[str, int], name: str, points: int) -> None:
    """Add points to the score of a player."""
    if name not in scores:
        scores[name] = 0
    scores[name] += points
