"""Lists of numbers and names."""


def largest(values):
    best = values[0]
    for value in values:
        if value > best:
            best = value
    return best


def without_negatives(values):
    return [value for value in values if value >= 0]


def factorial(number):
    result = 1
    for factor in range(2, number + 1):
        result *= factor
    return result


def longest_word(words):
    return max(words, key=len)
