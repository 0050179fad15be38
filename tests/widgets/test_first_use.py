"""What a developer meets on the first day: no database yet, keys pressed early, what is said and shown of an answer."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pygit2
import pytest
from models_gguf_writer import gguf_bytes, write_gguf
from PySide6.QtCore import QSettings, QTimer
from PySide6.QtGui import QDesktopServices, QTextCursor
from PySide6.QtWidgets import QApplication, QDialog, QLabel
from store_cases import Filled, filled
from themes import light
from waiting import wait_until

from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.models.download import parse_wanted
from rtc_inspector.core.regions.admission import as_item
from rtc_inspector.core.run.events import Control, Event, Notice, SampleReady
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import TRIAL, PaceRow, SampleRow, VerdictRow
from rtc_inspector.core.types import Outcome, Span
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.presenters import verdict_detail, verdict_text
from rtc_inspector.ui.report.page import write_report
from rtc_inspector.ui.run.control import A_CHECK
from rtc_inspector.ui.shell.bars import NoticeText, StatusLine
from rtc_inspector.ui.shell.remembered import FIRST_REGIONS, Remembered
from rtc_inspector.ui.shell.run_dialog import PRESET, RunDialog
from rtc_inspector.ui.shell.welcome import Welcome


@pytest.fixture
def remembered(tmp_path: Path) -> Remembered:
    return Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def window(qapp: QApplication, remembered: Remembered) -> Iterator[MainWindow]:
    made = MainWindow(light(qapp), remembered)
    made.resize(1280, 800)
    made.show()
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


@pytest.fixture
def case(tmp_path: Path) -> Filled:
    return filled(tmp_path, items=30)


@pytest.fixture
def run_window(window: MainWindow, case: Filled) -> MainWindow:
    window.open_database(case.database, case.root)
    window.open_project(case.root)
    wait_until(lambda: window.inspection.run is not None and window.project.codebase is not None)
    wait_until(lambda: window.parts.code.path and window.parts.code.selecting._shown()[0] is not None)
    return window


def in_dialog(act: Callable[[QDialog], None]) -> None:
    """Do something in the dialog that opens next, then close it."""

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, QDialog):
            act(dialog)
            dialog.reject()
        else:
            QTimer.singleShot(20, look)

    QTimer.singleShot(20, look)


def pace(seconds: float, regions: int = 1) -> PaceRow:
    """A trial of one region whose seven samples took so long."""
    return PaceRow(
        run_id=TRIAL, settings=RunSettings(regions=regions), samples=7, tokens=700, seconds=seconds, drawing=0.0,
        parts=(seconds / 7,),
    )  # fmt: skip


# ---- what a run will cost, before there is a database


def test_a_run_can_be_measured_before_there_is_a_database(window: MainWindow, tmp_path: Path) -> None:
    window.open_database(tmp_path / "none.sqlite")
    offered: list[bool] = []
    in_dialog(lambda dialog: offered.append(isinstance(dialog, RunDialog) and dialog.measure.isVisible()))
    window.starting.ask()
    in_dialog(lambda dialog: None)
    window.run_lists.show_all()
    QApplication.processEvents()
    assert offered == [True]
    assert not window.parts.notices.isVisible()


def test_a_first_run_is_preset_to_take_minutes(qapp: QApplication, remembered: Remembered) -> None:
    settings = remembered.run_settings()
    assert settings.regions == FIRST_REGIONS
    dialog = RunDialog(settings)
    dialog.set_paces([])
    dialog.set_paces([pace(60.0)])
    assert dialog.fields["regions"].value() == PRESET / 60
    chosen = RunDialog(settings)
    chosen.fields["regions"]._put(33)
    chosen.set_paces([pace(60.0)])
    assert chosen.fields["regions"].value() == 33, "what the user chose stays"


# ---- selected code


def select(window: MainWindow, text: str) -> None:
    editor = window.parts.code.editor
    cursor = editor.textCursor()
    start = editor.toPlainText().index(text)
    cursor.setPosition(start)
    cursor.setPosition(start + len(text), QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)


@pytest.fixture
def asked(run_window: MainWindow) -> list[tuple[str, int, int]]:
    heard: list[tuple[str, int, int]] = []
    selecting = run_window.parts.code.selecting
    selecting.probe_asked.disconnect(run_window.by_hand.probe)
    selecting.check_asked.disconnect(run_window.by_hand.check)
    selecting.probe_asked.connect(lambda *of: heard.append(of))
    selecting.check_asked.connect(lambda *of: heard.append(of))
    return heard


def test_f7_right_after_selecting_is_not_lost(run_window: MainWindow, asked: list[tuple[str, int, int]]) -> None:
    select(run_window, "subtotal = sum(prices)")
    run_window.commands["probe"].trigger()
    wait_until(lambda: asked)
    text = run_window.parts.code.editor.toPlainText()
    assert text[asked[0][1] : asked[0][2]] == "subtotal = sum(prices)"
    select(run_window, "discount = subtotal * rate")
    run_window.commands["probe"].trigger()
    wait_until(lambda: len(asked) == 2)
    assert text[asked[1][1] : asked[1][2]] == "discount = subtotal * rate", "not the selection before"


def test_without_a_selection_the_line_with_the_cursor_is_meant(
    run_window: MainWindow, asked: list[tuple[str, int, int]]
) -> None:
    editor, bar = run_window.parts.code.editor, run_window.parts.code.probe_bar
    cursor = editor.textCursor()
    cursor.setPosition(editor.toPlainText().index("sum(prices)"))
    editor.setTextCursor(cursor)
    run_window.commands["check"].trigger()
    wait_until(lambda: asked)
    cursor.setPosition(editor.toPlainText().index("\n\n") + 1)
    editor.setTextCursor(cursor)
    run_window.commands["probe"].trigger()
    wait_until(lambda: bar.isVisible() and bar.said.text() == "No statement is selected.")
    assert len(asked) == 1
    editor.show_line(0)
    wait_until(lambda: not bar.isVisible())


def test_the_answer_of_the_tests_is_read_whole(run_window: MainWindow, asked: list[tuple[str, int, int]]) -> None:
    run_window.resize(960, 700)
    select(run_window, "subtotal = sum(prices)")
    run_window.commands["check"].trigger()
    wait_until(lambda: asked)
    selecting = run_window.parts.code.selecting
    assert selecting.region is not None
    reason = "the tests do not notice its deletion, though 385 of them run these lines in every one of their cases"
    selecting.show_answer(as_item(selecting.region, reason))
    QApplication.processEvents()
    said = run_window.parts.code.probe_bar.said
    assert said.text() == f"{reason.capitalize()}."
    assert type(said) is QLabel and said.height() >= said.heightForWidth(said.width())


# ---- what is shown of an answer


def written(case: Filled, item_id: int) -> list[SampleReady]:
    """A person's words and the code made from them, stored as the engine stores them."""

    def sample(role: Role, text: str, author: str) -> Sample:
        return Sample(
            role=role, index=9, prompt_text="p", seed=1, temperature=0.0, raw_text=text, extraction=Extraction(text),
            prompt_tokens=1, completion_tokens=1, seconds=0.1, finish_reason="stop", author=author,
        )  # fmt: skip

    events = []
    with open_store(case.database) as store:
        parent: int | None = None
        for made in (sample(Role.FORWARD, "My words.", "Ada"), sample(Role.BACKWARD, "return 1", "model")):
            number = store.add_sample(item_id, parent, made)
            events.append(SampleReady(case.run_id, item_id, number, parent, made))
            parent = number
    return events


def test_the_answer_to_ones_own_words_is_selected_and_seen(run_window: MainWindow, case: Filled) -> None:
    item = next(item for item in case.items() if item.measures.get("judged", 0) > 1)
    run_window.browsing.choose(item.id)
    wait_until(lambda: run_window.parts.roundtrip.cards)
    run_window.browsing.trace.answer_of = item.id
    events = written(case, item.id)
    run_window.browsing.take(events)
    run_window.inspection.refresh()
    panel, answer = run_window.parts.roundtrip, events[1].sample_id
    wait_until(lambda: panel.selected == answer)
    card = next(card for card in panel.cards if card.sample.id == answer)
    wait_until(lambda: not card.visibleRegion().isEmpty(), what="for the card to be scrolled to")


def failing(samples: list[SampleRow]) -> list[int]:
    return [
        each.id
        for each in samples
        if each.role == "backward" and each.verdict and each.verdict.outcome not in ("pass", "infrastructure")
    ]


def test_the_next_failure_is_the_sample_that_failed(run_window: MainWindow, case: Filled) -> None:
    window, panel = run_window, run_window.parts.roundtrip
    partly = [
        item for item in case.items() if item.state == "done" and item.headline is not None and 0 < item.headline < 1
    ]
    seen = 0
    for _ in range(len(case.items())):
        before = window.inspection.item
        window.commands["next-failure"].trigger()
        item = window.inspection.item
        if item is None or item == before:
            break
        wait_until(lambda item=item: panel.cards and panel.cards[0].sample.item_id == item.id)
        wait_until(lambda: panel.selected in failing([card.sample for card in panel.cards]))
        seen += item.id in {each.id for each in partly}
    assert seen >= len(partly) - 1 > 5, "all but perhaps the one that was shown at first"


def test_a_failure_says_that_judging_stopped_there() -> None:
    verdict = VerdictRow(
        Outcome.FAIL, 0.1, (), "1 of 1 tests failed; first t::a: AssertionError", "", "tests",
        id=1, tests_run=1, tests_failed=1,
    )  # fmt: skip
    assert verdict_text(verdict, 385) == "✗ FAIL at 1 of 385"
    assert verdict_detail(verdict, 385).endswith("judging stopped there, after 1 of 385 covering tests")
    every = replace(verdict, tests_run=8, tests_failed=2)
    assert (verdict_text(every, 8), "stopped" in verdict_detail(every, 8)) == ("✗ FAIL 2 of 8", False)
    assert verdict_text(verdict, 1) == "✗ FAIL 1 of 1"
    assert verdict_text(verdict) == "✗ FAIL", "where nobody knows how many there are, no count is given"


def test_what_has_no_verdict_after_a_stop_is_not_being_judged(window: MainWindow, tmp_path: Path) -> None:
    case = filled(tmp_path, items=12, finish=False)
    with open_store(case.database) as store:
        item = next(item for item in case.items() if item.tally)
        store.add_sample(item.id, None, written(case, item.id)[1].sample)
    window.open_database(case.database, case.root)
    wait_until(lambda: window.inspection.run is not None)
    window.browsing.choose(item.id)
    wait_until(lambda: any("not judged yet" in card.spoken() for card in window.parts.roundtrip.cards))
    said = [card.spoken() for card in window.parts.roundtrip.cards if card.sample.verdict is None]
    assert said and not [each for each in said if "judging" in each]


# ---- the line at the foot, the menu, the task


def test_the_line_at_the_foot_names_the_runs_own_model(run_window: MainWindow, case: Filled) -> None:
    run_window.control.adopt(RunSettings(model="/elsewhere/other.gguf"))
    line = run_window.parts.status.summary
    assert line.text().endswith(f" · {case.run().model_name}")
    # What is judged by stands before names, which may be longer than the line.
    assert re.match(r"run 1 · \d+/26 regions · RTC .* · lift .* · baseline ", line.text())
    assert "over 26 regions: Share of reconstructions that pass" in line.toolTip()


def test_a_run_that_is_held_is_not_said_to_be_running(qapp: QApplication, case: Filled) -> None:
    line, run = StatusLine(), replace(case.run(), status="running")
    line.show_run(run)
    assert line.state.text() == "running"
    line.show_state(RunState.PAUSED, run.id)
    assert line.state.text() == "paused"
    line.show_state(RunState.STOPPING, run.id)
    assert line.state.text() == "stopping"
    line.show_state(RunState.PAUSED, run.id + 1)
    assert line.state.text() == "running", "another run than this window's own"
    line.show_state(RunState.IDLE)
    assert line.state.text() == "running"


def test_an_unfinished_run_is_resumed_from_the_menu(window: MainWindow, tmp_path: Path) -> None:
    case = filled(tmp_path, items=12, finish=False)
    resume = window.commands["resume"]
    assert not resume.isEnabled()
    window.open_database(case.database, case.root)
    wait_until(resume.isEnabled)
    assert len(window.parts.offers.offers) == 1
    asked: list[int] = []
    window.control.resume = lambda run_id, *_: bool(asked.append(run_id)) or True  # type: ignore[method-assign]
    resume.trigger()
    assert asked == [1]
    assert window.parts.offers.offers == [], "what is being resumed is offered no more"


def test_a_task_that_makes_no_sense_in_a_project_is_left(window: MainWindow, case: Filled, tmp_path: Path) -> None:
    window.control.choose_task("editing")
    window.project.open(case.root)
    wait_until(lambda: window.control.settings.task == "synthesis")
    box = window.parts.bar.task
    editing = box.box.model().item(box.box.findText("Editing"))
    assert not editing.isEnabled() and "no git history" in editing.toolTip()
    other = tmp_path / "notes"
    pygit2.init_repository(str(other))
    (other / "notes.txt").write_text("no code")
    window.project.open(other)
    wait_until(lambda: window.control.settings.task == "editing")
    assert box.value == "editing"


# ---- models


def test_a_broken_model_is_refused_before_a_run(window: MainWindow, tmp_path: Path) -> None:
    window.open_database(tmp_path / "none.sqlite")
    broken, whole = tmp_path / "broken.gguf", write_gguf(tmp_path / "whole.gguf")
    broken.write_bytes(gguf_bytes()[:-100])
    window.models.add(broken)
    wait_until(window.parts.notices.isVisible)
    assert "truncated" in window.parts.notices.problem.text()
    assert window.control.settings.model == ""
    window.models.add(whole)
    wait_until(lambda: window.control.settings.model == str(whole))
    whole.write_bytes(gguf_bytes()[:-100])
    window.models.search()
    wait_until(lambda: "whole.gguf cannot be used" in window.parts.notices.problem.text())
    window.parts.bar.forward.choose("")
    window.parts.bar.forward.chosen.emit("")
    assert not [each for each in window.parts.notices.notices if "whole.gguf" in each.problem]


# ---- notices


def job_that_says(*texts: str) -> Callable[[Callable[[Event], None], Control], None]:
    def job(emit: Callable[[Event], None], control: Control) -> None:
        for text in texts:
            emit(Notice(text))

    return job


def test_the_same_is_not_said_at_every_probe(window: MainWindow) -> None:
    notices = window.parts.notices
    for expected in (1, 0):
        window.control._besides(job_that_says("The project has no virtual environment of its own."), A_CHECK)
        wait_until(lambda: not window.control.busy)
        assert len(notices.notices) == expected
        for _ in range(len(notices.notices)):
            notices._dismiss()
    window.control.coordinator.begin(job_that_says("The project has no virtual environment of its own."))
    wait_until(lambda: not window.control.busy)
    assert len(notices.notices) == 1, "a run says again what it goes by"


def test_notices_that_hold_no_longer_are_taken_back(window: MainWindow, case: Filled, tmp_path: Path) -> None:
    window.open_database(tmp_path / "none.sqlite")
    notices = window.parts.notices
    window.start_run()
    assert notices.problem.text() == "No project is open."
    notices.say(NoticeText("Something else."))
    window.open_project(case.root)
    wait_until(lambda: [each.problem for each in notices.notices] == ["Something else."])
    release = threading.Event()
    window.control._besides(lambda emit, control: release.wait(5), A_CHECK)
    window.control.check(case.root, "shop/module_000.py", Span(0, 1))
    assert notices.problem.text() == "A check of selected code is at work.", "it is no run that has to be waited for"
    release.set()
    wait_until(lambda: not window.control.busy)
    assert [each.problem for each in notices.notices] == ["Something else."]


def test_a_long_path_loses_its_beginning(qapp: QApplication) -> None:
    root = Path("/", *(f"folder-{n}" for n in range(20)), "project")
    welcome = Welcome([root])
    button = welcome.recent.itemAt(0).widget()
    assert button.text().startswith("project   …") and button.text().endswith("folder-19")
    assert button.toolTip() == str(root)


# ---- the demo and the report


def test_the_demo_says_what_to_expect_and_offers_a_better_model(window: MainWindow, tmp_path: Path) -> None:
    begun: list[RunSettings] = []
    window.control.begin = lambda project, database, settings=None: bool(begun.append(window.control.settings))  # type: ignore[method-assign]
    window.open_database(tmp_path / "none.sqlite")
    window.start_demo()
    assert begun[0].regions <= 10
    assert "135 million parameters" in window.parts.offers.text.text()
    proposed: list[str] = []
    in_dialog(lambda dialog: proposed.append(dialog.name.text()))
    download = window.parts.offers.buttons[0]
    assert re.search(r"\(\d\.\d GB\)", download.text()), "its size is said before it is asked for"
    download.click()
    wanted = parse_wanted(proposed[0])
    assert "Coder" in wanted.repo and wanted.file.endswith(".gguf")


def test_a_written_report_is_offered_to_be_opened_and_is_no_warning(
    run_window: MainWindow, case: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    out = tmp_path / "report.html"
    run_window.reporting.write(partial(write_report, run_id=1, out=out), out)
    offers = run_window.parts.offers
    wait_until(lambda: offers.isVisible())
    assert str(out) in offers.text.text() and offers.property("role") == "offer"
    assert not run_window.parts.notices.isVisible()
    assert offers.buttons[0].text() == "Open"
    offers.buttons[0].click()
    assert opened == [str(out)] and not offers.isVisible()
