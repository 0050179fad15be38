"""Types, strictly: a test like the others, so that one core checks them while another has the next tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_types_hold_everywhere() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy"], cwd=Path(__file__).parents[1], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
