import pytest

from pocketlab import games


def test_dice_points():
    assert [games.dice_points(1, 2), games.dice_points(4, 4)] == [3, 16]


def test_cards():
    assert [games.card_value(card) for card in ("ace", "king", "queen", "jack", "7", "10")] == [11, 10, 10, 10, 7, 10]
    assert games.hand_value(["ace", "2", "king"]) == 23
    assert games.hand_value([]) == 0


def test_fizz():
    said = [games.fizz(number) for number in range(1, 16)]
    assert said[:5] == ["1", "2", "fizz", "4", "buzz"]
    assert said[8:] == ["fizz", "buzz", "11", "fizz", "13", "14", "fizzbuzz"]


def test_winner():
    assert games.winner({"Ann": 3, "Ben": 7, "Cy": 7}) == "Ben"
    assert games.winner({}) == ""


def test_level():
    assert [games.level(score) for score in (0, 999, 1000, 4999, 5000)] == [1, 1, 2, 2, 3]
    with pytest.raises(ValueError, match="not negative"):
        games.level(-1)


def test_lives_left():
    assert [games.lives_left(3, 1), games.lives_left(3, 3), games.lives_left(1, 4)] == [2, 0, 0]


def test_beats():
    wins = [("rock", "scissors"), ("paper", "rock"), ("scissors", "paper")]
    for mine, other in wins:
        assert games.beats(mine, other)
        assert not games.beats(other, mine)
        assert not games.beats(mine, mine)


def test_add_score():
    scores = {"Ann": 2}
    games.add_score(scores, "Ann", 3)
    games.add_score(scores, "Ben", 4)
    assert scores == {"Ann": 5, "Ben": 4}
