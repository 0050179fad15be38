"""The window on a benchmark file: the generated project is open, and its task is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from waiting import wait_until

from core.settings import BenchmarkSettings
from core.trips.benchmark import written_benchmark
from resources import path as resource
from ui.main_window import MainWindow
from ui.shell.remembered import Remembered
from ui.style.appearance import Appearance


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path) -> Iterator[MainWindow]:
    remembered = Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    made = MainWindow(Appearance(qapp, "light"), remembered)
    made.show()
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def test_a_benchmark_brings_its_task_and_another_project_leaves_it(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = str(resource("benchmark", "pocket.jsonl"))
    root = written_benchmark(BenchmarkSettings(file)).root
    window.open_project(root)
    wait_until(lambda: window.project.codebase is not None and window.project.codebase.root == root)
    wait_until(lambda: window.control.settings.task == "benchmark")
    assert window.control.settings.benchmark.file == file
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n")
    window.open_project(other)
    wait_until(lambda: window.project.codebase is not None and window.project.codebase.root == other)
    wait_until(lambda: window.control.settings.task == "synthesis")
