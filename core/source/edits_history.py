"""Edits out of a repository's own history, read from git's objects alone: no work tree is ever looked at."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pygit2
from pygit2.enums import Option, SortMode

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.edits import Edit, once, rank
from rtc_inspector.core.source.edits_commit import Hunks, Place
from rtc_inspector.core.source.edits_export import export_commit
from rtc_inspector.core.source.edits_filter import CommitFilter, FileFilter
from rtc_inspector.core.source.git import discovered
from rtc_inspector.core.types import Report

_EVERY = 200
MISSING = "commits with missing objects (a shallow or partial clone)"
_MAPPED = 96 * 2**20
_WINDOW = 8 * 2**20
"""Bytes of pack files libgit2 may map at a time, and in one piece; its own limits are beyond any pack's size."""
_CACHED = 32 * 2**20
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


def open_repository(project: Path) -> pygit2.Repository:
    """The repository that holds the project. Raises ProjectError."""
    if not project.is_dir():
        problem = f"{project} is not a folder." if project.exists() else f"{project} does not exist."
        raise ProjectError(problem, "Name a folder under git, or a bare repository.")
    try:
        pygit2.option(Option.SET_MWINDOW_SIZE, _WINDOW)
        pygit2.option(Option.SET_MWINDOW_MAPPED_LIMIT, _MAPPED)
        pygit2.option(Option.SET_CACHE_MAX_SIZE, _CACHED)
        found = discovered(project)
        if found:
            return pygit2.Repository(found)
    except (pygit2.GitError, OSError, ValueError) as error:
        raise _unreadable(project, str(error)) from error
    if any((folder / ".git").exists() for folder in (project, *project.resolve().parents)):
        raise _unreadable(project, "its references are kept in a form that libgit2 does not know")
    raise ProjectError(
        f"{project} is not in a git repository, so it has no edits.",
        "Name a folder under git, or take edits from a file (--edits FILE, or the window's run settings).",
    )


def _unreadable(project: Path, reason: str) -> ProjectError:
    return ProjectError(
        f"The git repository of {project} cannot be read: {reason}.",
        "Mend it with `git fsck`, or clone it in git's usual format (SHA-1 objects, references in files).",
    )


def tip_commit(repository: pygit2.Repository, project: Path, revision: str | None) -> pygit2.Commit:
    """The commit of a revision, of what is checked out for None. Raises ProjectError."""
    if revision is None and repository.head_is_unborn:
        raise ProjectError(
            f"The history of {project} is empty: what is checked out has no commit yet.",
            "Commit something, or name another branch with --revision.",
        )
    try:
        return repository.revparse_single(revision or "HEAD").peel(pygit2.Commit)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise ProjectError(
            f"The repository of {project} has no commit {revision or 'HEAD'}; its history may have been rewritten.",
            "Bring that commit back, e.g. by fetching it, or start a new run.",
        ) from error


def project_prefix(repository: pygit2.Repository, project: Path) -> str:
    """Return the project's path in its repository, with a slash behind it; empty where it is all of the repository.

    It is all of it, too, where git's own folder was named, as of a bare one.
    """
    project = project.resolve()
    if repository.is_bare or not repository.workdir or project.is_relative_to(Path(repository.path).resolve()):
        return ""
    top = Path(repository.workdir).resolve()
    inside = project.relative_to(top).as_posix() if project.is_relative_to(top) else "."
    return "" if inside == "." else f"{inside}/"


def _listed_revisions(repository: pygit2.Repository, tip: pygit2.Commit) -> frozenset[str]:
    """The commits that the project itself asks blame to ignore."""
    try:
        blob = tip.tree[_IGNORED_REVISIONS]
        text = blob.data.decode("utf-8", "replace") if isinstance(blob, pygit2.Blob) else ""
    except (pygit2.GitError, KeyError):
        return frozenset()
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return frozenset(line for line in lines if line)
