"""Exact arithmetic with small matrices, kept as rows of fractions."""

from collections.abc import Iterable
from fractions import Fraction

Row = tuple[Fraction, ...]


class Matrix:
    """A rectangle of exact numbers that never changes."""

    def __init__(self, rows: Iterable[Iterable[Fraction | int | str]]) -> None:
        self.rows: tuple[Row, ...] = tuple(
            tuple(Fraction(cell) for cell in row) for row in rows
        )
        if not self.rows or not self.rows[0]:
            raise ValueError("a matrix needs at least one cell")
        if len({len(row) for row in self.rows}) > 1:
            raise ValueError("the rows differ in length")

    @classmethod
    def identity(cls, size: int) -> "Matrix":
        """Return the square matrix that changes nothing it is multiplied by."""
        return cls([[int(i == j) for j in range(size)] for i in range(size)])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return len(self.rows), len(self.rows[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)

    def __str__(self) -> str:
        cells = [[str(cell) for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            " ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True))
            for row in cells
        )

    def transposed(self) -> "Matrix":
        """Return the matrix with rows and columns exchanged."""
        return Matrix(zip(*self.rows, strict=True))

    def __matmul__(self, other: "Matrix") -> "Matrix":
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"cannot multiply {self.shape} by {other.shape}")
        columns = other.transposed().rows
        return Matrix([[_dot(row, column) for column in columns] for row in self.rows])

    def __pow__(self, exponent: int) -> "Matrix":
        if exponent < 0:
            return self.inverse() ** -exponent
        result = Matrix.identity(len(self.rows))
        for bit in f"{exponent:b}":
            result = result @ result
            if bit == "1":
                result = result @ self
        return result

    def determinant(self) -> Fraction:
        """Return the factor by which the matrix scales volumes."""
        size = self._square()
        reduced, swaps = _eliminate(list(self.rows), size)
        product = Fraction((-1) ** swaps)
        for i in range(size):
            product *= reduced[i][i]
        return product

    def inverse(self) -> "Matrix":
        """Return the matrix that undoes this one."""
        return self.solve(Matrix.identity(self._square()))

    def solve(self, right: "Matrix") -> "Matrix":
        """Return x such that this matrix times x is `right`."""
        size = self._square()
        if right.shape[0] != size:
            raise ValueError("both sides must have as many rows")
        joined = [a + b for a, b in zip(self.rows, right.rows, strict=True)]
        reduced, _ = _eliminate(joined, size)
        for i in reversed(range(size)):
            pivot = reduced[i][i]
            if pivot == 0:
                raise ZeroDivisionError("the matrix has no inverse")
            reduced[i] = tuple(cell / pivot for cell in reduced[i])
            for k in range(i):
                factor = reduced[k][i]
                reduced[k] = _minus(reduced[k], reduced[i], factor)
        return Matrix(row[size:] for row in reduced)

    def _square(self) -> int:
        height, width = self.shape
        if height != width:
            raise ValueError(f"not a square: {self.shape}")
        return height


def _eliminate(rows: list[Row], size: int) -> tuple[list[Row], int]:
    """Clear what is below the diagonal; also count the exchanged rows."""
    swaps = 0
    for i in range(size):
        pivot = next((k for k in range(i, size) if rows[k][i]), None)
        if pivot is None:
            continue
        if pivot != i:
            rows[i], rows[pivot] = rows[pivot], rows[i]
            swaps += 1
        for k in range(i + 1, size):
            rows[k] = _minus(rows[k], rows[i], rows[k][i] / rows[i][i])
    return rows, swaps


def _dot(left: Row, right: Row) -> Fraction:
    products = (a * b for a, b in zip(left, right, strict=True))
    return sum(products, start=Fraction(0))


def _minus(row: Row, other: Row, factor: Fraction) -> Row:
    return tuple(a - factor * b for a, b in zip(row, other, strict=True))
