"""Which folders of the project its tests want to write into."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from core.oracle.baseline import file_of
from core.oracle.identity import IdentityRun
from core.oracle.sandbox.openings import can_be_opened, is_data

MOST_FOLDERS = 8
REFUSED = re.compile(r"(?:Read-only file system|Permission denied|Operation not permitted): '([^'\n]+)'")
DATABASE = re.compile(r"unable to open database file|attempt to write a readonly database")
"""As SQLite says it, without the name."""


def folders_written(run: IdentityRun, root: Path) -> tuple[Path, ...]:
    """Folders where failing tests were refused to make a file or change data, as far as they can be opened for that.

    A test that changes code which is there stays refused.
    """
    found = dict.fromkeys(folder for node_id, text in _said(run) for folder in _folders(node_id, text, root))
    return tuple(sorted(folder for folder in found if can_be_opened(folder))[:MOST_FOLDERS])


def _said(run: IdentityRun) -> Iterator[tuple[str, str]]:
    for node_id, (outcome, _, message) in run.outcomes.items():
        if outcome in ("failed", "error"):
            yield node_id, message
    yield from run.errors


def _folders(node_id: str, text: str, root: Path) -> Iterator[Path]:
    for name in REFUSED.findall(text):
        path = Path(os.path.normpath(Path(root, name)))
        folder = next(parent for parent in path.parents if parent.is_dir())
        may_be = not path.exists() or is_data(path)
        if may_be and folder.is_relative_to(root) and not folder.is_symlink():
            yield folder
    if DATABASE.search(text):
        yield from dict.fromkeys((root, Path(root, file_of(node_id)).parent))
