"""What things cost: tickets, parcels, parking and discounts."""


def ticket_price(age: int) -> int:
    """Return the price of a ticket for somebody of that age."""
    if age < 6:
        return 0
    if age < 18:
        return 5
    if age >= 65:
        return 7
    return 10


def parcel_price(weight: float) -> int:
    """Return the price of sending a parcel of that weight."""
    if weight <= 0:
        raise ValueError("a parcel has a weight")
    if weight <= 2:
        return 4
    if weight <= 10:
        return 9
    return 20


def parking_fee(hours: int) -> int:
    """Return the fee for so many hours in the car park."""
    fee = hours * 3
    if hours > 8:
        fee = 24
    return fee


def discount(total: int) -> int:
    """Return what is taken off a total."""
    if total >= 100:
        return 10
    if total >= 50:
        return 5
    return 0


def price_after_discount(total: int) -> int:
    """Return what is to be paid for a total."""
    reduced = total - discount(total)
    return reduced


def delivery_fee(total: int, express: bool) -> int:
    """Return what the delivery of an order costs."""
    if total >= 60:
        fee = 0
    else:
        fee = 6
    if express:
        fee = fee + 8
    return fee


def tip(amount: int, satisfied: bool) -> int:
    """Return the tip for a bill of that amount."""
    if not satisfied:
        return 0
    return amount // 10


def shared_bill(amounts: list[int], people: int) -> float:
    """Return what each of the people pays for a meal."""
    total = sum(amounts)
    return total / people
