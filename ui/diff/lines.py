"""Lines of a text, what a comparison sets aside, and the indentation that a region's first line lost."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rtc_inspector.core.syntax import NEWLINE, parsed

Sides = tuple[str, str]
PAIR: Sides = "original", "reconstruction"
"""What is on either side of most comparisons; headings begin with a large letter."""

STEP = "    "
_OPEN = (":", "(", "[", "{")
_CLOSING = re.compile(r"[)\]}]|(else|elif|except|finally)\b")
"""How a line of the same statement begins that stands as far left as its first line."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A text cut into lines."""

    texts: tuple[str, ...]  # without their line breaks; a text that ends with a line break has no empty last line
    breaks: frozenset[str]  # the kinds of line break found
    closed: bool  # whether the last line ends with a line break


def split(text: str) -> Lines:
    """Cut `text` at its line breaks."""
    parts = NEWLINE.split(text)
    closed = len(parts) > 1 and parts[-1] == ""
    if closed or parts == [""]:
        parts.pop()
    return Lines(tuple(parts), frozenset(NEWLINE.findall(text)), closed)


def units(text: str) -> int:
    """Return the number of UTF-16 units of `text`, in which Qt counts: a character beyond the basic plane is two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def set_aside(left: Lines, right: Lines) -> tuple[str, ...]:
    """Return differences that no row can show, a sentence each."""
    found = []
    if left.breaks and right.breaks and left.breaks != right.breaks:
        found.append(f"Line breaks differ: {_names(left.breaks)} and {_names(right.breaks)}.")
    if left.closed != right.closed and left.texts and right.texts:
        found.append(f"Only the {PAIR[0] if left.closed else PAIR[1]} ends with a line break.")
    return tuple(found)


def _names(breaks: frozenset[str]) -> str:
    names = {"\r\n": "CRLF", "\r": "CR", "\n": "LF"}
    return "/".join(sorted(names[b] for b in breaks))


# ---- indentation: the span of a region starts at its first statement, after the white space before it


def indents(texts: Sequence[str]) -> list[str]:
    """Return indentations of the lines after the first, the shortest first: what the first line may have lost."""
    return sorted({line[: len(line) - len(line.lstrip())] for line in texts[1:] if line.strip()}, key=len)


def lost_indentation(text: str) -> str:
    """Return the indentation that the first line lacks; empty where it lacks none.

    It is certain for several statements, and judged by the first line's end for a single one.
    """
    lines = split(text).texts
    if len(lines) < 2 or lines[0][:1].isspace():
        return ""
    found = indents(lines)
    # A single statement reads as Python with any indentation of its later lines.
    if parsed(text) is not None:
        return _lost_by_one_statement(lines, found[0] if found else "")
    return next((each for each in found if parsed(textwrap.dedent(each + text)) is not None), "")


def _lost_by_one_statement(lines: Sequence[str], least: str) -> str:
    """Return the lost indentation: a closing line has that of the first, else the others stand one step further in."""
    if any(line.startswith(least) and _CLOSING.match(line[len(least) :]) for line in lines[1:]):
        return least
    step = "\t" if least.endswith("\t") else STEP
    return least.removesuffix(step) if least.endswith(step) and lines[0].rstrip().endswith(_OPEN) else ""


def restored(text: str, indent: str) -> str:
    """Return the text with its first line indented, unless it is already."""
    return text if not text or text[:1].isspace() else indent + text


def side_by_side(original: str, candidate: str, region: str | None = None) -> tuple[str, str]:
    """Return both with the indentation that the region's first line lacks; of `region` None the original is it.

    One line tells nothing of its own: what stands in its place does, where it has more.
    """
    region = original if region is None else region
    indent = lost_indentation(region if "\n" in region.rstrip() else candidate)
    return restored(original, indent), restored(candidate, indent)


def level(texts: Sequence[str]) -> list[str]:
    """Return lines dedented together, the first one with the indentation that it lost."""
    whole = "\n".join(texts)
    lost = lost_indentation(whole)
    if lost or len(texts) < 2 or texts[0][:1].isspace():
        return textwrap.dedent(lost + whole).split("\n")
    rest = textwrap.dedent("\n".join(texts[1:])).split("\n")
    step = STEP if texts[0].rstrip().endswith(_OPEN) else ""
    return [texts[0], *(step + line if line else line for line in rest)]
