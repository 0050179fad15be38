"""Which lines of two texts belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

PAIRS_FOR_DIFFLIB = 100_000
"""Equal line pairs up to which difflib is quick; it reads better than a longest common subsequence."""

LINES_FOR_DIFFLIB = 4_000
"""Lines of the longer side up to which it is quick: its time grows with lines times changes."""

CELLS_FOR_LCS = 1_000_000_000
"""Product of line counts up to which rapidfuzz aligns (one bit each, 125 MB)."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `left` of one text stand where lines `right` of the other do; numbers from 0."""

    equal: bool
    left: range
    right: range


@dataclass(frozen=True, slots=True)
class Alignment:
    """Blocks in order that cover both texts. `note`: which fall-back was taken, empty for none."""

    blocks: tuple[Block, ...]
    note: str = ""


def align(left: Sequence[str], right: Sequence[str]) -> Alignment:
    """Align lines; what both texts share at their start and end is set aside first."""
    # Two versions of one piece of code share most of their ends, and every means below slows down with length.
    head = _common(left, right)
    tail = _common(left[head:][::-1], right[head:][::-1])
    inner_left, inner_right = left[head : len(left) - tail], right[head : len(right) - tail]
    codes, note = _opcodes(inner_left, inner_right)
    blocks = [Block(True, range(head), range(head))]
    blocks += [Block(equal, range(head + a, head + b), range(head + c, head + d)) for equal, a, b, c, d in codes]
    blocks.append(Block(True, range(len(left) - tail, len(left)), range(len(right) - tail, len(right))))
    return Alignment(tuple(_joined(blocks)), note)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the number of lines with which the two begin alike."""
    pairs = zip(left, right, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))


_Code = tuple[bool, int, int, int, int]


def _opcodes(left: Sequence[str], right: Sequence[str]) -> tuple[list[_Code], str]:
    """Return opcodes by the best means that is quick enough, and what was given up."""
    one_change = [(False, 0, len(left), 0, len(right))]
    if not left or not right:
        return one_change, ""
    counts = Counter(right)
    short = max(len(left), len(right)) <= LINES_FOR_DIFFLIB
    # difflib visits each pair of equal lines: ten thousand blank lines on both sides would be a hundred million.
    if short and sum(counts[line] for line in left) <= PAIRS_FOR_DIFFLIB:
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        return [(tag == "equal", a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes()], ""
    if len(left) * len(right) <= CELLS_FOR_LCS:
        return _longest_common(left, right), "Long texts: aligned by longest common subsequence."
    return one_change, f"Too long to align ({len(left):,} and {len(right):,} lines): shown as one change."


def _longest_common(left: Sequence[str], right: Sequence[str]) -> list[_Code]:
    """Return opcodes of the longest common subsequence; lines become numbers so that equal means equal."""
    from rapidfuzz.distance import LCSseq  # not before it is needed: the window opens sooner

    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(line, len(numbers)) for line in side] for side in (left, right)]
    codes = LCSseq.opcodes(coded[0], coded[1])
    return [(c.tag == "equal", c.src_start, c.src_end, c.dest_start, c.dest_end) for c in codes]


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks without empty ones; neighbours of one kind become one."""
    joined: list[Block] = []
    for block in blocks:
        if not block.left and not block.right:
            continue
        if joined and joined[-1].equal == block.equal:
            last = joined.pop()
            left, right = range(last.left.start, block.left.stop), range(last.right.start, block.right.stop)
            block = Block(block.equal, left, right)
        joined.append(block)
    return joined
