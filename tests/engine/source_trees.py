"""Small project folders and git repositories, written for real."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pygit2

_AUTHOR = pygit2.Signature("Ada", "ada@example.org", 1_700_000_000, 0)


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files with their folders; text as UTF-8, newlines untouched."""
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def commit_all(root: Path, *forced: str) -> str:
    """Commit everything that is not ignored, and `forced` in spite of it; gives the commit's id."""
    git_folder = root / ".git"
    repository = pygit2.Repository(str(root)) if git_folder.exists() else pygit2.init_repository(str(root))
    repository.index.add_all()
    for path in forced:
        repository.index.add(path)
    repository.index.write()
    parents = [] if repository.head_is_unborn else [repository.head.target]
    tree = repository.index.write_tree()
    return str(repository.create_commit("HEAD", _AUTHOR, _AUTHOR, "A commit", tree, parents))
