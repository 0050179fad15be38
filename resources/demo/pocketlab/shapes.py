"""Areas, lengths and volumes."""


def rectangle_area(width_in_metres: float, height_in_metres: float) -> float:
    """Return the area of a rectangle in square metres."""
    if width_in_metres < 0 or height_in_metres < 0:
        raise ValueError("a side is not negative")
    return width_in_metres * height_in_metres


def rectangle_perimeter(width_in_metres: float, height_in_metres: float) -> float:
    """Return the way all around a rectangle in metres."""
    if width_in_metres < 0 or height_in_metres < 0:
        raise ValueError("a side is not negative")
    return 2 * (width_in_metres + height_in_metres)


def box_volume(width_in_metres: float, height_in_metres: float, depth_in_metres: float) -> float:
    """Return the volume of a box in cubic metres."""
    if width_in_metres < 0:
        raise ValueError("a side is not negative")
    return width_in_metres * height_in_metres * depth_in_metres


def is_square(width_in_metres: float, height_in_metres: float) -> bool:
    """Tell whether a rectangle is a square."""
    if width_in_metres < 0 or height_in_metres < 0:
        raise ValueError("a side is not negative")
    return width_in_metres == height_in_metres


def longer_side(width_in_metres: float, height_in_metres: float) -> float:
    """Return the longer of the two sides of a rectangle."""
    if width_in_metres < 0 or height_in_metres < 0:
        raise ValueError("a side is not negative")
    return max(width_in_metres, height_in_metres)


def paint_for_wall(width_in_metres: float, height_in_metres: float) -> float:
    """Return how many litres of paint a wall takes."""
    if width_in_metres < 0 or height_in_metres < 0:
        raise ValueError("a side is not negative")
    return width_in_metres * height_in_metres / 6


def fence_price(metres_of_fence: float) -> float:
    """Return what a fence costs."""
    if metres_of_fence < 0:
        raise ValueError("a fence is not shorter than nothing")
    return metres_of_fence * 12 + 50
