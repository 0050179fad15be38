"""Plain arithmetic."""


def rectangle_area(width, height):
    return width * height


def is_even(number):
    return number % 2 == 0


def average(values):
    return sum(values) / len(values)


def double(number):
    return number * 2


def absolute(number):
    return number if number >= 0 else -number
