"""How much of the code its description repeats verbatim (the limit the RTC paper names in Sec. 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST_RUN = 6
"""Tokens. `self.items` has three and `foo.bar()` five: naming those is describing, not reciting."""

_TOKEN = re.compile(r"\w+|[^\w\s`]")
"""Without back ticks: descriptions in Markdown wrap names in them, which would hide that the rest is quoted."""


def recitation(description: str, code: str) -> float:
    """Share of the code's characters, blanks aside, that stand verbatim in the description: 0..1.

    Both are cut into tokens: a word (letters, digits, underscore) or a single other sign. White space is dropped,
    so reflowed code still counts, and so are back ticks, so code with its names marked up counts too. A code token
    is recited when it lies in a run of at least `SHORTEST_RUN` consecutive code tokens that occurs in the
    description as it is. Code shorter than that counts only when quoted whole. Code quoted whole gives 1; code
    without a token gives 0.
    """
    tokens = _TOKEN.findall(code)
    total = sum(map(len, tokens))
    if not total:
        return 0.0
    length = min(SHORTEST_RUN, len(tokens))
    quoted = set(_runs(_TOKEN.findall(description), length))
    recited: set[int] = set()
    for start, run in enumerate(_runs(tokens, length)):
        if run in quoted:
            recited.update(range(start, start + length))
    return sum(len(tokens[i]) for i in recited) / total


def _runs(tokens: list[str], length: int) -> Iterator[tuple[str, ...]]:
    """Every run of `length` consecutive tokens, from the first on."""
    return zip(*(tokens[i:] for i in range(length)), strict=False)
