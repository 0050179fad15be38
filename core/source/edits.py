"""An edit: old and new code, and what is known of how one became the other (EditingRTC); and files of edits."""

from __future__ import annotations

import codecs
import difflib
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.changes import UNKNOWN, language
from rtc_inspector.core.source.json_lines import SURROGATE, BadLine, Row, lines_of, read_each
from rtc_inspector.core.types import Report, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit as it is sampled.

    Attributes:
        key: the same whenever the same edit is drawn again.
        path: relative to the project; of a file of edits, the path it names, else its own name.
        span, start_line: of `new` in the new version of its file.
        old, new: the changed lines with the unchanged ones around them, no newline at the end.
        removed, added: the changed lines alone.
        comment: what a person wrote about it: the commit's message, or a reviewer's words.
        author: where that stands: `commit` or `comment`.
        old_line: where `old` begins in the old version of its file, from 1; 0 where there is none.
    """

    key: str
    path: str
    span: Span
    start_line: int
    old: str
    new: str
    removed: tuple[str, ...]
    added: tuple[str, ...]
    comment: str = ""
    author: str = "comment"
    commit: str = ""
    date: str = ""
    language: str = ""
    old_line: int = 0


class EditSource(Protocol):
    """Where edits come from.

    Attributes:
        revision: the commit whose history is read; None for a file.
        fingerprint: the same as long as the same edits are drawn.
        passed_over: how many edits, files and commits each filter left out so far, by reason.
    """

    revision: str | None
    fingerprint: str
    passed_over: Counter[str]

    def draw(self, seed: int, report: Report) -> Iterator[Edit]:
        """Yield every edit that the settings let through, once each, in an order that depends on `seed` alone."""


def unfit(edit: Edit, settings: EditSettings) -> str:
    """Why an edit is passed over; empty when it is not. White space alone is no edit: copying would pass."""
    shorter, longer = sorted((len(edit.old), len(edit.new)))
    if _bare(edit.old) == _bare(edit.new):
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
    """The fit ones without duplicates; the others are counted."""
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
    """Sorting by this shuffles: by the seed and the name alone, so what is added later moves nothing."""
    return hashlib.blake2b(f"{seed}\x1f{name}".encode(), digest_size=8).digest()


def _bare(text: str) -> str:
    return "".join(text.split())


# --------------------------- files of edits


_OPTIONAL = ("comment", "path", "language")


class EditFile:
    """A file of edits, read whole.

    `signed`: each line of every snippet began with the sign that it has in a diff, which was taken off. So stand the
    edits in the files of CodeReviewer (Li et al., 2022), and a model is to see and to write code, not signs.
    """

    revision: str | None = None

    def __init__(self, path: Path, settings: EditSettings) -> None:
        """Raises ProjectError for a file that cannot be read, and names every line that is no edit."""
        self._settings = settings
        data = _read(path)
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
        bare = _unsigned if self.signed else dict
        self._edits = [_edit(path, number, bare(fields), longest) for number, fields in lines]

    def draw(self, seed: int, report: Report) -> Iterator[Edit]:
        """The edits, shuffled."""
        report("reading edits", len(self._edits), len(self._edits))
        shuffled = sorted(self._edits, key=lambda edit: rank(seed, edit.key))
        return once(iter(shuffled), self._settings, self.passed_over)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ProjectError(
            f"{path} cannot be read: {error.strerror}.", "Name a JSONL file with an edit a line."
        ) from error


def _signed(fields: dict[str, str]) -> bool:
    """Return whether all lines begin with a blank or the sign of their side of a diff, at least one with the sign."""
    before, after = ({line[:1] for line in fields[name].splitlines()} - {""} for name in ("old", "new"))
    return before <= {"-", " "} and after <= {"+", " "} and ("-" in before or "+" in after)


def _unsigned(fields: dict[str, str]) -> dict[str, str]:
    """The same edit without the signs of its diff."""
    bare = {name: "\n".join(line[1:] for line in fields[name].splitlines()) for name in ("old", "new")}
    return fields | bare


def _fields(number: int, row: Row) -> tuple[int, dict[str, str]]:
    """The texts of one line, with its number. Raises BadLine."""
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
    """An edit with a text of over `longest` characters is passed over later: its lines are not compared."""
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
    """The lines that only the old text has, and those that only the new one has."""
    before, after = old.splitlines(), new.splitlines()
    removed: list[str] = []
    added: list[str] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            removed += before[a:b]
            added += after[c:d]
    return tuple(removed), tuple(added)
