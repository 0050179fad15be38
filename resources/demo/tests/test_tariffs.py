import pytest

from pocketlab import tariffs


def test_ticket_price():
    ages = {0: 0, 5: 0, 6: 5, 17: 5, 18: 10, 64: 10, 65: 7, 90: 7}
    for age, price in ages.items():
        assert tariffs.ticket_price(age) == price


def test_parcel_price():
    weights = {0.5: 4, 2: 4, 2.1: 9, 10: 9, 11: 20}
    for weight, price in weights.items():
        assert tariffs.parcel_price(weight) == price
    with pytest.raises(ValueError, match="has a weight"):
        tariffs.parcel_price(0)


def test_parking_fee():
    assert [tariffs.parking_fee(hours) for hours in (0, 1, 8, 9, 24)] == [0, 3, 24, 24, 24]


def test_discount():
    totals = {0: 0, 49: 0, 50: 5, 99: 5, 100: 10, 500: 10}
    for total, off in totals.items():
        assert tariffs.discount(total) == off
        assert tariffs.price_after_discount(total) == total - off


def test_delivery_fee():
    assert [tariffs.delivery_fee(total, False) for total in (10, 59, 60, 90)] == [6, 6, 0, 0]
    assert [tariffs.delivery_fee(total, True) for total in (10, 59, 60, 90)] == [14, 14, 8, 8]


def test_tip():
    assert [tariffs.tip(50, True), tariffs.tip(99, True), tariffs.tip(50, False)] == [5, 9, 0]


def test_shared_bill():
    assert tariffs.shared_bill([10, 20, 30], 3) == 20
    assert tariffs.shared_bill([5], 2) == 2.5
