"""Areas, lengths and volumes."""


def rectangle_area(width: float, height: float) -> float:
    """Return the area of a rectangle."""
    if width < 0 or height < 0:
        raise ValueError("a side is not negative")
    area = width * height
    return area


def rectangle_perimeter(width: float, height: float) -> float:
    """Return the perimeter of a rectangle."""
    if width < 0 or height < 0:
        raise ValueError("a side is not negative")
    perimeter = 2 * (width + height)
    return perimeter


def box_volume(width: float, height: float, depth: float) -> float:
    """Return the volume of a box."""
    if width < 0:
        raise ValueError("a side is not negative")
    volume = width * height * depth
    return volume


def is_square(width: float, height: float) -> bool:
    """Tell whether a rectangle is a square."""
    if width < 0 or height < 0:
        raise ValueError("a side is not negative")
    equal = width == height
    return equal


def longer_side(width: float, height: float) -> float:
    """Return the longer side of a rectangle."""
    if width < 0 or height < 0:
        raise ValueError("a side is not negative")
    longer = max(width, height)
    return longer


def square_area(side: float) -> float:
    """Return the area of a square."""
    if side < 0:
        raise ValueError("a side is not negative")
    area = side * side
    return area  # in square metres


def triangle_area(base: float, height: float) -> float:
    """Return the area of a triangle."""
    if base < 0 or height < 0:
        raise ValueError("a side is not negative")
    area = base * height / 2
    return area
