"""Whether a change leaves the Python syntax tree as it was.

A hunk is compared token by token, comments and blank lines left out, literals by value, each token with the
depth of its block. Where that differs and the hunk is whole statements, their trees are compared.
"""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rtc_inspector.ui.diff.lines import indents, parsed

MOST_CHARACTERS = 150_000
"""Of one text; longer ones are not parsed (a second's work)."""

_SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}


@dataclass(frozen=True, slots=True)
class _Token:
    """A token that counts.

    Attributes:
        meaning: a literal's value, else the token as written.
        depth: of its block.
        first, last: the lines it spans, from 0, both in.
        starts: it is the first of a logical line.
    """

    meaning: str
    depth: int
    first: int
    last: int
    starts: bool


class _Parsed:
    """A text read as Python, for many questions about parts of it.

    Attributes:
        texts: its lines.
        too_long: it was not read, for its length.
        source: the lines as Python reads them, dedented; None where it does not parse.
        tree: a dump without positions, or None.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Read lines as Python; a first line without its indentation, as regions have it, is put right."""
        self.texts = texts
        whole = "\n".join(texts)
        self.too_long = len(whole) > MOST_CHARACTERS
        self.source: str | None = None
        self.tree: str | None = None
        if self.too_long:
            return
        lost = indents(texts) if texts and not texts[0][:1].isspace() else []
        for indent in dict.fromkeys(["", *lost]):
            source = textwrap.dedent(indent + whole)
            self.tree = _dump(source)
            if self.tree is not None:
                self.source = source
                return

    @cached_property
    def tokens(self) -> tuple[_Token, ...] | None:
        """Return the tokens that count, in order; None where the text cannot be cut into tokens."""
        return None if self.source is None else _tokens(self.source)

    @cached_property
    def statements(self) -> frozenset[int]:
        """Return the lines (from 0) on which a logical line starts."""
        return frozenset(token.first for token in self.tokens or () if token.starts)


class Trees:
    """Two texts read as Python. `whole`: both parse, to one tree; `too_long`: one was not read, for its length."""

    def __init__(self, left: Sequence[str], right: Sequence[str]) -> None:
        """Read both."""
        self._left, self._right = _Parsed(left), _Parsed(right)
        self.whole = self._left.tree is not None and self._left.tree == self._right.tree
        self.too_long = self._left.too_long or self._right.too_long

    def same(self, left_part: range, right_part: range) -> bool:
        """Return whether lines `left_part` and `right_part` mean the same where they stand."""
        left, right = self._left, self._right
        if self.whole or left.tokens is None or right.tokens is None:
            return self.whole
        ones, others = _inside(left.tokens, left_part), _inside(right.tokens, right_part)
        # Enough for most: other spaces, line breaks inside brackets, quotes, comments.
        if [(t.meaning, t.depth) for t in ones] == [(t.meaning, t.depth) for t in others]:
            return True
        if not ones or not others or ones[0].depth != others[0].depth:
            return False
        # A part of a statement has no tree of its own.
        if not (_whole(left, ones, left_part) and _whole(right, others, right_part)):
            return False
        first, second = _dump(_part(left, left_part)), _dump(_part(right, right_part))
        return first is not None and first == second


def _dump(text: str) -> str | None:
    """Return the syntax tree without positions; None where there is none."""
    tree = parsed(text)
    try:
        return None if tree is None else ast.dump(tree)
    except RecursionError:  # the parser goes deeper than Python functions may
        return None


def _tokens(source: str) -> tuple[_Token, ...] | None:
    """Return tokens with the depth of their block."""
    tokens: list[_Token] = []
    depth, starts = 0, True
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.INDENT, tokenize.DEDENT):
                depth += 1 if token.type == tokenize.INDENT else -1
            elif token.type == tokenize.NEWLINE:
                starts = True
            elif token.type not in _SILENT:
                tokens.append(_Token(_meaning(token), depth, token.start[0] - 1, token.end[0] - 1, starts))
                starts = False
    except (tokenize.TokenError, IndentationError):
        return None
    return tuple(tokens)


def _meaning(token: tokenize.TokenInfo) -> str:
    """Return a token as it counts: literals by value, all else as written."""
    if token.type not in (tokenize.STRING, tokenize.NUMBER):
        return token.string
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(ast.literal_eval(token.string))
        except (SyntaxError, ValueError):
            return token.string


def _inside(tokens: Sequence[_Token], part: range) -> Sequence[_Token]:
    """Return the tokens that touch the lines of `part`; they are in order and do not overlap."""
    start = bisect_left(tokens, part.start, key=lambda token: token.last)
    return tokens[start : bisect_left(tokens, part.stop, key=lambda token: token.first)]


def _whole(text: _Parsed, tokens: Sequence[_Token], part: range) -> bool:
    """Return whether `part` is whole statements: it starts with one, and none runs over its end."""
    if tokens[0].first not in text.statements or tokens[0].first < part.start:
        return False
    every = text.tokens or ()
    after = bisect_left(every, part.stop, key=lambda token: token.first)
    return tokens[-1].last < part.stop and (after == len(every) or every[after].first in text.statements)


def _part(text: _Parsed, part: range) -> str:
    """Return the lines of `part`, dedented."""
    return textwrap.dedent("\n".join(text.texts[part.start : part.stop]))
