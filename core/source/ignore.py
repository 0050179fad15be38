"""What .gitignore files leave out, nested ones included."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder: pairs of a base path and its patterns, the nearest folder last.

    Paths are POSIX, relative to `top`, the folder the first rules belong to.
    """

    top: Path
    layers: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    @classmethod
    def for_root(cls, top: Path, root: Path, exclude_file: Path | None) -> Self:
        """Rules of every folder from `top` down to above `root`; `enter` adds those of `root` itself."""
        rules = cls(top)
        if exclude_file is not None:
            rules = rules._with("", exclude_file)
        for folder in reversed(root.parents):
            if folder.is_relative_to(top):
                rules = rules.enter(folder)
        return rules

    def enter(self, folder: Path) -> Self:
        """The rules inside `folder`: these, and those of its own .gitignore."""
        inside = folder.relative_to(self.top).as_posix()
        return self._with("" if inside == "." else f"{inside}/", folder / ".gitignore")

    def ignores(self, path: str, folder: bool) -> bool:
        """Whether the nearest file with an opinion on `path` (relative to `top`) leaves it out."""
        name = f"{path}/" if folder else path
        for base, spec in reversed(self.layers):
            verdict = spec.check_file(name.removeprefix(base)).include
            if verdict is not None:
                return verdict
        return False

    def _with(self, base: str, file: Path) -> Self:
        spec = _read(file)
        return self if spec is None else type(self)(self.top, (*self.layers, (base, spec)))


def _read(file: Path) -> GitIgnoreSpec | None:
    """The patterns of a file; None where there are none."""
    try:
        text = file.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError:
        return None
    patterns = [line for line in text.splitlines() if _understood(line)]
    return GitIgnoreSpec.from_lines(patterns) if patterns else None


def _understood(line: str) -> bool:
    """Whether a line is a pattern; git passes over the lines it cannot read, and so do we."""
    if not line.strip() or line.startswith("#"):
        return False
    try:
        return bool(GitIgnoreSpec.from_lines([line]))
    except ValueError:
        return False
