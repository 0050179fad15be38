"""Reading the formulas of a small calculator language."""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"(?P<number>\d+\.?\d*|\.\d+)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<symbol>\*\*|//|[-+*/%(),])"
    r"|(?P<unknown>\S+)"
)
BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2, "**": 4}
NEGATION = 3


class FormulaError(ValueError):
    """A formula that cannot be read or worked out."""


class Node(NamedTuple):
    """One part of a formula: a number, a name, a negation, an operator or a call."""

    kind: str
    value: str = ""
    parts: tuple["Node", ...] = ()


def tokenize(formula: str) -> list[tuple[str, str]]:
    """Cut a formula into (kind, text) pairs: number, name, symbol, and an end."""
    tokens = []
    for match in TOKEN.finditer(formula):
        kind = str(match.lastgroup)
        if kind == "unknown":
            raise FormulaError(f"cannot read {match[0]!r}")
        tokens.append((kind, match[0]))
    tokens.append(("end", "the end"))
    return tokens


def parse(formula: str) -> Node:
    """Return the tree of a formula, built by how strongly operators bind."""
    parser = _Parser(tokenize(formula))
    tree = parser.expression(0)
    parser.expect("the end")
    return tree


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._next = 0

    def expression(self, weakest: int) -> Node:
        """Read on as long as operators bind at least as strongly as `weakest`."""
        left = self._operand()
        while BINDING.get(self._peek(), -1) >= weakest:
            operator = self._take()[1]
            strength = BINDING[operator]
            # Only a power leans to the right.
            right = self.expression(strength if operator == "**" else strength + 1)
            left = Node("operator", operator, (left, right))
        return left

    def expect(self, wanted: str) -> None:
        """Go past a token that must come here."""
        found = self._take()[1]
        if found != wanted:
            raise FormulaError(f"expected {wanted}, found {found}")

    def _take(self) -> tuple[str, str]:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _peek(self) -> str:
        return self._tokens[self._next][1]

    def _accept(self, wanted: str) -> bool:
        found = self._peek() == wanted
        self._next += found
        return found

    def _operand(self) -> Node:
        kind, text = self._take()
        if kind == "number":
            return Node("number", text)
        if kind == "name":
            return self._call(text) if self._peek() == "(" else Node("name", text)
        if text == "-":
            return Node("negation", parts=(self.expression(NEGATION),))
        if text == "(":
            inside = self.expression(0)
            self.expect(")")
            return inside
        raise FormulaError(f"expected a value, found {text}")

    def _call(self, name: str) -> Node:
        self.expect("(")
        arguments = [self.expression(0)]
        while self._accept(","):
            arguments.append(self.expression(0))
        self.expect(")")
        return Node("call", name, tuple(arguments))
