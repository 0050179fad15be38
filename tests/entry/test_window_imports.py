"""What the window does not load before it stands: each of these takes a tenth of a second or more."""

from __future__ import annotations

import subprocess
import sys

LATER = {"jinja2", "libcst", "pygit2", "pyqtgraph", "rapidfuzz", "sacrebleu", "llama_cpp", "docker", "rich"}


def test_the_window_stands_without_what_it_does_not_need_yet() -> None:
    code = "import sys, app.gui, ui.main_window; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "PySide6" in loaded and LATER.isdisjoint(loaded), LATER & set(loaded)
