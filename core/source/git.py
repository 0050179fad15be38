"""Where a project's history stands: revision, changes, tracked files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Self

import pygit2
from pygit2.enums import FileStatus, Option


class History:
    """A project folder seen through its git repository; only ever read."""

    def __init__(self, repository: pygit2.Repository, top: Path, prefix: str) -> None:
        """`prefix` leads from the work tree's `top` to the project: empty, or ending in a slash."""
        self._repository = repository
        self.top = top
        self.prefix = prefix
        self.tracked = frozenset(
            path.removeprefix(prefix) for path in _index_paths(repository) if path.startswith(prefix)
        )

    @classmethod
    def of(cls, root: Path) -> Self | None:
        """The repository that holds `root`; None when there is none, or when it ignores `root`."""
        try:
            found = discovered(root)
            repository = pygit2.Repository(found) if found else None
        except (pygit2.GitError, OSError, ValueError):
            return None
        if repository is None or repository.is_bare or not repository.workdir:
            return None
        top = Path(repository.workdir).resolve()
        if not root.is_relative_to(top):
            return None
        inside = root.relative_to(top).as_posix()
        history = cls(repository, top, "" if inside == "." else f"{inside}/")
        if not history.tracked and history.prefix and repository.path_is_ignored(history.prefix):
            return None
        return history

    @property
    def revision(self) -> str | None:
        """The commit checked out; None before the first one, or when no file here was ever added."""
        try:
            known = not self._repository.head_is_unborn and bool(self.tracked or not self.prefix)
            return str(self._repository.head.target) if known else None
        except pygit2.GitError:
            return None

    def dirty(self, paths: Iterable[str]) -> bool:
        """Return whether the project differs from its revision: a tracked file changed, or one of `paths` is untracked.

        True as well when git's own records cannot be read.
        """
        # Cheap, and true of most work in progress; git's own status reads every changed file.
        if not self.tracked.issuperset(paths):
            return True
        try:
            changes = self._repository.status(untracked_files="no")
        except (pygit2.GitError, OSError):
            return True
        same = (FileStatus.CURRENT, FileStatus.IGNORED)
        return any(path.startswith(self.prefix) and flag not in same for path, flag in changes.items())

    @property
    def exclude_file(self) -> Path:
        """The repository's own ignore rules, which no commit holds."""
        own = Path(self._repository.path)
        shared = own / "commondir"  # a linked work tree keeps them with its main repository
        if shared.is_file():
            own = (own / shared.read_text(encoding="utf-8").strip()).resolve()
        return own / "info" / "exclude"


def discovered(root: Path) -> str | None:
    """Return the path of the repository that holds `root`, or None. Raises GitError, OSError, ValueError.

    A repository of another owner is read all the same: nothing of it is ever executed.
    """
    pygit2.option(Option.SET_OWNER_VALIDATION, False)
    return pygit2.discover_repository(str(root))


def in_repository(root: Path) -> bool:
    """Return whether a folder is under git, or is itself a bare repository."""
    try:
        return bool(discovered(root))
    except (pygit2.GitError, OSError, ValueError):
        return False


def _index_paths(repository: pygit2.Repository) -> list[str]:
    try:
        return [entry.path for entry in repository.index]
    except (pygit2.GitError, OSError, UnicodeDecodeError):
        return []
