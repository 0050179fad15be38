"""Where RTC Inspector keeps its own files on this platform."""

from __future__ import annotations

from pathlib import Path

import platformdirs


def default_database() -> Path:
    """The database used when none is named; its folder is made."""
    folder = Path(platformdirs.user_data_dir("rtc-inspector", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "runs.sqlite"
