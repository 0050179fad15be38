"""The recorded run of the demonstration: whole at once, left for the window's own run when that writes."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from store_cases import filled
from themes import light
from waiting import wait_until

from rtc_inspector import resources
from rtc_inspector.core.run.events import TextStreamed
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.remembered import Remembered

BUNDLE = resources.path("recorded", "demo.zip")


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = MainWindow(light(qapp), Remembered(settings))
    made.resize(1280, 800)
    made.show()
    yield made
    made.end()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def shown(window: MainWindow) -> None:
    window.open_database(filled(window.remembered.folder, items=4).database)
    wait_until(lambda: window.inspection.run is not None)
    window.commands["recorded"].trigger()
    wait_until(lambda: window.recorded.before is not None and window.parts.roundtrip.selected is not None)


def test_it_is_whole_at_once_and_says_what_it_is(window: MainWindow) -> None:
    shown(window)
    run, item = window.inspection.run, window.inspection.item
    assert run is not None and item is not None and item.headline
    assert run.name.startswith("recorded on ") and run.status == "finished" and run.items_complete == 10
    assert run.name in window.parts.offers.text.text()
    wait_until(lambda: window.project.codebase is not None and window.parts.code.path == item.path)
    assert window.inspection.looked_at.project == resources.path("demo").resolve()
    assert window.parts.diff.view.isVisible()


def test_a_run_is_stored_where_the_window_looked_before_and_is_shown_once_it_writes(window: MainWindow) -> None:
    shown(window)
    before = window.recorded.before
    assert before is not None and before != window.inspection.database
    placed: list[object] = []
    window.queueing.start = lambda root, database, *_: bool(placed.append(database))  # type: ignore[method-assign]
    window.start_run()
    assert placed == [before]
    window.control.database = before
    window.control.batch.emit([TextStreamed(1, "forward", 0, "Returns", None)])
    assert window.inspection.database == before and window.recorded.before is None
    assert all("recorded" not in offer.text for offer in window.parts.offers.offers)


def test_who_looks_around_is_not_taken_away_from_it(window: MainWindow) -> None:
    shown(window)
    window.parts.tabs.tabBarClicked.emit(1)
    window.control.database = window.recorded.before
    window.control.batch.emit([TextStreamed(1, "forward", 0, "Returns", None)])
    assert window.recorded.before is not None
    window.parts.offers.buttons[0].click()
    assert window.recorded.before is None


def test_it_is_small_and_names_no_folder_of_the_machine_it_was_made_on() -> None:
    assert BUNDLE.stat().st_size < 200_000
    with zipfile.ZipFile(BUNDLE) as archive:
        for name in archive.namelist():
            found = re.search(rb"/(?:home|root|work|tmp|Users)/\w", archive.read(name))
            assert found is None, (name, found)
