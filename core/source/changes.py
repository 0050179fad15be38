"""What kind of change an edit is, by the tokens that differ, and in which language its file is by its name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename
from pygments.token import Comment, Literal, Name, Punctuation, String, Token, Whitespace, _TokenType

IMPORT = re.compile(
    r"""\s*(import\b|from\s+\S+\s+import\b|#\s*include\s*[<"]|using\b|use\b|require\b|const\s.*\brequire\()"""
)
DEFINING = frozenset(
    {"def", "class", "function", "func", "fn", "fun", "interface", "struct", "enum", "type", "trait"}
    | {"let", "const", "var", "val"}
)
_PLAIN = re.compile(r"(?P<word>\w+)|(?P<space>\s+)|(?P<other>.)", re.DOTALL)
KINDS = ("import", "comment", "rename", "literal", "call", "addition", "deletion", "other")


@dataclass(frozen=True, slots=True)
class _Bit:
    """One token. `call`: it stands between the parentheses of a call; `callee`: a parenthesis follows it."""

    kind: _TokenType
    text: str
    call: bool
    callee: bool

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bit) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@dataclass(frozen=True, slots=True)
class _Change:
    """One place where the tokens differ; `defined`: a defining keyword stands right before it."""

    old: Sequence[_Bit]
    new: Sequence[_Bit]
    defined: bool


def change_kind(path: str, old: str, new: str, removed: Sequence[str], added: Sequence[str]) -> str:
    """Return the kind of a change: the first of `KINDS` that fits.

    - `import`: every changed line imports something.
    - `comment`: only comments and documentation differ.
    - `rename`: one name became another throughout; not one called function in place of another, which is a call.
    - `literal`: only numbers and texts differ.
    - `call`: what is called, or what it is called with.
    - `addition`, `deletion`: something came, or went, and nothing else.
    """
    changes = _changes(_bits(path, old), _bits(path, new))
    bits = [bit for change in changes for bit in (*change.old, *change.new)]
    lines = [line for line in (*removed, *added) if line.strip()]
    if lines and all(IMPORT.match(line) for line in lines):
        return "import"
    if bits and all(_is_comment(bit) for bit in bits):
        return "comment"
    if changes and all(len(change.old) == len(change.new) for change in changes):
        if all(_is_literal(bit) for bit in bits):
            return "literal"
        if _is_rename(changes):
            return "rename"
    if bits and all(bit.call or (bit.callee and _in(bit.kind, Name)) for bit in bits):
        return "call"
    if bits and not any(change.old for change in changes):
        return "addition"
    return "deletion" if bits and not any(change.new for change in changes) else "other"


def _changes(old: Sequence[_Bit], new: Sequence[_Bit]) -> list[_Change]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        _Change(old[a:b], new[c:d], a > 0 and old[a - 1].text in DEFINING)
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def _in(kind: Any, family: Any) -> bool:
    """Return whether a kind of token belongs to a family of kinds."""
    return bool(kind in family)


def _is_comment(bit: _Bit) -> bool:
    return (_in(bit.kind, Comment) and not _in(bit.kind, Comment.Preproc)) or _in(bit.kind, String.Doc)


def _is_literal(bit: _Bit) -> bool:
    return _in(bit.kind, Literal) and not _is_comment(bit)


def _is_rename(changes: Sequence[_Change]) -> bool:
    pairs = [pair for change in changes for pair in zip(change.old, change.new, strict=True)]
    if len({old.text for old, _ in pairs}) != 1 or len({new.text for _, new in pairs}) != 1:
        return False
    named = all(_in(bit.kind, Name) for pair in pairs for bit in pair)
    return named and (any(change.defined for change in changes) or not all(new.callee for _, new in pairs))


def _bits(path: str, text: str) -> list[_Bit]:
    """The tokens without white space; of an unknown language words and single signs."""
    tokens = [(kind, part) for kind, part in _tokens(path, text) if part.strip()]
    bits: list[_Bit] = []
    open_calls: list[bool] = []
    for index, (kind, part) in enumerate(tokens):
        following = tokens[index + 1][1] if index + 1 < len(tokens) else ""
        for sign in part if _in(kind, Punctuation) else "":
            if sign in "([{":
                # `(` behind a name is a call; behind anything else it only groups.
                open_calls.append(sign == "(" and index > 0 and _in(tokens[index - 1][0], Name))
            elif sign in ")]}" and open_calls:
                open_calls.pop()
        bits.append(_Bit(kind, part, any(open_calls), following.startswith("(")))
    return bits


def _tokens(path: str, text: str) -> list[tuple[_TokenType, str]]:
    pure = PurePosixPath(path)
    lexer = lexer_class(pure.suffix or pure.name) if is_code(path) else None
    if lexer is not None:  # `startinline`: a piece of PHP has no opening tag
        return list(lexer(stripnl=False, startinline=True).get_tokens(text))
    kinds = {"word": Name, "space": Whitespace, "other": Punctuation}
    return [(kinds.get(match.lastgroup or "", Token), match[0]) for match in _PLAIN.finditer(text)]


# --------------------------- languages


UNKNOWN = "unknown"

_NO_CODE = frozenset(
    {"CSV", "Diff", "Gettext Catalog", "Groff", "INI", "JSON", "JSON-LD", "Markdown", "Properties"}
    | {"reStructuredText", "TOML", "Text only", "TeX", "XML", "YAML"}
)
"""Prose and data as Pygments names them: sampled only when their ending is asked for."""

_LIKELIER = {".pl": "Perl", ".sql": "SQL", ".R": "R", ".r": "R"}
"""Endings of several languages, of which Pygments takes the rarer one."""


def language(path: str) -> str:
    """The language's name by Pygments, e.g. `Go`; `unknown` where the ending tells nothing."""
    ending = PurePosixPath(path).suffix or PurePosixPath(path).name
    lexer = lexer_class(ending)
    return _LIKELIER.get(ending, str(lexer.name) if lexer is not None else UNKNOWN)


def is_code(path: str) -> bool:
    """Return whether the file is in a known programming language."""
    return language(path) not in _NO_CODE | {UNKNOWN}


@cache
def lexer_class(ending: str) -> type[Lexer] | None:
    """The Pygments lexer for files of that ending."""
    name = f"file{ending}" if ending.startswith(".") else ending
    found: type[Lexer] | None = find_lexer_class_for_filename(name)
    return found
