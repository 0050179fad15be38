from datetime import date

import pytest

from pocketlab.workdays import (
    Calendar,
    add_months,
    age_on,
    billing_dates,
    fiscal_quarter,
    nth_weekday,
)

MAY_DAY = date(2024, 5, 1)
OFFICE = Calendar(holidays=frozenset({MAY_DAY}))


def test_workdays():
    assert OFFICE.is_workday(date(2024, 4, 30))
    assert not OFFICE.is_workday(MAY_DAY)
    assert not OFFICE.is_workday(date(2024, 5, 4))
    assert not OFFICE.is_workday(date(2024, 5, 5))


def test_another_weekend():
    calendar = Calendar(weekend=(4,))
    assert not calendar.is_workday(date(2024, 5, 3))
    assert calendar.is_workday(date(2024, 5, 5))


def test_next_workday():
    assert OFFICE.next_workday(date(2024, 5, 3)) == date(2024, 5, 3)
    assert OFFICE.next_workday(date(2024, 5, 4)) == date(2024, 5, 6)
    assert OFFICE.next_workday(MAY_DAY) == date(2024, 5, 2)


def test_shift():
    cases = [
        (date(2024, 5, 2), 1, date(2024, 5, 3)),
        (date(2024, 5, 3), 1, date(2024, 5, 6)),
        (date(2024, 4, 29), 3, date(2024, 5, 3)),
        (date(2024, 5, 6), -1, date(2024, 5, 3)),
        (date(2024, 5, 2), -2, date(2024, 4, 29)),
        (date(2024, 5, 5), 1, date(2024, 5, 6)),
        (date(2024, 5, 5), 0, date(2024, 5, 6)),
        (date(2024, 5, 3), 0, date(2024, 5, 3)),
    ]
    for day, count, result in cases:
        assert OFFICE.shift(day, count) == result


def test_count_excludes_the_end():
    assert OFFICE.count(date(2024, 4, 29), date(2024, 5, 3)) == 3
    assert OFFICE.count(date(2024, 4, 29), date(2024, 5, 6)) == 4
    assert OFFICE.count(date(2024, 4, 29), date(2024, 4, 29)) == 0


def test_count_backwards():
    assert OFFICE.count(date(2024, 5, 6), date(2024, 4, 29)) == -4


def test_settle_goes_forward():
    assert OFFICE.settle(date(2024, 5, 3)) == date(2024, 5, 3)
    assert OFFICE.settle(date(2024, 5, 4)) == date(2024, 5, 6)


def test_settle_stays_in_the_month():
    assert OFFICE.settle(date(2024, 3, 30)) == date(2024, 3, 29)
    assert OFFICE.settle(date(2024, 3, 31)) == date(2024, 3, 29)


def test_nth_weekday():
    cases = [(3, 1, 4), (3, 4, 25), (0, 5, 29), (3, -1, 25), (0, -1, 29), (0, -2, 22)]
    for weekday, nth, day in cases:
        assert nth_weekday(2024, 7, weekday, nth) == date(2024, 7, day)


def test_nth_weekday_that_does_not_exist():
    for nth in [6, -6]:
        with pytest.raises(ValueError, match=f"no weekday number {nth} in 2024-07"):
            nth_weekday(2024, 7, 0, nth)


def test_add_months():
    cases = [
        (date(2024, 1, 31), 1, date(2024, 2, 29)),
        (date(2023, 1, 31), 1, date(2023, 2, 28)),
        (date(2024, 11, 15), 2, date(2025, 1, 15)),
        (date(2024, 1, 15), -1, date(2023, 12, 15)),
        (date(2024, 3, 31), -13, date(2023, 2, 28)),
        (date(2024, 12, 1), 0, date(2024, 12, 1)),
    ]
    for day, months, result in cases:
        assert add_months(day, months) == result


def test_billing_dates_return_to_the_first_day():
    assert billing_dates(date(2024, 1, 31), 4) == [
        date(2024, 1, 31),
        date(2024, 2, 29),
        date(2024, 3, 31),
        date(2024, 4, 30),
    ]


def test_age():
    assert age_on(date(1990, 6, 15), date(2024, 6, 14)) == 33
    assert age_on(date(1990, 6, 15), date(2024, 6, 15)) == 34
    assert age_on(date(2004, 2, 29), date(2023, 2, 28)) == 18
    assert age_on(date(2004, 2, 29), date(2023, 3, 1)) == 19


def test_age_before_birth():
    with pytest.raises(ValueError, match="not born yet"):
        age_on(date(2024, 1, 2), date(2024, 1, 1))


def test_fiscal_quarter():
    cases = [
        (date(2024, 4, 1), 4, "2024/25 Q1"),
        (date(2024, 3, 31), 4, "2023/24 Q4"),
        (date(2024, 12, 31), 4, "2024/25 Q3"),
        (date(2024, 5, 5), 1, "2024 Q2"),
        (date(1999, 10, 1), 10, "1999/00 Q1"),
    ]
    for day, first_month, name in cases:
        assert fiscal_quarter(day, first_month) == name


def test_fiscal_year_starts_in_april_by_default():
    assert fiscal_quarter(date(2024, 7, 1)) == "2024/25 Q2"
