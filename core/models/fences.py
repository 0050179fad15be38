"""Code blocks in an answer, however they are fenced or indented: any tag, in a list or a line, unclosed, moved."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rtc_inspector.core.languages import PYTHON, Language
from rtc_inspector.core.languages.trees import fragment, frozen_lines, reads
from rtc_inspector.core.syntax import indent_of, parsed, shared_indent

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


def blocks(text: str, opened: str = "", language: Language = PYTHON) -> list[Fenced]:
    """Return the blocks of a text in order; `opened`: the fence that its prompt ended with, if there was one."""
    first, _, rest = text.lstrip("\n").partition("\n")
    again = is_fence(first) and rest.strip()  # a model may open its own block once more
    if not again and (mark := _RUN.match(opened.strip())) is not None:
        return [_block(language, text, 0, 0, mark[0], "", "", begun=True)]
    found: list[Fenced] = []
    at = 0
    while (block := _next(language, text, at)) is not None:
        found.append(block)
        at = max(block.end, at + 1)
    return found


def best(found: Sequence[Fenced], names: Collection[str] = (), but: str = "", language: Language = PYTHON) -> Fenced:
    """Return the block that answers: the one that defines what was asked (`names`), else the longest.

    `but`: code that was shown, which is no answer while another block is there.
    """

    def rank(block: Fenced) -> tuple[bool, bool, bool, int]:
        defines = any(language.defined_in(name, block.text) for name in names)
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


def _next(language: Language, text: str, at: int) -> Fenced | None:
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
                return _block(language, text, line, min(end + 1, len(text)), run[0], rest, lead)
            continue
        closing = rest.find(run[0])
        if closing >= 0:
            if rest[:closing].strip():
                stop = run.end() + closing + len(run[0])
                return Fenced(_untagged(language, rest[:closing].strip()), "", run.start(), stop, inline=True)
        elif alone or _TAG.fullmatch(rest):
            return _block(
                language, text, line if alone else run.start(), min(end + 1, len(text)), run[0], rest, lead, not alone
            )
        elif (closing := text.find(run[0], end)) >= 0:  # a block that begins in the middle of a line of words
            inner = _untagged(language, text[run.end() : closing].strip(" \t"))
            return Fenced(inner, "", run.start(), closing + len(run[0]), inline=True)
    return None


def _untagged(language: Language, code: str) -> str:
    """Return code in a line without the tag before it, with which it does not parse."""
    bare = code[found.end() :] if (found := _WORD.match(code)) else ""
    return bare if bare and reads(bare, language) and not reads(code, language) else code


def _block(
    language: Language,
    text: str,
    start: int,
    inner: int,
    mark: str,
    info: str,
    lead: str,
    glued: bool = False,
    begun: bool = False,
) -> Fenced:
    """The block whose content begins at `inner`: to the first end with which it is Python, else to its first end."""
    words = info.strip().strip("{}.").split()
    tag = words[0].lower() if words else ""
    ends = list(_ends(text, inner, mark))
    lead = "" if glued else lead

    def content(end: int) -> str:
        return _out_of(text[inner : max(inner, end)], lead)

    chosen = next((end for end in ends if (code := content(end.inner)).strip() and _reads(code, language)), None)
    # To others backticks are the marks of strings: what follows a fence may parse as well.
    python = language is PYTHON
    if python and chosen is None and not begun and ends and _reads(content(len(text)), language):
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


def _reads(code: str, language: Language) -> bool:
    return reads(code, language) or reads(level(code, language=language), language)


# --------------------------------------------------------------------------- indentation

_STRING_TOKENS = {tokenize.STRING} | {
    getattr(tokenize, name) for name in ("FSTRING_MIDDLE", "TSTRING_MIDDLE") if hasattr(tokenize, name)
}


def level(text: str, indentation: str = "", language: Language = PYTHON) -> str:
    """Return `text` moved to column 0; a first line that alone lost its indentation is set right.

    `indentation`: what the other lines have before them when the text was copied from its place in the file.
    """
    lines = [line.rstrip() for line in text.strip("\n").rstrip().split("\n")]
    frozen = _string_lines("\n".join(lines), language)
    if language is not PYTHON:
        return "\n".join(_levelled(lines, indentation, frozen, language))
    if indentation and (copied := _copied(lines, indentation, frozen)):
        return copied
    moved = _dedented(lines, frozen, 0)
    if len(lines) > 1 and parsed("\n".join(moved)) is None:
        rest = _dedented(lines, frozen, 1)
        deeper = "    " if lines[0].endswith(":") else ""
        for extra in (deeper, ""):
            mended = [lines[0].lstrip(), *(_shift(line, extra, i + 1 in frozen) for i, line in enumerate(rest[1:]))]
            if parsed("\n".join(mended)) is not None:
                return "\n".join(mended)
    return "\n".join(moved)


def place(text: str, indentation: str, language: Language = PYTHON) -> str:
    """Return levelled `text` as it stands at a span: the first line bare, the others behind `indentation`."""
    lines = text.split("\n")
    frozen = _string_lines(text, language)
    return "\n".join([lines[0], *(_shift(line, indentation, i in frozen) for i, line in enumerate(lines) if i)])


def _copied(lines: list[str], indentation: str, frozen: set[int]) -> str:
    """The text when its first line is bare and the others stand as deep as in the file; else empty."""
    rest = [line for i, line in enumerate(lines) if i and i not in frozen and line]
    if not rest or lines[0][:1].isspace() or not all(line.startswith(indentation) for line in rest):
        return ""
    if not rest[0][len(indentation) :][:1].isspace():
        return ""
    cut = [line if i == 0 or i in frozen else line[len(indentation) :] for i, line in enumerate(lines)]
    return "\n".join(cut) if parsed("\n".join(cut)) is not None else ""


def _shift(line: str, indentation: str, frozen: bool) -> str:
    return line if frozen or not line else indentation + line


def _dedented(lines: list[str], frozen: set[int], start: int) -> list[str]:
    margin = shared_indent(line for i, line in enumerate(lines) if i >= start and i not in frozen)
    return [line[len(margin) :] if i >= start and i not in frozen else line for i, line in enumerate(lines)]


def _levelled(lines: list[str], indentation: str, frozen: set[int], language: Language) -> list[str]:
    """Return lines of a language of braces moved to column 0.

    What the layout means to others tells whether the first line alone lost its indentation: a closing bracket or the
    next statement then stands at the margin that the other lines share.
    """
    moved = _dedented(lines, frozen, 0)
    margin = shared_indent(line for i, line in enumerate(moved) if i and i not in frozen)
    if not margin or indent_of(moved[0]):
        return moved
    if indentation and margin.startswith(indentation) and margin != indentation:  # copied from its place in the file
        cut = (line if i == 0 or i in frozen else line[len(indentation) :] for i, line in enumerate(moved))
        return list(cut)
    block = fragment("\n".join(moved), language)
    starts = {statement.first - 1 for statement in block.statements[1:]} if block else set[int]()
    at_margin = (i for i, line in enumerate(moved) if i and i not in frozen and indent_of(line) == margin and line)
    lost = any(i in starts or moved[i][len(margin)] in ")]}" for i in at_margin)
    return _dedented(moved, frozen, 1) if lost else moved


def _string_lines(text: str, language: Language) -> set[int]:
    """Return the 0-based numbers of lines that begin inside a string.

    In brackets the tokenizer does not care about indentation, which may still be wrong here.
    """
    if language is not PYTHON:
        return frozen_lines(text, language)
    inside: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"(\n{text}\n)").readline):
            if token.type in _STRING_TOKENS:
                inside.update(range(token.start[0] - 1, token.end[0] - 1))
    except (tokenize.TokenError, SyntaxError):
        pass
    return inside
