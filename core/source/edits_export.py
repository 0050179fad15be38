"""Commits taken out of a repository: one's files in an empty folder, or several as a small repository elsewhere."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import pygit2
from pygit2.enums import FileMode

from rtc_inspector.core.errors import ProjectError

PACK = ("history.pack", "history.idx")
"""What `pack_commits` writes."""
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
        # A commit is foreign data: its names could lead out of the folder, or plant settings that git would heed.
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
    # A link that leads out of the folder would let tests read, or write, the user's own files.
    if Path(os.path.normpath(path.parent / target)).is_relative_to(top) and not Path(target).is_absolute():
        path.symlink_to(target)


def pack_commits(repository: pygit2.Repository, tip: str, commits: Collection[str], files: bool, folder: Path) -> None:
    """Write `tip` and `commits` to `folder` in git's own form, with `files` also all files of `commits`.

    Raises ProjectError when an object is missing.
    """

    def choose(builder: pygit2.PackBuilder) -> None:
        builder.add(pygit2.Oid(hex=tip))
        for commit in commits:
            (builder.add_recur if files else builder.add)(pygit2.Oid(hex=commit))

    try:
        repository.pack(folder, choose)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise ProjectError("Commits are no longer all there.", "Fetch the repository's missing objects.") from error
    for path in tuple(folder.iterdir()):
        path.rename(folder / f"history{path.suffix}")


def unpack_commits(folder: Path, tip: str, commits: Collection[str]) -> None:
    """Make `folder`, into which such files were put, the work tree of a repository that has those commits.

    Only the pack comes from elsewhere: git would run programs that a foreign repository's settings name. Raises
    ValueError for what is no commit's name.
    """
    cut = sorted({str(pygit2.Oid(hex=each)) for each in (tip, *commits)})
    repository = pygit2.init_repository(str(folder), initial_head="main")
    own = Path(repository.path)
    for name in PACK:
        (folder / name).rename(own / "objects" / "pack" / f"pack-{name}")
    # Parents were left behind: so git marks a history that was cut.
    (own / "shallow").write_text("".join(f"{each}\n" for each in cut), encoding="ascii")
    (own / "refs" / "heads" / "main").write_text(f"{tip}\n", encoding="ascii")
