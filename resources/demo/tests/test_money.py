from dataclasses import FrozenInstanceError
from decimal import Decimal

import pytest

from pocketlab.money import Money, instalments, split_gross


def euro(minor):
    return Money(minor, "EUR")


def minors(amounts):
    return [amount.minor for amount in amounts]


def test_parse():
    cases = [
        ("12.50 EUR", 1250, "EUR"),
        ("12 EUR", 1200, "EUR"),
        ("-1,250.40 USD", -125040, "USD"),
        ("300 JPY", 300, "JPY"),
        ("1.234 KWD", 1234, "KWD"),
        (" 0.5 EUR ", 50, "EUR"),
        ("1.500 EUR", 150, "EUR"),
    ]
    for text, minor, currency in cases:
        assert Money.parse(text) == Money(minor, currency)


def test_parse_refuses_what_is_too_fine():
    with pytest.raises(ValueError, match="finer than the smallest unit"):
        Money.parse("1.005 EUR")
    with pytest.raises(ValueError, match="finer than the smallest unit"):
        Money.parse("1.5 JPY")


def test_parse_refuses_what_is_no_amount():
    for text in ["EUR", "ten EUR", "", "1.2.3 EUR"]:
        with pytest.raises(ValueError, match="not an amount"):
            Money.parse(text)


def test_unknown_currency():
    with pytest.raises(ValueError, match="unknown currency 'XYZ'"):
        Money(1, "XYZ")
    with pytest.raises(ValueError, match="unknown currency 'XYZ'"):
        Money.parse("1 XYZ")


def test_amounts_cannot_change_and_can_be_keys():
    amount = euro(5)
    with pytest.raises(FrozenInstanceError):
        amount.minor = 6
    assert {euro(5): "coffee"}[amount] == "coffee"


def test_sum_and_difference():
    assert euro(150) + euro(75) == euro(225)
    assert euro(150) - euro(175) == euro(-25)


def test_currencies_do_not_mix():
    with pytest.raises(ValueError, match="cannot mix EUR and USD"):
        euro(1) + Money(1, "USD")
    with pytest.raises(ValueError, match="cannot mix EUR and JPY"):
        euro(1) - Money(1, "JPY")


def test_text():
    cases = [
        (euro(125040), "1,250.40 EUR"),
        (euro(-5), "-0.05 EUR"),
        (Money(1500, "JPY"), "1,500 JPY"),
        (Money(7, "KWD"), "0.007 KWD"),
    ]
    for amount, text in cases:
        assert str(amount) == text


def test_scaled_rounds_half_to_even():
    cases = [
        (5, "0.5", 2),
        (7, "0.5", 4),
        (-5, "0.5", -2),
        (10, "0.26", 3),
        (100, "-2", -200),
    ]
    for minor, factor, result in cases:
        assert euro(minor).scaled(Decimal(factor)) == euro(result)


def test_cash():
    cases = [
        (102, 5, 100),
        (103, 5, 105),
        (-102, 5, -100),
        (-103, 5, -105),
        (25, 50, 50),
        (-25, 50, -50),
        (24, 50, 0),
        (50, 50, 50),
    ]
    for minor, coin, result in cases:
        assert euro(minor).in_cash(coin) == euro(result)


def test_allocate_equally():
    assert minors(euro(100).allocate([1, 1, 1])) == [34, 33, 33]
    assert minors(euro(101).allocate([1, 1, 1])) == [34, 34, 33]


def test_allocate_gives_the_rest_to_the_largest_fraction():
    assert minors(euro(10).allocate([1, 5, 3])) == [1, 6, 3]
    assert minors(euro(10).allocate([5, 5, 4])) == [4, 3, 3]
    assert minors(euro(100).allocate([3, 0, 4])) == [43, 0, 57]


def test_allocate_a_debt():
    shares = Money(-100, "USD").allocate([1, 1, 1])
    assert shares == [Money(-34, "USD"), Money(-33, "USD"), Money(-33, "USD")]


def test_allocate_refuses_bad_weights():
    for weights in [[0, 0], [2, -1]]:
        with pytest.raises(ValueError, match="weights must not be negative"):
            euro(1).allocate(weights)


def test_split_gross():
    assert split_gross(euro(11900), Decimal(19)) == (euro(10000), euro(1900))
    assert split_gross(euro(1000), Decimal(19)) == (euro(840), euro(160))
    assert split_gross(euro(99), Decimal(0)) == (euro(99), euro(0))


def test_instalments_put_odd_units_last():
    assert minors(instalments(euro(1000), 3, smallest=100)) == [333, 333, 334]


def test_instalments_are_fewer_rather_than_too_small():
    assert minors(instalments(euro(1000), 6, smallest=300)) == [333, 333, 334]
    assert minors(instalments(euro(1000), 6, smallest=500)) == [500, 500]


def test_a_small_debt_is_paid_at_once():
    assert instalments(Money(20, "JPY"), 4, smallest=100) == [Money(20, "JPY")]


def test_instalments_need_a_payment():
    with pytest.raises(ValueError, match="at least one payment"):
        instalments(euro(1000), 0, smallest=1)
