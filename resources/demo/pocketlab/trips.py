"""Journeys: distances, speeds and fares."""


def average_speed(distance_in_kilometres: float, hours_on_the_road: float) -> float:
    """Return the average speed of a journey in kilometres an hour."""
    if hours_on_the_road <= 0:
        raise ValueError("a journey takes time")
    return distance_in_kilometres / hours_on_the_road


def fuel_price(litres_of_fuel: float, price_of_one_litre: float) -> float:
    """Return what the fuel for a journey costs."""
    if litres_of_fuel < 0:
        raise ValueError("there is no less than no fuel")
    return litres_of_fuel * price_of_one_litre


def arrival_hour(hour_of_departure: int, hours_on_the_road: int) -> int:
    """Return the hour of the day at which a journey ends."""
    if hours_on_the_road < 0:
        raise ValueError("a journey takes time")
    return (hour_of_departure + hours_on_the_road) % 24


def taxi_fare(kilometres_in_the_taxi: float) -> float:
    """Return the fare of a taxi."""
    if kilometres_in_the_taxi < 0:
        raise ValueError("a way is not shorter than nothing")
    return 4 + 2 * kilometres_in_the_taxi


def longest_stage(kilometres_of_each_stage: list[float]) -> float:
    """Return the longest stage of a journey in kilometres."""
    if kilometres_of_each_stage == []:
        raise ValueError("a journey has a stage")
    return max(kilometres_of_each_stage)


def total_distance(kilometres_of_each_stage: list[float]) -> float:
    """Return the length of all stages of a journey together."""
    if kilometres_of_each_stage == []:
        raise ValueError("a journey has a stage")
    return sum(kilometres_of_each_stage)


def stages_worth_a_rest(kilometres_of_each_stage: list[float]) -> list[float]:
    """Return those stages after which the driver takes a rest."""
    if kilometres_of_each_stage == []:
        raise ValueError("a journey has a stage")
    return [stage for stage in kilometres_of_each_stage if stage > 100]


def luggage_fits(weight_of_the_luggage: float, weight_allowed: float) -> bool:
    """Tell whether the luggage may come along."""
    if weight_of_the_luggage < 0:
        raise ValueError("luggage has a weight")
    return weight_of_the_luggage <= weight_allowed
