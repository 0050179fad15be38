"""Many programs on one database while its writers are killed: the benchmark of that, for a few rounds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_nothing_committed_is_lost_when_writers_are_killed_among_other_programs(tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/crowd.py", "--rounds", "3", "--no-windows", "--folder", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    figures = dict(line.split("=") for line in done.stdout.splitlines())
    assert figures["lost"] == figures["damaged"] == "0" and int(figures["committed"]) > 10
