"""The commits of a repository as people browse them: newest first, a line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pygit2
from pygit2.enums import SortMode

from core.errors import ProjectError
from core.source.edits_filter import author_time
from core.source.edits_history import open_repository, tip_commit


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
