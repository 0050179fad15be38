"""Values that meet in a comparison, and of which one at least can say what it likes."""

from __future__ import annotations

from typing import Any, Iterator, Tuple

ATOMS = frozenset([int, float, complex, bool, str, bytes, type(None)])
CONTAINERS = frozenset([list, tuple, dict, set, frozenset])
PLAIN = ATOMS | CONTAINERS
"""Classes that compare honestly, what they hold aside."""
MOST = 64
"""Elements of a container looked at, the first and the last of them."""
DEPTH = 6
NOBODY = object()
"""Stands where it is not known what a value meets: in a set."""

Pair = Tuple[Any, Any]


def odd_pairs(left: Any, right: Any, depth: int = DEPTH) -> Iterator[Pair]:
    """Values that meet when both sides are compared, where the class of one at least can say what it likes."""
    kinds = type(left), type(right)
    if left is right or (kinds[0] in ATOMS and kinds[1] in ATOMS) or not depth:
        return
    if kinds[0] is kinds[1] and kinds[0] in CONTAINERS:
        for one, other in _elements(left, right):
            yield from odd_pairs(one, other, depth - 1)
    elif kinds[0] not in PLAIN or kinds[1] not in PLAIN:
        yield left, right


def _elements(left: Any, right: Any) -> Iterator[Pair]:
    if isinstance(left, dict):
        keys = [key for key in _ends(list(left)) if type(key) in ATOMS]
        yield from ((left[key], right[key]) for key in keys if key in right)
    elif isinstance(left, (list, tuple)) and len(left) == len(right):
        yield from zip(_ends(left), _ends(right))
    elif not isinstance(left, (list, tuple)):
        strange = [value for value in (*_ends(list(left)), *_ends(list(right))) if type(value) not in ATOMS]
        yield from ((value, NOBODY) for value in strange)


def _ends(values: Any) -> Any:
    return values if len(values) <= MOST else values[: MOST // 2] + values[-MOST // 2 :]
