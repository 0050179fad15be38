"""Little helpers for the house: clocks, temperatures, paint and a shopping list."""


def greeting(hour: int) -> str:
    """Return the words for that hour of the day."""
    if hour < 12:
        return "Good morning"
    if hour < 18:
        return "Good afternoon"
    return "Good evening"


def is_open(hour: int) -> bool:
    """Tell whether the shop is open at that hour."""
    return hour >= 9 and hour < 18


def minutes_of(hours: int, minutes: int) -> int:
    """Return a time of day in minutes."""
    total = hours * 60 + minutes
    return total


def fahrenheit(celsius: float) -> float:
    """Return a temperature in degrees Fahrenheit."""
    degrees = celsius * 9 / 5 + 32
    return degrees


def feeling(celsius: float) -> str:
    """Return a word for a temperature."""
    if celsius < 0:
        return "freezing"
    if celsius < 15:
        return "cold"
    if celsius < 25:
        return "mild"
    return "hot"


def wall_area(width: float, height: float, windows: int) -> float:
    """Return the area of a wall without its windows."""
    area = width * height
    area = area - windows * 2
    return area


def paint_cans(area: int) -> int:
    """Return how many cans of paint an area takes."""
    cans = area // 20
    if area % 20 != 0:
        cans = cans + 1
    return cans


def add_item(items: list[str], item: str) -> list[str]:
    """Put an item on a shopping list, but only once."""
    if item not in items:
        items.append(item)
    return items


def longest_item(items: list[str]) -> str:
    """Return the item with the longest name."""
    longest = ""
    for item in items:
        if len(item) > len(longest):
            longest = item
    return longest


def shopping_total(prices: dict[str, int], items: list[str]) -> int:
    """Return what the items cost together; unknown ones cost 1."""
    total = 0
    for item in items:
        if item in prices:
            total += prices[item]
        else:
            total += 1
    return total
