"""A party: names, letters and seats."""


def full_name(first_name_of_guest: str, last_name_of_guest: str) -> str:
    """Return the whole name of a guest."""
    if last_name_of_guest == "":
        raise ValueError("everybody has a last name")
    return first_name_of_guest + " " + last_name_of_guest


def initials(first_name_of_guest: str, last_name_of_guest: str) -> str:
    """Return the two letters with which the name of a guest begins."""
    if last_name_of_guest == "":
        raise ValueError("everybody has a last name")
    return first_name_of_guest[0] + last_name_of_guest[0]


def opening(name_of_the_guest: str) -> str:
    """Return the words with which a letter to a guest begins."""
    if name_of_the_guest == "":
        raise ValueError("everybody has a name")
    return "Dear " + name_of_the_guest + ","


def door_list(names_of_guests: list[str]) -> list[str]:
    """Return the names as they stand on the list at the door."""
    if names_of_guests == []:
        raise ValueError("a party has guests")
    return sorted(names_of_guests, reverse=True)


def one_line(names_of_guests: list[str]) -> str:
    """Return the names of all guests in one line."""
    if names_of_guests == []:
        raise ValueError("a party has guests")
    return ", ".join(names_of_guests)


def longest_name(names_of_guests: list[str]) -> str:
    """Return the longest of all names."""
    if names_of_guests == []:
        raise ValueError("a party has guests")
    return max(names_of_guests, key=len)


def number_of_tables(number_of_guests: int, seats_at_a_table: int) -> int:
    """Return how many tables are full when the guests sit down."""
    if seats_at_a_table <= 0:
        raise ValueError("a table has seats")
    return number_of_guests // seats_at_a_table


def guests_without_table(number_of_guests: int, seats_at_a_table: int) -> int:
    """Return how many guests are left when all other tables are full."""
    if seats_at_a_table <= 0:
        raise ValueError("a table has seats")
    return number_of_guests % seats_at_a_table


def short_names(names_of_guests: list[str]) -> list[str]:
    """Return the names that fit on a small card."""
    if names_of_guests == []:
        raise ValueError("a party has guests")
    return [name for name in names_of_guests if len(name) < 6]
