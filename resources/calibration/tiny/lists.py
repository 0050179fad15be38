"""Lists of numbers."""


def largest(values):
    best = values[0]
    for value in values:
        if value > best:
            best = value
    return best


def last_item(values):
    return values[-1]


def squares(values):
    return [value * value for value in values]


def without_negatives(values):
    return [value for value in values if value >= 0]
