"""Which source files a project has, and what was passed over on the way."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.platform import in_use
from rtc_inspector.core.types import SkippedFile

if TYPE_CHECKING:  # each loaded where there are ignore rules, or a repository
    from pathspec import GitIgnoreSpec

    from rtc_inspector.core.source.git import History

_VENDORED = {"vendor", "_vendor", "vendored", "_vendored", "extern", "_extern"}
_VENDORED |= {"third_party", "third-party", "thirdparty", "3rdparty"}
_PACKAGES = {"node_modules", "bower_components", "site-packages", "dist-packages", "__pypackages__"}
_CACHES = {".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox"}
_BUILT = {"build", "dist", "_build", "lcov-report"}
UNREAD = "cannot be read"
NOT_UTF8 = "its name is not valid UTF-8"
_EGG = re.compile(r".+\.(egg-info|dist-info|egg)")
_ENVIRONMENT_SIGNS = ("pyvenv.cfg", "conda-meta", "bin/activate_this.py", "Scripts/activate_this.py")


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What .gitignore files leave out of one folder, those of the folders around it included.

    `layers` are pairs of a base path and its patterns, the nearest folder last. Paths are POSIX, relative to `top`, the
    folder the first rules belong to.
    """

    top: Path
    layers: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def enter(self, folder: Path) -> Self:
        """Return the rules inside `folder`: these, and those of its own .gitignore."""
        inside = folder.relative_to(self.top).as_posix()
        return self.reading(folder / ".gitignore", "" if inside == "." else f"{inside}/")

    def ignores(self, path: str, folder: bool) -> bool:
        """Return whether the nearest file with an opinion on `path` (relative to `top`) leaves it out."""
        name = f"{path}/" if folder else path
        for base, spec in reversed(self.layers):
            verdict = spec.check_file(name.removeprefix(base)).include
            if verdict is not None:
                return verdict
        return False

    def reading(self, file: Path, base: str = "") -> Self:
        """Return these rules and those of a file, which are about paths below `base`."""
        try:
            lines = file.read_text(encoding="utf-8-sig", errors="surrogateescape").splitlines()
        except OSError:
            return self
        from pathspec import GitIgnoreSpec

        patterns = []
        for line in lines:
            with suppress(ValueError):  # git passes over the lines it cannot read, and so do we
                if line.strip() and not line.startswith("#") and GitIgnoreSpec.from_lines([line]):
                    patterns.append(line)
        if not patterns:
            return self
        return type(self)(self.top, (*self.layers, (base, GitIgnoreSpec.from_lines(patterns))))


def history_of(root: Path) -> History | None:
    """Return the repository that holds a folder, whose links are resolved.

    git's library is loaded only where there may be one.
    """
    if not any(_exists(folder / ".git") for folder in (root, *root.parents)):
        return None
    from rtc_inspector.core.source.git import History

    return History.of(root)


@dataclass(slots=True)
class Walk:
    """The walk over one project folder."""

    root: Path
    history: History | None
    suffixes: tuple[str, ...] = (".py",)  # what the names of wanted files end with
    found: list[str] = field(default_factory=list)  # regular files of these, paths relative to the root, sorted
    # files that are links or not regular, and folders of foreign code (their paths end in a slash)
    skipped: list[SkippedFile] = field(default_factory=list)
    _tracked_folders: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        tracked = self.history.tracked if self.history is not None else ()
        folders = {str(folder) for path in tracked for folder in PurePosixPath(path).parents}
        self._tracked_folders = frozenset(folders - {"."})

    def run(self) -> None:
        """Fill `found` and `skipped`; links to folders are never followed, so loops cannot happen."""
        rules = IgnoreRules(self.root)
        if self.history is not None:
            rules = IgnoreRules(self.history.top).reading(self.history.exclude_file)
            for folder in reversed(self.root.parents):
                rules = rules.enter(folder) if folder.is_relative_to(self.history.top) else rules
        self._visit("", rules)
        self.found.sort()
        self.skipped.sort(key=lambda skipped: skipped.path)

    def _visit(self, inside: str, rules: IgnoreRules) -> None:
        folder = self.root / inside
        rules = rules.enter(folder)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self.skipped.append(SkippedFile(_readable(f"{inside}/"), f"{UNREAD}: {error.strerror}"))
            return
        for entry in entries:
            path = f"{inside}/{entry.name}" if inside else entry.name
            if entry.is_dir(follow_symlinks=False):
                self._folder(path, entry.name, rules)
            elif entry.name.endswith(self.suffixes):
                self._file(path, entry, rules)

    def _folder(self, path: str, name: str, rules: IgnoreRules) -> None:
        if name.startswith(".") or name == "__pycache__" or self._ignored(path, rules, folder=True):
            return
        if reason := _foreign(self.root / path, name, nested=self.history is not None):
            self.skipped.append(SkippedFile(_readable(f"{path}/"), reason))
        else:
            self._visit(path, rules)

    def _file(self, path: str, entry: os.DirEntry[str], rules: IgnoreRules) -> None:
        if self._ignored(path, rules, folder=False):
            return
        if reason := _unusable(entry):
            self.skipped.append(SkippedFile(_readable(path), reason))
        else:
            self.found.append(path)

    def _ignored(self, path: str, rules: IgnoreRules, *, folder: bool) -> bool:
        """Return whether git ignores a path; it never ignores a tracked one, whatever the patterns say."""
        if self.history is None:
            return rules.ignores(path, folder)
        if path in (self._tracked_folders if folder else self.history.tracked):
            return False
        return rules.ignores(self.history.prefix + path, folder)


class _Whole(Walk):
    """The walk over all that belongs to a project, hidden folders too: no environment, and no cache."""

    def _folder(self, path: str, name: str, rules: IgnoreRules) -> None:
        away = name in _CACHES or any(_exists(self.root / path / sign) for sign in _ENVIRONMENT_SIGNS)
        if not away and not self._ignored(path, rules, folder=True):
            self._visit(path, rules)

    def _file(self, path: str, entry: os.DirEntry[str], rules: IgnoreRules) -> None:
        if entry.name != ".gitignore":
            Walk._file(self, path, entry, rules)


def every_file(root: Path) -> Iterator[str]:
    """Yield the regular files that belong to a project, sorted: none that git ignores, no environment, no cache.

    No database either that is in use, of runs say.

    The ignore rules themselves are left out: where these files are put they need none. Raises ProjectError: a folder
    cannot be read.
    """
    walk = _Whole(root, history_of(root), suffixes=("",))
    walk.run()
    for each in walk.skipped:
        if each.reason.startswith(UNREAD):
            raise ProjectError(f"{root / each.path} {each.reason}.", "Let it be read, or have git ignore it.")
    yield from (path for path in walk.found if not in_use(root / path))


def _foreign(folder: Path, name: str, *, nested: bool) -> str:
    """Return why a folder holds code that is not this project's; empty when it may well be."""
    if _readable(name) != name:
        return NOT_UTF8
    if name in _PACKAGES or _EGG.fullmatch(name):
        return "installed packages"
    if name in _VENDORED:
        return "vendored code"
    if any(_exists(folder / sign) for sign in _ENVIRONMENT_SIGNS):
        return "a virtual environment"
    # A package of the project may be called `build`.
    if name in _BUILT and not _exists(folder / "__init__.py"):
        return "build output"
    if _exists(folder / "CACHEDIR.TAG"):  # as cargo marks `target`
        return "a cache"
    if nested and _exists(folder / ".git"):
        return "another git repository"
    return ""


def _exists(path: Path) -> bool:
    """Return whether a path exists; in a folder that we may not look into, nothing does."""
    try:
        return path.exists()
    except OSError:
        return False


def _unusable(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "a symbolic link"
    if not entry.is_file(follow_symlinks=False):
        return "not a regular file"
    if _readable(entry.name) != entry.name:
        return NOT_UTF8
    return ""


def _readable(path: str) -> str:
    """Return the path with bytes that are no UTF-8 escaped, fit to be shown and stored."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
