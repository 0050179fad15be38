"""Run settings, run list, model choices, and what is remembered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, QSettings, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QStyle, QStyleOptionComboBox, QWidget
from store_cases import filled
from waiting import wait_until

from rtc_inspector.core.comparison.comparison import bounded
from rtc_inspector.core.kinds import TASKS, configured
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.gguf import read_header
from rtc_inspector.core.run.events import Progress
from rtc_inspector.core.settings import NamedModel, OracleSettings, RunSettings, SeriesSettings
from rtc_inspector.core.store.rows import TRIAL, PaceRow
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.run.lists import RunsDialog
from rtc_inspector.ui.run.models import find_models
from rtc_inspector.ui.shell.bars import StatusLine, duration, score
from rtc_inspector.ui.shell.fields import FIELD, Choice, ChoiceBox
from rtc_inspector.ui.shell.model_options import BUNDLED, with_models
from rtc_inspector.ui.shell.remembered import FIRST_REGIONS, Remembered
from rtc_inspector.ui.shell.run_dialog import RunDialog
from rtc_inspector.ui.style.tables import RIGHT
from rtc_inspector.ui.window.searching import Places


@pytest.fixture
def remembered(tmp_path: Path) -> Remembered:
    return Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


def put(dialog: RunDialog, path: str, value: object) -> None:
    """Have a field stand at a value, as if a person had put it there."""
    field = dialog.fields[path]
    field._put(value)
    assert dialog._value(path) == value


def shown(dialog: RunDialog, path: str) -> bool:
    return dialog.fields[path].box.isVisible()


def test_run_settings_come_back_unchanged(qapp: QApplication) -> None:
    settings = RunSettings(
        regions=37, seed=11, forward_samples=5, model="/m.gguf", oracle=OracleSettings(sandbox="docker")
    )
    assert RunDialog(settings).settings() == settings


def test_models_that_are_ticked_are_run_as_well(qapp: QApplication) -> None:
    header = read_header(bundled_model())
    found = {BUNDLED: header, "/models/a.gguf": header, "/models/b.gguf": header}
    settings = RunSettings(model="/models/a.gguf", backward_model="")
    dialog = RunDialog(settings, headers=found)
    others = dialog.models.others
    assert [others.item(row).text() for row in range(others.count())] == ["the bundled model", "b.gguf"]
    assert dialog.settings().series is None and not dialog.cost.text().startswith("For each")
    others.item(1).setCheckState(Qt.CheckState.Checked)
    series = dialog.settings().series
    assert series == SeriesSettings((NamedModel("/models/a.gguf"), NamedModel("/models/b.gguf")))
    assert dialog.settings().backward_model == "" and dialog.cost.text().startswith("For each of 2 runs:")
    others.item(0).setCheckState(Qt.CheckState.Checked)
    dialog.models.cross.setChecked(True)
    assert dialog.cost.text().startswith("For each of 9 runs:")
    assert dialog.settings().one_model  # each writes for each: none is chosen for it
    again = RunDialog(dialog.settings(), headers=found)
    assert again.settings() == dialog.settings()
    assert with_models(dialog.settings(), "/models/b.gguf", "", []).series is None  # another choice is a single run


def test_what_is_changed_in_the_dialog_is_in_the_settings(qapp: QApplication) -> None:
    dialog = RunDialog(RunSettings())
    dialog.fields["regions"].show(20)
    put(dialog, "oracle.python", "/opt/python")
    put(dialog, "generation.threads", 2)
    settings = dialog.settings()
    assert settings.regions == 20
    assert settings.oracle.python == "/opt/python"
    assert settings.generation.threads == 2
    assert dialog.cost.text().startswith("60 descriptions, 60 reconstructions and 20 baselines")


def test_no_sandbox_is_warned_about(qapp: QApplication) -> None:
    dialog = RunDialog(RunSettings())
    dialog.show()
    row = next(row for _, rows in dialog._rows for row in rows if row.fields[0].each.path == "oracle.sandbox")
    assert not row.caution.isVisible()
    put(dialog, "oracle.sandbox", "none")
    assert row.caution.isVisible() and "all your rights" in row.caution.text()
    assert dialog.settings().oracle.sandbox == "none"


def test_requirements_are_installed_where_the_dialog_says_so(qapp: QApplication, tmp_path: Path) -> None:
    dialog = RunDialog(RunSettings())
    asked: list[OracleSettings] = []
    dialog.check_asked.connect(asked.append)
    dialog.show()
    assert shown(dialog, "oracle.install") and not shown(dialog, "oracle.wheels")
    put(dialog, "oracle.install", True)
    assert shown(dialog, "oracle.wheels") and shown(dialog, "oracle.requirements")
    put(dialog, "oracle.wheels", "/wheels")
    put(dialog, "oracle.requirements", str(tmp_path / "none.txt"))
    dialog._accept()
    assert "none.txt" in dialog.problem.text() and dialog.result() == 0
    put(dialog, "oracle.requirements", "/more.txt")
    wait_until(lambda: bool(asked) and asked[-1].requirements == "/more.txt")
    oracle = dialog.settings().oracle
    assert asked[-1] == oracle and (oracle.install, oracle.wheels) == (True, "/wheels")
    assert RunDialog(dialog.settings()).settings() == dialog.settings()
    dialog.say_environment("python lacks 2 of 3 requirements", bad=True)
    assert dialog.environment.isVisible()
    dialog.task.setCurrentIndex(1)
    assert not dialog.environment.isVisible() and not shown(dialog, "oracle.install")
    put(dialog, "edit.tests", True)
    assert dialog.environment.isVisible() and shown(dialog, "oracle.install")
    put(dialog, "oracle.install", False)
    assert dialog.settings().oracle == OracleSettings(), "what is not installed has no list"


def test_only_unfinished_runs_can_be_resumed(qapp: QApplication, tmp_path: Path) -> None:
    run = filled(tmp_path, items=5).run()
    runs = [run, replace(run, id=2, status="interrupted"), replace(run, id=3, status="running", model_name="Other")]
    parent = QWidget()
    dialog = RunsDialog(runs, 2, parent=parent)
    heard: list[int] = []
    dialog.resumed.connect(heard.append)
    assert dialog.resume_button.isEnabled()
    dialog.words.setText("other")
    assert [run.id for run in dialog.shown] == [3]
    assert not dialog.resume_button.isEnabled()
    dialog.words.setText("interrupted")
    dialog.resume_button.click()
    assert heard == [2]


def test_a_run_is_opened_from_the_list(qapp: QApplication, tmp_path: Path) -> None:
    run = filled(tmp_path, items=5).run()
    parent = QWidget()
    dialog = RunsDialog([run, replace(run, id=2)], 1, parent)
    heard: list[int] = []
    dialog.opened.connect(heard.append)
    QTest.keyClick(dialog.table, Qt.Key.Key_Up)
    dialog.open_button.click()
    assert heard == [2]


def test_the_list_of_runs_says_task_headline_lift_and_n_and_is_reached_from_its_filter(
    qapp: QApplication, tmp_path: Path
) -> None:
    run = filled(tmp_path, items=5).run()
    parent = QWidget()
    dialog = RunsDialog([run, replace(run, id=2)], 2, parent)
    model, heads = dialog.runs, list(dialog.runs.heads)
    row = {head: model.data(model.index(0, at)) for at, head in enumerate(heads)}
    assert (row["Task"], row["n"]) == ("Synthesis", f"{run.headline.n} few")
    assert row["Score"] == f"RTC {bounded(run.headline, sign='')}" and row["Lift"] == bounded(run.secondary)
    sides = {head: model.data(model.index(0, at), Qt.ItemDataRole.TextAlignmentRole) for at, head in enumerate(heads)}
    assert {head for head, side in sides.items() if side == RIGHT} >= {"Done", "Score", "Lift", "n"}
    heard: list[int] = []
    dialog.opened.connect(heard.append)
    dialog.show()
    dialog.words.setFocus()
    QTest.keyClick(dialog.words, Qt.Key.Key_Down)
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    assert heard == [1]


def test_runs_are_named_noted_deleted_and_brought_back(qapp: QApplication, tmp_path: Path) -> None:
    run = filled(tmp_path, items=5).run()
    runs = [run, replace(run, id=2), replace(run, id=3, status="running")]
    parent = QWidget()
    dialog = RunsDialog(runs, 2, parent)
    heard: list[tuple[object, ...]] = []
    for name in ("noted", "hidden", "restored"):
        getattr(dialog, name).connect(lambda *values, name=name: heard.append((name, *values)))
    dialog.notes.name.setText(" four-shot ")
    dialog.notes.notes.setText("with four shots")
    dialog.show()
    QTest.keyClick(dialog.notes.notes, Qt.Key.Key_Return)
    assert dialog.isVisible(), "Enter keeps the note and opens nothing"
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    assert heard == [("noted", 2, "four-shot", "with four shots")]
    assert [each.name for each in dialog.shown] == ["", "four-shot", ""]
    dialog.words.setText("four-shot")
    assert [each.id for each in dialog.shown] == [2]
    dialog.delete_button.click()
    dialog.words.setText("")
    assert heard[1:] == [("hidden", 2)]
    assert [each.id for each in dialog.shown] == [3, 1]
    assert not dialog.delete_button.isEnabled(), "a run at work stays"
    dialog.undo_button.click()
    assert heard[2:] == [("restored", 2)]
    assert [(each.id, each.name) for each in dialog.shown] == [(3, ""), (2, "four-shot"), (1, "")]
    assert not dialog.undo_button.isEnabled()


def test_runs_deleted_earlier_can_be_brought_back(qapp: QApplication, tmp_path: Path) -> None:
    run = filled(tmp_path, items=5).run()
    parent = QWidget()
    dialog = RunsDialog([run], 1, parent)
    heard: list[int] = []
    dialog.restored.connect(heard.append)
    dialog.set_deleted([replace(run, id=7), replace(run, id=8)])
    assert dialog.bin.text() == "Deleted (2)"
    dialog.bin.click()
    assert [each.id for each in dialog.shown] == [8, 7]
    assert not dialog.open_button.isEnabled()
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    dialog.delete_button.click()
    assert heard == [7]
    dialog.bin.click()
    assert [each.id for each in dialog.shown] == [7, 1]


def test_the_bundled_model_is_offered_with_what_its_header_says() -> None:
    first = find_models([])[0][0]
    assert first.value == "" and first.usable
    assert "llama" in first.tip and str(bundled_model()) in first.tip


def test_a_broken_model_file_is_greyed_with_its_reason(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(bundled_model().read_bytes()[:5000])
    choices = find_models([path])[0]
    broken = next(choice for choice in choices if choice.value == str(path))
    assert not broken.usable
    box = ChoiceBox("Model")
    box.set_choices(choices, "")
    item = box.box.model().index(choices.index(broken), 0)
    assert not item.flags() & Qt.ItemFlag.ItemIsEnabled
    assert str(path) in item.data(Qt.ItemDataRole.ToolTipRole)


def test_a_model_on_a_disk_that_is_away_is_greyed_not_forgotten(tmp_path: Path) -> None:
    away = tmp_path / "stick" / "model.gguf"
    choice = next(choice for choice in find_models([away])[0] if choice.value == str(away))
    assert not choice.usable
    assert "cannot be reached" in choice.tip


def test_the_last_entry_asks_and_keeps_what_was_chosen(qapp: QApplication) -> None:
    box = ChoiceBox("Model", "Choose file…")
    asked, chosen = [], []
    box.other_asked.connect(lambda: asked.append(True))
    box.chosen.connect(chosen.append)
    box.set_choices([Choice("A", "a"), Choice("B", "b")], "b")
    box.box.activated.emit(box.box.count() - 1)
    assert (asked, chosen, box.value, box.box.currentText()) == ([True], [], "b", "B")
    box.box.activated.emit(0)
    assert (chosen, box.value) == (["a"], "a")


def test_recent_things_are_kept_newest_first_without_the_absent(remembered: Remembered, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b", "c")]
    for folder in folders:
        folder.mkdir()
        remembered.add_project(folder)
    remembered.add_project(folders[0])
    assert remembered.projects() == [folders[0], folders[2], folders[1]]
    folders[2].rmdir()
    assert remembered.projects() == [folders[0], folders[1]]


def test_unreadable_settings_count_as_absent(tmp_path: Path) -> None:
    path = tmp_path / "settings.ini"
    path.write_text("[General]\nrun=not json\nrecent\\projects=[1, 2\n")
    remembered = Remembered(QSettings(str(path), QSettings.Format.IniFormat))
    assert remembered.run_settings() == RunSettings(regions=FIRST_REGIONS)
    assert remembered.projects() == []
    assert remembered.theme == "system"


def test_run_settings_survive_the_session(remembered: Remembered) -> None:
    settings = RunSettings(regions=9, model="/m.gguf", backward_model="/n.gguf")
    remembered.keep_run_settings(settings)
    assert remembered.run_settings() == settings


def test_status_line_tells_speed_and_time_left(qapp: QApplication) -> None:
    line = StatusLine()
    line.show_state(RunState.RUNNING)
    line.show_progress(Progress("samples", 12, 40, 240.0, 84.2))
    assert line.pace.text() == "samples 12/40 · 84 tok/s · ETA 4 min"
    line.show_state(RunState.PAUSED)
    assert line.pace.text() == "paused · samples 12/40 · 84 tok/s"
    line.show_state(RunState.IDLE)
    assert line.pace.text() == ""


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 s"), (89, "89 s"), (240, "4 min"), (7200, "2.0 h")])
def test_durations_read_well(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_search_prefers_names_then_code_then_similar_names(tmp_path: Path) -> None:
    gone: list[object] = []
    places = Places(
        files={each: each for each in ["shop/cart.py", "shop/checkout.py", "shop/discounts.py"]},
        commands=[("Run settings", lambda: gone.append("settings"))],
        regions=[item for item in filled(tmp_path, items=12).items() if item.admitted],
        open_file=gone.append,
        choose=gone.append,
    )
    assert places.find("chekout")[0].title == "shop/checkout.py"
    assert places.find("run set")[0].kind == "command"
    found = places.find("discount")
    assert [target.kind for target in found][:2] == ["file", "region"]
    for target in (found[0], found[1], places.find("settings")[0]):
        target.go()
    assert gone[0] == "shop/discounts.py" and gone[1] in {item.id for item in places.regions} and gone[2] == "settings"
    assert places.find("zzzzqqqq") == []
    assert [target.kind for target in places.find("")] == ["file"] * 3 + ["command"]


def test_the_run_dialog_says_how_long_by_stored_runs_or_that_nobody_knows(qapp: QApplication) -> None:
    dialog = RunDialog(RunSettings(model="/m.gguf", regions=100))
    assert "measured" not in dialog.cost.text()
    dialog.set_paces([])
    assert "not measured yet" in dialog.cost.text()
    dialog.set_paces([PaceRow(3, dialog.settings(), 70, 140.0, 70_000, (1.5, 2.5), 1.2)])
    assert "About 25 min (20 min to 31 min) and 700,000 tokens, going by the last run" in dialog.cost.text()
    put(dialog, "regions", 10)
    assert "About 3 min (2 min to 3 min) and 70,000 tokens" in dialog.cost.text()
    assert "the last run with these models (70 samples)" in dialog.cost.text()
    put(dialog, "forward_samples", 2)
    assert "take it as rough" in dialog.cost.text()


def test_a_pace_that_nobody_knows_can_be_measured(qapp: QApplication) -> None:
    dialog = RunDialog(RunSettings(model="/m.gguf", regions=100))
    dialog.show()
    assert not dialog.measure.isVisible()
    dialog.set_paces([])
    asked: list[RunSettings] = []
    stopped: list[bool] = []
    dialog.measure_asked.connect(asked.append)
    dialog.stop_asked.connect(lambda: stopped.append(True))
    dialog.measure.click()
    assert asked == [dialog.settings()] and stopped == []
    dialog.show_measuring("Measuring: samples, 3 of 7.")
    assert not dialog.run.isEnabled() and dialog.cost.text() == "Measuring: samples, 3 of 7."
    dialog.measure.click()
    assert stopped == [True] and len(asked) == 1
    dialog.end_measuring("Not one sample came.")
    assert dialog.problem.isVisible() and dialog.run.isEnabled()
    trial = PaceRow(TRIAL, dialog.settings(), 7, 14.0, 7_000, (2.0,), 1.2)
    dialog.set_paces([trial])
    assert "About 25 min and 700,000 tokens, going by a trial of one region (7 samples): take it as rough" in (
        dialog.cost.text()
    )
    assert dialog.measure.isVisible()
    stored = PaceRow(3, dialog.settings(), 70, 70.0, 70_000, (1.0,), 1.2)
    dialog.set_paces([stored, trial])
    assert "going by the last run" in dialog.cost.text() and not dialog.measure.isVisible()


def test_the_run_dialog_starts_or_only_keeps(qapp: QApplication) -> None:
    for name, starts in (("Run", True), ("Keep", False)):
        dialog = RunDialog(RunSettings())
        put(dialog, "region.min_characters", 500)
        next(button for button in dialog.buttons.buttons() if button.text() == name).click()
        assert (
            "500 (characters of a region at least) is more than 384" in dialog.problem.text() and dialog.result() == 0
        )
        put(dialog, "region.max_characters", 600)
        next(button for button in dialog.buttons.buttons() if button.text() == name).click()
        assert (dialog.result(), dialog.starts) == (1, starts)


class LowScreen:
    """What a panel leaves of a small screen."""

    def availableGeometry(self) -> QRect:  # noqa: N802
        return QRect(0, 0, 1280, 640)

    def availableSize(self) -> QSize:  # noqa: N802
        return self.availableGeometry().size()


def test_on_a_low_screen_settings_scroll_and_their_texts_and_fields_are_whole(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunDialog, "screen", lambda dialog: LowScreen())
    for name in TASKS:
        dialog = RunDialog(configured(RunSettings(), name))
        dialog.show()
        dialog.say_environment("the interpreter has what the project requires. " * 5)
        wait_until(lambda dialog=dialog: dialog._scroll.verticalScrollBar().maximum() > 0)
        assert dialog.height() < 640
        for box in dialog.findChildren(QComboBox):
            option = QStyleOptionComboBox()
            box.initStyleOption(option)
            part = QStyle.SubControl.SC_ComboBoxEditField
            room = box.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, box).width()
            widest = max(box.fontMetrics().horizontalAdvance(box.itemText(at)) for at in range(box.count()))
            assert not box.isVisible() or (box.height() >= FIELD and widest <= room), box.accessibleName()
        dialog.close()


def test_a_score_is_shown_with_its_interval_and_the_number_of_its_items() -> None:
    assert score(Estimate(0.5, 0.25, 0.75, 7)) == "0.50 (0.25–0.75)"
    assert score(Estimate(-0.1, -0.3, 0.1, 7), sign=True) == "-0.10 (-0.30 to +0.10)"
    assert score(Estimate(None, None, None)) == "–"


def test_a_test_command_that_was_found_is_said_and_can_be_tried(qapp: QApplication) -> None:
    dialog = RunDialog(RunSettings())
    asked: list[OracleSettings] = []
    dialog.try_asked.connect(asked.append)
    dialog.show()
    dialog.say_environment("Python lacks nothing")
    assert not dialog.trial.isVisible()
    dialog.say_environment("JavaScript: tested by `node --test`", can_be_tried=True)
    assert dialog.trial.isVisible() and shown(dialog, "oracle.test_command")
    put(dialog, "oracle.test_command", "npx mocha {tests}")
    dialog.trial.click()
    assert asked[-1].test_command == "npx mocha {tests}"
    assert "Running" in dialog.environment.text() and not dialog.trial.isVisible()
