import pytest

from pocketlab.calculator import evaluate, free_names, render, simplify
from pocketlab.formulas import FormulaError, parse


def test_value():
    cases = [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("16 / 4 / 2", 2),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("7 % 4", 3),
        ("2 ** 3 ** 2", 512),
        ("(2 ** 3) ** 2", 64),
        ("-2 ** 2", -4),
        ("2 ** -1", 0.5),
        ("--5", 5),
        ("1. + .5", 1.5),
    ]
    for formula, result in cases:
        assert evaluate(formula) == result


def test_numbers_are_never_whole():
    assert isinstance(evaluate("7"), float)


def test_names():
    assert evaluate("price * (1 + rate)", {"price": 200, "rate": 0.5}) == 300


def test_missing_name():
    with pytest.raises(FormulaError, match="no value for tax"):
        evaluate("1 + tax")


def test_calls():
    assert evaluate("max(1, 2 + 3, 4)") == 5
    assert evaluate("min(4, abs(-3)) * 2") == 6


def test_a_name_is_no_function():
    with pytest.raises(FormulaError, match="no function sqrt"):
        evaluate("sqrt(4)")
    assert evaluate("max + 1", {"max": 2}) == 3


def test_division_by_zero():
    for formula in ["1 / 0", "1 // 0", "1 % 0", "0 ** -1"]:
        with pytest.raises(FormulaError, match="division by zero"):
            evaluate(formula)


def test_free_names():
    assert free_names(parse("b * (a - b) + max(c, a) - 1")) == ["b", "a", "c"]
    assert free_names(parse("1 + 2")) == []


def test_simplify():
    cases = [
        ("x + 0", "x"),
        ("0 + x", "x"),
        ("x - 0", "x"),
        ("0 - x", "0 - x"),
        ("x * 1", "x"),
        ("1 * x", "x"),
        ("x / 1", "x"),
        ("1 / x", "1 / x"),
        ("x ** 1", "x"),
        ("1 ** x", "1 ** x"),
        ("x // 1", "x // 1"),
        ("x % 1", "x % 1"),
        ("x + 1", "x + 1"),
        ("x * 0", "x * 0"),
        ("--x", "x"),
        ("-x", "-x"),
        ("---x", "-x"),
        ("(x + 0) * (1 * y)", "x * y"),
        ("max(x + 0, 1 * 2)", "max(x, 2)"),
    ]
    for formula, shorter in cases:
        assert render(simplify(parse(formula))) == shorter


def test_render():
    cases = [
        ("(1*2)+3", "1 * 2 + 3"),
        ("1*(2+3)", "1 * (2 + 3)"),
        ("(1-2)-3", "1 - 2 - 3"),
        ("1-(2-3)", "1 - (2 - 3)"),
        ("(2**3)**4", "(2 ** 3) ** 4"),
        ("2**(3**4)", "2 ** 3 ** 4"),
        ("-(x**2)", "-x ** 2"),
        ("(-x)**2", "(-x) ** 2"),
        ("-(x*2)", "-(x * 2)"),
        ("2**(-1)", "2 ** (-1)"),
        ("(-x)*3", "-x * 3"),
        ("3*(-x)", "3 * -x"),
        ("max( (1) ,f(x) )", "max(1, f(x))"),
        ("abs", "abs"),
    ]
    for formula, written in cases:
        assert render(parse(formula)) == written
