"""Where RTC Inspector keeps its own files on this platform."""

from __future__ import annotations

from pathlib import Path

import platformdirs

from rtc_inspector.core.errors import UserError


def default_database() -> Path:
    """Return the database used when none is named; its folder is made. Raises UserError when it cannot be."""
    folder = Path(platformdirs.user_data_dir("rtc-inspector", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"The folder {folder} cannot be made: {error.strerror}.", "Name a database with --db."
        ) from error
    return folder / "runs.sqlite"


def bundles_folder() -> Path:
    """Return the folder where bundles that were opened are unpacked; it need not exist."""
    return Path(platformdirs.user_data_dir("rtc-inspector", appauthor=False)) / "bundles"


def taxonomy_folder() -> Path:
    """Return the folder of a user's own error modes; it need not exist."""
    return Path(platformdirs.user_config_dir("rtc-inspector", appauthor=False))


def error_file() -> Path:
    """Return the file that keeps the trace of the last error nobody expected; its folder need not exist."""
    return Path(platformdirs.user_log_dir("rtc-inspector", appauthor=False)) / "last-error.txt"
