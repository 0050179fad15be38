import pytest

from pocketlab import shop

PRICES = {"tea": 4, "salt": 1, "pen": 2, "soap": 1}


def test_prices():
    assert [shop.total_price([]), shop.total_price([4, 1, 2])] == [0, 7]
    assert [shop.price_of(3, 4), shop.price_of(0, 4)] == [12, 0]
    assert [shop.with_tax(10), shop.with_tax(5)] == [12, 6]
    assert [shop.half_price(10), shop.half_price(0)] == [5, 0]


def test_names():
    assert shop.cheapest(PRICES) == "salt"
    assert shop.names_below(PRICES, 2) == ["salt", "soap"]
    assert shop.names_below(PRICES, 5) == ["tea", "salt", "pen", "soap"]


def test_change():
    assert [shop.change(10, 7), shop.change(7, 7)] == [3, 0]
    with pytest.raises(ValueError, match="not enough"):
        shop.change(5, 7)
