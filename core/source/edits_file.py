"""Edits out of a JSONL file: `old`, `new` and perhaps `comment` on each line, the form of CodeReviewer."""

from __future__ import annotations

import codecs
import difflib
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.edits import Edit, once, rank
from rtc_inspector.core.source.json_lines import SURROGATE, BadLine, Row, lines_of, read_each
from rtc_inspector.core.source.languages import UNKNOWN, language
from rtc_inspector.core.types import Report, Span

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
