"""A project's own file in the window: what it sets is what a run there starts with, and holds nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from rtc_inspector.app.cli import build_parser
from rtc_inspector.app.options import heed_project_file
from rtc_inspector.app.running import run_settings
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.settings.project_file import ProjectFile
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.run.control import RunControl
from rtc_inspector.ui.shell.bars import NoticeBar
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.run_dialog import RunDialog

FILE = """
regions = 7
forward-temperature = 0.5
memory = 512
model = "small.gguf"
backward-endpoint = "http://127.0.0.1:9/v1"
"""


@pytest.fixture
def remembered(tmp_path: Path) -> Remembered:
    return Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def notices(qapp: QApplication) -> NoticeBar:
    return NoticeBar()


@pytest.fixture
def control(qapp: QApplication, remembered: Remembered, notices: NoticeBar) -> Iterator[RunControl]:
    gateway = Gateway()
    yield RunControl(gateway, remembered, notices)
    assert gateway.close()


def project(folder: Path, text: str = "") -> Path:
    folder.mkdir()
    if text:
        (folder / "rtc-inspector.toml").write_text(text)
    return folder


def by_command(folder: Path, *words: str) -> RunSettings:
    options = build_parser("run").parse_args(["run", str(folder), *words])
    heed_project_file(options)
    return run_settings(options)


@pytest.mark.parametrize("task", ["", 'task = "editing"'])
def test_a_run_begins_with_the_settings_that_the_command_line_takes(
    control: RunControl, tmp_path: Path, task: str
) -> None:
    folder = project(tmp_path / "shop", FILE + task)
    control.look_at(folder)
    assert control.settings == by_command(folder)
    control.choose_task("chain")
    assert control.settings == by_command(folder, "--task", "chain")


def test_what_a_file_sets_is_left_with_its_project_and_what_was_chosen_stays(
    control: RunControl, remembered: Remembered, tmp_path: Path
) -> None:
    control.adopt(replace(control.settings, seed=1, model="/mine.gguf", regions=30))
    control.look_at(project(tmp_path / "shop", FILE))
    control.adopt(replace(control.settings, seed=5, regions=8))
    assert (control.settings.oracle.memory_mib, control.settings.regions) == (512, 8)
    own = remembered.run_settings()
    assert (own.seed, own.model, own.oracle.memory_mib, own.forward_temperature) == (5, "/mine.gguf", 2048, 0.8)
    control.look_at(project(tmp_path / "other"))
    assert replace(control.settings, regions=8) == own and control.file.path is None
    control.look_at(tmp_path / "shop")
    assert (control.settings.regions, control.settings.seed) == (7, 5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("regoins = 3", "regoins is no setting"),
        ('task = "sewing"', "There is no task 'sewing'"),
        ("min-characters = 500", "500"),
        ('sandbox = "none"', "for the command line alone"),
    ],
)
def test_a_file_that_cannot_hold_is_told_of_and_sets_nothing(
    control: RunControl, notices: NoticeBar, tmp_path: Path, text: str, said: str
) -> None:
    before = control.settings
    control.look_at(project(tmp_path / "shop", text))
    assert (control.settings, control.file) == (before, ProjectFile())
    assert [said in notice.problem for notice, _ in notices._all] == [True], notices._all
    control.look_at(project(tmp_path / "other"))
    assert not notices._all


def test_the_dialog_says_what_comes_from_the_file_until_it_is_changed(control: RunControl, tmp_path: Path) -> None:
    control.look_at(project(tmp_path / "shop", FILE))
    dialog = RunDialog(control.settings, file=control.file)
    dialog.show()
    said = "From this project's rtc-inspector.toml: Forward model; Backward model; Regions; Temperature; Memory, MiB."
    assert dialog.origin.text() == said
    dialog.fields["regions"]._put(9)
    assert "Regions" not in dialog.origin.text() and "Memory" in dialog.origin.text()
    dialog.task.setCurrentIndex(dialog.task.findData("directive"))
    assert dialog.settings().forward_temperature == 0.5
    dialog.close()
    assert not RunDialog(RunSettings()).origin.text()


def test_a_server_named_for_both_passes_is_asked_as_the_file_says(control: RunControl, tmp_path: Path) -> None:
    folder = project(
        tmp_path / "shop", 'regions = 7\nendpoint = "http://127.0.0.1:9/v1"\nendpoint-model = ["a", "b"]\n'
    )
    control.look_at(folder)
    assert control.settings.endpoint == EndpointSettings("http://127.0.0.1:9/v1", "a")
    assert control.settings == by_command(folder)
