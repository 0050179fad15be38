"""Folders of a read-only project that tests may write into: code in them stays, a mount each, and data is a copy."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

MOST_ENTRIES = 200
MOST_BYTES = 1 << 20
"""Of the files of a folder that are copied."""
CODE = frozenset([".py", ".pyi", ".pyc", ".pyd", ".so", ".pth", ".cfg", ".ini", ".toml"])
"""Endings of files that decide what runs: those are never a copy that can be changed."""


def can_be_opened(folder: Path) -> bool:
    """Return whether each entry can be a mount of its own: files and folders only, and not too many."""
    try:
        modes = [entry.lstat().st_mode for entry in folder.iterdir()]
    except OSError:
        return False
    return len(modes) <= MOST_ENTRIES and all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes)


def copied(folder: Path) -> list[Path]:
    """Data files that tests find as copies of their own, the smallest first, as many as fit."""
    return list(_fitting(folder))


def _fitting(folder: Path) -> Iterator[Path]:
    left = MOST_BYTES
    data = [entry for entry in folder.iterdir() if is_data(entry)]
    for entry in sorted(data, key=lambda entry: (entry.stat().st_size, entry.name)):
        left -= entry.stat().st_size
        if left < 0:
            return
        yield entry


def is_data(path: Path) -> bool:
    """Return whether it is a plain file that runs nothing."""
    return path.suffix not in CODE and path.is_file() and not path.is_symlink()


def entries(folder: Path) -> list[Path]:
    """Return what is in the folder now and is mounted there: all but the data files that are copied."""
    return sorted(set(folder.iterdir()) - set(copied(folder)))
