"""The whole window over a real store and project: one choice shown everywhere, keys, notices, run, close."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QTimer, QUrl
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QMenu,
    QPlainTextEdit,
    QWidget,
)
from store_cases import Filled, filled
from themes import light
from waiting import wait_until

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.run.events import Control, Event, RunFinished
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.resources import path as resource
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.reading.inspection import Wanted
from rtc_inspector.ui.shell.bars import ElidedLabel
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.theme import DARK, current_theme
from rtc_inspector.ui.window.preferences import HelpDialog


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return filled(tmp_path_factory.mktemp("window"), items=50)


@pytest.fixture
def remembered(tmp_path: Path) -> Remembered:
    return Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def empty(qapp: QApplication, remembered: Remembered) -> Iterator[MainWindow]:
    appearance = light(qapp)
    made = MainWindow(appearance, remembered)
    made.resize(1280, 800)
    made.show()
    made.activateWindow()
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    appearance.choose("light")
    made.deleteLater()
    assert not [each.name for each in threading.enumerate() if each.name.startswith(("gateway", "coordinator"))]


@pytest.fixture
def window(empty: MainWindow, case: Filled) -> MainWindow:
    empty.open_database(case.database, case.root)
    empty.open_project(case.root)
    wait_until(lambda: empty.inspection.run is not None and empty.project.codebase is not None)
    wait_until(lambda: empty.parts.code.path)
    return empty


def judged(case: Filled) -> ItemRow:
    """A region with passes and failures."""
    return next(
        item for item in case.items() if item.headline is not None and 0 < item.headline < 1 and item.state == "done"
    )


def test_an_empty_window_says_how_to_begin(empty: MainWindow) -> None:
    assert empty.welcome.isVisible()
    assert not empty.parts.tree.isVisible()
    assert empty.parts.status.summary.text() == "No run yet"


def test_a_run_may_start_as_soon_as_a_project_is_named(empty: MainWindow, case: Filled, tmp_path: Path) -> None:
    empty.open_database(tmp_path / "new.sqlite", case.root)
    empty.open_project(case.root)
    assert empty.start_run(RunSettings(model=str(tmp_path / "missing.gguf")))
    wait_until(lambda: not empty.control.busy, seconds=30)
    wait_until(lambda: "missing.gguf" in empty.parts.notices.problem.text())


def test_a_run_is_shown_in_every_view(window: MainWindow, case: Filled) -> None:
    run, parts = case.run(), window.parts
    assert not window.welcome.isVisible()
    assert len(parts.regions.regions.all_items) == 50
    assert f"run {run.id} · {run.items_complete}/{run.items_admitted} regions" in parts.status.summary.text()
    assert (
        f"RTC {run.headline.value:.2f} ({run.headline.low:.2f}–{run.headline.high:.2f})" in parts.status.summary.text()
    )
    assert parts.tree.files.index_of("shop/module_000.py").siblingAtColumn(1).data()
    assert parts.bar.project.value == str(case.root)
    assert case.root.name in window.windowTitle()


def menu_of(view: QWidget, place: QPoint) -> QMenu:
    """The menu that a right click opens there."""
    QTest.mouseClick(view, Qt.MouseButton.RightButton, pos=place)
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.mapToGlobal(place))
    QApplication.sendEvent(view, asked)
    wait_until(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def test_regions_and_samples_have_menus_of_what_can_be_done_with_them(window: MainWindow, case: Filled) -> None:
    item, parts = judged(case), window.parts
    row = parts.regions.regions.row_of(item.id)
    assert row is not None
    parts.regions.table.scrollTo(parts.regions.regions.index(row, 1))
    centre = parts.regions.table.visualRect(parts.regions.regions.index(row, 1)).center()
    menu = menu_of(parts.regions.table.viewport(), centre)
    assert window.inspection.item is not None and window.inspection.item.id == item.id, "the one that was clicked"
    acts = {action.text(): action for action in menu.actions()}
    assert window.commands["describe"] in menu.actions() and window.commands["labels"] in menu.actions()
    acts["Copy its place"].trigger()
    assert QGuiApplication.clipboard().text() == f"{item.path}:{item.start_line}"
    acts["Show in the code"].trigger()
    assert QApplication.focusWidget() is parts.code.editor
    menu.close()
    wait_until(lambda: len(parts.roundtrip.cards) > 1 and not parts.roundtrip.filling)
    card = parts.roundtrip.cards[0]
    acts = {action.text(): action for action in menu_of(card, QPoint(60, 12)).actions()}
    assert parts.roundtrip.chosen is card and card.describes
    acts["Copy the description"].trigger()
    assert QGuiApplication.clipboard().text() == card.sample.text
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()


def test_a_region_chosen_in_the_table_is_shown_everywhere(window: MainWindow, case: Filled) -> None:
    item, parts = judged(case), window.parts
    row = parts.regions.regions.row_of(item.id)
    assert row is not None
    parts.regions.table.setCurrentIndex(parts.regions.regions.index(row, 1))
    assert parts.code.path == item.path
    assert item.start_line - 1 in parts.code.editor.visible_lines()
    assert parts.tree.files.node(parts.tree.currentIndex()).path == item.path
    wait_until(lambda: parts.roundtrip.cards)
    assert parts.roundtrip.selected is not None
    wait_until(lambda: parts.diff.view.isVisible())


def test_a_region_clicked_in_the_code_is_selected_in_the_table(window: MainWindow) -> None:
    block = window.parts.code.editor.blocks[0]
    window.parts.code.show_item(block.item)
    middle = window.parts.code.editor.canvas().rect(block).center().toPoint()
    QTest.mouseClick(window.parts.code.editor.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    table = window.parts.regions
    assert table.regions.shown[table.table.currentIndex().row()].id == block.item.id


def test_each_sample_brings_its_prompt_and_tests(window: MainWindow, case: Filled) -> None:
    window.browsing.choose(judged(case).id)
    wait_until(lambda: window.parts.roundtrip.cards)
    card = next(card for card in window.parts.roundtrip.cards if card.sample.role == "backward")
    window.parts.roundtrip.select(card.sample.id)
    verdict = card.sample.verdict
    assert verdict is not None
    wait_until(lambda: window.parts.tests.table.model() is not None and window.parts.tests.table.model().rowCount())
    with_prompt = window.parts.prompt.findChildren(QPlainTextEdit)
    wait_until(lambda: any(each.toPlainText() for each in with_prompt))


def test_keys_walk_through_regions_and_failures(window: MainWindow, case: Filled) -> None:
    window.parts.code.editor.setFocus()
    first = window.parts.code.editor.blocks[0].item
    window.browsing.choose(first.id)
    QTest.keyClick(window, Qt.Key.Key_F8)
    second = window.inspection.item
    assert second is not None and second.start > first.start
    QTest.keyClick(window, Qt.Key.Key_F9)
    failing = window.inspection.item
    assert failing is not None and failing.headline is not None and failing.headline < 1
    QTest.keyClick(window, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert window.inspection.item is not None and window.inspection.item.start < failing.start


def test_ctrl_k_goes_to_a_file(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    search = window.parts.bar.search
    wait_until(search.hasFocus)
    QTest.keyClicks(search, "module_001")
    assert search.popup.isVisible()
    QTest.keyClick(search, Qt.Key.Key_Return)
    assert window.parts.code.path == "shop/module_001.py"
    assert not search.popup.isVisible()


def test_ctrl_k_finds_regions_by_their_code_and_commands_by_name(window: MainWindow) -> None:
    search = window.parts.bar.search
    search.enter()
    wait_until(search.hasFocus)
    QTest.keyClicks(search, "subtotal -= discount")
    assert search._model.shown[0].kind == "region"
    QTest.keyClick(search, Qt.Key.Key_Down)
    QTest.keyClick(search, Qt.Key.Key_Return)
    assert window.inspection.item is not None and "subtotal -= discount" in window.inspection.item.text
    search.enter()
    QTest.keyClicks(search, "read files")
    assert search._model.shown[0].title == "Read files again"


def test_question_mark_shows_every_key(window: MainWindow) -> None:
    seen: list[str] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, HelpDialog)
        seen.extend(text for _, lines in dialog.groups for line in lines for text in (line.text(0), line.text(1)))
        dialog.reject()

    QTimer.singleShot(200, look)
    QTest.keyClick(window.parts.code.editor, Qt.Key.Key_Question)
    wait_until(lambda: seen)
    assert "Next region or edit" in seen and "F8" in seen


def test_an_error_is_a_notice_that_can_be_copied_and_dismissed(window: MainWindow) -> None:
    notices = window.parts.notices
    window.gateway.failed.emit(ModelError("The file is cut off.", "Download it again."))
    assert notices.isVisible()
    assert (notices.problem.text(), notices.remedy.text()) == ("The file is cut off.", "Download it again.")
    notices._buttons["copy"].click()
    assert QGuiApplication.clipboard().text() == "The file is cut off.\nDownload it again."
    notices._buttons["close"].click()
    assert not notices.isVisible()


def test_an_unexpected_error_keeps_its_details_out_of_sight(window: MainWindow) -> None:
    try:
        raise ZeroDivisionError("division by zero")
    except ZeroDivisionError as error:
        window.uncaught.emit(error)
    notices = window.parts.notices
    assert "ZeroDivisionError" in notices.problem.text()
    assert not notices.details.isVisible()
    notices._buttons["details"].click()
    assert notices.details.isVisible()
    assert "Traceback" in notices.details.toPlainText()


def test_several_notices_are_kept_and_counted(window: MainWindow) -> None:
    notices = window.parts.notices
    for number in range(3):
        notices.report(ModelError(f"Problem {number}.", "Mend it."))
    notices.report(ModelError("Problem 1.", "Mend it."))
    assert notices.place.text() == "1 of 3"
    assert notices.problem.text() == "Problem 1."
    notices._buttons["next"].click()
    assert notices.problem.text() == "Problem 2."


def test_themes_switch_live_and_are_remembered(window: MainWindow, case: Filled, remembered: Remembered) -> None:
    window.browsing.choose(judged(case).id)
    wait_until(lambda: window.parts.roundtrip.cards)
    light = window.grab().toImage()
    window.preferences.choose_theme("dark")
    assert remembered.theme == "dark"
    image = window.grab().toImage()
    assert image != light
    share = (
        sum(image.pixelColor(x, y).lightness() < 100 for x in range(5, 1280, 25) for y in range(5, 800, 25))
        / len(range(5, 1280, 25))
        / len(range(5, 800, 25))
    )
    assert share > 0.85
    assert current_theme() is DARK


def test_run_without_a_project_is_a_notice(empty: MainWindow, tmp_path: Path) -> None:
    empty.open_database(tmp_path / "runs.sqlite")
    empty.parts.bar.run.click()
    assert empty.parts.notices.problem.text() == "No project is open."
    assert not empty.control.busy


def test_a_project_that_is_no_folder_is_a_notice(empty: MainWindow, tmp_path: Path) -> None:
    empty.open_project(tmp_path / "nowhere")
    wait_until(empty.parts.notices.isVisible)
    assert str(tmp_path / "nowhere") in empty.parts.notices.problem.text()


def test_a_run_whose_project_is_gone_still_shows_its_regions(empty: MainWindow, tmp_path: Path) -> None:
    case = filled(tmp_path, items=20)
    case.root.rename(tmp_path / "elsewhere")
    empty.open_database(case.database)
    wait_until(lambda: empty.inspection.run is not None)
    item = next(item for item in case.items() if item.admitted)
    empty.browsing.choose(item.id)
    assert empty.parts.code.editor.toPlainText() == item.text
    assert not empty.parts.notices.isVisible()


def test_sizes_are_brought_back(window: MainWindow, case: Filled, remembered: Remembered, qapp: QApplication) -> None:
    window.resize(1500, 900)
    window.parts._splitters["whole"].setSizes([460, 1040])
    QApplication.processEvents()
    window.close()
    wait_until(lambda: not window.isVisible())
    again = MainWindow(window.appearance, remembered)
    again.show()
    again.parts.show_views(True)
    QApplication.processEvents()
    assert again.parts._splitters["whole"].sizes()[0] == pytest.approx(460, abs=4)
    assert (again.width(), again.height()) == (1500, 900)
    again.close()
    again.deleteLater()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (2560, 1440)])
def test_every_part_has_room(window: MainWindow, width: int, height: int) -> None:
    window.resize(width, height)
    window.reset_layout()
    QApplication.processEvents()
    parts = window.parts
    assert (window.width(), window.height()) == (width, height)
    for part, least in (
        (parts.tree, 250),
        (parts.regions, 250),
        (parts.code, 400),
        (parts.roundtrip, 300),
        (parts.tabs, 700),
    ):
        assert part.width() >= least
        assert part.height() >= 150
    assert parts.regions.height() > parts.tree.height()


def drop(window: MainWindow, data: QMimeData) -> None:
    """Over the window it says what will come; dropped, it comes."""
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    over = QDragEnterEvent(QPoint(5, 5), copy, data, left, none)
    QApplication.sendEvent(window, over)
    assert over.isAccepted() and Path(data.urls()[0].toLocalFile()).name in window.to_open.hint.text()
    assert window.to_open.hint.isVisible()
    QApplication.sendEvent(window, QDropEvent(QPointF(5, 5), copy, data, left, none))
    assert not window.to_open.hint.isVisible()


def test_what_cannot_be_opened_is_refused(empty: MainWindow, tmp_path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "picture.png"))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    over = QDragEnterEvent(QPoint(5, 5), copy, data, left, none)
    QApplication.sendEvent(empty, over)
    assert not over.isAccepted() and not empty.to_open.hint.isVisible()


def test_dropping_a_folder_opens_it(empty: MainWindow, case: Filled) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(case.root))])
    drop(empty, data)
    wait_until(lambda: empty.project.codebase is not None)
    assert empty.project.root == case.root
    assert empty.parts.tree.isVisible()


def test_dropping_a_benchmark_opens_it(empty: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(resource("benchmark", "pocket.jsonl")))])
    drop(empty, data)
    wait_until(lambda: empty.control.settings.task == "benchmark")


def test_dropping_a_model_file_uses_it_and_says_so(empty: MainWindow) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(bundled_model()))])
    drop(empty, data)
    wait_until(lambda: empty.control.settings.model == str(bundled_model()))
    assert bundled_model().name in empty.parts.notices.problem.text()


def test_closing_in_mid_run_stops_it_without_freezing(window: MainWindow) -> None:
    stopped: list[float] = []

    def job(emit: Callable[[Event], None], control: Control) -> RunFinished:
        try:
            while True:
                control.checkpoint()
                time.sleep(0.005)
        finally:
            time.sleep(0.4)
            stopped.append(time.monotonic())

    window.control.coordinator.begin(job)
    assert window.parts.bar.run.text() == "Queue"
    assert window.parts.bar.stop.isEnabled()
    began = time.monotonic()
    window.close()
    assert time.monotonic() - began < 0.1
    assert window.control.coordinator.state is RunState.STOPPING
    wait_until(lambda: not window.isVisible())
    assert stopped
    assert time.monotonic() - began < 2.5


def test_the_runs_menu_lists_runs_and_offers_to_resume(empty: MainWindow, tmp_path: Path) -> None:
    case = filled(tmp_path, items=12, finish=False)
    empty.open_database(case.database, case.root)
    wait_until(lambda: empty.inspection.run is not None)
    empty.parts.bar.runs_button.menu().aboutToShow.emit()
    texts = [action.text() for action in empty.parts.bar.runs_button.menu().actions()]
    assert any(text.startswith("Run 1 · ") and "interrupted" in text for text in texts)
    assert "Res&ume run 1" in texts
    assert empty.commands["resume"].isEnabled()


def test_a_deleted_run_leaves_the_window_and_comes_back(empty: MainWindow, tmp_path: Path) -> None:
    case = filled(tmp_path, items=12)
    filled(tmp_path, items=12, seed=9)
    empty.open_database(case.database, case.root)
    wait_until(lambda: empty.inspection.run is not None and empty.inspection.run.id == 2)
    empty.run_lists.hide(2)
    wait_until(lambda: empty.inspection.run is not None and empty.inspection.run.id == 1)
    seen: list[list[int]] = []
    empty.inspection.ask("t", lambda reader: [run.id for run in reader.runs(hidden=True)], seen.append)
    wait_until(lambda: seen)
    assert seen == [[2]]
    empty.run_lists.change(lambda store: store.restore_run(2))
    wait_until(lambda: empty.inspection.overview is not None and len(empty.inspection.overview.runs) == 2)


def test_no_key_means_two_things(window: MainWindow) -> None:
    """Two live shortcuts of one key silence both."""
    own = window.actions()
    whole = {key.toString() for action in own for key in action.shortcuts()}
    inner = [
        (type(widget).__name__, key.toString())
        for widget in window.findChildren(QWidget)
        for action in widget.actions()
        for key in action.shortcuts()
        if action not in own
    ]
    inner += [(type(each.parent()).__name__, each.key().toString()) for each in window.findChildren(QShortcut)]
    assert len(inner) > 6
    assert [each for each in inner if each[1] in whole] == []


@pytest.mark.parametrize("place", ["code", "diff", "regions"])
def test_f6_and_f7_act_on_the_selection_wherever_the_focus_is(window: MainWindow, case: Filled, place: str) -> None:
    asked: list[tuple[str, str]] = []
    selecting = window.parts.code.selecting
    selecting.check_asked.disconnect(window.by_hand.check)
    selecting.probe_asked.disconnect(window.by_hand.probe)
    selecting.check_asked.connect(lambda path, *_: asked.append(("check", path)))
    selecting.probe_asked.connect(lambda path, *_: asked.append(("probe", path)))
    window.browsing.choose(judged(case).id)
    wait_until(lambda: window.parts.roundtrip.cards)
    editor = window.parts.code.editor
    cursor = editor.textCursor()
    cursor.select(cursor.SelectionType.LineUnderCursor)
    editor.setTextCursor(cursor)
    wait_until(lambda: selecting.region is not None)
    focus = {"code": editor, "diff": window.parts.diff.view.columns.right, "regions": window.parts.regions.table}
    focus[place].setFocus()
    QTest.keyClick(focus[place], Qt.Key.Key_F6)
    QTest.keyClick(focus[place], Qt.Key.Key_F7)
    assert asked == [("check", window.parts.code.path), ("probe", window.parts.code.path)]


def test_the_first_region_of_every_run_is_chosen_as_its_regions_arrive(empty: MainWindow, tmp_path: Path) -> None:
    first, second = filled(tmp_path, items=12), filled(tmp_path, items=12, seed=5)
    inspection, table = empty.inspection, empty.parts.regions
    arrived = []
    inspection.overview_changed.connect(lambda read: arrived.append((read.items, inspection.looked_at.item)))
    empty.open_database(first.database)
    for run in (second.run_id, first.run_id, second.run_id):
        empty.browsing.follow = True
        empty.parts.labels.setFocus()
        inspection.choose_run(Wanted(run))
        wait_until(lambda run=run: inspection.run is not None and inspection.run.id == run)
        assert inspection.looked_at.item == table.regions.shown[0].id and table.table.selectionModel().isRowSelected(0)
        assert empty.browsing.follow
        wait_until(lambda: empty.parts.roundtrip.cards and not empty.gateway._waiting)
    assert all(chosen is not None for items, chosen in arrived if items)
    inspection.choose_item(table.regions.shown[3].id)
    inspection.refresh()
    wait_until(lambda: not empty.gateway._waiting)
    assert inspection.item == table.regions.shown[3]


def test_a_summary_without_room_ends_in_dots(qapp: QApplication) -> None:
    line, whole = ElidedLabel(), "run 12 · 40/40 regions · RTC 0.36"
    line.setText(whole)
    line.resize(line.sizeHint().width() // 2, line.sizeHint().height())
    shown = line.fontMetrics().elidedText(whole, Qt.TextElideMode.ElideRight, line.width())
    assert shown.endswith("…")
    expected = ElidedLabel()
    expected.setText(shown)
    expected.resize(line.size())
    assert line.grab().toImage() == expected.grab().toImage() and line.text() == whole


def test_panes_get_their_share_again_when_a_small_window_becomes_large(window: MainWindow) -> None:
    window.resize(900, 700)
    wait_until(lambda: window.parts.width() == 900)
    small = window.parts.tree.width()
    window.resize(2000, 1200)
    wait_until(lambda: window.parts.tree.width() > 1.5 * small)


@pytest.mark.parametrize("size", [(960, 1080), (960, 600)], ids=["half of 1920", "1440 x 900 at 150 %"])
def test_the_window_fits_narrow_and_low_screens(window: MainWindow, case: Filled, size: tuple[int, int]) -> None:
    window.browsing.choose(judged(case).id)
    wait_until(lambda: window.parts.roundtrip.cards)
    parts = window.parts
    for place in range(parts.tabs.count()):
        parts.tabs.setCurrentIndex(place)
        QApplication.processEvents()
        least = window.minimumSizeHint()
        assert least.width() <= 960 and least.height() <= 600, parts.tabs.tabText(place)
    window.resize(*size)
    window.reset_layout()
    QApplication.processEvents()
    assert (window.width(), window.height()) == size
    assert min(parts.code.width(), parts.roundtrip.width(), parts.regions.width()) >= 230
    bar = parts.queue
    parts.tabs.setCurrentWidget(parts.desk)
    QApplication.processEvents()
    for each in (bar.kind, bar.seed, bar.files):
        assert bar.rect().contains(each.mapTo(bar, each.rect().bottomRight())), "the bar goes on in the next line"


def test_panes_fold_and_come_back(window: MainWindow, remembered: Remembered) -> None:
    parts, actions = window.parts, window.commands
    code = parts.code.width()
    for name in ("pane-lists", "pane-trip", "pane-tabs"):
        assert actions[name].isChecked()
        actions[name].trigger()
        assert not actions[name].isChecked()
    QApplication.processEvents()
    assert not (parts.regions.isVisible() or parts.roundtrip.isVisible() or parts.tabs.isVisible())
    assert parts.code.width() == window.width() > code
    parts.show_labels_alone(True)
    assert parts.tabs.isVisible() and not parts.regions.isVisible()
    parts.show_labels_alone(False)
    assert not parts.tabs.isVisible()
    actions["focus-regions"].trigger()
    assert parts.regions.isVisible() and actions["pane-lists"].isChecked()
    parts.keep_sizes(remembered)
    again = MainWindow(window.appearance, remembered)
    assert again.parts.folded == {"trip", "tabs"}
    assert not again.commands["pane-tabs"].isChecked()
    window.reset_layout()
    assert parts.tabs.isVisible() and parts.roundtrip.isVisible()
    again.close()
    again.deleteLater()
