"""The button that goes on: with a first run, with a stopped one, at the next start."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from notebooks import notebook
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton
from store_cases import filled
from themes import light
from waiting import wait_until

from rtc_inspector.core.regions.candidates import how_many
from rtc_inspector.core.run.events import Control, Event, RunStarted
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.reading.inspection import Wanted
from rtc_inspector.ui.run.control import A_CHECK, A_RUN
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.run_dialog import RunDialog

Open = Callable[[], MainWindow]


@pytest.fixture
def open_window(qapp: QApplication, tmp_path: Path) -> Iterator[Open]:
    made: list[MainWindow] = []
    remembered = Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))

    def make() -> MainWindow:
        made.append(MainWindow(light(qapp), remembered))
        made[-1].resize(1280, 800)
        made[-1].show()
        return made[-1]

    yield make
    for each in made:
        each.end()
        wait_until(lambda each=each: not each.isVisible())
        each.deleteLater()


def begin(window: MainWindow, name: str, *events: Event) -> threading.Event:
    """Have something of this name at work that says these events, until it is released or stopped."""
    release = threading.Event()

    def job(emit: Callable[[Event], None], control: Control) -> None:
        for event in events:
            emit(event)
        while not (control.stopped or release.wait(0.01)):
            pass

    window.control.database = window.inspection.database
    assert window.control._begin(job, name, window.project.root)
    return release


def opened(window: MainWindow, tmp_path: Path, database: Path) -> None:
    """A project with a script of settings, and a file with much more to draw from."""
    root = tmp_path / "shop-project"
    (root / "docs").mkdir(parents=True, exist_ok=True)
    (root / "docs" / "conf.py").write_text("project = 'shop'\n" * 40)
    (root / "cart.py").write_text("def total(prices):\n    found = 0\n    return found + sum(prices)\n")
    window.open_database(database, root)
    window.open_project(root)
    wait_until(lambda: window.project.codebase is not None and window.parts.shows_views)


def test_a_project_without_a_run_offers_its_first_one_over_the_fullest_file(open_window: Open, tmp_path: Path) -> None:
    window = open_window()
    opened(window, tmp_path, tmp_path / "none.sqlite")
    go_on = window.parts.roundtrip._empty.go_on
    wait_until(go_on.isVisible)
    assert window.parts.code.path == "cart.py"
    assert go_on.text() == "Run on 20 regions"
    asked: list[bool] = []
    window.queueing.start = lambda *_: bool(asked.append(True)) or True  # type: ignore[method-assign]
    go_on.click()
    assert asked == [True]


def test_a_run_that_was_stopped_is_gone_on_with_by_the_button(open_window: Open, tmp_path: Path) -> None:
    case = filled(tmp_path, items=10, finish=False)
    with open_store(case.database) as store:
        store.finish_run(case.run_id, "interrupted", [])
    window = open_window()
    opened(window, tmp_path, case.database)
    wait_until(lambda: window.inspection.run is not None)
    run = window.inspection.run
    assert run is not None
    button = window.parts.bar.run
    wait_until(lambda: button.text() == "Resume")
    assert f"{run.items_complete} of {run.items_expected} done" in button.toolTip()
    window.resize(1440, 900)
    assert button.text() == f"Resume ({run.items_complete} of {run.items_expected})"
    asked: list[object] = []
    window.queueing.resume = lambda run, database: bool(asked.append(run.id))  # type: ignore[method-assign]
    window.queueing.start = lambda *_: bool(asked.append("new")) or True  # type: ignore[method-assign]
    button.click()
    button.menu().actions()[0].trigger()
    assert asked == [case.run_id, "new"]
    begin(window, A_RUN)
    assert button.text() == "Queue" and button.menu() is None


def started(run_id: int) -> RunStarted:
    return RunStarted(run_id, False, "synthesis", "shop", "m", "none", 10)


def answer(window: MainWindow, words: str) -> None:
    """Press a button of the question on show."""
    asked = next(each for each in window.findChildren(QDialog) if each.isVisible())
    next(each for each in asked.findChildren(QPushButton) if each.text() == words).click()


def test_a_window_with_a_run_at_work_asks_once_and_goes_on_with_it_later(open_window: Open, tmp_path: Path) -> None:
    window = open_window()
    opened(window, tmp_path, tmp_path / "none.sqlite")
    begin(window, A_RUN, started(7))
    wait_until(lambda: window.control.coordinator.run_id == 7)
    window.close()
    assert window.isVisible()
    answer(window, "Stay")
    assert window.control.busy and window.isVisible()
    window.close()
    answer(window, "Go on at next start")
    wait_until(lambda: not window.isVisible())
    later = open_window()
    begun: list[int] = []
    later.control.resume = lambda run_id, *_: bool(begun.append(run_id)) or True  # type: ignore[method-assign]
    wait_until(lambda: begun == [7])
    assert not later.queueing.queue.held and not later.queueing.queue.runs


def test_a_round_trip_asked_for_while_the_tests_answer_comes_after_them(open_window: Open, tmp_path: Path) -> None:
    window = open_window()
    opened(window, tmp_path, tmp_path / "none.sqlite")
    release = begin(window, A_CHECK)
    probed: list[object] = []
    window.control.probe = lambda *given: bool(probed.append(given[2])) or True  # type: ignore[method-assign]
    window.by_hand.probe("cart.py", 0, 10)
    assert probed == [] and window.parts.notices.isHidden()
    release.set()
    wait_until(lambda: probed == ["cart.py"])


def test_a_key_shows_the_figures_for_a_room_and_leaves_them(open_window: Open, tmp_path: Path) -> None:
    case = filled(tmp_path, items=10)
    window = open_window()
    opened(window, tmp_path, case.database)
    wait_until(lambda: window.inspection.run is not None)
    page, run = window.big_figures, case.run()
    window.commands["big-figures"].trigger()
    wait_until(page.isVisible)
    title, value, interval = page.figures[0]
    assert (
        title.text() == "RTC"
        and f"{run.headline.value:.2f}" == value.text()
        and f"n {run.headline.n}" in interval.text()
    )
    assert run.project_name in page.about.text()
    window.commands["big-figures"].trigger()
    assert not page.isVisible() and window.parts.code.isVisible()


def test_a_page_that_figures_for_a_room_stood_over_comes_back(open_window: Open, tmp_path: Path) -> None:
    first, second = filled(tmp_path, items=10), filled(tmp_path, items=10, seed=5)
    window = open_window()
    opened(window, tmp_path, first.database)
    wait_until(lambda: window.inspection.run is not None)
    shown = window.inspection.run.id
    window.comparing.compare([first.run_id, second.run_id])
    page = window.comparing.page
    for leave in (
        window.commands["big-figures"].trigger,
        lambda: QTest.keyClick(window.big_figures, Qt.Key.Key_Escape),
    ):
        window.commands["big-figures"].trigger()
        wait_until(window.big_figures.isVisible)
        leave()
        assert page.isVisible() and not window.big_figures.isVisible()
    window.commands["big-figures"].trigger()
    window.inspection.choose_run(Wanted(next(run for run in (first.run_id, second.run_id) if run != shown)))
    wait_until(lambda: window.inspection.run is not None and window.inspection.run.id != shown)
    assert window.big_figures.isVisible() and not window.parts.shows(page)  # a room goes on to see the run at work
    window.commands["big-figures"].trigger()
    assert window.parts.code.isVisible() and not page.isVisible()


def test_a_first_run_is_offered_on_no_more_than_there_are(open_window: Open, tmp_path: Path) -> None:
    window = open_window()
    opened(window, tmp_path, tmp_path / "none.sqlite")
    window.control.adopt(RunSettings(regions=500))
    there = how_many(window.project.codebase.files, RunSettings().region, 500)
    go_on = window.parts.roundtrip._empty.go_on
    wait_until(lambda: go_on.text() == f"Run on {there} regions")
    assert 0 < there < 500
    book = notebook(tmp_path / "small.ipynb", ("code", "x = 1"), ("code", "y = x + 1\nz = y"))
    window.open_project(book)
    wait_until(lambda: go_on.text() == "Run on 2 cells")
    dialog = RunDialog(window.control.settings, there=2)
    assert dialog.cost.text().startswith("There are 2 cells. 6 descriptions")


def test_settings_name_how_many_a_first_run_draws(open_window: Open, tmp_path: Path) -> None:
    window = open_window()
    opened(window, tmp_path, tmp_path / "none.sqlite")
    window.control.adopt(RunSettings(regions=12))
    assert window.parts.roundtrip._empty.go_on.text() == "Run on 12 regions"
