"""Starting an editing run from the window: its defaults, its own options, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit
from themes import light
from waiting import wait_until

from rtc_inspector.core.kinds import configured
from rtc_inspector.core.settings import EditSettings, RunSettings
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.run_dialog import RunDialog

EDITING = configured(RunSettings(regions=30, forward_samples=2, model="/m.gguf"), "editing")


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path) -> Iterator[MainWindow]:
    remembered = Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    made = MainWindow(light(qapp), remembered)
    made.open_database(tmp_path / "new.sqlite")
    yield made
    made.close()
    wait_until(lambda: not made.control.busy)
    made.deleteLater()


def choose(dialog: RunDialog, task: str) -> None:
    dialog.task.setCurrentIndex(dialog.task.findData(task))


def test_choosing_editing_gives_its_defaults_and_keeps_the_rest(qapp: QApplication) -> None:
    start = RunSettings(regions=30, forward_samples=2, model="/m.gguf")
    dialog = RunDialog(start)
    choose(dialog, "editing")
    assert dialog.settings() == EDITING
    choose(dialog, "synthesis")
    assert dialog.settings() == start


def shown(dialog: RunDialog, path: str) -> bool:
    return dialog.fields[path].box.isVisible()


def write(dialog: RunDialog, path: str, text: str) -> None:
    box = dialog.fields[path].box
    assert isinstance(box, QLineEdit)
    box.setText(text)


def test_what_is_shown_is_what_the_task_has(qapp: QApplication) -> None:
    dialog = RunDialog(RunSettings())
    dialog.show()
    assert not shown(dialog, "edit.endings") and shown(dialog, "oracle.sandbox")
    choose(dialog, "editing")
    assert shown(dialog, "edit.endings") and not shown(dialog, "oracle.sandbox")
    dialog.fields["edit.tests"]._put(True)
    assert shown(dialog, "oracle.sandbox")
    write(dialog, "edit.file", "edits.jsonl")
    assert not shown(dialog, "edit.endings") and not shown(dialog, "oracle.sandbox")
    assert dialog.settings().edit.tests is False
    choose(dialog, "chain")
    assert shown(dialog, "chain.steps") and not shown(dialog, "forward_samples")


def test_options_of_edits_come_back_unchanged(qapp: QApplication) -> None:
    edit = EditSettings(
        revision="v1", since="2020-01-02", until="2021-01-02", paths=("a b", "c*"), endings=(".py", "Makefile"),
        max_characters=500, max_lines=9, tests=True, skip_merges=False,
    )  # fmt: skip
    settings = configured(RunSettings(edit=edit), "editing")
    assert RunDialog(settings).settings() == settings
    dialog = RunDialog(EDITING)
    write(dialog, "edit.endings", "py, *.go .rs")
    assert dialog.settings().edit.endings == (".py", ".go", ".rs")
    write(dialog, "edit.paths", "a b,  lib/*.c")
    assert dialog.settings().edit.paths == ("a b", "lib/*.c")


def test_nothing_starts_with_a_date_or_a_file_that_is_none(qapp: QApplication, tmp_path: Path) -> None:
    dialog = RunDialog(EDITING)
    dialog.show()
    write(dialog, "edit.since", "last year")
    dialog.buttons.button(dialog.buttons.StandardButton.Ok).click()
    assert dialog.isVisible() and "last year" in dialog.problem.text()
    write(dialog, "edit.file", str(tmp_path / "none.jsonl"))
    dialog.buttons.button(dialog.buttons.StandardButton.Ok).click()
    assert dialog.isVisible() and "none.jsonl" in dialog.problem.text()
    (tmp_path / "none.jsonl").write_text("{}")
    dialog.buttons.button(dialog.buttons.StandardButton.Ok).click()
    assert dialog.result() == QDialog.DialogCode.Accepted
    assert dialog.settings().edit.file == str(tmp_path / "none.jsonl")


def test_the_top_bar_takes_up_a_task_and_remembers_it(window: MainWindow) -> None:
    task = window.parts.bar.task
    task.box.setCurrentIndex(1)
    task.box.activated.emit(1)
    assert (window.control.settings.task, window.control.settings.forward_temperature) == ("editing", 1.0)
    assert window.remembered.run_settings().task == "editing"
    window.control.adopt(RunSettings())
    assert task.box.currentText() == "Synthesis"


def test_a_folder_without_history_is_refused_in_a_sentence(window: MainWindow, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    window.open_project(folder)
    assert window.start_run(RunSettings(task="editing"))
    wait_until(lambda: not window.control.busy, 20)
    wait_until(lambda: "is not in a git repository" in window.parts.notices.problem.text())
