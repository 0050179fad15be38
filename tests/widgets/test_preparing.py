"""What stands in the middle until a model begins to write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from themes import light
from waiting import wait_until

from rtc_inspector.core.generation import Role
from rtc_inspector.core.kinds import task
from rtc_inspector.core.run.events import Control, Event, Progress, TextStreamed
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.panels.run import Preparing
from rtc_inspector.ui.run.control import A_CHECK, A_RUN
from rtc_inspector.ui.shell.remembered import Remembered


def test_each_step_has_its_time_and_one_that_never_came_is_left_out(qapp: QApplication) -> None:
    now = [0.0]
    page = Preparing(lambda: now[0])
    page.begin(task("synthesis"))
    page.note(Progress("loading the model", 0, 1))
    now[0] = 4.0
    page.note(Progress("learning the tests: collected once", 12, 51))
    now[0] = 6.5
    page._tell()
    assert [[cell.text() for cell in row] for row in page.rows[:3]] == [
        ["✓", "Load the model", "", "4 s"],
        ["▸", "Learn the tests", "collected once 12 of 51", "2 s"],
        ["·", "Find regions", "", ""],
    ]
    assert page.words == "Learn the tests · 6 s" and page.advice.text().startswith("6 s so far. What is learned")
    now[0] = 16.0
    page.note(Progress("learning the tests: collected once", 41, 51))
    assert page.rows[1][2].text() == "collected once 41 of 51, 2 s left"
    page.begin(task("editing"))
    now[0] = 70.0
    page.note(Progress("sampling edits", 1, 10))
    now[0] = 75.0
    page._tell()
    assert page.rows[1][0].isHidden() and page.rows[1][1].isHidden()
    assert "learned" not in page.advice.text() and page.words.endswith("59 s")
    page.end()


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path) -> Iterator[MainWindow]:
    remembered = Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    made = MainWindow(light(qapp), remembered)
    made.resize(1280, 800)
    made.show()
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    made.open_database(tmp_path / "runs.sqlite")
    made.open_project(root)
    wait_until(lambda: made.project.codebase is not None and made.parts.shows_views)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def at_work(window: MainWindow, name: str, *events: Event) -> Callable[[], None]:
    """Say that something of this name is at work in the window, and what it says; gives what lets the rest come."""
    release = threading.Event()
    first, *rest = events

    def job(emit: Callable[[Event], None], control: Control) -> None:
        emit(first)
        while not (release.wait(0.01) or control.stopped):
            pass
        for event in rest:
            emit(event)
        while not control.stopped:
            release.wait(0.01)

    window.control.database = window.inspection.database
    assert window.control._begin(job, name, window.project.root)
    return release.set


def test_a_run_says_in_the_middle_what_it_does_until_its_model_writes(window: MainWindow) -> None:
    parts = window.parts
    write = at_work(window, A_RUN, Progress("loading the model", 0, 1), TextStreamed(1, Role.FORWARD, 0, "Adds"))
    assert parts.preparing.isVisible() and not parts.code.isVisible()
    wait_until(lambda: parts.preparing.rows[0][2].text() == "loading the model")
    assert parts.roundtrip._empty._heading.text().startswith("Load the model")
    write()
    wait_until(parts.code.isVisible)
    window.control.coordinator.stop()
    wait_until(lambda: not window.control.busy)
    assert parts.roundtrip._empty._heading.text() == "Ready to run"


def test_who_wants_to_see_the_code_meanwhile_sees_it(window: MainWindow) -> None:
    parts = window.parts
    at_work(window, A_RUN, Progress("loading the model", 0, 1))
    QTest.keyClick(parts.preparing.leave, " ")
    assert parts.code.isVisible()
    wait_until(lambda: "loading" in parts.preparing.rows[0][2].text())
    assert parts.code.isVisible()
    window.control.coordinator.stop()
    wait_until(lambda: not window.control.busy)
    at_work(window, A_CHECK, Progress("starting a sandbox", 0, 1))
    assert parts.code.isVisible()
