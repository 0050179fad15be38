"""The commands that open the window."""

import argparse
import os
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from rtc_inspector.app import options as shared
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.packages import QT, system_install
from rtc_inspector.core.platform import call, needs_display
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.source.notebook import has_notebooks


def add_commands(commands: Any) -> None:
    """Add `open`."""
    opening = commands.add_parser("open", help="the window on a project, a benchmark file, a notebook or a bundle")
    shared.add(opening, "project", "db")
    opening.set_defaults(command=open_project)


def open_project(options: argparse.Namespace) -> int:
    """Open the window on a project, or on the last one; a file of problems or cells stands for one generated from it.

    A bundle of a run is unpacked once, and shown with its own database; without a screen it is said where that is.
    """
    project: Path | None = options.project
    if project is None:
        return show(None, shared.database(options), None)
    if project.suffix == ".zip" and project.is_file():
        from rtc_inspector.core.run.bundle import unpack  # the engine, which the window loads later else

        unpacked = unpack(project, shared.bundles_folder())
        if unpacked.changed:
            print(f"{unpacked.changed} Have it sent again, or rely on none of its figures.", file=sys.stderr)
        if not has_screen():
            named, run = f"--db {shlex.quote(str(unpacked.database))}", unpacked.run_id
            print(f"Run {run} is in {unpacked.database}, its source in {unpacked.root}.")
            print(f"There is no screen: look at it with `rtc-inspector analyse {run} {named}`, or write a page of it,")
            print(f"`rtc-inspector report {named} --run {run} --out report.html`.")
            return 0
        return show(unpacked.root, unpacked.database, None)
    if project.is_file() or has_notebooks(project):
        from rtc_inspector.core.trips.files import project_for

        project = project_for(project) or project
    return show(project, shared.database(options), None)


def has_screen() -> bool:
    """Return whether a window can be shown: Qt would end the process where it cannot."""
    if not needs_display() or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    display = os.environ.get("DISPLAY", "")
    local = re.fullmatch(r"(?:unix)?:(\d+)(?:\.\d+)?", display)
    if not local:
        return bool(display)
    path = f"/tmp/.X11-unix/X{local[1]}"
    for address in (path, f"\0{path}"):  # in the file system or (Linux) beside it
        with suppress(OSError):
            call(address)
            return True
    return False


def show(project: Path | None, database: Path, start: RunSettings | None) -> int:
    """Open the window; with `start`, begin that run at once. Qt is imported here, not for headless commands.

    Raises UserError where there is no screen.
    """
    if not has_screen():
        raise UserError(
            "There is no screen to open a window on.",
            "Start it from a desktop, or use the commands that need none, e.g. `rtc-inspector run PROJECT`.",
        )
    try:
        from rtc_inspector.app.gui import open_window
    except ImportError as error:
        raise UserError(
            f"Qt cannot be loaded: {error}.",
            f"Install its system libraries with `{system_install(QT)}`; `demo --headless` and `run` need none.",
        ) from error

    return open_window(project, database, start)
