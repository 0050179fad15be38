"""What things cost in a small shop."""


def total_price(prices: list[float]) -> float:
    """Return what some things cost together.

    Their prices are given in whole and broken coins. Who buys nothing pays
    nothing either.
    """
    total = sum(prices)
    return total


def price_of(amount: int, price: float) -> float:
    """Return what so many pieces of one thing cost.

    Each piece has the same price, however many there are: nothing is taken
    off for those who buy a lot.
    """
    return amount * price


def cheapest(prices: dict[str, float]) -> str:
    """Return the name of the thing that costs least.

    Of several that cost the same it is the one that was named first. There
    has to be at least one thing.
    """
    return min(prices, key=prices.get)


def with_tax(price: float) -> float:
    """Return a price with the tax that the state wants.

    The tax is a fifth of the price, whatever it is that somebody buys. It is
    not rounded here.
    """
    return price + price / 5


def half_price(price: float) -> float:
    """Return what a thing costs on the last day before the holidays.

    On that day everything has to go, and everybody pays only the half of
    what the thing would cost else.
    """
    return price / 2


def change(paid: float, price: float) -> float:
    """Return the money that somebody gets back.

    It is what was paid above the price. Who pays less than the price has made
    a mistake, and is told so.
    """
    if paid < price:
        raise ValueError("that is not enough")
    return paid - price


def names_below(prices: dict[str, float], limit: float) -> list[str]:
    """Return the names of all things that cost less than a limit.

    They come in the order in which they were named. What costs as much as
    the limit is not among them.
    """
    return [name for name in prices if prices[name] < limit]
