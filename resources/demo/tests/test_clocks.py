from pocketlab import clocks


def test_units():
    assert [clocks.minutes_of(0, 5), clocks.minutes_of(2, 30)] == [5, 150]
    assert [clocks.hours_of(minutes) for minutes in (59, 60, 150)] == [0, 1, 2]
    assert [clocks.seconds_of(0), clocks.seconds_of(30)] == [0, 1800]
    assert [clocks.total_minutes([]), clocks.total_minutes([5, 30, 25])] == [0, 60]


def test_is_morning():
    assert [clocks.is_morning(hour) for hour in (5, 6, 11, 12)] == [False, True, True, False]


def test_is_weekend():
    assert [clocks.is_weekend(day) for day in ("Friday", "Saturday", "Sunday")] == [False, True, True]


def test_is_leap_year():
    assert [clocks.is_leap_year(year) for year in (2023, 2024, 1900, 2000)] == [False, True, False, True]
