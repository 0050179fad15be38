"""A method that nobody has heard of, in the window: it is shown, measured, compared and exported as any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import chat_server
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from themes import light
from toy_method import LINES, TWICE, answer
from waiting import wait_until

from rtc_inspector.core import kinds
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.project.regions import PASSES, SCORE
from rtc_inspector.ui.run.lists import run_title
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.run_dialog import RunDialog


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """Two runs of it are stored."""
    monkeypatch.setitem(kinds.TASKS, "twice", TWICE)
    (tmp_path / "lines.txt").write_text(LINES)
    with chat_server(answer) as server, open_store(tmp_path / "runs.sqlite") as store:
        for seed in (1, 2):
            settings = RunSettings(
                task="twice", regions=3, forward_samples=2, seed=seed, endpoint=EndpointSettings(server.address)
            )
            assert start(settings, tmp_path, store, lambda event: None, Control()).status == "finished"
    remembered = Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    made = MainWindow(light(qapp), remembered)
    made.show()
    made.open_database(tmp_path / "runs.sqlite", tmp_path)
    wait_until(lambda: made.inspection.run is not None)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def test_its_items_samples_and_figures_are_shown_by_their_own_names(window: MainWindow) -> None:
    parts, run = window.parts, window.inspection.run
    assert run is not None and run_title(run).endswith("· finished · agreement 1.00")
    wait_until(lambda: len(parts.regions.regions.all_items) == 3)
    table = parts.regions.regions
    assert table.headerData(SCORE, parts.regions.table.horizontalHeader().orientation()) == "Agreement"
    assert [table.index(row, SCORE).data() for row in range(3)] == ["1.00"] * 3
    assert {table.index(row, PASSES).data() for row in range(3)} == {""}, "it counts nothing"
    assert "agreement 1.00" in parts.status.summary.text()
    window.browsing.choose(table.all_items[0].id)
    wait_until(lambda: len(parts.roundtrip.cards) == 3)
    first, second, echo = parts.roundtrip.cards
    assert first.spoken().startswith("Wording:") and "shared words 1.00 to Wording" in second.spoken()
    assert "Echo" in echo.spoken() and "pass" in echo.spoken().lower()
    assert "add the prices please" in first.sample.text
    assert parts.code.editor.toPlainText().startswith("add the prices"), "an item without a file stands alone"
    assert [block.tag for block in parts.code.editor.blocks] == ["1.00"]


def test_runs_of_it_are_compared_by_its_figure(window: MainWindow) -> None:
    window.comparing.compare([1, 2])
    page = window.comparing.page
    wait_until(lambda: bool(page.runs.model.rowCount()))
    assert page.runs.model.index(0, 2).data().startswith("1.00")
    assert "agreement of run 2 minus that of run 1" in page.summary.verdict.text()


def test_figures_of_compared_runs_are_those_of_all_of_them(window: MainWindow) -> None:
    window.comparing.compare([1, 2])
    page = window.comparing.page
    wait_until(lambda: bool(page.comparisons))
    page.figures_button.click()
    wait_until(lambda: page.in_figures)
    assert not page.runs.isVisible()
    page.go_back()
    assert not page.in_figures and page.runs.isVisible()


def test_it_can_be_chosen_for_the_next_run(window: MainWindow) -> None:
    dialog = RunDialog(window.control.settings, window)
    dialog.task.setCurrentIndex(dialog.task.findData("twice"))
    dialog.show()
    assert dialog.fields["seed"].box.isVisible() and not dialog.fields["backward_samples"].box.isVisible()
    assert (dialog.settings().task, dialog.settings().forward_temperature) == ("twice", 0.5)
    dialog.close()
