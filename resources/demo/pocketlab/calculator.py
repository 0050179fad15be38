"""Working formulas out, and writing them back."""

from collections.abc import Callable, Mapping

from pocketlab.formulas import BINDING, NEGATION, FormulaError, Node, parse

OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
}
FUNCTIONS: dict[str, Callable[..., float]] = {"abs": abs, "max": max, "min": min}


def evaluate(formula: str, names: Mapping[str, float] | None = None) -> float:
    """Work a formula out, with values for the names in it."""
    return value(parse(formula), names or {})


def value(node: Node, names: Mapping[str, float]) -> float:
    """Return what a tree comes to; raises FormulaError where it has no value."""
    if node.kind == "number":
        return float(node.value)
    if node.kind == "name":
        if node.value not in names:
            raise FormulaError(f"no value for {node.value}")
        return names[node.value]
    values = [value(part, names) for part in node.parts]
    if node.kind == "negation":
        return -values[0]
    if node.kind == "call":
        if node.value not in FUNCTIONS:
            raise FormulaError(f"no function {node.value}")
        return FUNCTIONS[node.value](*values)
    try:
        return OPERATIONS[node.value](*values)
    except ZeroDivisionError:
        raise FormulaError("division by zero") from None


def free_names(node: Node) -> list[str]:
    """List the names a formula needs, each once, in order of first use."""
    found = [node.value] if node.kind == "name" else []
    for part in node.parts:
        found.extend(free_names(part))
    return list(dict.fromkeys(found))


def simplify(node: Node) -> Node:
    """Leave out what changes nothing: x + 0, x - 0, x * 1, x / 1, x ** 1, and --x."""
    parts = tuple(simplify(part) for part in node.parts)
    if node.kind == "negation" and parts[0].kind == "negation":
        return parts[0].parts[0]
    if node.kind == "operator":
        neutral = Node("number", "0" if node.value in "+-" else "1")
        if parts[1] == neutral and node.value not in ("%", "//"):
            return parts[0]
        if parts[0] == neutral and node.value in "+*":
            return parts[1]
    return node._replace(parts=parts)


def render(node: Node) -> str:
    """Write a tree as a formula, with parentheses only where they change its meaning.

    One exception for the reader's sake: a negative exponent always has them.
    """
    texts = [render(part) for part in node.parts]
    if node.kind == "call":
        return f"{node.value}({', '.join(texts)})"
    if node.kind == "negation":
        return "-" + _enclosed(node.parts[0], texts[0], NEGATION)
    if node.kind == "operator":
        strength = BINDING[node.value]
        to_right = node.value == "**"
        left = _enclosed(node.parts[0], texts[0], strength + to_right)
        right = _enclosed(node.parts[1], texts[1], strength + (not to_right))
        return f"{left} {node.value} {right}"
    return node.value


def _enclosed(node: Node, text: str, strength: int) -> str:
    own = BINDING.get(node.value, NEGATION if node.kind == "negation" else 9)
    return f"({text})" if own < strength else text
