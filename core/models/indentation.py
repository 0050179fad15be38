"""Move code to another column without touching the inside of multi-line strings."""

from __future__ import annotations

import io
import tokenize

from rtc_inspector.core.syntax import parsed, shared_indent

STRING_TOKENS = {tokenize.STRING} | {
    getattr(tokenize, name) for name in ("FSTRING_MIDDLE", "TSTRING_MIDDLE") if hasattr(tokenize, name)
}


def level(text: str, indentation: str = "") -> str:
    """`text` moved to column 0; a first line that alone lost its indentation is set right.

    `indentation`: what the other lines have before them when the text was copied from its place in the file.
    """
    lines = [line.rstrip() for line in text.strip("\n").rstrip().split("\n")]
    frozen = _string_lines("\n".join(lines))
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


def place(text: str, indentation: str) -> str:
    """Levelled `text` as it stands at a span: the first line bare, the others behind `indentation`."""
    lines = text.split("\n")
    frozen = _string_lines(text)
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
    """Lines from `start` on without the white space they share."""
    margin = shared_indent(line for i, line in enumerate(lines) if i >= start and i not in frozen)
    return [line[len(margin) :] if i >= start and i not in frozen else line for i, line in enumerate(lines)]


def _string_lines(text: str) -> set[int]:
    """0-based numbers of lines that begin inside a string.

    In brackets the tokenizer does not care about indentation, which may still be wrong here.
    """
    inside: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"(\n{text}\n)").readline):
            if token.type in STRING_TOKENS:
                inside.update(range(token.start[0] - 1, token.end[0] - 1))
    except (tokenize.TokenError, SyntaxError):
        pass
    return inside
