"""Values that differ from a given one, for comparisons that must not hold."""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Iterator, Tuple

ATOMS = frozenset([int, float, complex, bool, str, bytes, type(None)])
CONTAINERS = frozenset([list, tuple, dict, set, frozenset])
MOST = 64
"""Elements of a container looked at, the first and the last of them."""
DEPTH = 6

Pair = Tuple[Any, Any]


def odd_pairs(left: Any, right: Any, depth: int = DEPTH) -> Iterator[Pair]:
    """Values that meet when both sides are compared, where the class of one at least can say what it likes."""
    kinds = type(left), type(right)
    if left is right or (kinds[0] in ATOMS and kinds[1] in ATOMS) or not depth:
        return
    if kinds[0] is kinds[1] and kinds[0] in CONTAINERS:
        for one, other in _elements(left, right):
            yield from odd_pairs(one, other, depth - 1)
    else:
        yield left, right


def _elements(left: Any, right: Any) -> Iterator[Pair]:
    if isinstance(left, dict):
        keys = [key for key in _ends(list(left)) if type(key) in ATOMS]
        yield from ((left[key], right[key]) for key in keys if key in right)
    elif isinstance(left, (list, tuple)) and len(left) == len(right):
        yield from zip(_ends(left), _ends(right))
    elif not isinstance(left, (list, tuple)):
        strange = [value for value in (*_ends(list(left)), *_ends(list(right))) if type(value) not in ATOMS]
        yield from ((value, None) for value in strange)


def _ends(values: Any) -> Any:
    return values if len(values) <= MOST else values[: MOST // 2] + values[-MOST // 2 :]


def others(urandom: Callable[[int], bytes] = os.urandom) -> Callable[[Any], list[Any]]:
    """A function that gives values unlike the one it is given, near ones and far ones, which nobody can foretell."""

    def number() -> int:
        near, far = urandom(2)
        return 1 + near % 4 if far % 2 else 1000 + 977 * near + far

    def letters() -> str:
        return "".join(chr(97 + byte % 26) for byte in urandom(1 + urandom(1)[0] % 4))

    of_kind: dict[type, Callable[[Any], list[Any]]] = {
        bool: lambda value: [not value],
        int: lambda value: [value + number(), value - number()],
        float: lambda value: [value * 1.5 + number() if math.isfinite(value) else 0.5],
        complex: lambda value: [value + number()],
        str: lambda value: [value + letters(), letters() + value],
        bytes: lambda value: [value + letters().encode()],
        list: lambda value: [[*value, number()]],
        tuple: lambda value: [(*value, number())],
        dict: lambda value: [{**value, letters(): number()}],
        set: lambda value: [{*value, number() + len(value) ** 3}],
        frozenset: lambda value: [frozenset([*value, letters() * 9])],
    }

    def unlike(value: Any) -> list[Any]:
        known = of_kind.get(type(value))
        return known(value) if known is not None else [object(), 10**12 + number(), letters() * 9]

    return unlike
