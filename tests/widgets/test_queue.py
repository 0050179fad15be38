"""Runs that wait: order, what follows a failure, what a closed window leaves, and what is offered again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from store_cases import filled
from stored_run import shown
from themes import light
from waiting import wait_until

from rtc_inspector.core.run.events import Control, Event
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.run.own_runs import QueueDialog, RunQueue
from rtc_inspector.ui.shell.remembered import Remembered


@pytest.fixture
def remembered(tmp_path: Path) -> Remembered:
    return Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def open_window(qapp: QApplication, remembered: Remembered) -> Iterator[Callable[[], MainWindow]]:
    made: list[MainWindow] = []

    def make() -> MainWindow:
        made.append(MainWindow(light(qapp), remembered))
        made[-1].show()
        return made[-1]

    yield make
    for each in made:
        each.close()
        wait_until(lambda each=each: not each.isVisible())
        each.deleteLater()


def blocked(window: MainWindow) -> threading.Event:
    """Something at work until the event is set."""
    release = threading.Event()

    def job(emit: Callable[[Event], None], control: Control) -> None:
        while not release.wait(0.01):
            control.checkpoint()

    assert window.control.coordinator.begin(job)
    return release


def queued(window: MainWindow, tmp_path: Path, *models: str) -> None:
    """Runs that cannot begin, since their models are not there: each ends with a notice that names it."""
    window.open_database(tmp_path / "runs.sqlite")
    window.project.open(tmp_path)
    for name in models:
        window.control.adopt(RunSettings(model=str(tmp_path / name)))
        assert window.start_run()


def titles(window: MainWindow) -> list[str]:
    return [run.title.split(" · ")[2] for run in window.queueing.queue.runs]


def test_each_begins_when_the_one_before_has_ended_though_that_failed(
    open_window: Callable[[], MainWindow], tmp_path: Path
) -> None:
    window = open_window()
    release = blocked(window)
    announced: list[str] = []
    window.queueing.began.connect(lambda _: announced.append(window.parts.notices.notices[0].problem))
    queued(window, tmp_path, "first.gguf", "second.gguf")
    assert titles(window) == ["first", "second"]
    assert window.parts.status.queue.text() == "2 queued"
    release.set()
    wait_until(lambda: not window.queueing.queue.runs and not window.control.busy, 10)
    said = "\n".join(notice.problem for notice in window.parts.notices.notices)
    assert "first.gguf" in said and "second.gguf" in said
    assert len(announced) == 2 and all(each.startswith("Next in the queue: ") for each in announced)
    assert "Next in the queue" not in said, "it has ended"
    assert not window.parts.status.queue.isVisible()


def test_stop_holds_the_queue_until_it_is_let_go_on(open_window: Callable[[], MainWindow], tmp_path: Path) -> None:
    window = open_window()
    blocked(window)
    queued(window, tmp_path, "only.gguf")
    window.control.coordinator.stop()
    wait_until(lambda: window.control.coordinator.state is RunState.IDLE)
    QTest.qWait(300)
    assert titles(window) == ["only"]
    assert window.parts.status.queue.text() == "1 queued, held"
    window.queueing.go_on()
    wait_until(lambda: not window.queueing.queue.runs and not window.control.busy, 10)


def test_an_emptied_queue_holds_back_nothing_that_is_added_later(
    open_window: Callable[[], MainWindow], tmp_path: Path
) -> None:
    window = open_window()
    release = blocked(window)
    queued(window, tmp_path, "first.gguf")
    window.queueing.hold()
    window.queueing.queue.clear()
    queued(window, tmp_path, "later.gguf")
    assert not window.queueing.queue.held
    release.set()
    wait_until(lambda: not window.queueing.queue.runs and not window.control.busy, 10)


def test_the_queue_is_put_in_order_by_keys(open_window: Callable[[], MainWindow], tmp_path: Path) -> None:
    window = open_window()
    release = blocked(window)
    queued(window, tmp_path, "a.gguf", "b.gguf", "c.gguf")
    dialog = QueueDialog(window.queueing, window)
    dialog.list.setCurrentRow(2)
    shown(dialog)
    dialog.list.setFocus()
    QTest.keyClick(dialog.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert titles(window) == ["a", "c", "b"]
    assert dialog.list.currentItem().text().startswith("2.") and " · c · " in dialog.list.currentItem().text()
    QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
    assert titles(window) == ["a", "b"]
    dialog.hold.click()
    assert window.queueing.queue.held and dialog.hold.text() == "Go on"
    window.queueing.queue.clear()
    assert not dialog.hold.isEnabled()
    dialog.close()
    release.set()


def test_a_closed_window_leaves_its_queue_and_offers_it_the_next_time(
    open_window: Callable[[], MainWindow], tmp_path: Path
) -> None:
    first = open_window()
    blocked(first)
    queued(first, tmp_path, "one.gguf", "two.gguf")
    first.close()
    wait_until(lambda: not first.isVisible())
    again = open_window()
    assert titles(again) == ["one", "two"]
    assert "2 runs waited" in again.parts.offers.text.text() and again.parts.offers.isVisible()
    assert not again.control.busy
    again.parts.offers.buttons[0].click()
    wait_until(lambda: not again.queueing.queue.runs and not again.control.busy, 10)
    assert not again.parts.offers.isVisible()


def test_what_was_begun_but_never_got_into_the_database_is_not_lost(remembered: Remembered, tmp_path: Path) -> None:
    queue = RunQueue(remembered)
    queue.add(tmp_path, tmp_path / "runs.sqlite", RunSettings(seed=4))
    queue.take()
    assert [run.settings.seed for run in RunQueue(remembered).runs] == [4]
    queue.forget_begun()
    assert RunQueue(remembered).runs == []


def test_a_queue_that_cannot_be_read_is_empty(remembered: Remembered) -> None:
    remembered.keep_queue([{"project": 3}, "nonsense"])
    assert RunQueue(remembered).runs == []


def test_an_unfinished_run_is_offered_once_and_may_be_declined(
    open_window: Callable[[], MainWindow], tmp_path: Path
) -> None:
    case = filled(tmp_path, items=12, finish=False)
    window = open_window()
    window.open_database(case.database, case.root)
    wait_until(lambda: window.parts.offers.isVisible())
    assert "Run 1 on shop-project" in window.parts.offers.text.text()
    assert [button.text() for button in window.parts.offers.buttons] == ["Resume", "All runs…", "Not now"]
    window.parts.offers.buttons[2].click()
    again = open_window()
    again.open_database(case.database, case.root)
    wait_until(lambda: again.inspection.run is not None)
    assert not again.parts.offers.isVisible()


def test_only_runs_on_the_open_project_are_offered(open_window: Callable[[], MainWindow], tmp_path: Path) -> None:
    case = filled(tmp_path, items=12, finish=False)
    other = tmp_path / "other"
    other.mkdir()
    (other / "code.py").write_text("def one() -> int:\n    return 1\n")
    window = open_window()
    window.open_database(case.database, other)
    wait_until(lambda: bool(window.inspection.overview and window.inspection.overview.runs))
    QTest.qWait(100)
    assert not window.parts.offers.isVisible()
    window.open_project(case.root)
    wait_until(lambda: window.parts.offers.isVisible())
    window.open_project(other)
    wait_until(lambda: not window.parts.offers.isVisible())


def test_resuming_while_a_run_is_at_work_waits(open_window: Callable[[], MainWindow], tmp_path: Path) -> None:
    case = filled(tmp_path, items=12, finish=False)
    window = open_window()
    window.open_database(case.database, case.root)
    wait_until(lambda: window.inspection.run is not None)
    release = blocked(window)
    window.resume_run(1)
    assert [(run.run_id, run.project) for run in window.queueing.queue.runs] == [(1, case.root)]
    assert window.queueing.resume(replace(case.run(), id=1), case.database) is False
    assert len(window.queueing.queue.runs) == 1, "the same run waits once"
    window.queueing.queue.clear()
    release.set()
