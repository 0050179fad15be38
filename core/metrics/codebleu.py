"""CodeBLEU and CrystalBLEU: n-grams of tokens, with what a parser knows or with what all code has taken out.

Both follow the packages that people use, `codebleu` 0.7.0 and `crystalbleu` 0.2, to the sixth digit, odd conventions
included; tests hold them to recorded values. Neither package can be a dependency: the first asks for a tree-sitter that
has no build for Python 3.13, the second does not say that it needs nltk.

Where the packages depend on the order of a set, and so on the process they run in, this module takes the order of first
appearance.
"""

from __future__ import annotations

import io
import keyword
import math
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rtc_inspector.core.metrics.dataflow import DataFlow, TooLargeError, neutral
from rtc_inspector.core.metrics.similarity import TOKEN

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Gram = tuple[str, ...]

ORDERS = (1, 2, 3, 4)
SHARED = 50
"""CrystalBLEU's k: how many of the most frequent n-grams do not count."""
_KEYWORDS = frozenset((*keyword.kwlist, "match", "case", "type"))
_PLAIN_WEIGHT = 0.2
"""Of a token that is no keyword."""
_EPSILON = 0.1
"""In the place of no match of an order (smoothing method 1)."""
MOST_NODES = 20_000
MOST_LEVELS = 200
"""Nodes and nesting that are looked at."""


# --------------------------------------------------------------------------- CrystalBLEU


def shared_ngrams(references: Iterable[str]) -> frozenset[Gram]:
    """The n-grams (n = 1 to 4 counted together) that stand in a corpus most often: all code shares them."""
    counts: Counter[Gram] = Counter()
    for text in references:
        tokens = TOKEN.findall(text)
        for order in ORDERS:
            counts.update(_ngrams(tokens, order))
    ranked = sorted(counts, key=lambda gram: (-counts[gram], gram))
    return frozenset(ranked[:SHARED])


def crystalbleu(candidate: str, reference: str, shared: Collection[Gram]) -> float:
    """BLEU-4 over the n-grams that are not in `shared`, without smoothing: 0 where one order has no match.

    Tokens are those of our BLEU. The brevity penalty counts all tokens.
    """
    words, wanted = TOKEN.findall(candidate), TOKEN.findall(reference)
    matched = []
    for order in ORDERS:
        made = Counter(gram for gram in _ngrams(words, order) if gram not in shared)
        there = Counter(gram for gram in _ngrams(wanted, order) if gram not in shared)
        matched.append(((made & there).total(), max(1, made.total())))
    if not all(hits for hits, _ in matched):
        return 0.0
    return _geometric(matched, len(words), len(wanted))


# --------------------------------------------------------------------------- CodeBLEU


def codebleu(candidate: str, reference: str) -> dict[str, float]:
    """CodeBLEU of Python code and its four parts.

    `codebleu` is the package's figure: a data flow match of 0 counts as 1, whether the reference has no data flow or
    the candidate matches none of it. `codebleu_zero` counts it as it is. The part `codebleu_dataflow` is left out where
    the reference has no data flow. Raises TooLargeError.
    """
    made, wanted = _read(candidate), _read(reference)
    ngram = _part(made, wanted, None)
    weighted = _part(wanted, made, {token: 1.0 if token in _KEYWORDS else _PLAIN_WEIGHT for token in wanted.tokens})
    # As in the package: how often a subtree occurs counts on the reference's side only.
    there = set(made.trees)
    syntax = sum(tree in there for tree in wanted.trees) / len(wanted.trees)
    flows = wanted.flow.total()
    dataflow = (made.flow & wanted.flow).total() / flows if flows else 0.0
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
    """What is compared of one text.

    Attributes:
        grams: by order.
        trees: every subtree as text, several times where it occurs several times.
        flow: where values come from: variable, relation and sources, under neutral names.
    """

    tokens: tuple[str, ...]
    grams: Mapping[int, Counter[Gram]]
    trees: tuple[str, ...]
    flow: Counter[tuple[str, str, Gram]]


@lru_cache(2048)
def _read(text: str) -> _Read:
    """Read once, since a reference is compared with many candidates. Raises TooLargeError."""
    tokens = tuple(text.strip().split())
    root = _parser().parse(_without_words(text.strip()).encode("utf-8", "replace")).root_node
    trees = tuple(_subtrees(root))
    grams = {order: Counter(_ngrams(tokens, order)) for order in ORDERS}
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
    """Mean of the orders' shares, times the penalty for a candidate that is no longer than its reference."""
    penalty = 1.0 if length > wanted else math.exp(1 - wanted / length)
    return penalty * math.exp(math.fsum(math.log(hits / of) for hits, of in matched) / len(matched))


def _ngrams(tokens: Sequence[str], order: int) -> Iterator[Gram]:
    return zip(*(tokens[at:] for at in range(order)), strict=False)


@lru_cache(1)
def _parser() -> Parser:
    """The parser of Python, loaded with the first score."""
    import tree_sitter_python
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_python.language()))


def _without_words(source: str) -> str:
    """The code without comments, blank lines and texts that stand where docstrings do; as it is if it has no tokens."""
    made, before, row, column = "", tokenize.INDENT, -1, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.start[0] > row:
                column = 0
            made += " " * (token.start[1] - column)
            docstring = token.type == tokenize.STRING and (
                before in (tokenize.INDENT, tokenize.NEWLINE) or token.start[1] == 0
            )
            if token.type != tokenize.COMMENT and not docstring:
                made += token.string
            before, (row, column) = token.type, token.end
    except (tokenize.TokenError, SyntaxError):
        return source
    return "\n".join(line for line in made.split("\n") if line.strip())


def _subtrees(root: Node) -> Iterator[str]:
    """The root and every node with children, as text. Raises TooLargeError."""
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
