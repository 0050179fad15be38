"""The data flow of Python code as GraphCodeBERT reads it off a syntax tree: which variable has its value from which.

CodeBLEU compares two programs by it, and its conventions are that package's, odd ones included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_VISITS = 100_000
"""Steps that are taken: a loop's body is read twice, one in it four times."""


class TooLargeError(ValueError):
    """A text whose tree cannot be looked at in reasonable time: its score is not defined."""


@dataclass
class Edge:
    """The token at `place` has its value from the tokens at `sources`, called `names`."""

    name: str
    place: int
    relation: str
    names: list[str]
    sources: list[int]


_Known = dict[str, list[int]]
"""By variable, the places that gave it the value it has now."""
_ASSIGNMENTS = ("assignment", "augmented_assignment", "for_in_clause")
_TEXTS = ("string", "string_literal", "character_literal")


class DataFlow:
    """GraphCodeBERT's data flow of Python, on which CodeBLEU rests."""

    def __init__(self, root: Node) -> None:
        """Number the tokens of the tree."""
        self._root = root
        self._visits = 0
        self._tokens: dict[tuple[int, int], tuple[int, str]] = {}
        for place, leaf in enumerate(_leaves(root)):
            self._tokens[leaf.start_byte, leaf.end_byte] = place, _source(leaf)

    def edges(self) -> list[Edge]:
        """Return the edges that have a source or are one, by place.

        There are none where the tree is broken at an assignment, or too deep. Raises TooLargeError.
        """
        try:
            found, _ = self._walk(self._root, {})
        except (LookupError, RecursionError):
            return []
        used = {edge.place for edge in found if edge.sources}
        used |= {source for edge in found for source in edge.sources}
        merged: dict[int, Edge] = {}
        for edge in sorted(found, key=lambda edge: edge.place):
            if edge.place not in used:
                continue
            known = merged.get(edge.place)
            merged[edge.place] = edge if known is None else _joined(known, edge)
        return list(merged.values())

    def _walk(self, node: Node, known: _Known) -> tuple[list[Edge], _Known]:
        """Edges of the node, and what variables stand for after it."""
        self._visits += 1
        if self._visits > MOST_VISITS:
            raise TooLargeError
        known = dict(known)
        if _is_leaf(node):
            return self._leaf(node, known)
        if node.type == "default_parameter":
            return self._default(node, known)
        if node.type in _ASSIGNMENTS:
            return self._assignment(node, known)
        if node.type == "if_statement":
            return self._branches(node, known)
        if node.type in ("for_statement", "while_statement"):
            return self._loop(node, known)
        found = []
        # What a comprehension loops over comes before what it makes of it.
        for child in sorted(node.children, key=lambda child: child.type != "for_in_clause"):
            edges, known = self._walk(child, known)
            found += edges
        return found, known

    def _leaf(self, node: Node, known: _Known) -> tuple[list[Edge], _Known]:
        place, text = self._tokens[node.start_byte, node.end_byte]
        if node.type == text:  # a keyword or sign
            return [], known
        if text in known:
            return [Edge(text, place, "comesFrom", [text], list(known[text]))], known
        if node.type == "identifier":
            known[text] = [place]
        return [Edge(text, place, "comesFrom", [], [])], known

    def _default(self, node: Node, known: _Known) -> tuple[list[Edge], _Known]:
        value = node.child_by_field_name("value")
        names = self._variables(_field(node, "name"))
        if value is None:
            known |= {text: [place] for place, text in names}
            return [Edge(text, place, "comesFrom", [], []) for place, text in names], known
        sources = self._variables(value)
        found, known = self._walk(value, known)
        for place, text in names:
            found += [Edge(text, place, "comesFrom", [other], [at]) for at, other in sources]
            known[text] = [place]
        return found, known

    def _assignment(self, node: Node, known: _Known) -> tuple[list[Edge], _Known]:
        if node.type == "for_in_clause":
            return self._assign([_field(node, "left")], [node.children[-1]], known)
        right = node.child_by_field_name("right")
        if right is None:
            return [], known
        return self._assign(*_matching(_field(node, "left"), right), known)

    def _assign(self, left: Sequence[Node], right: Sequence[Node], known: _Known) -> tuple[list[Edge], _Known]:
        """Read the right sides, then give each left side its own."""
        found = []
        for node in right:
            edges, known = self._walk(node, known)
            found += edges
        for target, value in zip(left, right, strict=True):
            sources = self._variables(value)
            for place, text in self._variables(target):
                names, places = [other for _, other in sources], [at for at, _ in sources]
                found.append(Edge(text, place, "computedFrom", names, places))
                known[text] = [place]
        return found, known

    def _branches(self, node: Node, known: _Known) -> tuple[list[Edge], _Known]:
        """A variable may stand for what any branch made of it; without an `else`, for what it was before."""
        found: list[Edge] = []
        current, ends = known, []
        for child in node.children:
            branch = child.type in ("elif_clause", "else_clause")
            edges, after = self._walk(child, known if branch else current)
            found += edges
            if branch:
                ends.append(after)
            else:
                current = after
        ends.append(current)
        if not any("else" in child.type for child in node.children):
            ends.append(known)
        names = dict.fromkeys(name for end in ends for name in end)
        return found, {name: sorted({at for end in ends for at in end.get(name, ())}) for name in names}

    def _loop(self, node: Node, known: _Known) -> tuple[list[Edge], _Known]:
        """Twice, since what the body ends with is what it begins with the next time."""
        found: list[Edge] = []
        for _ in range(2):
            if node.type == "for_statement":
                targets = _matching(_field(node, "left"), _field(node, "right"))
                edges, known = self._assign(*targets, known)
                found += edges
                inside = node.children[-1:] if node.children[-1].type == "block" else []
            else:
                inside = node.children
            for child in inside:
                edges, known = self._walk(child, known)
                found += edges
        merged: dict[tuple[str, int, str], Edge] = {}
        for edge in found:
            key = edge.name, edge.place, edge.relation
            merged[key] = _joined(merged[key], edge) if key in merged else edge
        return sorted(merged.values(), key=lambda edge: edge.place), known

    def _variables(self, node: Node) -> list[tuple[int, str]]:
        """Place and text of each token below a node that is no keyword or sign."""
        found = []
        for leaf in _leaves(node):
            place, text = self._tokens[leaf.start_byte, leaf.end_byte]
            if leaf.type != text:
                found.append((place, text))
        return found


def _joined(one: Edge, other: Edge) -> Edge:
    """Both as one edge, which has the relation of the first."""
    names = list(dict.fromkeys([*one.names, *other.names]))
    return Edge(one.name, one.place, one.relation, names, sorted({*one.sources, *other.sources}))


def neutral(edges: Iterable[Edge]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The edges with variables numbered as they appear, so that renaming changes nothing."""
    numbers: dict[str, str] = {}
    for edge in edges:
        for name in (*edge.names, edge.name):
            numbers.setdefault(name, f"var_{len(numbers)}")
        yield numbers[edge.name], edge.relation, tuple(numbers[name] for name in edge.names)


def _matching(left: Node, right: Node) -> tuple[list[Node], list[Node]]:
    """Targets with their values where there are as many of both, else the whole sides."""
    targets = [child for child in left.children if child.type != ","]
    values = [child for child in right.children if child.type != ","]
    return (targets, values) if targets and len(targets) == len(values) else ([left], [right])


def _field(node: Node, name: str) -> Node:
    child = node.child_by_field_name(name)
    if child is None:
        raise LookupError(name)
    return child


def _is_leaf(node: Node) -> bool:
    """Return whether a node is one token: a text counts as one."""
    return node.type != "comment" and (not node.child_count or node.type in _TEXTS)


def _leaves(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if _is_leaf(each):
            yield each
        else:
            waiting += reversed(each.children)


def _source(node: Node) -> str:
    text: bytes | None = node.text
    return (text or b"").decode("utf-8", "replace")
