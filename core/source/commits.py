"""The commits of a repository as people browse them: newest first, a line each, and files as they were before one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pygit2
from pygit2.enums import SortMode

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.source.edits_filter import author_time
from rtc_inspector.core.source.edits_history import open_repository, project_prefix, tip_commit

LARGEST = 1_000_000
"""Bytes; larger files are never sampled."""


@dataclass(frozen=True, slots=True)
class CommitLine:
    """One commit. `day`: the author's date, `YYYY-MM-DD`."""

    id: str
    day: str
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class CommitList:
    """The way to one commit. `whole` False: there are more; `note`: what is to know about it, empty for nothing."""

    commits: tuple[CommitLine, ...]
    whole: bool = True
    note: str = ""


def list_commits(project: Path, revision: str | None = None, most: int | None = None) -> CommitList:
    """The commits that `revision`, else what is checked out, leads to; at most `most`.

    A revision that was rewritten away gives what is checked out, and says so. Raises ProjectError.
    """
    repository = open_repository(project)
    note = ""
    try:
        tip = tip_commit(repository, project, revision)
    except ProjectError:
        if revision is None:
            raise
        tip = tip_commit(repository, project, None)
        note = "The commit that the run read from is gone; this is the history of what is checked out."
    lines: list[CommitLine] = []
    try:
        lines.extend(islice(_walk(repository, tip), most))
    except (pygit2.GitError, KeyError):
        note = note or "The history ends early here: older commits were never fetched."
    if repository.is_shallow:
        note = note or "The clone is shallow: older commits were never fetched."
    return CommitList(tuple(lines), most is None or len(lines) < most, note)


def _walk(repository: pygit2.Repository, tip: pygit2.Commit) -> Iterator[CommitLine]:
    for commit in repository.walk(tip.id, SortMode.NONE):
        subject = commit.raw_message.lstrip().partition(b"\n")[0].decode("utf-8", "replace")
        author = commit.author.raw_name.decode("utf-8", "replace")
        yield CommitLine(str(commit.id), author_time(commit).date().isoformat(), author, subject)


def text_before(project: Path, commit: str, path: str) -> str:
    """The file's text at the commit's first parent; what is no UTF-8 in it is marked by U+FFFD.

    `path` is relative to the project. Raises ProjectError: no such repository, commit or file.
    """
    repository = open_repository(project)
    try:
        found = repository[commit].peel(pygit2.Commit)
        parent = repository[found.parent_ids[0]].peel(pygit2.Commit)
        blob = parent.tree[project_prefix(repository, project) + path]
    except (pygit2.GitError, KeyError, ValueError, IndexError) as error:
        raise ProjectError(
            f"The repository of {project} no longer holds {path} as it was before {commit[:10]}.",
            "Fetch that commit to see it; what was sampled of it is stored with the run.",
        ) from error
    if not isinstance(blob, pygit2.Blob) or blob.size > LARGEST:
        raise ProjectError(f"{path} is no text file that can be shown.", "Look at the edit itself.")
    return blob.data.decode("utf-8", "replace")
