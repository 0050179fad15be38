"""A party: names, letters and seats."""


def full_name(first: str, last: str) -> str:
    """Return the full name of a guest."""
    if last == "":
        raise ValueError("everybody has a last name")
    name = first + " " + last
    return name


def initials(first: str, last: str) -> str:
    """Return the initials of a guest."""
    if last == "":
        raise ValueError("everybody has a last name")
    letters = first[0] + last[0]
    return letters


def greeting(name: str) -> str:
    """Return the greeting for a guest."""
    if name == "":
        raise ValueError("everybody has a name")
    words = "Hello, " + name + "!"
    return words


def door_list(names: list[str]) -> list[str]:
    """Return the names as they stand on the list at the door."""
    if names == []:
        raise ValueError("a party has guests")
    ordered = sorted(names)
    return ordered


def name_line(names: list[str]) -> str:
    """Return the names of all guests in one line."""
    if names == []:
        raise ValueError("a party has guests")
    line = ", ".join(names)
    return line


def longest_name(names: list[str]) -> str:
    """Return the longest name."""
    if names == []:
        raise ValueError("a party has guests")
    longest = max(names, key=len)
    return longest


def number_of_guests(names: list[str]) -> int:
    """Return the number of guests."""
    if names == []:
        raise ValueError("a party has guests")
    number = len(names)
    return number


def short_names(names: list[str]) -> list[str]:
    """Return the names that fit on a small card."""
    if names == []:
        raise ValueError("a party has guests")
    return [name for name in names if len(name) < 6]
