"""Labelling in the window: keys only, each committed before the next, whatever happens to the process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import fill_store
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QWidget
from store_cases import Filled, filled
from themes import light
from waiting import wait_until

from rtc_inspector.core.errors import SandboxError, StoreError
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.store.rows import LabelRow, ReconstructionRow
from rtc_inspector.core.taxonomy import read_taxonomy
from rtc_inspector.ui.labels.controls import MOST_LINES
from rtc_inspector.ui.labels.queue import Asked, QueueKind, Stock, make_queue
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.bars import NoticeText, Offer
from rtc_inspector.ui.shell.label_dialogs import TaxonomyDialog
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.window.window_actions import WHILE_BLIND
from rtc_inspector.ui.window.window_parts import DESK


@pytest.fixture
def case(tmp_path: Path) -> Filled:
    return filled(tmp_path, items=30)


@pytest.fixture
def window(qapp: QApplication, case: Filled, tmp_path: Path) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    remembered = Remembered(settings)
    remembered.annotator = "Ann"
    made = MainWindow(light(qapp), remembered)
    made.resize(1280, 800)
    made.show()
    made.activateWindow()
    made.open_database(case.database, case.root)
    wait_until(lambda: made.inspection.run is not None and made.parts.code.path)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def labels(case: Filled) -> list[LabelRow]:
    with open_reader(case.database) as reader:
        return reader.current_labels(case.run_id)


def begin(window: MainWindow) -> None:
    window.label_desk.label_samples()
    wait_until(lambda: window.parts.labels._sample is not None)


def press(*keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(QApplication.focusWidget(), key)


def outcomes(case: Filled) -> dict[int, str]:
    with open_reader(case.database) as reader:
        return {row.sample_id: row.outcome for row in reader.reconstructions(case.run_id)}


def test_failures_are_labelled_one_key_each(window: MainWindow, case: Filled) -> None:
    begin(window)
    panel = window.parts.labels
    first = panel._sample
    assert first is not None and outcomes(case)[first.id] not in ("pass", "infrastructure")
    press(Qt.Key.Key_1)
    assert [(row.sample_id, row.annotator, row.mode) for row in labels(case)] == [
        (first.id, "Ann", panel.taxonomy.modes[0].id)
    ]
    wait_until(lambda: not panel.held)
    second = panel._sample
    assert second is not None and second.id != first.id
    press(Qt.Key.Key_2)
    assert len(labels(case)) == 2
    assert panel.progress.text().startswith("2 of ")
    press(Qt.Key.Key_U)
    wait_until(lambda: not panel.held)
    assert panel._sample is not None and panel._sample.id == second.id
    assert [row.sample_id for row in labels(case)] == [first.id]


def test_keys_label_after_a_click_on_the_tab(window: MainWindow, case: Filled) -> None:
    window.parts.regions.setFocus()
    tabs = window.parts.tabs
    bar = tabs.tabBar()
    where = bar.tabRect(tabs.indexOf(window.parts.desk)).center()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=where)
    wait_until(lambda: window.parts.labels._sample is not None and window.parts.labels.hasFocus())
    press(Qt.Key.Key_1)
    assert len(labels(case)) == 1


def test_a_fast_hand_never_labels_the_wrong_sample(window: MainWindow, case: Filled) -> None:
    begin(window)
    shown: list[int] = []
    window.parts.labels.label_requested.connect(lambda given: shown.append(given.sample_id))
    for _ in range(12):
        press(Qt.Key.Key_3)
        QApplication.processEvents()
    wait_until(lambda: len(labels(case)) == len(shown))
    assert len(set(shown)) == len(shown) >= 4
    assert [row.sample_id for row in labels(case)] == shown


def test_the_queue_can_be_random_by_seed(window: MainWindow, case: Filled) -> None:
    begin(window)
    labelling, bar = window.labelling, window.parts.queue
    bar.kind.setCurrentText(QueueKind.RANDOM)
    wait_until(lambda: len(labelling._queue.samples) == len(outcomes(case)))
    before = list(labelling._queue.samples)
    bar.seed.setValue(7)
    wait_until(lambda: labelling._queue.samples != before)
    assert sorted(labelling._queue.samples) == sorted(before)


def test_disagreements_are_a_queue(window: MainWindow, case: Filled) -> None:
    disputed, agreed, *_ = outcomes(case)
    with open_store(case.database) as store:
        for sample, annotator, mode in (
            (disputed, "Ann", "ambiguous"), (disputed, "Bob", "hallucinated"),
            (agreed, "Ann", "ambiguous"), (agreed, "Bob", "ambiguous"),
        ):  # fmt: skip
            store.add_label(sample, mode, annotator, "")
    begin(window)
    window.parts.queue.kind.setCurrentText(QueueKind.DISAGREEMENTS)
    wait_until(lambda: window.labelling._queue.samples == [disputed])


def test_blind_shows_nothing_but_the_texts_whatever_the_key(window: MainWindow) -> None:
    begin(window)
    press(Qt.Key.Key_B)
    run, parts = window.inspection.run, window.parts
    assert run is not None
    for part in (parts.bar, parts.status, parts.roundtrip, parts.regions, parts.code, parts.tabs.tabBar()):
        assert not part.isVisible()
    assert parts.labels.isVisible() and parts.labels.badge.text == ""
    for key in (Qt.Key.Key_T, Qt.Key.Key_E, Qt.Key.Key_7, Qt.Key.Key_K, Qt.Key.Key_M, Qt.Key.Key_Comma):
        QTest.keyClick(parts.labels, key, Qt.KeyboardModifier.ControlModifier)
        assert parts.tabs.currentWidget() is parts.desk and QApplication.activeModalWidget() is None
    parts.notices.say(NoticeText(f"run {run.id} by {run.model_name} has ended."))
    parts.offers.offer(Offer("left", f"run {run.id} is unfinished.", ()))
    told = [each.text() for each in window.findChildren(QLabel) if each.isVisible()]
    assert not [text for text in (*told, window.windowTitle()) if run.model_name in text or f"run {run.id}" in text]
    assert not parts.queue.files.isVisible() and not parts.queue.agreement.isVisible()
    wait_until(lambda: not parts.labels.held)
    press(Qt.Key.Key_B)
    assert parts.notices.isVisible() and parts.offers.isVisible()
    assert parts.queue.files.isVisible() and window.commands["next-tab"].isEnabled()
    assert parts.regions.isVisible() and parts.bar.isVisible()


def on_screen(window: MainWindow) -> list[str]:
    """All that can be read, hovered over or heard, of every widget in sight but the sample's texts and the modes."""
    shown = [window, *window.findChildren(QWidget)]  # dialogs and lists that drop down are among them
    texts = (window.parts.labels.subject, *window.parts.labels.side.buttons)
    modes = {child for each in texts for child in (each, *each.findChildren(QWidget))}
    told = []
    for each in shown:
        if each.isVisible() and each not in modes:
            told += [each.toolTip(), each.accessibleName(), each.accessibleDescription(), each.statusTip()]
            told += [each.windowTitle(), str(getattr(each, "text", ""))]
            for name in ("text", "toPlainText", "placeholderText", "currentText", "title"):
                read = getattr(each, name, None)
                told.append(str(read()) if callable(read) else "")
            if isinstance(each, QComboBox):
                told += [each.itemText(place) for place in range(each.count())]
    return [text.replace("RTC Inspector", "") for text in told]


TELLING = re.compile(
    r"\bRTC\b|\blift\b|\d [%]|\b(passe[ds]|failed|failures?|timeout|crash|infrastructure)\b", re.IGNORECASE
)


def test_while_blind_nothing_in_sight_tells_verdict_model_or_score(window: MainWindow, case: Filled) -> None:
    begin(window)
    run, parts = window.inspection.run, window.parts
    assert run is not None and [text for text in on_screen(window) if TELLING.search(text)]
    window.searching.search_project()
    QTest.keyClick(parts.labels, Qt.Key.Key_B)
    wait_until(lambda: len(window.labelling._queue.samples) == len(outcomes(case)) and parts.labels.hasFocus())
    assert {outcomes(case)[sample] for sample in window.labelling._queue.samples} > {"pass", "fail"}
    assert parts.queue.kind.currentText() == QueueKind.RANDOM and parts.queue.kind.findText(QueueKind.FAILURES) < 0
    for error in (SandboxError(f"Tests of {run.model_name} failed.", "Look."), StoreError("RTC is locked.", "Wait.")):
        parts.notices.report(error)
        assert parts.notices.isVisible()
    parts.notices.say(NoticeText(f"Run {run.id} has an RTC of 0.5."))
    assert "perhaps your last label" in parts.notices.problem.text()
    window.inspection.refresh()
    for action in window.commands.all():
        if action.objectName() not in WHILE_BLIND:
            action.trigger()
            assert parts.tabs.currentWidget() is parts.desk and QApplication.activeModalWidget() is None
    for key in (Qt.Key.Key_S, Qt.Key.Key_1, Qt.Key.Key_Left, Qt.Key.Key_U, Qt.Key.Key_Right, Qt.Key.Key_2):
        wait_until(lambda: not parts.labels.held)
        QTest.keyClick(parts.labels, key)
        told = on_screen(window)
        assert [text for text in told if TELLING.search(text) or run.model_name in text or f"un {run.id}" in text] == []
    assert labels(case)
    parts.notices._dismiss()
    assert not parts.notices.isVisible() and len(parts.notices.notices) == 3
    QTest.keyClick(parts.labels, Qt.Key.Key_B)
    assert parts.queue.kind.currentText() == QueueKind.FAILURES
    assert parts.notices.isVisible() and "has an RTC" in parts.notices.problem.text()


def test_a_queue_chosen_while_blind_stays(window: MainWindow) -> None:
    begin(window)
    press(Qt.Key.Key_B)
    window.parts.queue.kind.setCurrentText(QueueKind.ALL)
    press(Qt.Key.Key_B)
    assert window.parts.queue.kind.currentText() == QueueKind.ALL


def test_disputed_samples_are_decided_and_stay_disputed(window: MainWindow, case: Filled) -> None:
    first, second, *_ = outcomes(case)
    with open_store(case.database) as store:
        for sample, annotator, mode in (
            (first, "Ann", "ambiguous"), (first, "Bob", "hallucinated"),
            (second, "Ann", "other"), (second, "Bob", "recites"),
        ):  # fmt: skip
            store.add_label(sample, mode, annotator, "")
    before = labels(case)
    panel = window.parts.labels
    QTest.keyClick(window, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    wait_until(lambda: panel.adjudicating and panel._sample is not None and not panel.held)
    press(Qt.Key.Key_K)
    wait_until(lambda: not panel.held)
    press(Qt.Key.Key_1)
    with open_reader(case.database) as reader:
        decided = [(row.sample_id, row.annotator, row.mode, row.kind) for row in reader.adjudications(case.run_id)]
        assert reader.labels(first)[-1].taxonomy_version == 1
    assert decided == [(first, "Ann", "hallucinated", "adjudication"), (second, "Ann", "misses-logic", "adjudication")]
    assert labels(case) == before
    assert panel.progress.text().startswith("2 of 2")


def test_every_run_of_the_project_can_be_in_one_queue(window: MainWindow, case: Filled) -> None:
    with open_store(case.database) as store:
        other = fill_store(store, case.root, 5, 9, model="OtherCoder-7B")
    begin(window)
    window.inspection.refresh()
    wait_until(lambda: window.inspection.overview is not None and len(window.inspection.overview.runs) == 2)
    window.parts.queue.kind.setCurrentText(QueueKind.RANDOM)
    window.parts.queue.scope.setCurrentIndex(1)
    with open_reader(case.database) as reader:
        both = {row.sample_id for run in (case.run_id, other) for row in reader.reconstructions(run)}
    wait_until(lambda: set(window.labelling._queue.samples) == both)
    window.parts.queue.most.setValue(10)
    wait_until(lambda: len(window.labelling._queue.samples) == 10)


def test_changed_error_modes_are_used_and_kept(window: MainWindow, tmp_path: Path) -> None:
    panel = window.parts.labels

    def change() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, TaxonomyDialog)
        dialog.list.setCurrentRow(0)
        dialog.retire.click()
        dialog.save.click()

    QTimer.singleShot(100, change)
    window.parts.queue.modes.click()
    assert panel.taxonomy.version == 2 and panel.side.buttons[0].accessibleName() == "Line by line, key 1"
    assert read_taxonomy(tmp_path / "error_modes.toml") == panel.taxonomy


def test_question_mark_shows_the_keys_of_labelling_there(window: MainWindow) -> None:
    begin(window)
    press(Qt.Key.Key_Question)
    assert window.parts.labels.keys.isVisible()
    assert QApplication.activeModalWidget() is None


def test_the_annotator_is_remembered(window: MainWindow) -> None:
    begin(window)
    window.parts.labels.annotator.setFocus()
    window.parts.labels.annotator.selectAll()
    QTest.keyClicks(window.parts.labels.annotator, "Bob")
    assert window.remembered.annotator == "Ann"
    press(Qt.Key.Key_Return)
    assert window.remembered.annotator == "Bob"
    press(Qt.Key.Key_1)
    window.parts.queue.seed.setValue(3)
    completer = window.parts.labels.annotator.completer
    wait_until(lambda: completer() is not None and completer().model().rowCount() == 1)
    assert completer().model().index(0, 0).data() == "Bob"


def test_labels_go_out_and_come_in_without_doubles(window: MainWindow, case: Filled, tmp_path: Path) -> None:
    begin(window)
    press(Qt.Key.Key_1)
    window.label_desk.export([case.run_id], tmp_path / "labels.json", "json")
    wait_until(lambda: window.parts.notices.problem.text().startswith("1 labelled sample written"))
    window.label_desk.take_in([case.run_id], tmp_path / "labels.json")
    wait_until(lambda: window.parts.notices.problem.text() == "0 new labels came in.")
    window.label_desk.export([case.run_id], tmp_path / "nowhere" / "labels.csv", "csv")
    wait_until(lambda: "could not be written" in window.parts.notices.problem.text())


def test_a_label_pressed_just_before_the_window_closes_is_kept(window: MainWindow, case: Filled) -> None:
    begin(window)
    locked, release = threading.Event(), threading.Event()

    def hold_the_lock() -> None:
        with open_store(case.database) as store, store._transaction():
            locked.set()
            release.wait(5)

    holder = threading.Thread(target=hold_the_lock)
    holder.start()
    assert locked.wait(5)
    press(Qt.Key.Key_1)
    assert labels(case) == []
    began = time.monotonic()
    window.close()
    assert time.monotonic() - began < 0.1
    release.set()
    holder.join()
    wait_until(lambda: not window.isVisible())
    assert len(labels(case)) == 1


KILLED = """
import os, signal, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from factories import fill_store
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from waiting import wait_until
from rtc_inspector.ui.style.appearance import Appearance
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.remembered import Remembered
app = QApplication([])
settings = QSettings(str(Path(sys.argv[1]).with_name("killed.ini")), QSettings.Format.IniFormat)
window = MainWindow(Appearance(app, "light"), Remembered(settings))
window.show()
window.open_database(Path(sys.argv[1]))
wait_until(lambda: window.inspection.run is not None)
window.label_desk.label_samples()
wait_until(lambda: window.parts.labels._sample is not None)
QTest.keyClick(window.parts.labels, Qt.Key.Key_4)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_label_outlives_kill_9_right_after_the_key(case: Filled) -> None:
    here = Path(__file__).parent
    paths = [str(here), str(here.parent), str(here.parents[1])]
    arguments = [sys.executable, "-c", KILLED, str(case.database), *paths]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    ended = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert [row.mode for row in labels(case)] == ["ambiguous"]


def test_a_queue_begins_at_the_first_sample_without_a_label() -> None:
    rows = [ReconstructionRow(n, n // 2, "fail" if n % 2 else "pass") for n in range(1, 9)]
    given = [LabelRow(1, 1, "Ann", "ambiguous", "", ""), LabelRow(2, 3, "Bob", "ambiguous", "", "")]
    queue = make_queue(Stock(rows, given), Asked(QueueKind.FAILURES, annotator="Ann"))
    assert (queue.samples, queue.current, queue.done) == ([1, 3, 5, 7], 3, 1)
    blind = make_queue(Stock(rows, given), Asked(QueueKind.FAILURES, 5, 0, "Ann", blind=True))
    assert sorted(blind.samples) == [1, 3, 5, 7] and blind.samples != [1, 3, 5, 7]


def test_code_and_round_trip_follow_the_sample_that_is_labelled(window: MainWindow) -> None:
    begin(window)
    panel, parts, inspection = window.parts.labels, window.parts, window.inspection
    for _ in range(4):
        sample = panel._sample
        assert sample is not None
        wait_until(lambda sample=sample: inspection.item is not None and inspection.item.id == sample.item_id)
        wait_until(lambda sample=sample: parts.roundtrip.selected == sample.id)
        wait_until(lambda: parts.code.path == inspection.item.path)
        press(Qt.Key.Key_1)
        wait_until(lambda sample=sample: not panel.held and panel._sample is not sample)
    assert panel.isAncestorOf(QApplication.focusWidget()) or QApplication.focusWidget() is panel


def test_some_lines_around_the_region_are_on_show_while_labelling(window: MainWindow) -> None:
    begin(window)
    editor = window.parts.code.editor
    assert editor.viewport().height() >= 6 * editor.fontMetrics().height()


def test_enter_keeps_a_note_or_a_name_and_labels_nothing(window: MainWindow, case: Filled) -> None:
    begin(window)
    press(Qt.Key.Key_N)
    QTest.keyClicks(QApplication.focusWidget(), "odd")
    press(Qt.Key.Key_Return)
    window.parts.labels.annotator.setFocus()
    window.parts.labels.annotator.setText("Bob")
    press(Qt.Key.Key_Enter)
    assert window.parts.labels.name == "Bob"
    with open_reader(case.database) as reader:
        given = [(row.annotator, row.mode, row.note) for sample in outcomes(case) for row in reader.labels(sample)]
    assert given == [("Ann", "", "odd")]
    press(Qt.Key.Key_2)
    assert ("Bob", "line-by-line") in [(row.annotator, row.mode) for row in labels(case)]


@pytest.mark.parametrize("by_tab", [True, False])
def test_in_a_low_window_the_tab_gives_the_room_that_the_key_gives_and_the_note_is_whole(
    window: MainWindow, by_tab: bool
) -> None:
    window.resize(1280, 725)  # a screen of 1280 by 800 with a panel and a title bar
    parts = window.parts
    tabs = parts.tabs.tabBar()
    if by_tab:
        place = tabs.tabRect(parts.tabs.indexOf(parts.desk)).center()
        QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=place)
    else:
        window.label_desk.label_samples()
    wait_until(lambda: parts._splitters["right"].sizes()[1] == DESK and parts.labels._sample is not None)
    QTest.qWait(50)
    assert not parts.labels.note.visibleRegion().isEmpty()
    assert parts.labels.note.visibleRegion().boundingRect() == parts.labels.note.rect()


def test_every_definition_is_whole_in_a_low_window_with_a_notice(window: MainWindow) -> None:
    window.resize(1280, 725)  # a screen of 1280 by 800 with a panel and a title bar
    window.parts.offers.offer(Offer("left", "Run 1 did not finish.", ()))
    begin(window)
    wait_until(lambda: all(b.height() == b.high(b.width(), MOST_LINES) for b in window.parts.labels.side.buttons))
    assert window.parts.code.editor.viewport().height() >= 3 * window.parts.code.editor.fontMetrics().height()


def test_large_gives_the_labels_the_window_and_other_tabs_take_it_back(window: MainWindow) -> None:
    begin(window)
    parts = window.parts
    before = parts.labels.height()
    press(Qt.Key.Key_F)
    assert not parts.code.isVisible() and not parts.regions.isVisible() and parts.labels.badge.text
    wait_until(lambda: parts.labels.height() > before + 100)
    assert parts.bar.isVisible()
    press(Qt.Key.Key_1)
    parts.tabs.setCurrentWidget(parts.diff)
    assert parts.code.isVisible() and parts.regions.isVisible()
    parts.tabs.setCurrentWidget(parts.desk)
    assert not parts.code.isVisible()
    parts.labels.large.click()
    assert parts.code.isVisible()


def test_leaving_labels_moves_no_tab_and_their_room_ends_with_going_to_the_code(
    qapp: QApplication, window: MainWindow, case: Filled
) -> None:
    splitter = window.parts._splitters["right"]
    before = splitter.sizes()
    begin(window)
    assert splitter.sizes()[1] > before[1]
    labelling = splitter.sizes()
    window.parts.tabs.setCurrentWidget(window.parts.diff)
    assert splitter.sizes() == labelling, "the tab bar stays below the pointer"
    window.parts.go_to(window.parts.code.editor)
    assert splitter.sizes() == before
    begin(window)
    press(Qt.Key.Key_F)
    window.close()
    wait_until(lambda: not window.isVisible())
    again = MainWindow(light(qapp), window.remembered)
    again.show()
    assert again.parts._splitters["right"].sizes()[1] == before[1]
    again.close()
    wait_until(lambda: not again.isVisible())
    again.deleteLater()


def test_the_room_of_labels_ends_with_a_description_by_hand(window: MainWindow) -> None:
    window.resize(1280, 725)
    begin(window)
    own = window.parts.roundtrip.own
    wait_until(lambda: window.parts.roundtrip.describe.isEnabled())
    window.parts.roundtrip.describe.click()
    QTest.qWait(50)
    assert own.isVisible() and own.text.geometry().bottom() < own.go.geometry().top(), "nothing lies over the text"
    assert own.visibleRegion().boundingRect() == own.rect()


def test_beside_a_large_diff_stand_file_function_and_what_failed(window: MainWindow) -> None:
    wait_until(lambda: window.project.codebase is not None)
    begin(window)
    press(Qt.Key.Key_F)
    context = window.parts.labels.subject.context
    assert context.isVisible() and "shop/" in context.place.text().replace("\u200b", "")
    assert context.around.edit.toPlainText().startswith("def ")
    for _ in range(30):
        if context.failed.isVisible():
            break
        press(Qt.Key.Key_S)
        wait_until(lambda: not window.parts.labels.held)
    assert "AssertionError: assert 3 == 4" in context.failed.edit.toPlainText()
