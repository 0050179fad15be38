"""Plain arithmetic."""


def rectangle_area(width, height):
    return width * height


def is_even(number):
    return number % 2 == 0


def average(values):
    return sum(values) / len(values)


def clamp(value, low, high):
    return max(low, min(value, high))
