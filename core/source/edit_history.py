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
from rtc_inspector.core.source.edits import Edit, is_code, language, once, rank
from rtc_inspector.core.source.git import author_time, export_commit, open_repository, project_prefix, tip_commit
from rtc_inspector.core.source.reading import looks_generated, says_generated
from rtc_inspector.core.types import Report, Span

_EVERY = 200
MISSING = "commits with missing objects (a shallow or partial clone)"
_IGNORED_REVISIONS = ".git-blame-ignore-revs"  # where projects list the commits that only reformat
_LARGEST = 1_000_000  # bytes of a file; a larger one is data or generated code


@dataclass(frozen=True, slots=True)
class HunkNumber:
    """One hunk of a commit: which file of the commit's diff, which hunk of the file."""

    delta: int
    hunk: int


class EditHistory:
    """The edits on the way to one commit; drawn from as an `EditFile` is."""

    def __init__(self, repository: pygit2.Repository, tip: pygit2.Commit, prefix: str, settings: EditSettings) -> None:
        """`prefix` leads from the repository's top to the project: empty, or ending in a slash.

        Raises UserError for a date that is none.
        """
        self._repository = repository
        self._tip = tip
        self._settings = settings
        self._prefix = prefix
        self.revision: str | None = str(tip.id)
        self.fingerprint = hashlib.sha256(f"history\0{prefix}\0{tip.id}".encode()).hexdigest()
        self.passed_over: Counter[str] = Counter()
        self._since, self._until = _day("--since", settings.since), _day("--until", settings.until)
        self._paths = tuple(path.strip("/") for path in settings.paths)
        # The last commit's, since its hunks are asked for next.
        self._last: tuple[pygit2.Oid, pygit2.Diff] | None = None
        try:
            blob = tip.tree[_IGNORED_REVISIONS]
            text = blob.data.decode("utf-8", "replace") if isinstance(blob, pygit2.Blob) else ""
        except (pygit2.GitError, KeyError):
            text = ""
        self._reformatting = frozenset(line.partition("#")[0].strip() for line in text.splitlines())

    @classmethod
    def of(cls, project: Path, settings: EditSettings) -> Self:
        """Return the history of the project's folder, also in a bare repository. Raises ProjectError."""
        repository = open_repository(project)
        tip = tip_commit(repository, project, settings.revision)
        return cls(repository, tip, project_prefix(repository, project), settings)

    @property
    def shallow(self) -> bool:
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
        """Return the commit's edit of that turn, and whether there are more."""
        passed_over: Counter[str] = Counter()
        places: list[HunkNumber] = []
        found: Edit | None = None
        try:
            commit = self._repository[pygit2.Oid(raw=name)].peel(pygit2.Commit)
            reason = self._commit_reason(commit)
            if not reason:
                places = self._hunks(commit, passed_over)
                places.sort(key=lambda place: rank(seed, f"{name.hex()}:{place.delta}.{place.hunk}"))
            found = self._edit(commit, places[turn]) if turn < len(places) else None
        except (pygit2.GitError, KeyError, OSError):
            reason, places = MISSING, []
        # Into a count of this turn's own, since a commit is looked at once for each of its edits.
        passed_over.update([reason] if reason else [])
        if turn == 0:  # what a commit leaves out is counted once
            self.passed_over.update(passed_over)
        if found is None and places:
            self.passed_over["edits that are not UTF-8 text"] += 1
        return found, turn + 1 < len(places)

    def _commit_reason(self, commit: pygit2.Commit) -> str:
        """Return why a commit is passed over: merges, bulk formatting, other dates; empty when it is not."""
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

    def _hunks(self, commit: pygit2.Commit, passed_over: Counter[str]) -> list[HunkNumber]:
        """Return the commit's hunks in text files that pass the filter; none for a bulk change.

        What is left out is counted in `passed_over`. Raises KeyError, GitError for objects that are not there.
        """
        # Whether the project's own folder changed is far cheaper to see than the whole difference.
        folder = self._prefix.rstrip("/")
        if folder and _entry(commit, folder) == _entry(self._parent(commit), folder):
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
            reason = self._file_reason(delta)
            patch = diff[number] if not reason else None
            if patch is not None and patch.delta.is_binary:
                reason = "binary files"
            if reason:
                passed_over[reason] += 1
            elif patch is not None:
                places += [HunkNumber(number, hunk) for hunk in range(len(patch.hunks))]
        return places

    def _edit(self, commit: pygit2.Commit, place: HunkNumber) -> Edit | None:
        """Return one hunk as an edit, or None when its text is not UTF-8."""
        patch = self._diff(commit)[place.delta]
        assert patch is not None
        hunk = patch.hunks[place.hunk]
        path = _path(patch.delta)
        try:
            old, new = _side(hunk, "-"), _side(hunk, "+")
            lines = self._blob(patch.delta.new_file.id).split(b"\n")[: max(hunk.new_start, 1) - 1]
            before = sum(len(line.decode("utf-8")) + 1 for line in lines)
        except UnicodeDecodeError:
            return None
        return Edit(
            key=f"{commit.id}:{path}:{hunk.old_start}",
            path=path.removeprefix(self._prefix),
            span=Span(before, before + len(new)),
            start_line=max(hunk.new_start, 1),
            old=old,
            new=new,
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

    def _parent(self, commit: pygit2.Commit) -> pygit2.Commit:
        return self._repository[commit.parent_ids[0]].peel(pygit2.Commit)

    def _file_reason(self, delta: pygit2.DiffDelta) -> str:
        """Return why a changed file is passed over; empty when it is not."""
        plain = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
        if delta.new_file.mode not in plain or delta.old_file.mode not in plain:
            return "links and submodules"
        if "\ufffd" in _path(delta):
            return "files whose name is not UTF-8"
        # By name first: what is left out by that need not be read.
        path, endings = _path(delta), self._settings.endings
        inside = path.removeprefix(self._prefix)
        wanted = any(f"{inside}/".startswith(f"{each}/") or fnmatchcase(inside, each) for each in self._paths)
        if not path.startswith(self._prefix) or (self._paths and not wanted):
            return "files outside the paths asked for"
        if endings and not path.endswith(endings):
            return "files with other endings"
        if not endings and not is_code(path):
            return "files in no known programming language"
        if self._settings.skip_generated and looks_generated(path):
            return "generated files"
        _, size = self._repository.odb.read_header(delta.new_file.id)
        if size > _LARGEST:
            return f"files of more than {_LARGEST // 1_000_000} MB"
        data = self._blob(delta.new_file.id)
        return "generated files" if self._settings.skip_generated and says_generated(data) else ""

    def _blob(self, blob_id: pygit2.Oid) -> bytes:
        return self._repository[blob_id].peel(pygit2.Blob).data


def _day(option: str, text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UserError(f"{option} {text} is not a date.", "Write it as YYYY-MM-DD.") from error


def _entry(commit: pygit2.Commit, folder: str) -> pygit2.Oid | None:
    try:
        return commit.tree[folder].id
    except KeyError:
        return None


def _path(delta: pygit2.DiffDelta) -> str:
    """Return a file's new path from the repository's top; what is no UTF-8 in it is marked by U+FFFD."""
    return delta.new_file.raw_path.decode("utf-8", "replace")


def _side(hunk: pygit2.DiffHunk, sign: str) -> str:
    """Return one side, context included, without the last line's end. Raises UnicodeDecodeError."""
    text = "".join(line.raw_content.decode("utf-8") for line in hunk.lines if line.origin in (" ", sign))
    return text.removesuffix("\n").removesuffix("\r")


def _changed(hunk: pygit2.DiffHunk, sign: str) -> tuple[str, ...]:
    return tuple(line.raw_content.decode("utf-8").rstrip("\r\n") for line in hunk.lines if line.origin == sign)
