"""A commit's files written to an empty folder, straight from git's objects."""

from __future__ import annotations

import os
from pathlib import Path

import pygit2
from pygit2.enums import FileMode

from core.errors import ProjectError

_FORBIDDEN = frozenset({"", ".", "..", ".git"})


def export_commit(repository: pygit2.Repository, commit: str, folder: Path) -> None:
    """Write every file of the commit under `folder`; submodules are left out, links are kept where they stay inside.

    Raises ProjectError when an object is missing or a file cannot be written.
    """
    try:
        _write(repository[pygit2.Oid(hex=commit)].peel(pygit2.Tree), folder, folder)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise ProjectError(
            f"The files of commit {commit[:12]} are not all there.", "Fetch the repository's missing objects."
        ) from error
    except OSError as error:
        raise ProjectError(
            f"The files of commit {commit[:12]} cannot be written to {folder}: {error.strerror}.",
            "Make room in the folder for temporary files.",
        ) from error


def _write(tree: pygit2.Tree, folder: Path, top: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for entry in tree:
        if entry.name is None or entry.name.lower() in _FORBIDDEN or "/" in entry.name:
            continue
        path = folder / entry.name
        if isinstance(entry, pygit2.Tree):
            _write(entry, path, top)
        elif isinstance(entry, pygit2.Blob):
            _write_file(entry, path, top)


def _write_file(blob: pygit2.Blob, path: Path, top: Path) -> None:
    if blob.filemode != FileMode.LINK:
        path.write_bytes(blob.data)
        path.chmod(0o755 if blob.filemode == FileMode.BLOB_EXECUTABLE else 0o644)
        return
    target = os.fsdecode(blob.data)
    if Path(os.path.normpath(path.parent / target)).is_relative_to(top) and not Path(target).is_absolute():
        path.symlink_to(target)
