"""Questions about lists of numbers and of words."""


def average(values: list[float]) -> float:
    """Return the average of some values.

    Add them all up and divide by how many there are. At least one value is
    needed: of nothing there is no average.
    """
    return sum(values) / len(values)


def largest(values: list[float]) -> float:
    """Return the largest of some values.

    Where the largest value comes several times, it is returned all the same.
    At least one value is needed.
    """
    best = max(values)
    return best


def spread(values: list[float]) -> float:
    """Return how far apart the values lie.

    That is how much larger the largest is than the smallest one. A single
    value is not spread at all, and at least one is needed.
    """
    return max(values) - min(values)


def only_positive(values: list[float]) -> list[float]:
    """Return those of the values that are above zero, in the same order.

    Zero itself is left out, and so is everything below it. The list that was
    given stays as it is.
    """
    return [value for value in values if value > 0]


def long_words(words: list[str]) -> list[str]:
    """Return the words worth learning, in the same order.

    Short ones are known to everybody and left out. The list that was given
    stays as it is, whatever becomes of the new one.
    """
    return [word for word in words if len(word) > 5]


def by_length(words: list[str]) -> list[str]:
    """Return the words in another order.

    The list that was given stays as it is, and no word gets lost or comes
    twice. Capital letters make no difference to the order.
    """
    return sorted(words, key=len)


def count_even(numbers: list[int]) -> int:
    """Return how many of the numbers are even.

    Zero is an even number, and so are numbers below zero that two divides
    without a rest.
    """
    count = 0
    for number in numbers:
        if number % 2 == 0:
            count += 1
    return count


def without_doubles(values: list[int]) -> list[int]:
    """Return every value once, the smallest first.

    How often a value came in the list that was given cannot be told from the
    new one, nor where it stood.
    """
    return sorted(set(values))


def squares(numbers: list[int]) -> list[int]:
    """Return the square of each number, in the same order.

    A square is a number multiplied by itself, so none of them is below zero,
    whatever the number was.
    """
    return [number * number for number in numbers]
