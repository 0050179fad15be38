"""The edits of one commit: where its hunks are, and one of them as old and new text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pygit2
from pygit2.enums import DeltaStatus, FileMode

from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.edits import Edit
from rtc_inspector.core.source.edits_filter import FileFilter, author_time
from rtc_inspector.core.source.languages import language, says_generated
from rtc_inspector.core.types import Span

_LARGEST = 1_000_000
"""Bytes of a file; a larger one is data or generated code."""


@dataclass(frozen=True, slots=True)
class Place:
    """One hunk of a commit: which file of the commit's diff, which hunk of the file."""

    delta: int
    hunk: int

    @property
    def name(self) -> str:
        """The same whenever the same commit is compared with its parent."""
        return f"{self.delta}.{self.hunk}"


class Hunks:
    """Takes commits apart. The last commit's diff is kept, since its hunks are asked for next."""

    def __init__(self, repository: pygit2.Repository, files: FileFilter, settings: EditSettings) -> None:
        self._repository = repository
        self._files = files
        self._settings = settings
        self._last: tuple[pygit2.Oid, pygit2.Diff] | None = None

    def places(self, commit: pygit2.Commit, passed_over: Counter[str]) -> list[Place]:
        """The commit's hunks in text files that pass the filter; none for a bulk change.

        What is left out is counted in `passed_over`. Raises KeyError, GitError for objects that are not there.
        """
        if not self._touches_project(commit):
            return []
        diff = self._diff(commit)
        # `len` counts files without comparing their lines, which is what takes the time.
        if self._settings.skip_bulk and len(diff) > self._settings.max_files:
            passed_over[f"commits that touch more than {self._settings.max_files} files"] += 1
            return []
        places = []
        for number, delta in enumerate(diff.deltas):
            if delta.status != DeltaStatus.MODIFIED:
                continue  # an edit has an old and a new side
            reason = self._delta_reason(delta)
            patch = diff[number] if not reason else None
            if patch is not None and patch.delta.is_binary:
                reason = "binary files"
            if reason:
                passed_over[reason] += 1
            elif patch is not None:
                places += [Place(number, hunk) for hunk in range(len(patch.hunks))]
        return places

    def edit(self, commit: pygit2.Commit, place: Place) -> Edit | None:
        """Return one hunk as an edit, or None when its text is not UTF-8."""
        patch = self._diff(commit)[place.delta]
        assert patch is not None
        hunk = patch.hunks[place.hunk]
        path = _path(patch.delta)
        try:
            old, new = _side(hunk, "-"), _side(hunk, "+")
            before = self._lines_before(patch.delta.new_file.id, hunk.new_start)
        except UnicodeDecodeError:
            return None
        return Edit(
            key=f"{commit.id}:{path}:{hunk.old_start}",
            path=path.removeprefix(self._files.prefix),
            span=Span(before, before + len(_text(new))),
            start_line=max(hunk.new_start, 1),
            old=_text(old),
            new=_text(new),
            removed=_changed(hunk, "-"),
            added=_changed(hunk, "+"),
            comment=commit.raw_message.decode("utf-8", "replace").strip(),
            author="commit",
            commit=str(commit.id),
            date=author_time(commit).isoformat(),
            language=language(path),
            old_line=max(hunk.old_start, 1),
        )

    def _diff(self, commit: pygit2.Commit) -> pygit2.Diff:
        if self._last is None or self._last[0] != commit.id:
            diff = self._repository.diff(self._parent(commit), commit, context_lines=self._settings.context)
            self._last = (commit.id, diff)
        return self._last[1]

    def _touches_project(self, commit: pygit2.Commit) -> bool:
        """Return whether the project's own folder changed: far cheaper to see than the whole difference."""
        folder = self._files.prefix.rstrip("/")
        if not folder:
            return True
        return _entry(commit, folder) != _entry(self._parent(commit), folder)

    def _parent(self, commit: pygit2.Commit) -> pygit2.Commit:
        return self._repository[commit.parent_ids[0]].peel(pygit2.Commit)

    def _delta_reason(self, delta: pygit2.DiffDelta) -> str:
        """Why a changed file is passed over: by its kind, its name, its size or its head."""
        plain = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
        if delta.new_file.mode not in plain or delta.old_file.mode not in plain:
            return "links and submodules"
        if "\ufffd" in _path(delta):
            return "files whose name is not UTF-8"
        # By name first: what is left out by that need not be read.
        reason = self._files.reason(_path(delta))
        if reason:
            return reason
        _, size = self._repository.odb.read_header(delta.new_file.id)
        if size > _LARGEST:
            return f"files of more than {_LARGEST // 1_000_000} MB"
        data = self._blob(delta.new_file.id)
        return "generated files" if self._settings.skip_generated and says_generated(data) else ""

    def _blob(self, blob_id: pygit2.Oid) -> bytes:
        return self._repository[blob_id].peel(pygit2.Blob).data

    def _lines_before(self, blob_id: pygit2.Oid, line: int) -> int:
        """Characters of a file before a line, counted from 1."""
        lines = self._blob(blob_id).split(b"\n")[: max(line, 1) - 1]
        return sum(len(part.decode("utf-8")) + 1 for part in lines)


def _entry(commit: pygit2.Commit, folder: str) -> pygit2.Oid | None:
    try:
        return commit.tree[folder].id
    except KeyError:
        return None


def _path(delta: pygit2.DiffDelta) -> str:
    """Return a file's new path from the repository's top; what is no UTF-8 in it is marked by U+FFFD."""
    return delta.new_file.raw_path.decode("utf-8", "replace")


def _side(hunk: pygit2.DiffHunk, sign: str) -> list[str]:
    """The lines of one side, context included. Raises UnicodeDecodeError."""
    return [line.raw_content.decode("utf-8") for line in hunk.lines if line.origin in (" ", sign)]


def _changed(hunk: pygit2.DiffHunk, sign: str) -> tuple[str, ...]:
    return tuple(line.raw_content.decode("utf-8").rstrip("\r\n") for line in hunk.lines if line.origin == sign)


def _text(lines: list[str]) -> str:
    """The lines as one text without the last line's end."""
    return "".join(lines).removesuffix("\n").removesuffix("\r")
