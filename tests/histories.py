"""Real repositories with a history written straight into git's objects: no work tree, no git program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pygit2
from pygit2.enums import FileMode, ResetMode

Content = str | bytes | None


class Builder:
    """Adds commits to the branch `main` of a new bare or ordinary repository."""

    def __init__(self, root: Path, bare: bool = False) -> None:
        self.root = root
        self.repository = pygit2.init_repository(str(root), bare=bare, initial_head="main")
        self._index = pygit2.Index()
        self._time = 1_700_000_000

    def commit(
        self,
        files: Mapping[str, Content],
        message: str = "A commit",
        parents: Sequence[str] | None = None,
        time: int | None = None,
        reference: str | None = "refs/heads/main",
        modes: Mapping[str, FileMode] | None = None,
    ) -> str:
        """Change files (None deletes) and commit; gives the id. A minute passes between two commits."""
        for path, content in files.items():
            if content is None:
                self._index.remove(path)
            else:
                self._index.add(self._entry(path, content, (modes or {}).get(path, FileMode.BLOB)))
        self._time += 60
        ada = pygit2.Signature("Ada", "ada@example.org", time or self._time, 60)
        if parents is None:
            parents = [] if self.repository.head_is_unborn else [str(self.repository.head.target)]
        tree = self._index.write_tree(self.repository)
        oids = [pygit2.Oid(hex=parent) for parent in parents]
        return str(self.repository.create_commit(reference, ada, ada, message, tree, oids))

    def check_out(self) -> None:
        """Fill the work tree."""
        self.repository.reset(self.repository.head.target, ResetMode.HARD)

    def forget(self, name: str) -> None:
        """Remove one object, as if it had never been fetched."""
        (Path(self.repository.path) / "objects" / name[:2] / name[2:]).unlink()

    def _entry(self, path: str, content: str | bytes, mode: FileMode) -> pygit2.IndexEntry:
        if mode == FileMode.COMMIT:
            return pygit2.IndexEntry(path, pygit2.Oid(hex=str(content)), mode)
        data = content.encode() if isinstance(content, str) else content
        return pygit2.IndexEntry(path, self.repository.create_blob(data), mode)


def module(values: Mapping[int, object] | None = None, lines: int = 40) -> str:
    """A file of many lines, some of them with values of their own."""
    values = values or {}
    return "".join(f"value_{number} = {values.get(number, number)}\n" for number in range(lines))
