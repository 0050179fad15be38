from pocketlab import shop


def test_price_of_pieces():
    assert shop.price_of_pieces(3, 4) == 12
    assert shop.price_of_pieces(0, 4) == 0


def test_total_price():
    assert shop.total_price([4, 1, 2]) == 7


def test_cheapest_price():
    assert shop.cheapest_price([4, 1, 2]) == 1


def test_price_with_tax():
    assert shop.price_with_tax(10) == 12
    assert shop.price_with_tax(5) == 6


def test_price_on_the_last_day():
    assert shop.price_on_the_last_day(8) == 6
    assert shop.price_on_the_last_day(0) == 0


def test_money_back():
    assert shop.money_back(10, 7) == 3
    assert shop.money_back(7, 7) == 0


def test_is_free_of_delivery():
    assert shop.is_free_of_delivery(59) is False
    assert shop.is_free_of_delivery(60) is True


def test_names_of_things():
    assert shop.names_of_things({"tea": 4, "pen": 2}) == ["pen", "tea"]
