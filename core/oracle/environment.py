"""An environment with what a project requires, made by pip on the user's request and kept by its content."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from platformdirs import user_cache_path

from rtc_inspector.core.errors import TargetError
from rtc_inspector.core.oracle.interpreter import Interpreter, describe
from rtc_inspector.core.oracle.requirements import Install
from rtc_inspector.core.oracle.stoppable import lock, run_to_end
from rtc_inspector.core.waiting import Beat, unheard

PATIENCE = 1800.0
KEPT_SECONDS = 90 * 24 * 3600
"""Environments that were not used for so long go."""
_DONE = "rtc-inspector.json"

Notice = Callable[[str], None]


def environments_folder() -> Path:
    """Return the folder where the environments of projects are kept."""
    return user_cache_path("rtc-inspector") / "environments"


def environment_for(
    base: Interpreter, install: Install, folder: Path, notice: Notice, beat: Beat = unheard
) -> Interpreter:
    """The interpreter of an environment that holds what is asked, made unless `folder` has one of the same content.

    Raises TargetError, and what `beat` raises; then nothing half made stays.
    """
    home = _home(base, install, folder)
    with _locked(folder, home.name, beat):
        if not (home / _DONE).is_file():
            _make(home, base, install, notice, beat)
        os.utime(home)
    _sweep(folder, home)
    return describe(home / "bin" / "python")


def is_made(base: Interpreter, install: Install, folder: Path) -> bool:
    """Return whether `folder` has an environment that holds what is asked. Raises TargetError."""
    return (_home(base, install, folder) / _DONE).is_file()


def _home(base: Interpreter, install: Install, folder: Path) -> Path:
    return folder / install.key(str(base.executable), base.version_text, base.tag)


def _make(home: Path, base: Interpreter, install: Install, notice: Notice, beat: Beat) -> None:
    """Make it in place, for environments cannot be moved; what is not finished is made anew. Raises TargetError."""
    notice(install.said)
    shutil.rmtree(home, ignore_errors=True)
    try:
        # Without site packages, so that no line of a .pth file runs outside the sandbox.
        venv = [str(base.executable), "-I", "-S", "-B", "-m", "venv", "--without-pip", str(home)]
        _run(venv, "make an environment", beat)
        pip = [*_pip(base), "--python", str(home / "bin" / "python"), *install.pip_arguments(str(install.wheels))]
        _run([*pip, *install.wanted.lines], "install what the project requires", beat)
        (home / _DONE).write_text(json.dumps({"requirements": install.wanted.lines, "from": install.wanted.sources}))
        home.chmod(0o755)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise


def _pip(base: Interpreter) -> list[str]:
    """A pip that can install into another environment. Raises TargetError."""
    for executable in (sys.executable, str(base.executable)):
        command = [executable, "-I", "-m", "pip"]
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run([*command, "--version"], capture_output=True, check=True, timeout=60)
            return command
    raise TargetError(
        "There is no pip to install the requirements with.",
        f"Run `{sys.executable} -m ensurepip`, or install them yourself and name their interpreter with --python.",
    )


def _run(command: Sequence[str], what: str, beat: Beat) -> None:
    try:
        run_to_end(command, PATIENCE, beat)
    except subprocess.CalledProcessError as error:
        raise _failed(what, error.stderr or error.stdout) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(what, str(error)) from error


def _failed(what: str, said: str) -> TargetError:
    lines = [line for line in said.splitlines() if line.startswith("ERROR")] or said.strip().splitlines()[-1:]
    reason = (lines or ["it said nothing"])[0].removeprefix("ERROR: ").rstrip(".")
    return TargetError(
        f"pip cannot {what}: {reason}.",
        "Only wheels are installed: check that pip reaches its index, build those that are missing (`pip wheel`) into "
        "a folder and give it with --wheels, or make an environment yourself and name its interpreter with --python.",
    )


@contextmanager
def _locked(folder: Path, name: str, beat: Beat) -> Iterator[None]:
    """One maker at a time. Raises TargetError, and what `beat` raises."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.lock").open("w") as file:
            lock(file, beat)
            yield
    except OSError as error:
        raise TargetError(
            f"No environment can be made in {folder}: {error.strerror}.", "Free some space, or set XDG_CACHE_HOME."
        ) from error


def _sweep(folder: Path, used: Path) -> None:
    """Remove what nobody used for a long time."""
    for old in folder.iterdir():
        with suppress(OSError):  # another process may sweep too
            if old != used and old.is_dir() and old.stat().st_mtime < time.time() - KEPT_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
                old.with_suffix(".lock").unlink(missing_ok=True)
