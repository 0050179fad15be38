"""How much of what a person wrote a model says again: ROUGE-L, and ROUGE by synonyms (cosmetic variance, Sec. 2).

None where a reference has no words: there is nothing to be said again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rtc_inspector.resources.synonyms import synonyms

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words(text: str) -> list[str]:
    """The words of a text in small letters, those inside camelCase and snake_case too; letters only."""
    return [word.lower() for word in _WORD.findall(text)]


def rouge_synonym(candidate: str, reference: str) -> float | None:
    """Share of the synonyms of the reference's words that are synonyms of the candidate's, too."""
    wanted, found = (frozenset[str]().union(*map(synonyms, words(text))) for text in (reference, candidate))
    return len(wanted & found) / len(wanted) if wanted else None


def rouge_l(candidate: str, reference: str) -> float | None:
    """F1 of the longest common subsequence of words."""
    wanted, found = words(reference), words(candidate)
    if not wanted:
        return None
    common = _common(wanted, found)
    return 2 * common / (len(wanted) + len(found))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of their longest common subsequence."""
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for place, each in enumerate(other, start=1):
            before, row[place] = row[place], before + 1 if word == each else max(row[place], row[place - 1])
    return row[-1]
