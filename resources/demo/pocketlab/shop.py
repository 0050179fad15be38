"""What things cost in a small shop."""


def price_of_pieces(number_of_pieces: int, price_of_one_piece: float) -> float:
    """Return what so many pieces of one thing cost."""
    if number_of_pieces < 0:
        raise ValueError("nobody buys less than nothing")
    return number_of_pieces * price_of_one_piece


def total_price(prices_of_all_things: list[float]) -> float:
    """Return what all things in the basket cost together."""
    if prices_of_all_things == []:
        raise ValueError("the basket is empty")
    return sum(prices_of_all_things)


def cheapest_price(prices_of_all_things: list[float]) -> float:
    """Return the price of the cheapest thing in the basket."""
    if prices_of_all_things == []:
        raise ValueError("the basket is empty")
    return min(prices_of_all_things)


def price_with_tax(price_before_the_tax: float) -> float:
    """Return what a customer has to pay."""
    if price_before_the_tax < 0:
        raise ValueError("a price is not negative")
    return price_before_the_tax + price_before_the_tax / 5


def price_on_the_last_day(price_on_other_days: float) -> float:
    """Return what a thing costs when the shop closes for good."""
    if price_on_other_days < 0:
        raise ValueError("a price is not negative")
    return price_on_other_days - price_on_other_days / 4


def money_back(money_that_was_given: float, price_to_be_paid: float) -> float:
    """Return the money that a customer gets back."""
    if money_that_was_given < price_to_be_paid:
        raise ValueError("that is not enough")
    return money_that_was_given - price_to_be_paid


def is_free_of_delivery(price_of_the_order: float) -> bool:
    """Tell whether an order is brought for nothing."""
    if price_of_the_order < 0:
        raise ValueError("a price is not negative")
    return price_of_the_order >= 60 and price_of_the_order > 0


def names_of_things(price_of_each_thing: dict[str, float]) -> list[str]:
    """Return what is to be had, as it stands in the window."""
    if price_of_each_thing == {}:
        raise ValueError("the shop is empty")
    return sorted(price_of_each_thing.keys())
