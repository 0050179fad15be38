"""What the window does not load before it stands: each of these takes a twentieth of a second or more."""

from __future__ import annotations

import subprocess
import sys

LATER = {
    *("docker", "jinja2", "libcst", "llama_cpp", "huggingface_hub", "numpy", "pygit2", "pygments.lexer", "scipy"),
    *("pyqtgraph", "rapidfuzz", "rich", "sacrebleu", "sqlite_utils", "core.run.pipeline", "core.store.reader"),
}


def test_the_window_stands_without_what_it_does_not_need_yet() -> None:
    code = """
import sys
from app import cli
cli.build_parser(only_windows=True).parse_args(["open", "."])
import app.gui, ui.main_window
print(*sys.modules)
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "PySide6" in loaded and LATER.isdisjoint(loaded), LATER & set(loaded)
