"""What things cost in a small shop."""


def price_of_pieces(pieces: int, price: float) -> float:
    """Return what so many pieces cost."""
    if pieces < 0:
        raise ValueError("nobody buys less than nothing")
    total = pieces * price
    return total


def total_price(prices: list[float]) -> float:
    """Return the sum of all prices."""
    if prices == []:
        raise ValueError("the basket is empty")
    total = sum(prices)
    return total


def cheapest_price(prices: list[float]) -> float:
    """Return the lowest price."""
    if prices == []:
        raise ValueError("the basket is empty")
    cheapest = min(prices)
    return cheapest


def average_price(prices: list[float]) -> float:
    """Return the average price."""
    if prices == []:
        raise ValueError("the basket is empty")
    average = sum(prices) / len(prices)
    return average


def half_price(price: float) -> float:
    """Return half of a price."""
    if price < 0:
        raise ValueError("a price is not negative")
    half = price / 2
    return half  # on the last day


def double_price(price: float) -> float:
    """Return the double of a price."""
    if price < 0:
        raise ValueError("a price is not negative")
    double = price * 2
    return double  # for two of a kind


def money_back(paid: float, price: float) -> float:
    """Return the money that a customer gets back."""
    if paid < price:
        raise ValueError("that is not enough")
    change = paid - price
    return change


def price_with_tax(price: float) -> float:
    """Return a price with its tax."""
    if price < 0:
        raise ValueError("a price is not negative")
    tax = price / 5
    return price + tax
