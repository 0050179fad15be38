"""Types, strictly: tests like the others, so that one core checks them while another has the next tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DIFFERENT = re.compile(
    r"^\s*(?:import|from) (?:asyncio|ctypes|fcntl|grp|mmap|msvcrt|multiprocessing|os|pty|pwd|resource|select|selectors"
    r"|signal|socket|subprocess|sys|termios|tty|winreg)\b",
    re.MULTILINE,
)
"""Imports of what has other names on other systems."""


def check(*arguments: object) -> None:
    command = [sys.executable, "-m", "mypy", *map(str, arguments)]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_types_hold() -> None:
    check()


@pytest.mark.parametrize("platform", sorted({"linux", "darwin", "win32"} - {sys.platform}))
def test_what_only_this_system_has_is_not_asked_for_elsewhere(platform: str) -> None:
    """Only files that name what differs are looked at, and each by itself: their types were checked here."""
    files = [file for name in ("app", "core", "ui") for file in (ROOT / "rtc_inspector" / name).rglob("*.py")]
    concerned = [file.relative_to(ROOT) for file in files if DIFFERENT.search(file.read_text("utf-8"))]
    assert len(concerned) > 30
    alone = ("--config-file=", "--follow-imports=skip", "--ignore-missing-imports")
    check("--platform", platform, "--cache-dir", f".mypy_cache/{platform}", *alone, *concerned)
