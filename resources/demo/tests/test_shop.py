from pocketlab import shop


def test_price_of_pieces():
    assert shop.price_of_pieces(3, 4) == 12
    assert shop.price_of_pieces(0, 4) == 0


def test_total_price():
    assert shop.total_price([4, 1, 2]) == 7


def test_cheapest_price():
    assert shop.cheapest_price([4, 1, 2]) == 1


def test_average_price():
    assert shop.average_price([4, 1, 1]) == 2


def test_half_price():
    assert shop.half_price(10) == 5


def test_double_price():
    assert shop.double_price(10) == 20


def test_money_back():
    assert shop.money_back(10, 7) == 3
    assert shop.money_back(7, 7) == 0


def test_price_with_tax():
    assert shop.price_with_tax(10) == 12
    assert shop.price_with_tax(5) == 6
