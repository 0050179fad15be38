"""An edit: old and new code, and what is known of how one became the other (EditingRTC); and files of edits."""

from __future__ import annotations

import codecs
import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename
from pygments.token import Comment, Literal, Name, Punctuation, String, Token, Whitespace

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.json_lines import SURROGATE, BadLine, Row, lines_of, read_each
from rtc_inspector.core.types import Report, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit as it is sampled."""

    key: str  # the same whenever the same edit is drawn again
    path: str  # relative to the project; of a file of edits, the path it names, else its own name
    # `span`, `start_line`: of `new` in the new version of its file
    span: Span
    start_line: int
    # `old`, `new`: the changed lines with the unchanged ones around them, no newline at the end
    old: str
    new: str
    # `removed`, `added`: the changed lines alone
    removed: tuple[str, ...]
    added: tuple[str, ...]
    comment: str = ""  # what a person wrote about it: the commit's message, or a reviewer's words
    author: str = "comment"  # where that stands: `commit` or `comment`
    commit: str = ""
    date: str = ""
    language: str = ""
    old_line: int = 0  # where `old` begins in the old version of its file, from 1; 0 where there is none


def unfit(edit: Edit, settings: EditSettings) -> str:
    """Return why an edit is passed over; empty when it is not. White space alone is no edit: copying would pass."""
    shorter, longer = sorted((len(edit.old), len(edit.new)))
    if "".join(edit.old.split()) == "".join(edit.new.split()):
        return "edits of white space alone"
    if settings.plain:
        return ""
    if longer > settings.max_characters:
        return f"edits longer than {settings.max_characters} characters"
    if shorter < settings.min_characters:
        return f"edits shorter than {settings.min_characters} characters"
    if max(len(edit.removed), len(edit.added)) > settings.max_lines:
        return f"edits of more than {settings.max_lines} lines"
    return ""


def once(edits: Iterator[Edit], settings: EditSettings, passed_over: Counter[str]) -> Iterator[Edit]:
    """Yield the fit ones without duplicates; the others are counted."""
    seen: set[bytes] = set()
    for edit in edits:
        reason = unfit(edit, settings)
        # Sixteen bytes for each of a hundred thousand edits, where their texts would fill the memory.
        mark = hashlib.blake2b(f"{edit.old}\0{edit.new}".encode("utf-8", "replace"), digest_size=16).digest()
        if reason or (mark in seen and not settings.plain):
            passed_over[reason or "edits that repeat another one"] += 1
            continue
        seen.add(mark)
        yield edit


def rank(seed: int, name: str) -> bytes:
    """Return a sort key that shuffles: by the seed and the name alone, so what is added later moves nothing."""
    return hashlib.blake2b(f"{seed}\x1f{name}".encode(), digest_size=8).digest()


# --------------------------- files of edits


_OPTIONAL = ("comment", "path", "language")


class EditFile:
    """A file of edits, read whole.

    Attributes:
        fingerprint: the same as long as the same edits are drawn.
        passed_over: how many edits, files and commits each filter left out so far, by reason.
        signed: each line of every snippet began with the sign that it has in a diff, which was taken off. So stand the
            edits in the files of CodeReviewer (Li et al., 2022), and a model is to see and to write code, not signs.
    """

    revision: str | None = None  # the commit whose history is read; None for a file

    def __init__(self, path: Path, settings: EditSettings) -> None:
        """Raises ProjectError for a file that cannot be read, and names every line that is no edit."""
        self._settings = settings
        try:
            data = path.read_bytes()
        except OSError as error:
            remedy = "Name a JSONL file with an edit a line."
            raise ProjectError(f"{path} cannot be read: {error.strerror}.", remedy) from error
        self.fingerprint = hashlib.sha256(data).hexdigest()
        self.passed_over: Counter[str] = Counter()
        rows = list(lines_of(data.removeprefix(codecs.BOM_UTF8)))
        if not rows:
            raise ProjectError(f"{path} holds no edit.", "Write one JSON object with `old` and `new` on each line.")
        lines = read_each(path, rows, _fields, lambda numbered: str(numbered[0]), "line")
        # All lines or none: a single edit may well begin each line with a blank.
        self.signed = all(_signed(fields) for _, fields in lines)
        # Comparing the lines of two texts takes the square of their length.
        longest = 10 * settings.max_characters if settings.plain else settings.max_characters
        for _, fields in lines if self.signed else ():
            fields |= {name: "\n".join(line[1:] for line in fields[name].splitlines()) for name in ("old", "new")}
        self._edits = [_edit(path, number, fields, longest) for number, fields in lines]

    def draw(self, seed: int, report: Report) -> Iterator[Edit]:
        """Yield every edit that the settings let through, once each, in an order that depends on `seed` alone."""
        report("reading edits", len(self._edits), len(self._edits))
        shuffled = sorted(self._edits, key=lambda edit: rank(seed, edit.key))
        return once(iter(shuffled), self._settings, self.passed_over)


def _signed(fields: dict[str, str]) -> bool:
    """Return whether all lines begin with a blank or the sign of their side of a diff, at least one with the sign."""
    before, after = ({line[:1] for line in fields[name].splitlines()} - {""} for name in ("old", "new"))
    return before <= {"-", " "} and after <= {"+", " "} and ("-" in before or "+" in after)


def _fields(number: int, row: Row) -> tuple[int, dict[str, str]]:
    for name in ("old", "new"):
        if name not in row:
            raise BadLine(f"has no `{name}`")
    texts = {name: row.get(name) or "" for name in ("old", "new", *_OPTIONAL)}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadLine(f"`{name}` is not a text")
    for name in ("old", "new"):
        if not texts[name]:
            raise BadLine(f"`{name}` is empty")
    for name, text in texts.items():
        if SURROGATE.search(text):
            raise BadLine(f"`{name}` holds half of a surrogate pair, which is no character")
    return number, texts


def _edit(path: Path, number: int, fields: dict[str, str], longest: int) -> Edit:
    """Return the edit of a line; one of over `longest` characters is passed over later: its lines are not compared."""
    old, new = (fields[name].removesuffix("\n").removesuffix("\r") for name in ("old", "new"))
    removed, added = changed_lines(old, new) if max(len(old), len(new)) <= longest else ((), ())
    return Edit(
        key=f"{path.name}:{number}",
        path=fields["path"] or path.name,
        span=Span(0, len(new)),
        start_line=number,
        old=old,
        new=new,
        removed=removed,
        added=added,
        comment=fields["comment"].strip(),
        language=fields["language"] or (language(fields["path"]) if fields["path"] else UNKNOWN),
    )


def changed_lines(old: str, new: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines that only the old text has, and those that only the new one has."""
    before, after = old.splitlines(), new.splitlines()
    removed: list[str] = []
    added: list[str] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            removed += before[a:b]
            added += after[c:d]
    return tuple(removed), tuple(added)


# --------------------------- kinds of changes


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
class _Token:
    """One token. `call`: it stands between the parentheses of a call; `callee`: a parenthesis follows it."""

    kind: Any  # Pygments' kinds of tokens: `in` tells whether one belongs to a family
    text: str
    call: bool
    callee: bool


def change_kind(path: str, old: str, new: str, removed: Sequence[str], added: Sequence[str]) -> str:
    """Return the kind of a change: the first of `KINDS` that fits.

    - `import`: every changed line imports something.
    - `comment`: only comments and documentation differ.
    - `rename`: one name became another throughout; not one called function in place of another, which is a call.
    - `literal`: only numbers and texts differ.
    - `call`: what is called, or what it is called with.
    - `addition`, `deletion`: something came, or went, and nothing else.
    """
    before, after = _tokens(path, old), _tokens(path, new)
    texts = [token.text for token in before], [token.text for token in after]
    codes = difflib.SequenceMatcher(None, *texts, autojunk=False).get_opcodes()
    changes = [(before[a:b], after[c:d]) for kind, a, b, c, d in codes if kind != "equal"]
    defined = any(a > 0 and before[a - 1].text in DEFINING for kind, a, *_ in codes if kind != "equal")
    tokens = [token for gone, come in changes for token in (*gone, *come)]
    lines = [line for line in (*removed, *added) if line.strip()]
    if lines and all(IMPORT.match(line) for line in lines):
        return "import"
    if tokens and all(_is_comment(token) for token in tokens):
        return "comment"
    if changes and all(len(gone) == len(come) for gone, come in changes):
        if all(token.kind in Literal and not _is_comment(token) for token in tokens):
            return "literal"
        pairs = [pair for change in changes for pair in zip(*change, strict=True)]
        alike = len({one.text for one, _ in pairs}) == 1 == len({other.text for _, other in pairs})
        called = all(other.callee for _, other in pairs) and not defined
        if alike and not called and all(token.kind in Name for token in tokens):
            return "rename"
    if tokens and all(token.call or (token.callee and token.kind in Name) for token in tokens):
        return "call"
    if tokens and not any(gone for gone, _ in changes):
        return "addition"
    return "deletion" if tokens and not any(come for _, come in changes) else "other"


def _is_comment(token: _Token) -> bool:
    return (token.kind in Comment and token.kind not in Comment.Preproc) or token.kind in String.Doc


def _tokens(path: str, text: str) -> list[_Token]:
    """Return the tokens without white space; of an unknown language words and single signs."""
    ending = PurePosixPath(path).suffix or PurePosixPath(path).name
    lexer, parts = lexer_class(ending) if is_code(path) else None, list[tuple[Any, str]]()
    if lexer is not None:  # `startinline`: a piece of PHP has no opening tag
        parts += lexer(stripnl=False, startinline=True).get_tokens(text)
    else:
        kinds = {"word": Name, "space": Whitespace, "other": Punctuation}
        parts += [(kinds.get(match.lastgroup or "", Token), match[0]) for match in _PLAIN.finditer(text)]
    tokens = [(kind, part) for kind, part in parts if part.strip()]
    found: list[_Token] = []
    open_calls: list[bool] = []
    for index, (kind, part) in enumerate(tokens):
        following = tokens[index + 1][1] if index + 1 < len(tokens) else ""
        for sign in part if kind in Punctuation else "":
            if sign in "([{":
                # `(` behind a name is a call; behind anything else it only groups.
                open_calls.append(sign == "(" and index > 0 and tokens[index - 1][0] in Name)
            elif sign in ")]}" and open_calls:
                open_calls.pop()
        found.append(_Token(kind, part, any(open_calls), following.startswith("(")))
    return found


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
    """Return the language's name by Pygments, e.g. `Go`; `unknown` where the ending tells nothing."""
    ending = PurePosixPath(path).suffix or PurePosixPath(path).name
    lexer = lexer_class(ending)
    return _LIKELIER.get(ending, str(lexer.name) if lexer is not None else UNKNOWN)


def is_code(path: str) -> bool:
    """Return whether the file is in a known programming language."""
    return language(path) not in _NO_CODE | {UNKNOWN}


@cache
def lexer_class(ending: str) -> type[Lexer] | None:
    """Return the Pygments lexer for files of that ending."""
    name = f"file{ending}" if ending.startswith(".") else ending
    found: type[Lexer] | None = find_lexer_class_for_filename(name)
    return found
