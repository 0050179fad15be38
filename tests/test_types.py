"""Types, strictly: tests like the others, so that one core checks them while another has the next tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("platform", [sys.platform, *sorted({"linux", "darwin", "win32"} - {sys.platform})])
def test_types_hold_everywhere(platform: str) -> None:
    """On each system the names that it has: what only Linux has must not be asked for elsewhere."""
    cache = [] if platform == sys.platform else ["--cache-dir", f".mypy_cache/{platform}"]
    command = [sys.executable, "-m", "mypy", "--platform", platform, *cache]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
