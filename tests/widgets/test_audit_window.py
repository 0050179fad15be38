"""The metric audit in the real window over a real store: scored there, read, chosen, left for a sample, written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import fill_store
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import show_figure
from themes import light
from waiting import wait_until

from rtc_inspector.core.figures import Link, Table
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.run.lists import RunsDialog
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.window.pages import scoring


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with open_store(tmp_path / "runs.sqlite") as store:
        for seed in (3, 4):
            fill_store(store, tmp_path / "shop", 20, seed)
    return tmp_path / "runs.sqlite"


@pytest.fixture
def window(qapp: QApplication, database: Path) -> Iterator[MainWindow]:
    remembered = Remembered(QSettings(str(database.with_name("settings.ini")), QSettings.Format.IniFormat))
    made = MainWindow(light(qapp), remembered)
    made.show()
    made.open_database(database)
    wait_until(lambda: made.inspection.run is not None)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def unscored(database: Path) -> int:
    with open_reader(database) as reader:
        return sum("codebleu" not in row.scores for run in (1, 2) for row in reader.candidates(run))


def test_samples_are_scored_on_the_page_and_lead_back_to_the_code(window: MainWindow, database: Path) -> None:
    window.auditing.audit([1, 2])
    page = window.auditing.page
    wait_until(lambda: page.score_button.isVisible())
    waiting = unscored(database)
    assert page.score_button.text() == f"Score {waiting:,} samples" and "not scored yet" in page.finding.text()
    page.score_button.click()
    assert not page.score_button.isEnabled() and page.stop_button.isVisible()
    wait_until(lambda: page.drawings.figures and not page.score_button.isVisible(), seconds=60)
    wait_until(lambda: not page.stop_button.isVisible())
    assert unscored(database) == 0
    assert "tells pass from fail with AUC" in page.finding.text()
    assert {"spreads", "distribution", "agreement", "auc", "scatter"} <= {each.name for each in page.drawings.figures}
    show_figure(page.tables, "high-and-fail")
    table = page.tables.view.figure
    assert isinstance(table, Table)
    link = table.rows[0].links[0]
    page.tables.opened.emit(link)
    wait_until(lambda: window.inspection.run is not None and window.inspection.run.id == link.run)
    wait_until(lambda: any(card.sample.id == link.sample for card in window.parts.roundtrip.cards))
    assert not page.isVisible()


def test_another_metric_is_drawn_when_it_is_chosen(window: MainWindow) -> None:
    window.auditing.audit([1])
    page = window.auditing.page
    wait_until(lambda: page.score_button.isVisible())
    page.score_button.click()
    wait_until(lambda: page.drawings.figures and not page.score_button.isVisible(), seconds=60)
    show_figure(page.drawings, "distribution")
    page.drawings.chosen.emit("metric", "chrf")
    wait_until(lambda: page.drawings.view.figure is not None and page.drawings.view.figure.title.endswith("of chrF"))
    QTest.keyClick(page, Qt.Key.Key_Escape)
    wait_until(lambda: not page.isVisible())


def test_one_run_or_several_are_chosen_in_the_list(window: MainWindow) -> None:
    overview = window.inspection.overview
    assert overview is not None
    found: list[list[int]] = []
    dialog = RunsDialog(overview.runs, 2, window)
    dialog.audited.connect(found.append)
    dialog.show()
    assert dialog.audit_button.isEnabled() and not dialog.compare_button.isEnabled()
    QTest.mouseClick(dialog.audit_button, Qt.MouseButton.LeftButton)
    assert [list(each) for each in found] == [[2]]
    dialog.deleteLater()


def test_scoring_stops_at_once_and_keeps_what_is_done(database: Path) -> None:
    errand = scoring(database, [1, 2])
    errand.stop()
    errand.start()
    errand.join(30)
    assert not errand.is_alive() and errand.error is None
    assert unscored(database) > 0


def test_a_run_of_another_page_is_left_first(window: MainWindow) -> None:
    window.comparing.compare([1, 2])
    assert window.comparing.page.isVisible()
    window.auditing.audit([1])
    assert window.auditing.page.isVisible() and not window.comparing.page.isVisible()
    window.comparing.compare([1, 2])
    assert window.comparing.page.isVisible() and not window.auditing.page.isVisible()
    window.auditing.page.tables.opened.emit(Link())
