"""The command line and the dialogs offer the same settings, within the same bounds, and mean the same by them."""

from __future__ import annotations

import argparse
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLineEdit, QSpinBox
from setting_values import another
from themes import light

from rtc_inspector.app.cli import build_parser
from rtc_inspector.app.running import run_settings
from rtc_inspector.core.kinds import TASKS, configured
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.settings.setting import Described, described, value_of
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.shell.model_dialogs import EndpointDialog
from rtc_inspector.ui.shell.run_dialog import WIDE, RunDialog
from rtc_inspector.ui.shell.setting_fields import NumberField

SETTINGS = described(RunSettings)


def by_option(task: str, values: dict[str, Any]) -> RunSettings:
    words = []
    for path, value in values.items():
        texts = map(str, value) if isinstance(value, tuple) else ("",) if isinstance(value, bool) else (str(value),)
        words += [f"{SETTINGS[path].option}={text}" if text else SETTINGS[path].option for text in texts]
    return run_settings(build_parser("run").parse_args(["run", "--task", task, *words]))


def of_use(each: Described) -> dict[str, Any]:
    """Its value, with that of the setting it needs."""
    needed = each.about.needs
    return ({needed: another(SETTINGS[needed])} if needed else {}) | {each.path: another(each)}


@pytest.mark.parametrize("name", TASKS)
def test_a_value_means_the_same_on_the_command_line_and_in_the_dialog(qapp: QApplication, name: str) -> None:
    start = configured(RunSettings(), name)
    dialog = RunDialog(start)
    for path, each in SETTINGS.items():
        first = next(kind.name for kind in TASKS.values() if kind.has(path))
        if first == name:
            values = of_use(each) if path != "region.max_characters" else {path: 500}
            for other, value in values.items():
                dialog.fields[other]._put(value)
            assert dialog.settings() == by_option(name, values) != start, path
            for other in values:
                dialog.fields[other].show(SETTINGS[other].default if "." in other else value_of(start, other))


@pytest.mark.parametrize("name", TASKS)
def test_every_setting_of_a_task_has_a_row_that_can_be_seen(qapp: QApplication, name: str) -> None:
    kind = TASKS[name]
    dialog = RunDialog(configured(RunSettings(), name))
    dialog.show()

    def seen() -> set[str]:
        return {path for path, field in dialog.fields.items() if field.box.isVisible()}

    having = {path for path in SETTINGS if kind.has(path) and (not path.startswith("oracle.") or dialog._sandboxed)}
    free = {path for path in having if not SETTINGS[path].about.needs}
    assert seen() == {path for path in free if not SETTINGS[path].about.rare}
    dialog.all.setChecked(True)
    assert seen() == free
    for path in having - free:
        needed = SETTINGS[path].about.needs
        dialog.fields[needed]._put(another(SETTINGS[needed]))
        assert dialog.fields[path].box.isVisible(), path
    dialog.fields["seed"]._put(7)
    dialog.all.setChecked(False)
    assert {SETTINGS[path].about.rare for path in seen() - {"seed"}} == {False}


def test_words_of_a_number_that_is_not_set_are_whole_where_all_settings_fit_a_small_screen(qapp: QApplication) -> None:
    light(qapp)
    dialog = RunDialog(RunSettings())
    dialog.all.setChecked(True)
    dialog.resize(WIDE, 720)
    dialog.show()
    qapp.processEvents()
    cut = {}
    for path, field in dialog.fields.items():
        words, line = field.each.about.unset, field.box.findChild(QLineEdit)
        if isinstance(field, NumberField) and words and field.box.isVisible() and isinstance(line, QLineEdit):
            cut[path] = line.fontMetrics().horizontalAdvance(words) > line.width() - line.textMargins().left() - 4
    assert len(cut) > 3 and not any(cut.values()), cut
    dialog.close()


def test_both_refuse_what_is_out_of_bounds(qapp: QApplication, capsys: pytest.CaptureFixture[str]) -> None:
    parser, dialog = build_parser("run"), RunDialog(RunSettings())
    numbers = [each for each in SETTINGS.values() if each.kind in (int, float)]
    for each, value in [(one, bound) for one in numbers for bound in (one.about.least - 1, one.about.most + 1)]:
        with pytest.raises(SystemExit):
            parser.parse_args(["run", ".", f"{each.option}={each.kind(value)}"])
        assert each.option in capsys.readouterr().err
        field = dialog.fields[each.path]
        if isinstance(field, NumberField):
            field._put(value)
            assert not each.problem(field.value()), "a number field takes no such number"
        else:
            assert isinstance(field.box, QLineEdit)
            field.box.setText(str(value))
            assert "is not a" in field.problem()


def test_what_was_stored_beyond_what_a_field_shows_stays_as_it_is(qapp: QApplication) -> None:
    settings = RunSettings(seed=10**17, backward_temperature=0.12345, forward_samples=1_000_000)
    dialog = RunDialog(settings)
    assert dialog.settings() == settings
    dialog.fields["seed"]._put(3)
    assert dialog.settings().seed == 3


def test_how_a_server_is_asked_is_the_same_in_its_dialog(qapp: QApplication) -> None:
    gateway = Gateway()
    dialog = EndpointDialog(EndpointSettings("http://127.0.0.1:1/v1"), gateway)
    asked = described(EndpointSettings)
    assert list(dialog.fields) == list(asked)
    words = []
    for name, each in asked.items():
        dialog.fields[name]._put(another(each))
        words += [each.option, str(another(each))]
    options: argparse.Namespace = build_parser("run").parse_args(
        ["run", ".", "--endpoint", "http://127.0.0.1:1/v1", *words]
    )
    assert dialog.endpoint() == run_settings(options).endpoint
    box = dialog.fields["concurrency"].box
    assert isinstance(box, QSpinBox) and box.maximum() == asked["concurrency"].about.most
    assert gateway.close()
