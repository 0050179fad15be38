"""CodeBLEU and CrystalBLEU: n-grams of tokens, with what a parser knows or with what all code has taken out.

Both follow the packages that people use, `codebleu` 0.7.0 and `crystalbleu` 0.2, to the sixth digit, odd conventions
included; tests hold them to recorded values. Neither package can be a dependency: the first asks for a tree-sitter that
has no build for Python 3.13, the second does not say that it needs nltk. Where the packages depend on the order of a
set, and so on the process they run in, this module takes the order of first appearance.
"""

from __future__ import annotations

import io
import keyword
import math
import multiprocessing
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from rtc_inspector.core.metrics.similarity import CODE_METRICS, TOKEN, ngrams

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_VISITS = 100_000  # steps that are taken: a loop's body is read twice, one in it four times


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


_Values = dict[str, list[int]]  # by variable, the places that gave it the value it has now
_TEXTS = ("string", "string_literal", "character_literal")


class DataFlow:
    """GraphCodeBERT's data flow of Python, on which CodeBLEU rests."""

    def __init__(self, root: Node) -> None:
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
            before = merged.get(edge.place)
            merged[edge.place] = edge if before is None else _joined(before, edge)
        return list(merged.values())

    def _walk(self, node: Node, values: _Values) -> tuple[list[Edge], _Values]:
        self._visits += 1
        if self._visits > MOST_VISITS:
            raise TooLargeError
        values = dict(values)
        if _is_leaf(node):
            return self._leaf(node, values)
        if node.type == "default_parameter":
            return self._default(node, values)
        if node.type == "for_in_clause":
            return self._assign([_field(node, "left")], [node.children[-1]], values)
        if node.type in ("assignment", "augmented_assignment"):
            right = node.child_by_field_name("right")
            return self._assign(*_matching(_field(node, "left"), right), values) if right is not None else ([], values)
        if node.type == "if_statement":
            return self._branches(node, values)
        if node.type in ("for_statement", "while_statement"):
            return self._loop(node, values)
        found = []
        # What a comprehension loops over comes before what it makes of it.
        for child in sorted(node.children, key=lambda child: child.type != "for_in_clause"):
            edges, values = self._walk(child, values)
            found += edges
        return found, values

    def _leaf(self, node: Node, values: _Values) -> tuple[list[Edge], _Values]:
        place, text = self._tokens[node.start_byte, node.end_byte]
        if node.type == text:  # a keyword or sign
            return [], values
        if text in values:
            return [Edge(text, place, "comesFrom", [text], list(values[text]))], values
        if node.type == "identifier":
            values[text] = [place]
        return [Edge(text, place, "comesFrom", [], [])], values

    def _default(self, node: Node, values: _Values) -> tuple[list[Edge], _Values]:
        value = node.child_by_field_name("value")
        names = self._variables(_field(node, "name"))
        if value is None:
            values |= {text: [place] for place, text in names}
            return [Edge(text, place, "comesFrom", [], []) for place, text in names], values
        sources = self._variables(value)
        found, values = self._walk(value, values)
        for place, text in names:
            found += [Edge(text, place, "comesFrom", [other], [at]) for at, other in sources]
            values[text] = [place]
        return found, values

    def _assign(self, left: Sequence[Node], right: Sequence[Node], values: _Values) -> tuple[list[Edge], _Values]:
        """Read the right sides, then give each left side its own."""
        found = []
        for node in right:
            edges, values = self._walk(node, values)
            found += edges
        for target, value in zip(left, right, strict=True):
            sources = self._variables(value)
            for place, text in self._variables(target):
                names, places = [other for _, other in sources], [at for at, _ in sources]
                found.append(Edge(text, place, "computedFrom", names, places))
                values[text] = [place]
        return found, values

    def _branches(self, node: Node, values: _Values) -> tuple[list[Edge], _Values]:
        """Let a variable stand for what any branch made of it; without an `else`, for what it was before."""
        found: list[Edge] = []
        current, ends = values, []
        for child in node.children:
            branch = child.type in ("elif_clause", "else_clause")
            edges, after = self._walk(child, values if branch else current)
            found += edges
            if branch:
                ends.append(after)
            else:
                current = after
        ends.append(current)
        if not any("else" in child.type for child in node.children):
            ends.append(values)
        names = dict.fromkeys(name for end in ends for name in end)
        return found, {name: sorted({at for end in ends for at in end.get(name, ())}) for name in names}

    def _loop(self, node: Node, values: _Values) -> tuple[list[Edge], _Values]:
        """Read the body twice, since what it ends with is what it begins with the next time."""
        found: list[Edge] = []
        for _ in range(2):
            if node.type == "for_statement":
                targets = _matching(_field(node, "left"), _field(node, "right"))
                edges, values = self._assign(*targets, values)
                found += edges
                inside = node.children[-1:] if node.children[-1].type == "block" else []
            else:
                inside = node.children
            for child in inside:
                edges, values = self._walk(child, values)
                found += edges
        merged: dict[tuple[str, int, str], Edge] = {}
        for edge in found:
            key = edge.name, edge.place, edge.relation
            merged[key] = _joined(merged[key], edge) if key in merged else edge
        return sorted(merged.values(), key=lambda edge: edge.place), values

    def _variables(self, node: Node) -> list[tuple[int, str]]:
        found = []
        for leaf in _leaves(node):
            place, text = self._tokens[leaf.start_byte, leaf.end_byte]
            if leaf.type != text:
                found.append((place, text))
        return found


def _joined(one: Edge, other: Edge) -> Edge:
    names = list(dict.fromkeys([*one.names, *other.names]))
    return Edge(one.name, one.place, one.relation, names, sorted({*one.sources, *other.sources}))


def neutral(edges: Iterable[Edge]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the edges with variables numbered as they appear, so that renaming changes nothing."""
    numbers: dict[str, str] = {}
    for edge in edges:
        for name in (*edge.names, edge.name):
            numbers.setdefault(name, f"var_{len(numbers)}")
        yield numbers[edge.name], edge.relation, tuple(numbers[name] for name in edge.names)


def _matching(left: Node, right: Node) -> tuple[list[Node], list[Node]]:
    """Return targets with their values where there are as many of both, else the whole sides."""
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


# ---- n-grams


Gram = tuple[str, ...]
ORDERS = (1, 2, 3, 4)
SHARED = 50  # CrystalBLEU's k: how many of the most frequent n-grams do not count
_KEYWORDS = frozenset((*keyword.kwlist, "match", "case", "type"))
_PLAIN_WEIGHT = 0.2  # of a token that is no keyword
_EPSILON = 0.1  # in the place of no match of an order (smoothing method 1)
MOST_NODES = 20_000
MOST_LEVELS = 200  # nodes and nesting that are looked at


def shared_ngrams(references: Iterable[str]) -> frozenset[Gram]:
    """Return the n-grams (n = 1 to 4 counted together) that stand in a corpus most often: all code shares them."""
    counts: Counter[Gram] = Counter()
    for text in references:
        tokens = TOKEN.findall(text)
        for order in ORDERS:
            counts.update(ngrams(tokens, order))
    ranked = sorted(counts, key=lambda gram: (-counts[gram], gram))
    return frozenset(ranked[:SHARED])


def crystalbleu(candidate: str, reference: str, shared: Collection[Gram]) -> float:
    """Return BLEU-4 over the n-grams not in `shared`, without smoothing: 0 where one order has no match.

    Tokens are those of our BLEU. The brevity penalty counts all tokens.
    """
    words, wanted = TOKEN.findall(candidate), TOKEN.findall(reference)
    matched = []
    for order in ORDERS:
        candidates = Counter(gram for gram in ngrams(words, order) if gram not in shared)
        there = Counter(gram for gram in ngrams(wanted, order) if gram not in shared)
        matched.append(((candidates & there).total(), max(1, candidates.total())))
    if not all(hits for hits, _ in matched):
        return 0.0
    return _geometric(matched, len(words), len(wanted))


def codebleu(candidate: str, reference: str) -> dict[str, float]:
    """Return CodeBLEU of Python code and its four parts.

    `codebleu` is the package's figure: a data flow match of 0 counts as 1, whether the reference has no data flow or
    the candidate matches none of it. `codebleu_zero` counts it as it is. The part `codebleu_dataflow` is left out where
    the reference has no data flow. Raises TooLargeError.
    """
    own, wanted = _read(candidate), _read(reference)
    ngram = _part(own, wanted, None)
    weighted = _part(wanted, own, {token: 1.0 if token in _KEYWORDS else _PLAIN_WEIGHT for token in wanted.tokens})
    # As in the package: how often a subtree occurs counts on the reference's side only.
    there = set(own.trees)
    syntax = sum(tree in there for tree in wanted.trees) / len(wanted.trees)
    flows = wanted.flow.total()
    dataflow = (own.flow & wanted.flow).total() / flows if flows else 0.0
    found = {
        "codebleu": (ngram + weighted + syntax + (dataflow or 1.0)) / 4,
        "codebleu_zero": (ngram + weighted + syntax + dataflow) / 4,
        "codebleu_ngram": ngram,
        "codebleu_weighted": weighted,
        "codebleu_syntax": syntax,
    }
    return {**found, "codebleu_dataflow": dataflow} if flows else found


@dataclass(frozen=True)
class _Read:
    """The parts of one text that are compared."""

    tokens: tuple[str, ...]
    grams: Mapping[int, Counter[Gram]]  # by order
    trees: tuple[str, ...]  # every subtree as text, several times where it occurs several times
    flow: Counter[tuple[str, str, Gram]]  # where values come from: variable, relation and sources, under neutral names


@lru_cache(2048)
def _read(text: str) -> _Read:
    """Read once, since a reference is compared with many candidates. Raises TooLargeError."""
    tokens = tuple(text.strip().split())
    root = _parser().parse(_without_words(text.strip()).encode("utf-8", "replace")).root_node
    trees = tuple(_subtrees(root))
    grams = {order: Counter(ngrams(tokens, order)) for order in ORDERS}
    return _Read(tokens, grams, trees, Counter(neutral(DataFlow(root).edges())))


def _part(counted: _Read, other: _Read, weights: Mapping[str, float] | None) -> float:
    """Return how much of the n-grams of `counted` the other has, clipped: a precision if `counted` is the candidate.

    With `weights` of single tokens it is a recall: `counted` is the reference. The penalty for brevity is always the
    candidate's; in the weighted part the package takes every reference to be two tokens long.
    """
    matched: list[tuple[float, float]] = []
    for order in ORDERS:
        own = counted.grams[order]
        both = own & other.grams[order]
        if order == 1 and weights is not None:
            matched.append((_sum(both, weights), max(1, _sum(own, weights))))
        else:
            matched.append((both.total(), max(1, own.total())))
    if not matched[0][0]:
        return 0.0
    lengths = (len(counted.tokens), len(other.tokens)) if weights is None else (len(other.tokens), 2)
    return _geometric([(hits or _EPSILON, of) for hits, of in matched], *lengths)


def _sum(counts: Counter[Gram], weights: Mapping[str, float]) -> float:
    return sum(count * weights[gram[0]] for gram, count in counts.items())


def _geometric(matched: Sequence[tuple[float, float]], length: int, wanted: int) -> float:
    penalty = 1.0 if length > wanted else math.exp(1 - wanted / length)
    return penalty * math.exp(math.fsum(math.log(hits / of) for hits, of in matched) / len(matched))


@lru_cache(1)
def _parser() -> Parser:
    import tree_sitter_python
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_python.language()))


def _without_words(source: str) -> str:
    """Leave out comments, blank lines and texts that stand where docstrings do; code without tokens stays as it is."""
    code, before, row, column = "", tokenize.INDENT, -1, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.start[0] > row:
                column = 0
            code += " " * (token.start[1] - column)
            docstring = token.type == tokenize.STRING and (
                before in (tokenize.INDENT, tokenize.NEWLINE) or token.start[1] == 0
            )
            if token.type != tokenize.COMMENT and not docstring:
                code += token.string
            before, (row, column) = token.type, token.end
    except (tokenize.TokenError, SyntaxError):
        return source
    return "\n".join(line for line in code.split("\n") if line.strip())


def _subtrees(root: Node) -> Iterator[str]:
    inner, waiting, nodes = [], [(root, 1)], 0
    while waiting:
        node, level = waiting.pop()
        children = node.children
        nodes += len(children)
        if nodes > MOST_NODES or level > MOST_LEVELS:
            raise TooLargeError
        inner.append(node)
        waiting += [(child, level + 1) for child in children if child.child_count]
    return map(str, inner)


# ---- every metric of code that needs no model


Wanted = tuple[str, str, frozenset[str]]  # a candidate, its reference, and the names of the metrics to compute
CRYSTAL = "crystalbleu"
PARTS = ("codebleu", "codebleu_zero", "codebleu_ngram", "codebleu_weighted", "codebleu_syntax", "codebleu_dataflow")
NAMES = (*CODE_METRICS, *PARTS, CRYSTAL)
_BATCH = 50  # pairs that a process is given at a time


def scores(wanted: Wanted, shared: Collection[Gram]) -> dict[str, float]:
    """Return the metrics that are asked for; those that are not defined for the pair are left out.

    `shared`: the n-grams that CrystalBLEU passes over.
    """
    candidate, reference, names = wanted
    found = {name: function(candidate, reference) for name, function in CODE_METRICS.items() if name in names}
    if CRYSTAL in names:
        found[CRYSTAL] = crystalbleu(candidate, reference, shared)
    if not names.isdisjoint(PARTS):
        with suppress(TooLargeError):
            found |= {name: value for name, value in codebleu(candidate, reference).items() if name in names}
    return found


def all_scores(
    pairs: Sequence[Wanted], shared: Collection[Gram], processes: int
) -> Iterator[tuple[int, list[dict[str, float]]]]:
    """Yield the scores of all pairs, batch by batch as they are done: where a batch begins, and its scores.

    A few pairs are done at once: starting a process takes longer. Closing the iterator drops what has not begun.
    """
    batches = [(at, pairs[at : at + _BATCH]) for at in range(0, len(pairs), _BATCH)]
    if processes < 2 or len(batches) < 4:
        for at, batch in batches:
            yield at, _batch(batch, shared)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        try:
            done = pool.map(partial(_batch, shared=shared), [batch for _, batch in batches])
            yield from zip((at for at, _ in batches), done, strict=True)
        finally:
            pool.shutdown(cancel_futures=True)


def _batch(pairs: Sequence[Wanted], shared: Collection[Gram]) -> list[dict[str, float]]:
    return [scores(pair, shared) for pair in pairs]
