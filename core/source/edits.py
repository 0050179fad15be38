"""An edit: an old and a new piece of code, and what is known of how one became the other (EditingRTC)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from rtc_inspector.core.settings import EditSettings
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
