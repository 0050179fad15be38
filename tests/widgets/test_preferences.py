"""Settings in one place, and the tour: each change holds at once and is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from store_cases import filled
from themes import light
from waiting import wait_until

from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.presenters import recites
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.welcome import Step, Tour
from rtc_inspector.ui.style.theme import DARK
from rtc_inspector.ui.window.preferences import SettingsDialog


@pytest.fixture
def remembered(tmp_path: Path) -> Remembered:
    return Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def window(qapp: QApplication, remembered: Remembered, tmp_path: Path) -> Iterator[MainWindow]:
    appearance = light(qapp)
    made = MainWindow(appearance, remembered)
    made.show()
    made.activateWindow()
    case = filled(tmp_path, items=12)
    made.open_database(case.database, case.root)
    wait_until(lambda: made.inspection.run is not None and made.parts.shows_views)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    appearance.choose("light")
    made.deleteLater()


def choose(dialog: SettingsDialog, name: str, value: object) -> None:
    box = getattr(dialog, name)
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def sizes(window: MainWindow) -> list[int]:
    """Of rows and columns, whose text grows."""
    regions, files = window.parts.regions.table, window.parts.metrics.table
    rows = [view.verticalHeader().defaultSectionSize() for view in (regions, files)]
    return [*rows, files.columnWidth(1), window.parts.tree.columnWidth(1)]


def test_what_is_chosen_holds_at_once_and_the_next_time(window: MainWindow, remembered: Remembered) -> None:
    seen: list[SettingsDialog] = []
    usual = sizes(window)
    measured: list[list[int]] = []

    def use() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, SettingsDialog)
        seen.append(dialog)
        choose(dialog, "theme", "dark")
        before = dialog.theme.font().pointSizeF()
        choose(dialog, "scale", 150)
        assert dialog.theme.font().pointSizeF() == before * 1.5
        measured.append(sizes(window))
        choose(dialog, "scale", 100)
        assert dialog.theme.font().pointSizeF() == before
        measured.append(sizes(window))
        remembered.scale = 150
        choose(dialog, "sandbox", "none")
        assert dialog.danger.isVisible() and dialog.scaled.isVisible()
        dialog.points.setValue(14)
        dialog.annotator.setText("Ada")
        dialog.annotator.editingFinished.emit()
        dialog.reject()

    QTimer.singleShot(100, use)
    window.preferences.ask()
    assert seen
    assert measured == [[round(pixels * 1.5) for pixels in usual], usual]
    assert window.appearance.theme is DARK
    assert window.control.settings.oracle.sandbox == "none"
    assert window.parts.code.editor.font().pointSizeF() == 14
    assert (remembered.theme, remembered.scale, remembered.annotator) == ("dark", 150, "Ada")
    assert remembered.run_settings().oracle.sandbox == "none"
    assert window.parts.labels.annotator.text() == "Ada"
    again = MainWindow(window.appearance, remembered)
    assert again.parts.code.editor.font().pointSizeF() == 14
    again.close()
    again.deleteLater()


def test_models_are_added_and_removed(window: MainWindow, remembered: Remembered, tmp_path: Path) -> None:
    dialog = SettingsDialog(window.preferences, remembered, "auto", 9)
    changed: list[bool] = []
    window.preferences.models_changed.connect(lambda: changed.append(True))
    for _ in range(2):
        dialog._add_model(str(tmp_path))
    assert remembered.models() == [tmp_path] and dialog.models.count() == 1
    dialog.models.setCurrentRow(0)
    dialog._remove_model()
    assert remembered.models() == [] and len(changed) == 2
    assert str(tmp_path / "settings.ini") in [label.text().removeprefix("Kept in ") for label in labels(dialog)]


def labels(dialog: SettingsDialog) -> list[QLabel]:

    return dialog.findChildren(QLabel)


def test_the_tour_has_at_most_four_steps_and_keys_lead_through_it(window: MainWindow) -> None:
    preferences = window.preferences
    window.greet()
    tour = preferences.tour
    assert tour is not None and tour.isVisible()
    titles = []
    while preferences.tour is not None:
        titles.append(tour.title.text())
        assert window.rect().contains(tour.card.geometry())
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert titles == ["Choose and run", "Regions", "Your code", "Round trip"]
    assert window.parts.regions.table.hasFocus()


def test_a_long_title_of_the_tour_is_shown_whole(window: MainWindow) -> None:
    about = window.parts.regions
    tour = Tour([Step(about, "A pass that the description made possible", "Words.")], window)
    tour.begin()
    tour.card.layout().activate()
    title = tour.title
    assert title.height() >= title.heightForWidth(title.width()) > title.fontMetrics().lineSpacing() * 1.5


def test_a_skipped_tour_never_comes_again(window: MainWindow, remembered: Remembered) -> None:
    preferences = window.preferences
    window.greet()
    assert preferences.tour is not None
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert preferences.tour is None and remembered.toured
    window.greet()
    assert preferences.tour is None


def test_what_a_run_shows_is_found_in_it_and_pointed_at(window: MainWindow) -> None:
    """Each step shows its sample: a pass with lift, a pass that needed no words, a failure nearest to the original."""
    items = {item.id: item for item in window.inspection.overview.items} if window.inspection.overview else {}
    window.commands["guide"].trigger()
    wait_until(lambda: window.preferences.tour is not None)
    tour, seen = window.preferences.tour, []
    assert tour is not None
    while window.preferences.tour is not None:
        assert window.rect().contains(tour.card.geometry())
        chosen = window.inspection.item
        seen.append((tour.title.text(), chosen.id if chosen else 0))
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    titles = [title for title, _ in seen]
    assert titles == [
        "A pass that the description made possible",
        "A pass without the description",
        "A failure to learn from",
        "What it comes to",
    ]
    lifted, known, failed = (items[item_id] for _, item_id in seen[:3])
    assert lifted.measures["lift"] == max(item.measures.get("lift", -1.0) for item in items.values()) > 0
    assert known.measures["passes"] and known.measures["lift"] <= 0
    assert failed.measures["judged"] and not failed.measures["passes"]
    wait_until(lambda: window.parts.diff.isVisible() and window.parts.roundtrip.selected is not None)
    selected = window.parts.roundtrip.selected
    shown = next(card.sample for card in window.parts.roundtrip.cards if card.sample.id == selected)
    assert shown.verdict is not None and shown.verdict.outcome == "fail"
    assert not recites(shown)


def test_a_run_without_a_verdict_has_nothing_to_show(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    case = filled(tmp_path / "other", items=0)
    window.open_database(case.database, case.root)
    wait_until(lambda: window.inspection.run is not None and window.inspection.database == case.database)
    window.commands["guide"].trigger()
    wait_until(lambda: window.parts.notices.isVisible())
    assert window.preferences.tour is None
