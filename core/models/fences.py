"""Code blocks in an answer, however they are fenced: backticks or tildes, any tag, in a list or a line, unclosed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rtc_inspector.core.models.indentation import level
from rtc_inspector.core.syntax import parsed

_RUN = re.compile(r"`{3,}|~{3,}")
_LEAD = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?")
"""What may stand before a fence: white space, quote signs, the sign of a list."""
_QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.M)
_TAG = re.compile(r"[ \t]*[\w+#.-]*[ \t]*")
_WORD = re.compile(r"[A-Za-z][\w+#.-]*[ \t]+")
NOT_CODE = frozenset({"bash", "sh", "shell", "console", "text", "txt", "plaintext", "output", "diff", "json", "pycon"})
"""Tags of blocks that hold something else while another block is there."""


@dataclass(frozen=True, slots=True)
class Fenced:
    """One code block: its content, its tag, and where it stands with its fences.

    Attributes:
        closed: it has an end of its own.
        inline: it stands in the middle of a line of words.
    """

    text: str
    tag: str
    start: int
    end: int
    closed: bool = True
    inline: bool = False


class _End(NamedTuple):
    """A place where a block may end: its content ends at `inner`, it does itself at `outer`."""

    inner: int
    outer: int
    kind: str


def is_fence(line: str) -> bool:
    """Return whether a line is a fence and nothing else, with a tag or without."""
    lead = _LEAD.match(line)
    run = _RUN.match(line, lead.end() if lead else 0)
    return run is not None and _TAG.fullmatch(line, run.end()) is not None


def blocks(text: str, opened: str = "") -> list[Fenced]:
    """Return the blocks of a text in order; `opened`: the fence that its prompt ended with, if there was one."""
    first, _, rest = text.lstrip("\n").partition("\n")
    again = is_fence(first) and rest.strip()  # a model may open its own block once more
    if not again and (mark := _RUN.match(opened.strip())) is not None:
        return [_block(text, 0, 0, mark[0], "", "", begun=True)]
    found: list[Fenced] = []
    at = 0
    while (block := _next(text, at)) is not None:
        found.append(block)
        at = max(block.end, at + 1)
    return found


def best(found: Sequence[Fenced], names: Collection[str] = (), but: str = "") -> Fenced:
    """Return the block that answers: the one that defines what was asked (`names`), else the longest.

    `but`: code that was shown, which is no answer while another block is there.
    """

    def rank(block: Fenced) -> tuple[bool, bool, bool, int]:
        defines = any(re.search(rf"^\s*(?:async )?(?:def|class) {re.escape(n)}\b", block.text, re.M) for n in names)
        repeats = bool(but.strip()) and block.text.split() == but.split()
        return not repeats, defines, block.tag not in NOT_CODE, len(block.text.strip())

    return max(reversed(found), key=rank)  # of equal ones the last


def outside(text: str, found: Sequence[Fenced]) -> str:
    """Return what stands around the blocks that have lines of their own."""
    parts, at = [], 0
    for block in found:
        if not block.inline:
            parts.append(text[at : text.rfind("\n", 0, block.start) + 1])
            at = block.end
    return "".join([*parts, text[at:].removeprefix("\n") if at else text])


def _next(text: str, at: int) -> Fenced | None:
    """The first block that begins behind a place."""
    for run in _RUN.finditer(text, at):
        line = text.rfind("\n", 0, run.start()) + 1
        end = text.find("\n", run.end())
        end = len(text) if end < 0 else end
        lead, rest = text[line : run.start()], text[run.end() : end]
        alone = _LEAD.fullmatch(lead) is not None
        if run[0][0] == "~":
            # Python reads `~~~x` as well: a fence has an end, or stands first.
            closes = re.search(rf"^[ \t>]*{run[0]}", text[end:], re.M)
            if alone and "~" not in rest and (closes or not text[: run.start()].strip()):
                return _block(text, line, min(end + 1, len(text)), run[0], rest, lead)
            continue
        closing = rest.find(run[0])
        if closing >= 0:
            if rest[:closing].strip():
                stop = run.end() + closing + len(run[0])
                return Fenced(_untagged(rest[:closing].strip()), "", run.start(), stop, inline=True)
        elif alone or _TAG.fullmatch(rest):
            return _block(text, line if alone else run.start(), min(end + 1, len(text)), run[0], rest, lead, not alone)
        elif (closing := text.find(run[0], end)) >= 0:  # a block that begins in the middle of a line of words
            inner = _untagged(text[run.end() : closing].strip(" \t"))
            return Fenced(inner, "", run.start(), closing + len(run[0]), inline=True)
    return None


def _untagged(code: str) -> str:
    """Code in a line without the tag before it, with which it is no Python."""
    bare = code[found.end() :] if (found := _WORD.match(code)) else ""
    return bare if bare and parsed(bare) is not None and parsed(code) is None else code


def _block(
    text: str, start: int, inner: int, mark: str, info: str, lead: str, glued: bool = False, begun: bool = False
) -> Fenced:
    """The block whose content begins at `inner`: to the first end with which it is Python, else to its first end."""
    words = info.strip().strip("{}.").split()
    tag = words[0].lower() if words else ""
    ends = list(_ends(text, inner, mark))
    lead = "" if glued else lead

    def content(end: int) -> str:
        return _out_of(text[inner : max(inner, end)], lead)

    chosen = next((end for end in ends if (code := content(end.inner)).strip() and _reads(code)), None)
    if chosen is None and not begun and ends and _reads(content(len(text))):
        return Fenced(content(len(text)), tag, start, len(text), closed=False)
    if chosen is None:
        deep = len(lead) + 3  # of a fence that stands deeper Markdown says that it belongs to the code
        outer = [end for end in ends if end.kind != "glued" and _depth(text, end.outer, end.kind) <= deep]
        loose = [end for end in ends if end.kind != "glued"] + ([] if begun else ends)
        chosen = next(iter([*outer, *loose]), None)
    if chosen is None:
        return Fenced(content(len(text)), tag, start, len(text), closed=False)
    return Fenced(content(chosen.inner), tag, start, chosen.outer, chosen.kind != "next")


def _depth(text: str, at: int, kind: str) -> int:
    """Return the width of the indentation, quote marks included, of the fence that ends at a place.

    The fence of the next block (`kind` is `next`) begins there instead.
    """
    line = text[at : text.find("\n", at)] if kind == "next" else text[text.rfind("\n", 0, at) + 1 : at]
    return len(line) - len(line.lstrip(" \t>"))


def _ends(text: str, inner: int, mark: str) -> Iterator[_End]:
    """Yield the places where a block may end.

    These are a fence of its kind alone on a line, one behind code, and the beginning of the next block.
    """
    at = inner
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        lead = _LEAD.match(line)
        bare = line[lead.end() if lead else 0 :].rstrip()
        runs = len(bare) - len(bare.lstrip(mark[0]))
        if runs >= len(mark) and runs == len(bare):
            yield _End(at - 1, end, "alone")
        elif runs >= len(mark) and _TAG.fullmatch(bare, runs):
            yield _End(at - 1, at, "next")
        elif mark[0] == "`" and bare.endswith(mark):
            yield _End(at + len(line.rstrip()) - (len(bare) - len(bare.rstrip("`"))), end, "glued")
        at = end + 1


def _out_of(content: str, lead: str) -> str:
    """The content of a block without what stands before all its lines: quote signs, the indentation of a list."""
    if ">" in lead:
        content = _QUOTED.sub("", content)
        lead = lead[lead.rfind(">") + 1 :].removeprefix(" ")
    lines = content.split("\n")
    margin = min([len(lead), *(len(line) - len(line.lstrip()) for line in lines if line.strip())])
    return "\n".join(line[margin:] for line in lines)


def _reads(code: str) -> bool:
    return parsed(code) is not None or parsed(level(code)) is not None
