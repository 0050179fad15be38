"""The comparison of runs in the real window over a real store: by mouse, by keys, and when it cannot be."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from factories import fill_store
from PySide6.QtCore import QPoint, QPointF, QSettings, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QFileDialog, QLineEdit, QWidget
from stored_run import said, show_figure
from themes import light, wear
from waiting import wait_until

from rtc_inspector.core.comparison import comparison as words
from rtc_inspector.core.figures import Lines
from rtc_inspector.core.figures.layout import laid_out
from rtc_inspector.core.figures.reading import marks
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.ui.compare.page import ComparePage
from rtc_inspector.ui.compare.summary import DIFFERENCE, SECONDARY
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.reading.inspection import Wanted
from rtc_inspector.ui.run.lists import RunsDialog
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.theme import DARK
from rtc_inspector.ui.window.pages import proposed


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparing")
    with open_store(folder / "runs.sqlite") as store:
        for seed in (3, 4, 5):
            fill_store(store, folder / "shop", 42, seed, settings=RunSettings(forward_samples=2, seed=seed))
        fill_store(store, folder / "shop", 2, 6, settings=RunSettings(task="editing"))
    return folder / "runs.sqlite"


@pytest.fixture(scope="module")
def window(qapp: QApplication, database: Path) -> Iterator[MainWindow]:
    """One for all tests: each begins a comparison of its own."""
    remembered = Remembered(QSettings(str(database.with_name("settings.ini")), QSettings.Format.IniFormat))
    made = MainWindow(light(qapp), remembered)
    made.show()
    made.open_database(database)
    wait_until(lambda: made.inspection.overview is not None and len(made.inspection.overview.runs) == 4)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def compare(window: MainWindow, *runs: int) -> ComparePage:
    window.activateWindow()
    window.comparing.compare(runs)
    page = window.comparing.page
    wait_until(lambda: [each.second.id for each in page.comparisons] == list(runs[1:]))
    wait_until(lambda: page.summary.details.files.rowCount() == len(page.comparisons[0].files))  # the last of its parts
    return page


def both_traces(page: ComparePage) -> bool:
    return all(side.roundtrip.cards for side in page.traces.sides)


def test_two_runs_are_chosen_in_the_list_by_keys(window: MainWindow) -> None:
    overview = window.inspection.overview
    assert overview is not None
    dialog = RunsDialog(overview.runs, 2, window)
    dialog.compared.connect(window.comparing.compare)
    dialog.show()
    assert not dialog.compare_button.isEnabled()
    dialog.table.setFocus()
    QTest.keyClick(dialog.table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert dialog.compare_button.isEnabled()
    assert not dialog.open_button.isEnabled()
    QTest.keyClick(dialog.compare_button, Qt.Key.Key_Space)
    page = window.comparing.page
    wait_until(lambda: page.comparisons)
    assert window.comparing.runs == (1, 2)
    assert page.isVisible()
    assert page.summary.verdict.text() == words.verdict(page.comparisons[0])


def test_everything_about_the_pair_is_on_show(window: MainWindow) -> None:
    page = compare(window, 1, 2, 3)
    found = page.comparisons[0]
    table = page.runs.model
    assert [table.key(row) for row in range(table.rowCount())] == [1, 2, 3]
    assert table.index(1, 4).data() == words.bounded(found.headline.score)
    assert [pair.first.key for pair in page.summary.list.pairs.shown] == [p.first.key for p in found.disagreements]
    listed, colour = page.summary.list.pairs, Qt.ItemDataRole.ForegroundRole
    assert listed.data(listed.index(0, DIFFERENCE), colour) is not None
    assert listed.data(listed.index(0, SECONDARY), colour) is None, "lift of one region proves nothing"
    assert page.summary.details.files.rowCount() == len(found.files)
    assert page.summary.details.settings.index(0, 0).data() == "seed"
    wait_until(lambda: page.summary.scatter.figure is not None)
    assert sum(len(place.mark.links) for place in page.summary.scatter.plot.shapes) == len(found.pairs)
    assert "McNemar's exact test: p" in page.summary.rest.text()


def test_another_run_and_another_reference_are_picked_by_keys(window: MainWindow) -> None:
    page = compare(window, 1, 2, 3)
    table = page.runs.table
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Down)
    assert page.comparison is page.comparisons[1]
    assert "run 3" in page.summary.verdict.text().lower()
    QTest.keyClick(table, Qt.Key.Key_R)
    wait_until(lambda: page.comparisons[0].first.id == 3)
    assert window.comparing.runs == (3, 1, 2)


def test_enter_on_a_disagreement_shows_both_traces_and_keys_go_on(window: MainWindow) -> None:
    page = compare(window, 1, 2)
    shown = page.summary.list.pairs.shown
    QTest.keyClick(page.summary.list.table, Qt.Key.Key_Return)
    wait_until(lambda: both_traces(page))
    for side, item in zip(page.traces.sides, (shown[0].first, shown[0].second), strict=True):
        assert side.roundtrip.cards[0].sample.item_id == item.id
        assert side.diff.view.isVisible()
        chosen = next(card.sample for card in side.roundtrip.cards if card.sample.id == side.roundtrip.selected)
        assert chosen.verdict is not None
        other = shown[0].second if item is shown[0].first else shown[0].first
        assert (chosen.verdict.outcome == "pass") == ((item.headline or 0.0) > (other.headline or 0.0))
    QTest.keyClick(page.traces, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert page.traces.pair == shown[1]
    wait_until(lambda: both_traces(page))
    assert page.traces.sides[1].roundtrip.cards[0].sample.item_id == shown[1].second.id
    QTest.keyClick(page.traces.sides[0].roundtrip, Qt.Key.Key_Escape)
    assert page.summary.isVisible()
    assert page.summary.list.chosen == shown[1]
    QTest.keyClick(page.summary.list.table, Qt.Key.Key_Escape)
    assert not page.isVisible()
    assert window.parts.regions.isVisible()


def test_a_click_on_a_spot_goes_to_its_regions(window: MainWindow) -> None:
    page = compare(window, 1, 2)
    scatter = page.summary.scatter
    wait_until(lambda: bool(scatter.plot.shapes))
    mark = max((place.mark for place in scatter.plot.shapes), key=lambda each: len(each.links))
    canvas = scatter.plot.canvas

    def spot() -> QPoint:
        return canvas.mapFromScene(canvas.getViewBox().mapViewToScene(QPointF(mark.x, mark.y)))

    def pointed_at() -> bool:  # the page may still be laid out, so that the spot moves
        QTest.mouseMove(canvas.viewport(), spot())
        return said(scatter) == f"{len(mark.links)} regions: RTC in run 1 {mark.x:.2f}, RTC in run 2 {mark.y:.2f}"

    wait_until(pointed_at)
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=spot())
    assert page.traces.isVisible()
    assert page.traces.pair is not None and page.traces.pair.first.id in {link.item for link in mark.links}
    assert page.traces.count.text() == f"1 of {len(mark.links)}"


def test_keys_step_through_the_spots(window: MainWindow) -> None:
    page = compare(window, 1, 2)
    plot = page.summary.scatter.plot
    plot.canvas.setFocus()
    for key in (Qt.Key.Key_End, Qt.Key.Key_Left, Qt.Key.Key_Return):
        QTest.keyClick(plot.canvas, key)
    places = [(place.mark.x, place.mark.y) for place in plot.shapes]
    assert places == sorted(set(places)), "one spot for all that lie together, from the left, then from below"
    assert page.traces.pair is not None
    assert page.traces.pair.first.id in {link.item for link in plot.shapes[-2].mark.links}


def test_a_file_opens_its_regions(window: MainWindow) -> None:
    page = compare(window, 1, 2)
    table = page.summary.details.file_table
    table.setCurrentIndex(table.model().index(1, 0))
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert page.traces.pair is not None
    assert page.traces.pair.first.path == table.model().index(1, 0).data()


def test_the_list_is_filtered_and_can_show_what_both_do_alike(window: MainWindow) -> None:
    page = compare(window, 1, 2)
    listed = page.summary.list
    listed.alike.click()
    assert len(listed.pairs.shown) == len(page.comparisons[0].pairs)
    listed.words.setText("module_001")
    wait_until(lambda: all("module_001" in pair.first.path for pair in listed.pairs.shown))
    assert listed.count.text() == f"{len(listed.pairs.shown)} in both"
    listed.table.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    differences = [pair.difference for pair in listed.pairs.shown]
    assert differences == sorted(differences, reverse=True)
    listed.words.clear()
    listed.alike.click()
    listed.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    wait_until(lambda: tuple(listed.pairs.shown) == page.comparisons[0].disagreements)


def test_a_trace_leads_to_the_region_in_the_code(window: MainWindow) -> None:
    page = compare(window, 2, 3)
    page.summary.list.opened.emit(tuple(page.summary.list.pairs.shown), 0)
    item = page.traces.sides[0]._item
    assert item is not None
    page.traces.sides[0].show_there.click()
    assert not page.isVisible()
    wait_until(lambda: window.inspection.item is not None and window.inspection.item.id == item.id)
    assert window.inspection.run is not None and window.inspection.run.id == 2


@pytest.mark.parametrize(("runs", "heading"), [((1, 4), "of the task synthesis"), ((1, 9), "no run 9")])
def test_what_cannot_be_compared_is_said_on_the_page(window: MainWindow, runs: tuple[int, ...], heading: str) -> None:
    window.comparing.compare(runs)
    page = window.comparing.page
    wait_until(lambda: heading in page._empty.accessibleName())
    assert page._empty.isVisible()
    assert not page.runs.isVisible()
    assert not page.export_button.isEnabled()
    assert page.choose_button.isEnabled()


def test_a_comparison_is_exported(window: MainWindow, tmp_path: Path) -> None:
    page = compare(window, 1, 2, 3)
    page.export_button.export(tmp_path / "pairs.csv")
    with (tmp_path / "pairs.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == sum(len(each.pairs) for each in page.comparisons)
    page.export_button.export(tmp_path / "scatter.png")
    assert QImage(str(tmp_path / "scatter.png")).width() >= 2 * 760


def test_pages_are_written_from_the_menus(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = compare(window, 1, 2)
    names = iter(("both", "run.html", str(Path("absent", "run.html"))))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / next(names)), ""))
    page.export_button.menu().actions()[-1].trigger()
    wait_until(lambda: any("both.html" in offer.text for offer in window.parts.offers.offers))
    assert "runs compared" in (tmp_path / "both.html").read_text("utf-8")
    window.inspection.choose_run(Wanted(1))
    wait_until(lambda: window.inspection.run is not None and window.inspection.run.id == 1)
    window.commands["report"].trigger()
    wait_until(lambda: any("run.html" in offer.text for offer in window.parts.offers.offers))
    assert "Worst regions" in (tmp_path / "run.html").read_text("utf-8")
    window.commands["report"].trigger()
    wait_until(lambda: any("cannot be written" in notice.problem for notice in window.parts.notices.notices))


def test_a_mark_of_a_chart_leads_to_its_sample(window: MainWindow) -> None:
    window.comparing.close()
    window.inspection.choose_run(Wanted(2))
    wait_until(lambda: window.inspection.run is not None and window.inspection.run.id == 2)
    window.parts.tabs.setCurrentWidget(window.parts.run)
    panel = window.parts.run
    wait_until(lambda: any(figure.name == "metric" for figure in panel.drawings.figures))
    show_figure(panel.drawings, "metric")
    link = panel.drawings.view.plot.shapes[0].mark.links[-1]
    assert link.item is not None and link.sample is not None
    wait_until(lambda: window.inspection.knows(link.item or 0))
    panel.opened.emit(link)
    wait_until(lambda: window.parts.roundtrip.selected == link.sample)


def test_new_verdicts_of_a_compared_run_are_read_again(window: MainWindow, database: Path) -> None:
    page = compare(window, 1, 2)
    before = page.comparisons
    with open_store(database) as store:
        store.rename_run(2, "second try")
    window.inspection.refresh()
    wait_until(lambda: page.comparisons is not before)
    assert page.runs.model.index(1, 0).data() == "2 “second try”"


def test_every_control_has_a_name_and_the_dark_theme_reaches_the_page(window: MainWindow) -> None:
    page = compare(window, 1, 2)
    page.summary.list.opened.emit(tuple(page.summary.list.pairs.shown), 0)
    for kind in (QAbstractButton, QAbstractItemView, QLineEdit):
        for each in page.findChildren(kind):
            assert isinstance(each, QWidget)
            named = each.accessibleName() or (isinstance(each, QAbstractButton) and each.text())
            assert named or each.objectName().startswith("qt_") or not each.focusPolicy(), each
    page.show_summary()
    wear(DARK)
    image = page.summary.scatter.plot.canvas.grab().toImage()
    assert image.pixelColor(image.width() - 3, 3).name() == DARK.surface
    wear(window.appearance.theme)


def test_the_menu_offers_runs_that_can_be_compared(window: MainWindow) -> None:
    wait_until(lambda: window.inspection.overview is not None)
    overview = window.inspection.overview
    assert overview is not None
    runs = list(overview.runs)
    assert proposed(runs, runs[0], ()) == (1, 3)
    assert proposed(runs, runs[3], ()) == (3, 2), "no other run of that task"
    assert proposed(runs[2:], None, ()) == ()
    assert proposed(runs, runs[0], (2, 1)) == (2, 1)
    assert proposed(runs, runs[0], (2, 9)) == (1, 3), "a compared run is gone"
    assert proposed([], None, ()) == ()
    QTimer.singleShot(0, lambda: accept(window))
    window.commands["compare"].trigger()
    wait_until(lambda: window.comparing.page.isVisible() and window.comparing.page.comparisons)
    window.commands["focus-regions"].trigger()
    assert not window.comparing.page.isVisible()
    assert window.parts.regions.table.isVisible()


def accept(window: MainWindow) -> None:
    """Press the button that has the focus in the list of runs."""
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, RunsDialog)
    dialog.set_deleted([])
    enabled = dialog.compare_button.isEnabled()
    dialog.compare_button.click()
    dialog.reject()
    assert enabled, "what was deleted comes later and leaves the selection"


def test_one_run_alone_cannot_be_compared(window: MainWindow) -> None:
    overview = window.inspection.overview
    assert overview is not None
    window.run_lists.note(replace(overview, runs=overview.runs[:1]), window.commands["resume"])
    window.commands["compare"].trigger()
    assert window.parts.notices.notices[0].problem == "A comparison needs two runs."
    window.run_lists.note(overview, window.commands["resume"])


def test_pages_are_made_ahead_while_nobody_touches_the_window(qapp: QApplication, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    fresh = MainWindow(light(qapp), Remembered(settings))
    fresh.show()
    idle = fresh.opening.idle
    idle.begin()
    QTest.mouseMove(fresh, QPoint(20, 20))
    QApplication.processEvents()
    idle._step()
    made = vars(fresh.parts.run)
    assert "page" not in vars(fresh.comparing) and "drawings" not in made and "tables" not in made
    idle._touched = 0.0
    while not idle.done:
        idle._step()
    assert "drawings" in made and "tables" in made
    assert "traces" in vars(fresh.comparing.page)
    fresh.close()
    wait_until(lambda: not fresh.isVisible())
    fresh.deleteLater()


def test_figures_of_all_compared_runs_stand_on_the_page(window: MainWindow) -> None:
    page = compare(window, 1, 2, 3)
    page.figures_button.click()
    assert page.in_figures and not page.runs.isVisible() and page.figures_button.isChecked()
    wait_until(lambda: page.figures.view.figure is not None)
    shown = page.figures.view.figure
    runs = {link.run for figure in page.figures.figures for mark in marks(figure) for link in mark.links}
    assert shown is not None and runs >= {1, 2, 3}
    drawn = {each.name: each for each in page.figures.figures if isinstance(each, Lines)}
    assert {"running", "running-lift"} <= set(drawn), "lift has a drawing of its own"
    for each in (drawn["running"], drawn["running-lift"]):
        bands = [curve for curve in laid_out(each).curves if curve.band]
        assert len(bands) == len(each.series) == 3, "one band of each run"
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert not page.in_figures and page.runs.isVisible() and not page.figures_button.isChecked()
    wait_until(lambda: bool(page.comparisons))
    page.figures_button.click()
    page.figures_button.click()
    assert not page.in_figures and not page.figures_button.isChecked(), "pressed again it leaves the figures"
