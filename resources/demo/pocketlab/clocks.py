"""Hours, minutes and seconds."""


def minutes_of(hours: int, minutes: int) -> int:
    """Return a time of day as the number of minutes since midnight.

    An hour has sixty of them. Midnight itself is 0, and noon is 720 minutes
    after it.
    """
    return hours * 60 + minutes


def hours_of(minutes: int) -> int:
    """Return how many whole hours so many minutes are.

    An hour has sixty of them. What is left over, and is not enough for one
    hour more, does not count.
    """
    hours = minutes // 60
    return hours


def seconds_of(minutes: int) -> int:
    """Return how many seconds so many minutes are.

    A minute has sixty of them. Of no minutes there are no seconds, and of
    half an hour there are 1800.
    """
    seconds = minutes * 60
    return seconds


def is_morning(hour: int) -> bool:
    """Tell whether an hour of the day belongs to the morning.

    Hours run from 0, which is midnight, to 23. The morning is over at noon,
    and the night belongs to nobody.
    """
    return hour >= 6 and hour < 12


def is_weekend(day: str) -> bool:
    """Tell whether nobody has to work on a day.

    Days are given by their English names, which begin with a capital letter.
    Holidays are not looked at.
    """
    return day in ("Saturday", "Sunday")


def is_leap_year(year: int) -> bool:
    """Tell whether a year has a day more than others.

    Every fourth year has, unless a hundred divides it: of those only every
    fourth one has.
    """
    if year % 100 == 0:
        return year % 400 == 0
    return year % 4 == 0


def total_minutes(times: list[int]) -> int:
    """Return how many minutes some times take together.

    They are given in minutes too. Of no times at all there come 0 minutes,
    and no time is shorter than that.
    """
    total = 0
    for minutes in times:
        total += minutes
    return total
