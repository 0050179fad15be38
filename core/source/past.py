"""A file of a repository as it was before a commit: read from git's objects, nothing is checked out."""

from __future__ import annotations

from pathlib import Path

import pygit2

from core.errors import ProjectError
from core.source.edits_history import open_repository, project_prefix

MOST = 1_000_000
"""Bytes; larger files are never sampled."""


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
    if not isinstance(blob, pygit2.Blob) or blob.size > MOST:
        raise ProjectError(f"{path} is no text file that can be shown.", "Look at the edit itself.")
    return blob.data.decode("utf-8", "replace")
