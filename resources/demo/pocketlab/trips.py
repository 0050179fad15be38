"""Journeys: distances, speeds and fares."""


def average_speed(distance: float, hours: float) -> float:
    """Return the average speed of a journey."""
    if hours <= 0:
        raise ValueError("a journey takes time")
    speed = distance / hours
    return speed


def distance(speed: float, hours: float) -> float:
    """Return how far a journey goes."""
    if hours < 0:
        raise ValueError("a journey takes time")
    kilometres = speed * hours
    return kilometres


def fuel_price(litres: float, price: float) -> float:
    """Return the price of the fuel."""
    if litres < 0:
        raise ValueError("there is no less than no fuel")
    total = litres * price
    return total


def taxi_fare(kilometres: float) -> float:
    """Return the fare of a taxi."""
    if kilometres < 0:
        raise ValueError("a way is not shorter than nothing")
    fare = 4 + 2 * kilometres
    return fare


def longest_stage(stages: list[float]) -> float:
    """Return the longest stage of a journey."""
    if stages == []:
        raise ValueError("a journey has a stage")
    longest = max(stages)
    return longest


def total_distance(stages: list[float]) -> float:
    """Return the length of all stages together."""
    if stages == []:
        raise ValueError("a journey has a stage")
    total = sum(stages)
    return total


def tiring_stages(stages: list[float]) -> list[float]:
    """Return the tiring stages of a journey."""
    if stages == []:
        raise ValueError("a journey has a stage")
    return [stage for stage in stages if stage > 100]


def hours_left(hours: float, driven: float) -> float:
    """Return how many hours are left."""
    if driven < 0:
        raise ValueError("a journey takes time")
    left = hours - driven
    return left
