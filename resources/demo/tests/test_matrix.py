from fractions import Fraction

import pytest

from pocketlab.matrix import Matrix


def test_cells_are_exact():
    assert Matrix([["1/3", 2]]).rows == ((Fraction(1, 3), Fraction(2)),)


def test_shape():
    assert Matrix([[1, 2, 3], [4, 5, 6]]).shape == (2, 3)


def test_a_matrix_has_cells():
    for rows in [[], [[]]]:
        with pytest.raises(ValueError, match="at least one cell"):
            Matrix(rows)


def test_rows_have_one_length():
    with pytest.raises(ValueError, match="rows differ in length"):
        Matrix([[1, 2], [3]])


def test_equal_matrices():
    assert Matrix([[1, 2]]) == Matrix([["1", "4/2"]])
    assert Matrix([[1, 2]]) != Matrix([[1], [2]])
    assert Matrix([[1]]) != 1
    assert len({Matrix([[1]]), Matrix([[1]]), Matrix([[2]])}) == 2


def test_identity():
    assert Matrix.identity(2) == Matrix([[1, 0], [0, 1]])


def test_text_is_aligned():
    assert str(Matrix([["1/2", 10], [-3, 4]])) == "1/2 10\n -3  4"


def test_transposed():
    assert Matrix([[1, 2, 3], [4, 5, 6]]).transposed() == Matrix(
        [[1, 4], [2, 5], [3, 6]]
    )


def test_product():
    left = Matrix([[1, 2], [3, 4], [5, 6]])
    right = Matrix([[1, 0, 2], [0, 1, 3]])
    assert left @ right == Matrix([[1, 2, 8], [3, 4, 18], [5, 6, 28]])


def test_product_of_what_does_not_fit():
    with pytest.raises(ValueError, match=r"cannot multiply \(1, 2\) by \(1, 2\)"):
        Matrix([[1, 2]]) @ Matrix([[1, 2]])


def test_powers():
    grow = Matrix([[1, 1], [1, 0]])
    assert grow**0 == Matrix.identity(2)
    assert grow**1 == grow
    assert grow**10 == Matrix([[89, 55], [55, 34]])
    assert grow**-1 == Matrix([[0, 1], [1, -1]])
    assert grow**-2 == Matrix([[1, -1], [-1, 2]])


def test_determinant():
    cases = [
        ([[5]], 5),
        ([[1, 2], [3, 4]], -2),
        ([[0, 1], [1, 0]], -1),
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], 1),
        ([[2, 0, 1], [1, 3, 2], [1, 1, 1]], 0),
        ([[2, 0, 1], [1, 3, 2], [1, 1, 2]], 6),
        ([[1, 2], [2, 4]], 0),
        ([[0, 0], [0, 4]], 0),
    ]
    for rows, value in cases:
        assert Matrix(rows).determinant() == value


def test_only_squares_have_a_determinant():
    with pytest.raises(ValueError, match=r"not a square: \(1, 2\)"):
        Matrix([[1, 2]]).determinant()


def test_inverse():
    assert Matrix([[1, 2], [3, 4]]).inverse() == Matrix([[-2, 1], ["3/2", "-1/2"]])
    assert Matrix([[0, 2], [4, 0]]).inverse() == Matrix([[0, "1/4"], ["1/2", 0]])


def test_no_inverse():
    for rows in [[[1, 2], [2, 4]], [[0, 0], [0, 4]]]:
        with pytest.raises(ZeroDivisionError, match="no inverse"):
            Matrix(rows).inverse()


def test_solve():
    equations = Matrix([[2, 1, -1], [-3, -1, 2], [-2, 1, 2]])
    assert equations.solve(Matrix([[8], [-11], [-3]])) == Matrix([[2], [3], [-1]])


def test_solve_several_at_once():
    equations = Matrix([[0, 2], [1, 1]])
    right = Matrix([[2, 4], [3, 5]])
    assert equations.solve(right) == Matrix([[2, 3], [1, 2]])


def test_solve_leaves_both_sides_alone():
    equations, right = Matrix([[0, 2], [1, 1]]), Matrix([[2], [3]])
    equations.solve(right)
    assert equations == Matrix([[0, 2], [1, 1]])
    assert right == Matrix([[2], [3]])


def test_both_sides_have_as_many_rows():
    with pytest.raises(ValueError, match="as many rows"):
        Matrix([[1, 0], [0, 1]]).solve(Matrix([[1]]))
    with pytest.raises(ValueError, match="not a square"):
        Matrix([[1, 0]]).solve(Matrix([[1]]))
