"""Edits out of a repository's own history, read from git's objects alone: no work tree is ever looked at."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

import pygit2
from pygit2.enums import DeltaStatus, FileMode, SortMode

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.changes import is_code, language
from rtc_inspector.core.source.edits import Edit, once, rank
from rtc_inspector.core.source.git import author_time, export_commit, open_repository, project_prefix, tip_commit
from rtc_inspector.core.source.reading import looks_generated, says_generated
from rtc_inspector.core.types import Report, Span

_EVERY = 200
MISSING = "commits with missing objects (a shallow or partial clone)"
_IGNORED_REVISIONS = ".git-blame-ignore-revs"
"""Where projects list the commits that only reformat."""


class EditHistory:
    """The edits on the way to one commit."""

    def __init__(self, repository: pygit2.Repository, tip: pygit2.Commit, prefix: str, settings: EditSettings) -> None:
        """`prefix` leads from the repository's top to the project: empty, or ending in a slash."""
        self._repository = repository
        self._tip = tip
        self._settings = settings
        self._prefix = prefix
        self.revision: str | None = str(tip.id)
        self.fingerprint = hashlib.sha256(f"history\0{prefix}\0{tip.id}".encode()).hexdigest()
        self.passed_over: Counter[str] = Counter()
        self._commits = CommitFilter(settings, _listed_revisions(repository, tip))
        self._hunks = Hunks(repository, FileFilter(settings, prefix), settings)

    @classmethod
    def of(cls, project: Path, settings: EditSettings) -> Self:
        """The history of the project's folder, also in a bare repository. Raises ProjectError."""
        repository = open_repository(project)
        tip = tip_commit(repository, project, settings.revision)
        return cls(repository, tip, project_prefix(repository, project), settings)

    @property
    def shallow(self) -> bool:
        """Return whether older commits were never fetched."""
        return bool(self._repository.is_shallow)

    def export(self, commit: str, folder: Path) -> Path:
        """Write a commit's files to a new `folder`; gives the project's own folder in it. Raises ProjectError."""
        export_commit(self._repository, commit, folder)
        return folder / self._prefix

    def draw(self, seed: int, report: Report) -> Iterator[Edit]:
        """Yield one edit of each commit, commits and edits shuffled, before a second one of any; and so on."""
        return once(self._rounds(seed, report), self._settings, self.passed_over)

    def _rounds(self, seed: int, report: Report) -> Iterator[Edit]:
        names = self._names(seed, report)
        turn = 0
        while names:
            more = []
            for done, name in enumerate(names):
                if done % _EVERY == 0:
                    report("reading history", done, len(names))
                found, left = self._nth(name, turn, seed)
                if found is not None:
                    yield found
                if left:
                    more.append(name)
            names, turn = more, turn + 1

    def _names(self, seed: int, report: Report) -> list[bytes]:
        """Return every commit's id, twenty bytes each, in an order that depends on `seed`."""
        names = []
        try:
            for done, commit in enumerate(self._repository.walk(self._tip.id, SortMode.NONE)):
                if done % (_EVERY * 50) == 0:
                    report("listing commits", done, 0)
                # Twenty bytes a commit, where pygit2's objects of a long history would fill the memory.
                names.append(commit.id.raw)
        except (pygit2.GitError, KeyError):
            self.passed_over["commits behind one that is missing"] += 1
        return sorted(names, key=lambda name: rank(seed, name.hex()))

    def _nth(self, name: bytes, turn: int, seed: int) -> tuple[Edit | None, bool]:
        """The commit's edit of that turn, and whether there are more."""
        passed_over: Counter[str] = Counter()
        places: list[Place] = []
        found: Edit | None = None
        try:
            commit = self._repository[pygit2.Oid(raw=name)].peel(pygit2.Commit)
            reason = self._commits.reason(commit)
            if not reason:
                places = self._hunks.places(commit, passed_over)
                places.sort(key=lambda place: rank(seed, f"{name.hex()}:{place.name}"))
            found = self._hunks.edit(commit, places[turn]) if turn < len(places) else None
        except (pygit2.GitError, KeyError, OSError):
            reason, places = MISSING, []
        # Into a count of this turn's own, since a commit is looked at once for each of its edits.
        passed_over.update([reason] if reason else [])
        if turn == 0:  # what a commit leaves out is counted once
            self.passed_over.update(passed_over)
        if found is None and places:
            self.passed_over["edits that are not UTF-8 text"] += 1
        return found, turn + 1 < len(places)


def _listed_revisions(repository: pygit2.Repository, tip: pygit2.Commit) -> frozenset[str]:
    """The commits that the project itself asks blame to ignore."""
    try:
        blob = tip.tree[_IGNORED_REVISIONS]
        text = blob.data.decode("utf-8", "replace") if isinstance(blob, pygit2.Blob) else ""
    except (pygit2.GitError, KeyError):
        return frozenset()
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return frozenset(line for line in lines if line)


# --------------------------- which commits and files


class CommitFilter:
    """Leaves out the first commit, merges, bulk-format commits and those outside the dates."""

    def __init__(self, settings: EditSettings, reformatting: frozenset[str]) -> None:
        """Raises UserError for a date that is none. `reformatting`: ids of commits that only reformat."""
        self._settings = settings
        self._reformatting = reformatting
        self._since = _day("--since", settings.since)
        self._until = _day("--until", settings.until)

    def reason(self, commit: pygit2.Commit) -> str:
        """Why a commit is passed over; empty when it is not."""
        parents = len(commit.parent_ids)
        if not parents:
            return "first commits, which have nothing before them"
        if parents > 1 and self._settings.skip_merges:
            return "merge commits"
        if self._settings.skip_bulk and str(commit.id) in self._reformatting:
            return "commits that the project lists as reformatting"
        day = author_time(commit).date()
        if (self._since and day < self._since) or (self._until and day > self._until):
            return "commits outside the dates"
        return ""


class FileFilter:
    """Leaves out files by path: other folders, other languages, generated and foreign code."""

    def __init__(self, settings: EditSettings, prefix: str) -> None:
        """`prefix` leads from the repository's top to the project."""
        self.prefix = prefix
        self._paths = tuple(path.strip("/") for path in settings.paths)
        self._endings = settings.endings
        self._skip_generated = settings.skip_generated

    def reason(self, path: str) -> str:
        """Why a file, named from the repository's top, is passed over; empty when it is not."""
        if not path.startswith(self.prefix) or not self._wanted(path.removeprefix(self.prefix)):
            return "files outside the paths asked for"
        if self._endings:
            if not path.endswith(self._endings):
                return "files with other endings"
        elif not is_code(path):
            return "files in no known programming language"
        return "generated files" if self._skip_generated and looks_generated(path) else ""

    def _wanted(self, path: str) -> bool:
        if not self._paths:
            return True
        return any(path == each or path.startswith(f"{each}/") or fnmatchcase(path, each) for each in self._paths)


def _day(option: str, text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UserError(f"{option} {text} is not a date.", "Write it as YYYY-MM-DD.") from error


# --------------------------- the edits of one commit


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
