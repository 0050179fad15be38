"""The commands that open the window."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from app import options as shared
from app.paths import default_database
from core.settings import RunSettings


def add_commands(commands: Any) -> None:
    """Add `open`."""
    opening = commands.add_parser("open", help="the window on a project")
    shared.add_project(opening)
    shared.add_database(opening)
    opening.set_defaults(command=open_project)


def open_last(options: argparse.Namespace) -> int:
    """The window on the last project."""
    return show(None, default_database(), None)


def open_project(options: argparse.Namespace) -> int:
    """The window on a named project."""
    return show(options.project, options.db or default_database(), None)


def has_screen() -> bool:
    """Whether a window can be shown at all."""
    shown = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in shown)


def show(project: Path | None, database: Path, start: RunSettings | None) -> int:
    """Open the window; with `start`, begin that run at once. Qt is imported here, not for headless commands."""
    from app.gui import open_window

    return open_window(project, database, start)
