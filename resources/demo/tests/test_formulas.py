import pytest

from pocketlab.formulas import FormulaError, Node, parse, tokenize


def number(text):
    return Node("number", text)


def operator(sign, left, right):
    return Node("operator", sign, (left, right))


ONE, TWO, THREE = number("1"), number("2"), number("3")
X = Node("name", "x")


def test_tokens():
    assert tokenize("rate2 * (1.5 + .5)") == [
        ("name", "rate2"),
        ("symbol", "*"),
        ("symbol", "("),
        ("number", "1.5"),
        ("symbol", "+"),
        ("number", ".5"),
        ("symbol", ")"),
        ("end", "the end"),
    ]


def test_tokens_take_the_longer_symbol():
    assert [text for _, text in tokenize("2**3//4")][:-1] == ["2", "**", "3", "//", "4"]


def test_white_space_means_nothing():
    assert tokenize("  1 \n + 2  ") == tokenize("1+2")
    assert tokenize("   ") == [("end", "the end")]


def test_tokens_refuse_other_signs():
    with pytest.raises(FormulaError, match=r"cannot read '\$x'"):
        tokenize("2 + $x")


def test_tree():
    cases = [
        ("1 + 2 * 3", operator("+", ONE, operator("*", TWO, THREE))),
        ("(1 + 2) * 3", operator("*", operator("+", ONE, TWO), THREE)),
        ("1 - 2 - 3", operator("-", operator("-", ONE, TWO), THREE)),
        ("1 * 2 % 3", operator("%", operator("*", ONE, TWO), THREE)),
        ("1 ** 2 ** 3", operator("**", ONE, operator("**", TWO, THREE))),
        ("1 // 2 + 3", operator("+", operator("//", ONE, TWO), THREE)),
        ("-x", Node("negation", parts=(X,))),
        ("-x ** 2", Node("negation", parts=(operator("**", X, TWO),))),
        ("-x * 2", operator("*", Node("negation", parts=(X,)), TWO)),
        ("x ** -1", operator("**", X, Node("negation", parts=(ONE,)))),
        ("((x))", X),
        ("f(x)", Node("call", "f", (X,))),
        ("f(x, 1, 2 + 3)", Node("call", "f", (X, ONE, operator("+", TWO, THREE)))),
        ("x(1) + x", operator("+", Node("call", "x", (ONE,)), X)),
    ]
    for formula, tree in cases:
        assert parse(formula) == tree


def test_what_cannot_be_read():
    cases = [
        ("", "expected a value, found the end"),
        ("1 +", "expected a value, found the end"),
        ("* 2", r"expected a value, found \*"),
        ("1 2", "expected the end, found 2"),
        ("(1 + 2", r"expected \), found the end"),
        ("max(1, 2", r"expected \), found the end"),
        ("max()", r"expected a value, found \)"),
        ("1)", r"expected the end, found \)"),
    ]
    for formula, message in cases:
        with pytest.raises(FormulaError, match=message):
            parse(formula)
