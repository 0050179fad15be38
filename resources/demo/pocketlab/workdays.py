"""Calendar arithmetic for people who do not work every day."""

from calendar import monthrange
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

ONE_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Calendar:
    """Which days are worked: not the weekend (Monday is 0), not the holidays."""

    weekend: Collection[int] = (5, 6)
    holidays: Collection[date] = ()

    def is_workday(self, day: date) -> bool:
        """Tell whether people work on that day."""
        return day.weekday() not in self.weekend and day not in self.holidays

    def next_workday(self, day: date) -> date:
        """Return the day itself if it is worked, else the first later one that is."""
        while not self.is_workday(day):
            day += ONE_DAY
        return day

    def shift(self, day: date, count: int) -> date:
        """Move by worked days, backwards if `count` is negative.

        Zero moves a free day on to the next worked day.
        """
        if count == 0:
            return self.next_workday(day)
        step = ONE_DAY if count > 0 else -ONE_DAY
        for _ in range(abs(count)):
            day += step
            while not self.is_workday(day):
                day += step
        return day

    def count(self, start: date, end: date) -> int:
        """Count the worked days from `start`, included, to `end`, excluded.

        The count is negative when the end comes first.
        """
        if end < start:
            return -self.count(end, start)
        days = (end - start).days
        return sum(self.is_workday(start + ONE_DAY * n) for n in range(days))

    def settle(self, day: date) -> date:
        """Return the day on which a payment due on `day` is made.

        A free day is put off to the next worked day, unless that falls into
        the next month: then the last worked day before it is taken.
        """
        later = self.next_workday(day)
        if later.month == day.month:
            return later
        return self.shift(day, -1)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """Return the nth such weekday of a month; -1 is the last, -2 the one before."""
    length = monthrange(year, month)[1]
    days = [date(year, month, day) for day in range(1, length + 1)]
    matching = [day for day in days if day.weekday() == weekday]
    index = nth - 1 if nth > 0 else nth
    try:
        return matching[index]
    except IndexError:
        raise ValueError(f"no weekday number {nth} in {year}-{month:02}") from None


def add_months(day: date, months: int) -> date:
    """Move by whole months; a day the month lacks becomes its last one."""
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    last = monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def billing_dates(start: date, count: int) -> list[date]:
    """Return monthly dates; a short month does not move the ones after it."""
    return [add_months(start, number) for number in range(count)]


def age_on(birth: date, day: date) -> int:
    """Return full years lived; who is born on 29 February waits for 1 March."""
    if day < birth:
        raise ValueError("not born yet")
    had_birthday = (day.month, day.day) >= (birth.month, birth.day)
    return day.year - birth.year - (0 if had_birthday else 1)


def fiscal_quarter(day: date, first_month: int = 4) -> str:
    """Name the quarter of a business year, such as '2024/25 Q3'.

    A business year that starts in January carries one number only.
    """
    months_in = (day.month - first_month) % 12
    year = day.year if day.month >= first_month else day.year - 1
    quarter = months_in // 3 + 1
    if first_month == 1:
        return f"{year} Q{quarter}"
    return f"{year}/{(year + 1) % 100:02} Q{quarter}"
