"""Which commits and files edits are taken from."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from fnmatch import fnmatchcase

import pygit2

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.languages import is_code, looks_generated


class CommitFilter:
    """Leaves out the first commit, merges, bulk-format commits and those outside the dates."""

    def __init__(self, settings: EditSettings, reformatting: frozenset[str]) -> None:
        """Raises UserError for a date that is none. `reformatting`: ids of commits that only reformat."""
        self._settings = settings
        self._reformatting = reformatting
        self._since = _day("--since", settings.since)
        self._until = _day("--until", settings.until)

    def reason(self, commit: pygit2.Commit) -> str:
        """Why a commit is passed over; empty when it is not."""
        parents = len(commit.parent_ids)
        if not parents:
            return "first commits, which have nothing before them"
        if parents > 1 and self._settings.skip_merges:
            return "merge commits"
        if self._settings.skip_bulk and str(commit.id) in self._reformatting:
            return "commits that the project lists as reformatting"
        day = author_time(commit).date()
        if (self._since and day < self._since) or (self._until and day > self._until):
            return "commits outside the dates"
        return ""


class FileFilter:
    """Leaves out files by path: other folders, other languages, generated and foreign code."""

    def __init__(self, settings: EditSettings, prefix: str) -> None:
        """`prefix` leads from the repository's top to the project."""
        self.prefix = prefix
        self._paths = tuple(path.strip("/") for path in settings.paths)
        self._endings = settings.endings
        self._skip_generated = settings.skip_generated

    def reason(self, path: str) -> str:
        """Why a file, named from the repository's top, is passed over; empty when it is not."""
        if not path.startswith(self.prefix) or not self._wanted(path.removeprefix(self.prefix)):
            return "files outside the paths asked for"
        if self._endings:
            if not path.endswith(self._endings):
                return "files with other endings"
        elif not is_code(path):
            return "files in no known programming language"
        return "generated files" if self._skip_generated and looks_generated(path) else ""

    def _wanted(self, path: str) -> bool:
        if not self._paths:
            return True
        return any(path == each or path.startswith(f"{each}/") or fnmatchcase(path, each) for each in self._paths)


def author_time(commit: pygit2.Commit) -> datetime:
    """Return when the author made a commit, in the author's own time zone; 1970 in UTC where that is no date."""
    signature = commit.author
    try:
        return datetime.fromtimestamp(signature.time, timezone(timedelta(minutes=signature.offset)))
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _day(option: str, text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UserError(f"{option} {text} is not a date.", "Write it as YYYY-MM-DD.") from error
