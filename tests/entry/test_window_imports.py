"""What the window does not load before it stands: each of these takes a twentieth of a second or more."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from rtc_inspector.app.cli import _GROUPS, build_parser
from rtc_inspector.app.windows import show
from rtc_inspector.core.errors import UserError

LATER = {
    *("docker", "jinja2", "libcst", "llama_cpp", "huggingface_hub", "numpy", "pygit2", "pygments.lexer", "scipy"),
    *(
        "pyqtgraph",
        "rapidfuzz",
        "rich",
        "sacrebleu",
        "sqlite_utils",
        "rtc_inspector.core.run.pipeline",
        "rtc_inspector.core.store.reader",
    ),
}

NOT_NEEDED = {
    "judge": {"docker", "jinja2", "libcst", "llama_cpp", "huggingface_hub", "numpy", "scipy", "PySide6"},
    "runs": {"docker", "jinja2", "libcst", "llama_cpp", "huggingface_hub", "numpy", "pygit2", "sacrebleu", "PySide6"},
    "models": {"libcst", "llama_cpp", "huggingface_hub", "numpy", "pygit2", "sacrebleu", "PySide6"},
    "compare": {"docker", "libcst", "llama_cpp", "huggingface_hub", "pygit2", "PySide6"},
}


def test_the_window_stands_without_what_it_does_not_need_yet() -> None:
    code = """
import sys
from pathlib import Path
from rtc_inspector.app import cli
cli.build_parser("open").parse_args(["open", "."])
import rtc_inspector.app.gui, rtc_inspector.ui.main_window
print(*sys.modules)
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "PySide6" in loaded and LATER.isdisjoint(loaded), LATER & set(loaded)


def test_each_command_is_found_without_loading_the_others() -> None:
    """The whole command line has the commands that the groups name, and each group alone has its own."""
    assert commands_of(build_parser()) == [name for names in _GROUPS.values() for name in names]
    for names in _GROUPS.values():
        for name in names:
            assert commands_of(build_parser(name)) == list(names)
    assert commands_of(build_parser("no such command")) == commands_of(build_parser("--help"))


def commands_of(parser: argparse.ArgumentParser) -> list[str]:
    (subparsers,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return list(subparsers.choices)


@pytest.mark.parametrize("command", NOT_NEEDED)
def test_a_command_loads_nothing_that_it_does_not_need(command: str) -> None:
    code = f"import sys\nfrom rtc_inspector.app import cli\ncli.build_parser({command!r})\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "rich" in loaded and NOT_NEEDED[command].isdisjoint(loaded), NOT_NEEDED[command] & set(loaded)


def test_qt_without_its_libraries_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "rtc_inspector.app.gui", None)  # as where libEGL is missing
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    with pytest.raises(UserError, match="Qt cannot be loaded"):
        show(None, tmp_path / "runs.sqlite", None)
