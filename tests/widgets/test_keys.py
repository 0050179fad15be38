"""Keys: no two things on one key, told in tips, in the tour and in the help."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from themes import light, wear
from waiting import wait_until

from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.theme import DARK, LIGHT
from rtc_inspector.ui.window.preferences import HelpDialog, keys_of_views


@pytest.fixture(scope="module")
def window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MainWindow]:
    path = tmp_path_factory.mktemp("keys") / "settings.ini"
    made = MainWindow(light(qapp), Remembered(QSettings(str(path), QSettings.Format.IniFormat)))
    made.show()
    made.activateWindow()
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


@pytest.fixture
def dialog(window: MainWindow) -> Iterator[HelpDialog]:
    made = HelpDialog([*window.commands.key_groups(), *keys_of_views(window.parts)], window)
    made.show()
    yield made
    made.reject()


def test_no_key_does_two_things(window: MainWindow) -> None:
    everywhere = [
        key for _, lines in window.commands.key_groups() for _, keys in lines for key in keys.split(", ") if key
    ]
    assert len(everywhere) == len(set(everywhere)) > 40
    views = {
        title: [key for _, keys in lines for key in keys.split(", ")] for title, lines in keys_of_views(window.parts)
    }
    for title, keys in views.items():
        assert len(keys) == len(set(keys)) and set(keys).isdisjoint(everywhere), title
    # The diffs stand inside of the comparison.
    assert set(views["Diff"]).isdisjoint(views["Compare"])
    assert all(QKeySequence(one) != QKeySequence(other) for one, other in combinations(everywhere, 2))


def test_help_has_every_key_and_is_filtered_by_words_and_keys(dialog: HelpDialog) -> None:
    told = {(line.text(0), line.text(1)) for _, lines in dialog.groups for line in lines}
    assert told >= {("Next region or edit", "F8"), ("Next region or edit", "N"), ("Next change", "Alt+Down")}
    assert told >= {("Make the run the reference", "R"), ("Undo the last label, wherever it was", "U")}
    dialog.words.setText("region f8")
    shown = [line.text(0) for _, lines in dialog.groups for line in lines if not line.isHidden()]
    assert shown == ["Next region or edit", "Previous region or edit"]
    assert [head.text(0) for head, _ in dialog.groups if not head.isHidden()] == ["Go"]


def test_help_explains_the_method_in_both_themes(dialog: HelpDialog) -> None:
    for theme in (LIGHT, DARK):
        wear(theme)
        assert not dialog.grab().isNull()
    wear(LIGHT)


def test_texts_name_the_keys(window: MainWindow) -> None:
    parts = window.parts
    window.preferences.show_tour()
    tour = window.preferences.tour
    assert tour is not None
    told = " ".join(step.text for step in tour.steps)
    for name, words in (("next-failure", "goes to the next failure"), ("help", "says how it works")):
        assert f"{window.commands[name].shortcut().toString()} {words}" in told
    tour.end()
    assert "F1 shows all" in parts.labels.keys.accessibleName()
    for button, name in ((parts.code.probe_bar.probe, "probe"), (parts.code.probe_bar.check, "check")):
        key = window.commands[name].shortcut().toString()
        assert button.text().endswith(f"  {key}") and button.toolTip().endswith(f"({key})")
    assert parts.code.header.failure.toolTip() == "Next failure (F9, F)"
    bar = parts.bar
    bar.show_state(RunState.PAUSED)
    assert bar.run.toolTip() == "Let a run wait for its turn (Ctrl+R)"
    assert bar.pause.toolTip() == "Go on (Ctrl+Shift+P)"
    bar.show_state(RunState.IDLE)
    page = window.comparing.page
    assert page.reference_button.toolTip() == "Hold all runs against the chosen one (R)"
    assert page.traces.next.toolTip() == "Next item (Alt+Right)"
    steps = [side.diff.edit.next.toolTip() for side in page.traces.sides]
    assert {parts.diff.edit.next.toolTip(), *steps} == {"Next change (Alt+Down)"}


def test_the_menu_opens_by_its_key(window: MainWindow) -> None:
    menu = window.parts.bar.menu_button.menu()
    seen: list[bool] = []
    window.activateWindow()
    wait_until(window.isActiveWindow)
    QTimer.singleShot(100, menu, lambda: (seen.append(menu.isVisible()), menu.close()))
    QTest.keyClick(window, Qt.Key.Key_F10)
    assert seen == [True]
    assert window.parts.bar.menu_button.toolTip() == "Menu (F10)"
