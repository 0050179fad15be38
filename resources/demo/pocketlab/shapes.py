"""Areas, lengths and volumes."""


def rectangle_area(width: float, height: float) -> float:
    """Return the area of a rectangle.

    Both sides are given in metres, the area comes in square metres. A side
    of no length at all gives no area either.
    """
    area = width * height
    return area


def square_area(side: float) -> float:
    """Return the area of a square, whose sides are all equally long.

    It is the area of a rectangle with that side for its width and for its
    height.
    """
    return rectangle_area(side, side)


def perimeter(width: float, height: float) -> float:
    """Return the way all around a rectangle.

    There are two sides of each length, so it is twice the sum of width and
    height. A fence around a garden is that long.
    """
    return 2 * (width + height)


def box_volume(width: float, height: float, depth: float) -> float:
    """Return the volume of a box.

    All sides are given in metres, the volume comes in cubic metres. How thick
    the walls of the box are makes no difference here.
    """
    volume = width * height * depth
    return volume


def is_square(width: float, height: float) -> bool:
    """Tell whether a rectangle is a square.

    That is so when both of its sides are equally long. Nothing else is looked
    at, and sides that differ by very little are not equal.
    """
    return width == height


def longer_side(width: float, height: float) -> float:
    """Return the longer one of the two sides of a rectangle.

    Where both are equally long it makes no difference which of them it is:
    that length is returned.
    """
    return max(width, height)


def paint_needed(width: float, height: float) -> float:
    """Return how many litres of paint a wall takes.

    A litre is enough for six square metres. Doors and windows are painted
    over like everything else.
    """
    area = rectangle_area(width, height)
    return area / 6
