"""Words that people use for one another in programs, from our own short list (resources/synonyms.txt)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def synonyms(word: str) -> frozenset[str]:
    """The word, in small letters, and every word of the groups it stands in; of a plural their plurals."""
    groups = _groups()
    if word in groups:
        return groups[word] | {word}
    if word.endswith("s") and word[:-1] in groups:
        return frozenset(_plural(each) for each in groups[word[:-1]]) | {word}
    return frozenset({word})


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


@cache
def _groups() -> Mapping[str, frozenset[str]]:
    """Every word with all the words it shares a group with."""
    found: dict[str, set[str]] = {}
    for line in (files("rtc_inspector.resources") / "synonyms.txt").read_text("utf-8").splitlines():
        words = line.split("#", 1)[0].split()
        for word in words:
            found.setdefault(word, set()).update(words)
    return {word: frozenset(group) for word, group in found.items()}
