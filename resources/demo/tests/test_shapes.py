from pocketlab import shapes


def test_rectangles():
    assert [shapes.rectangle_area(2, 3), shapes.rectangle_area(0, 3)] == [6, 0]
    assert shapes.square_area(4) == 16
    assert [shapes.perimeter(2, 3), shapes.perimeter(1, 1)] == [10, 4]
    assert [shapes.is_square(2, 2), shapes.is_square(2, 3)] == [True, False]
    assert [shapes.longer_side(2, 3), shapes.longer_side(5, 4)] == [3, 5]


def test_box_volume():
    assert shapes.box_volume(2, 3, 4) == 24


def test_paint_needed():
    assert shapes.paint_needed(3, 4) == 2
