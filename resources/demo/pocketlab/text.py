"""Shaping text for people and for addresses."""

import unicodedata
from collections.abc import Container
from itertools import count

PARTICLES = frozenset({"da", "de", "der", "di", "la", "of", "the", "van", "von"})


def slugify(title: str, limit: int = 40) -> str:
    """Turn a title into an address part of at most `limit` characters.

    A slug that grows too long loses whole words at its end. Only a first word
    that is too long on its own is cut in the middle.
    """
    spelled = title.replace("&", " and ").replace("'", "")
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    words = "".join(c if c.isalnum() else " " for c in plain.lower()).split()
    if not words:
        return "untitled"
    slug = words[0][:limit]
    for word in words[1:]:
        if len(slug) + 1 + len(word) > limit:
            break
        slug = f"{slug}-{word}"
    return slug


def unique_slug(title: str, taken: Container[str]) -> str:
    """Return the slug of a title, numbered when somebody else has it already."""
    slug = slugify(title)
    if slug not in taken:
        return slug
    numbered = (f"{slug}-{number}" for number in count(2))
    return next(name for name in numbered if name not in taken)


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Break text into lines of at most `width` characters.

    Every line but the first starts with `indent`. A word that does not fit on
    a line of its own is cut where the line ends.
    """
    if width <= len(indent):
        raise ValueError(f"width {width} leaves no room beside the indent")
    lines: list[str] = []
    line = ""
    for word in text.split():
        joined = f"{line} {word}" if line.strip() else line + word
        if len(joined) <= width:
            line = joined
            continue
        if line.strip():
            lines.append(line)
            line = indent
        room = width - len(line)
        while len(word) > room:
            lines.append(line + word[:room])
            word, line, room = word[room:], indent, width - len(indent)
        line += word
    if line.strip():
        lines.append(line)
    return lines


def shorten(text: str, width: int, mark: str = "...") -> str:
    """Collapse white space and cut after a whole word so that `width` suffices."""
    flat = " ".join(text.split())
    if len(flat) <= width:
        return flat
    head = flat[: width - len(mark) + 1]
    kept, _, rest = head.rpartition(" ")
    if not kept:
        kept = rest[: width - len(mark)]
    return kept.rstrip(",;:. ") + mark


def initials(name: str) -> str:
    """Return the capital letters a person signs with.

    Particles do not count, except as the first word; both halves of a
    hyphenated name do, joined by the hyphen.
    """
    letters = []
    for position, word in enumerate(name.split()):
        if position and word.lower() in PARTICLES:
            continue
        halves = [half[0].upper() for half in word.split("-") if half]
        letters.append("-".join(halves))
    return "".join(letters)


def outdent(block: str) -> str:
    """Remove the margin that all lines with text share, and empty outer lines."""
    lines = [line.rstrip() for line in block.expandtabs(4).splitlines()]
    margins = [len(line) - len(line.lstrip()) for line in lines if line]
    if not margins:
        return ""
    margin = min(margins)
    return "\n".join(line[margin:] for line in lines).strip("\n")
