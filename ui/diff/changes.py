"""Inside one changed block: which old line became which new line, and which of its tokens changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIMILAR = 45.0
"""Per cent of shared characters from which two lines count as one line changed."""

CELLS = 40_000
"""Line pairs of one block up to which the best pairing is sought."""

MOST_TOKENS = 600
"""Tokens on a line up to which it is marked; beyond, the whole line is."""

LEAST_SHARED = 0.25
"""Share of the characters that both lines must have in common to be marked inside."""

_TOKEN = re.compile(r"\w+|\s+|->|:=|\*\*=?|//=?|<<=?|>>=?|[-+*/%&|^@=!<>]=|\.\.\.|[^\w\s]")

Pair = tuple[int | None, int | None]
"""Indices into the block's left and right lines; None is a gap."""

Marks = tuple[tuple[int, int], ...]
"""Half-open character ranges of one line."""


def pair(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """Return rows for one block, in order on both sides.

    Similar lines share a row (in blocks of up to `CELLS` pairs). What is left over between them shares rows
    too, so that blocks stay short.
    """
    if not left or not right:
        return _gap(0, len(left), 0, len(right))
    anchors = _best(_similarity(left, right)) if len(left) * len(right) <= CELLS else []
    pairs: list[Pair] = []
    i = j = 0
    for a, b in anchors:
        pairs += _gap(i, a, j, b)
        pairs.append((a, b))
        i, j = a + 1, b + 1
    return pairs + _gap(i, len(left), j, len(right))


def _gap(i: int, i_end: int, j: int, j_end: int) -> list[Pair]:
    """Return rows for lines without a counterpart, side by side."""
    rows = max(i_end - i, j_end - j)
    return [(i + k if i + k < i_end else None, j + k if j + k < j_end else None) for k in range(rows)]


def _similarity(left: Sequence[str], right: Sequence[str]) -> NDArray[np.float32]:
    """Return the similarity of every pair, 0 below the threshold; blank lines only match blank lines."""
    strip = [[line.strip() for line in side] for side in (left, right)]
    import numpy as np  # not before it is needed: the window opens sooner
    from rapidfuzz import fuzz, process

    matrix = process.cdist(strip[0], strip[1], scorer=fuzz.ratio, score_cutoff=SIMILAR, dtype=np.float32)
    return np.asarray(matrix, dtype=np.float32)


def _best(matrix: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Return the pairs in order that have the greatest summed similarity (dynamic programming)."""
    import numpy as np

    rows, columns = matrix.shape
    # best[i, j]: the greatest sum that the first i lines of the left and the first j of the right allow. A row needs
    # the one above it alone, and the running maximum along it, so that numpy does a row at a time.
    best = np.zeros((rows + 1, columns + 1), dtype=np.float32)
    for i in range(1, rows + 1):
        with_pair = np.where(matrix[i - 1] > 0, best[i - 1, :-1] + matrix[i - 1], 0)
        best[i, 1:] = np.maximum.accumulate(np.maximum(best[i - 1, 1:], with_pair))
    return _trace(matrix, best)


def _trace(matrix: NDArray[np.float32], best: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Walk back from the end of the table."""
    i, j = matrix.shape
    found: list[tuple[int, int]] = []
    # Where leaving a line out costs nothing it was left out; else the two were paired.
    while i and j:
        if best[i, j] == best[i, j - 1]:
            j -= 1
        elif best[i, j] == best[i - 1, j]:
            i -= 1
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return found[::-1]


# ---- the tokens of one line


def marks(left: str, right: str) -> tuple[Marks, Marks]:
    """Return the ranges that differ on either side; whole lines where the two have little in common."""
    ones, others = _TOKEN.findall(left), _TOKEN.findall(right)
    if max(len(ones), len(others)) > MOST_TOKENS:
        return _whole(left), _whole(right)
    codes = SequenceMatcher(None, ones, others, autojunk=False).get_opcodes()
    shared = sum(_weight(ones[a:b]) for tag, a, b, _, _ in codes if tag == "equal")
    # Lines with little in common would get a mark every few letters, which says less than none.
    if shared * 2 < LEAST_SHARED * _weight(ones + others):
        return _whole(left), _whole(right)
    changed = [code for code in codes if code[0] != "equal"]
    return _ranges(ones, [(a, b) for _, a, b, _, _ in changed]), _ranges(others, [(c, d) for *_, c, d in changed])


def _weight(tokens: list[str]) -> int:
    """Return the number of characters of tokens that are not white space."""
    return sum(len(token) for token in tokens if not token.isspace())


def _whole(line: str) -> Marks:
    """Return the mark of a whole line but its indentation; a blank line has none."""
    start = len(line) - len(line.lstrip())
    return ((start, len(line)),) if start < len(line) else ()


def _ranges(tokens: list[str], spans: list[tuple[int, int]]) -> Marks:
    """Return character ranges of token ranges; ranges that only white space divides become one."""
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if start == end:
            continue
        if joined and all(token.isspace() for token in tokens[joined[-1][1] : start]):
            start = joined.pop()[0]
        joined.append((start, end))
    return tuple((offsets[start], offsets[end]) for start, end in joined)
