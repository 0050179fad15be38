"""What differs inside one changed line, by token."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

MOST_TOKENS = 600
"""Tokens on a line up to which it is marked; beyond, the whole line is."""

LEAST_SHARED = 0.25
"""Share of the characters that both lines must have in common to be marked inside."""

_TOKEN = re.compile(r"\w+|\s+|->|:=|\*\*=?|//=?|<<=?|>>=?|[-+*/%&|^@=!<>]=|\.\.\.|[^\w\s]")

Marks = tuple[tuple[int, int], ...]
"""Half-open character ranges of one line."""


def marks(left: str, right: str) -> tuple[Marks, Marks]:
    """Ranges that differ on either side; whole lines where the two have little in common."""
    ones, others = _TOKEN.findall(left), _TOKEN.findall(right)
    if max(len(ones), len(others)) > MOST_TOKENS:
        return _whole(left), _whole(right)
    matcher = SequenceMatcher(None, ones, others, autojunk=False)
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    # Lines with little in common would get a mark every few letters, which says less than none.
    if _shared(matcher, ones) * 2 < LEAST_SHARED * _weight(ones + others):
        return _whole(left), _whole(right)
    first = _ranges(ones, [(code[1], code[2]) for code in codes])
    second = _ranges(others, [(code[3], code[4]) for code in codes])
    return first, second


def _weight(tokens: list[str]) -> int:
    """Characters of tokens that are not white space."""
    return sum(len(token) for token in tokens if not token.isspace())


def _shared(matcher: SequenceMatcher[str], tokens: list[str]) -> int:
    """Characters that both lines have, white space aside."""
    return sum(_weight(tokens[block.a : block.a + block.size]) for block in matcher.get_matching_blocks())


def _whole(line: str) -> Marks:
    """All of a line but its indentation."""
    start = len(line) - len(line.lstrip())
    return ((start, len(line)),) if start < len(line) else ()


def _ranges(tokens: list[str], spans: list[tuple[int, int]]) -> Marks:
    """Character ranges of token ranges; ranges that only white space divides become one."""
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
