from pocketlab import shapes


def test_rectangle_area():
    assert shapes.rectangle_area(2, 3) == 6
    assert shapes.rectangle_area(0, 3) == 0


def test_rectangle_perimeter():
    assert shapes.rectangle_perimeter(2, 3) == 10
    assert shapes.rectangle_perimeter(1, 1) == 4


def test_box_volume():
    assert shapes.box_volume(2, 3, 4) == 24


def test_is_square():
    assert shapes.is_square(2, 2) is True
    assert shapes.is_square(2, 3) is False


def test_longer_side():
    assert shapes.longer_side(2, 3) == 3
    assert shapes.longer_side(5, 4) == 5


def test_square_area():
    assert shapes.square_area(4) == 16
    assert shapes.square_area(0) == 0


def test_triangle_area():
    assert shapes.triangle_area(4, 3) == 6
    assert shapes.triangle_area(1, 2) == 1
