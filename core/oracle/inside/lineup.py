"""A value among others of its kind, so that whoever is compared with each of them cannot tell which is meant."""

from __future__ import annotations

import math
import os
import string
import types
from typing import Any, Callable, Iterable, Iterator, List, Tuple

SIZE = 10
"""Values in a row; at most one in ten guesses is right."""
LONGEST = 10_000
"""Elements of a container that is copied."""
ALPHABETS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
BASES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (tuple, lambda value: tuple.__getitem__(value, slice(None))),
    (int, int.__index__),
)
"""Kinds whose subclasses can be made from a plain value, and how that is got from one of them."""

Row = List[Tuple[Any, bool]]
"""Values, each with whether it is like the one meant. All are made the same way, that one too."""


class LineUp:
    """Draws rows of values. Everything it needs is taken when it is made, before any candidate runs."""

    def __init__(self, urandom: Callable[[int], bytes] = os.urandom) -> None:
        """`urandom`: what decides; nobody can foretell it."""
        self._urandom = urandom
        self._rows: dict[type, Callable[[Any], Row]] = {
            bool: lambda value: [(True, value), (False, not value)],
            int: self._numbers,
            float: self._floats,
            complex: self._numbers,
            str: self._texts,
            bytes: lambda value: [(text.encode("latin-1"), same) for text, same in self._texts(str(value, "latin-1"))],
            list: self._sequences,
            tuple: lambda value: [(tuple(other), same) for other, same in self._sequences(list(value))],
            dict: self._dicts,
            set: self._sets,
            frozenset: lambda value: [(frozenset(other), same) for other, same in self._sets(value)],
        }

    def below(self, bound: int) -> int:
        """A number from zero on."""
        return int.from_bytes(self._urandom(4), "big") % bound

    def shuffled(self, values: Iterable[Any]) -> list[Any]:
        """In an order that nobody knows."""
        return sorted(values, key=lambda _: self._urandom(6))

    def of(self, value: Any, beside: type | None = None) -> Row:
        """The value's row; `beside`: the class of what it is compared with, which has no say in what is alike."""
        known = self._rows.get(type(value))
        row = known(value) if known is not None else self._twins(value) if type(value) is not beside else []
        return row or [(value, True), *((stranger, False) for stranger in self.strangers())]

    def strangers(self) -> list[Any]:
        """Values that nothing is equal to."""
        return [object(), 10**12 + self.below(10**6), self._letters() * 3]

    def _letters(self) -> str:
        return "".join(chr(97 + self.below(26)) for _ in range(4))

    def _steps(self) -> list[int]:
        """Zero among others, at any place in their order."""
        rank, step = self.below(SIZE), 1 + self.below(4 if self.below(2) else 1000)
        return [(number - rank) * step for number in range(SIZE)]

    def _numbers(self, value: Any) -> Row:
        return [(value + step, not step) for step in self._steps()]

    def _floats(self, value: float) -> Row:
        if not math.isfinite(value):
            return [(value, True), (self.below(1000) / 8, False)]
        scale = max(1.0, abs(value)) * (1 + self.below(100)) / 64
        return [(value + step * scale, not step) for step in self._steps()]

    def _texts(self, value: str) -> Row:
        """One letter or digit is replaced by its neighbours in the alphabet."""
        start = self.below(max(1, len(value) - 99))
        places = [place for place, letter in enumerate(value[start : start + 100], start) if _alphabet(letter)]
        if not places:
            others = [value + self._letters() for _ in range(2)]
            return [("".join(value), True), *((other, False) for other in others)]
        place, rank = places[self.below(len(places))], self.below(SIZE)
        letters = _alphabet(value[place])
        first = letters.index(value[place]) - rank
        row = [letters[(first + number) % len(letters)] for number in range(SIZE)]
        return [(value[:place] + letter + value[place + 1 :], letter == value[place]) for letter in row]

    def _sequences(self, value: list[Any]) -> Row:
        """One element is replaced by those of its own row."""
        places = [place for place, element in enumerate(value[:LONGEST]) if type(element) in self._rows]
        if not places:
            return [([*value], True), ([*value, self.below(1000)], False)]
        place = places[self.below(len(places))]
        return [([*value[:place], other, *value[place + 1 :]], same) for other, same in self.of(value[place])]

    def _dicts(self, value: dict[Any, Any]) -> Row:
        keys = [key for key, element in value.items() if type(element) in self._rows]
        if not keys:
            return [({**value}, True), ({**value, self._letters(): 1}, False)]
        key = keys[self.below(len(keys))]
        return [({**value, key: other}, same) for other, same in self.of(value[key])]

    def _sets(self, value: Any) -> Row:
        elements = [element for element in value if type(element) in (int, str)]
        if not elements:
            return [({*value}, True), ({*value, self._letters()}, False)]
        chosen = elements[self.below(len(elements))]
        rest = [element for element in value if element is not chosen]
        return [({*rest, other}, same) for other, same in self.of(chosen) if same or other not in value]

    def _twins(self, value: Any) -> Row:
        """Other objects of the value's own class, where that class itself says which of them are like the value."""
        kind: Any = type(value)
        try:
            row = self._rebased(value) or self._remade(value)
            told = [(twin, same) for twin, same in row if kind.__eq__(value, twin) is same]
        except Exception:
            return []
        return told if [same for _, same in told].count(True) == 1 else []

    def _rebased(self, value: Any) -> Row:
        kind: Any = type(value)
        for base, plain in BASES:
            if isinstance(value, base) and kind.__new__ is base.__new__:
                return [(base.__new__(kind, other), same) for other, same in self._rows[base](plain(value))]
            if base is tuple and isinstance(value, tuple) and hasattr(kind, "_fields"):
                return [(tuple.__new__(kind, other), same) for other, same in self._rows[tuple](plain(value))]
        return []

    def _remade(self, value: Any) -> Row:
        """Objects with the same attributes, one of them replaced."""
        state = dict(_state(value))
        names = [name for name, part in state.items() if type(part) in self._rows]
        if not names or hasattr(type(value), "__del__"):
            return []
        name = names[self.below(len(names))]
        return [(_made(type(value), {**state, name: other}), same) for other, same in self.of(state[name])]


def _alphabet(letter: str) -> str:
    return next((letters for letters in ALPHABETS if letter in letters), "")


def _state(value: Any) -> Iterator[tuple[str, Any]]:
    """Attributes that the object keeps itself."""
    yield from getattr(value, "__dict__", {}).items()
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if isinstance(member, types.MemberDescriptorType) and hasattr(value, name):
                yield name, getattr(value, name)


def _made(kind: Any, state: dict[str, Any]) -> Any:
    """Raises TypeError where a class of C is behind it."""
    made: Any = object.__new__(kind)
    for name, part in state.items():
        object.__setattr__(made, name, part)
    return made
