"""Folders of a read-only project in which new files can be made; what they hold stays as it is, a mount each."""

from __future__ import annotations

import stat
from pathlib import Path

MOST_ENTRIES = 200


def can_be_opened(folder: Path) -> bool:
    """Whether each entry can be a mount of its own: files and folders only, and not too many."""
    try:
        modes = [entry.lstat().st_mode for entry in folder.iterdir()]
    except OSError:
        return False
    return len(modes) <= MOST_ENTRIES and all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes)


def entries(folder: Path) -> list[Path]:
    """What is in it now."""
    return sorted(folder.iterdir())
