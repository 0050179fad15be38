"""A project's git repository, only ever read: where it stands, its commits as people browse them, files taken out."""

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from typing import Self

import pygit2
from pygit2.enums import FileMode, FileStatus, Option, SortMode

from rtc_inspector.core.errors import ProjectError

_MAPPED = 96 * 2**20
_WINDOW = 8 * 2**20
"""Bytes of pack files libgit2 may map at a time, and in one piece; its own limits are beyond any pack's size."""
_CACHED = 32 * 2**20


class History:
    """A project folder seen through its git repository; only ever read."""

    def __init__(self, repository: pygit2.Repository, top: Path, prefix: str) -> None:
        """`prefix` leads from the work tree's `top` to the project: empty, or ending in a slash."""
        self._repository = repository
        self.top = top
        self.prefix = prefix
        try:
            paths = [entry.path for entry in repository.index]
        except (pygit2.GitError, OSError, UnicodeDecodeError):
            paths = []
        self.tracked = frozenset(path.removeprefix(prefix) for path in paths if path.startswith(prefix))

    @classmethod
    def of(cls, root: Path) -> Self | None:
        """Return the repository that holds `root`; None when there is none, or when it ignores `root`."""
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
            begun = not self._repository.head_is_unborn and bool(self.tracked or not self.prefix)
            return str(self._repository.head.target) if begun else None
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


def open_repository(project: Path) -> pygit2.Repository:
    """Return the repository that holds the project. Raises ProjectError."""
    if not project.is_dir():
        problem = f"{project} is not a folder." if project.exists() else f"{project} does not exist."
        raise ProjectError(problem, "Name a folder under git, or a bare repository.")
    try:
        pygit2.option(Option.SET_MWINDOW_SIZE, _WINDOW)
        pygit2.option(Option.SET_MWINDOW_MAPPED_LIMIT, _MAPPED)
        pygit2.option(Option.SET_CACHE_MAX_SIZE, _CACHED)
        found = discovered(project)
        if found:
            return pygit2.Repository(found)
    except (pygit2.GitError, OSError, ValueError) as error:
        raise _unreadable(project, str(error)) from error
    if any((folder / ".git").exists() for folder in (project, *project.resolve().parents)):
        raise _unreadable(project, "its references are kept in a form that libgit2 does not know")
    raise ProjectError(
        f"{project} is not in a git repository, so it has no edits.",
        "Name a folder under git, or take edits from a file (--edits FILE).",
    )


def _unreadable(project: Path, reason: str) -> ProjectError:
    return ProjectError(
        f"The git repository of {project} cannot be read: {reason}.",
        "Mend it with `git fsck`, or clone it in git's usual format (SHA-1 objects, references in files).",
    )


def tip_commit(repository: pygit2.Repository, project: Path, revision: str | None) -> pygit2.Commit:
    """Return the commit of a revision, of what is checked out for None. Raises ProjectError."""
    if revision is None and repository.head_is_unborn:
        raise ProjectError(
            f"The history of {project} is empty: what is checked out has no commit yet.",
            "Commit something, or name another branch with --revision.",
        )
    try:
        return repository.revparse_single(revision or "HEAD").peel(pygit2.Commit)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise ProjectError(
            f"The repository of {project} has no commit {revision or 'HEAD'}; its history may have been rewritten.",
            "Bring that commit back, e.g. by fetching it, or start a new run.",
        ) from error


def project_prefix(repository: pygit2.Repository, project: Path) -> str:
    """Return the project's path in its repository, with a slash behind it; empty where it is all of the repository.

    It is all of it, too, where git's own folder was named, as of a bare one.
    """
    project = project.resolve()
    if repository.is_bare or not repository.workdir or project.is_relative_to(Path(repository.path).resolve()):
        return ""
    top = Path(repository.workdir).resolve()
    inside = project.relative_to(top).as_posix() if project.is_relative_to(top) else "."
    return "" if inside == "." else f"{inside}/"


def author_time(commit: pygit2.Commit) -> datetime:
    """Return when the author made a commit, in the author's own time zone; 1970 in UTC where that is no date."""
    signature = commit.author
    try:
        return datetime.fromtimestamp(signature.time, timezone(timedelta(minutes=signature.offset)))
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


# --------------------------- commits as people browse them


LARGEST = 1_000_000  # bytes; larger files are never sampled


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
    """Return the commits that `revision`, else what is checked out, leads to; at most `most`.

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
        for commit in islice(repository.walk(tip.id, SortMode.NONE), most):
            subject = commit.raw_message.lstrip().partition(b"\n")[0].decode("utf-8", "replace")
            author = commit.author.raw_name.decode("utf-8", "replace")
            lines.append(CommitLine(str(commit.id), author_time(commit).date().isoformat(), author, subject))
    except (pygit2.GitError, KeyError):
        note = note or "The history ends early here: older commits were never fetched."
    if repository.is_shallow:
        note = note or "The clone is shallow: older commits were never fetched."
    return CommitList(tuple(lines), most is None or len(lines) < most, note)


def text_before(project: Path, commit: str, path: str) -> str:
    """Return the file's text at the commit's first parent; what is no UTF-8 in it is marked by U+FFFD.

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


# --------------------------- commits taken out


PACK = ("history.pack", "history.idx")  # what `pack_commits` writes
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
        elif isinstance(entry, pygit2.Blob) and entry.filemode != FileMode.LINK:
            path.write_bytes(entry.data)
            path.chmod(0o755 if entry.filemode == FileMode.BLOB_EXECUTABLE else 0o644)
        elif isinstance(entry, pygit2.Blob):
            target = os.fsdecode(entry.data)
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
