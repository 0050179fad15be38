"""Keys the user chooses: kept, refused with a reason where they clash, and brought back to their defaults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from themes import wear
from waiting import wait_until

from rtc_inspector.core.errors import UserError
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.keys.keymap import WINDOW, Binding, KeyMap
from rtc_inspector.ui.keys.keys_dialog import KeysDialog
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.panels import DiffPanel
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.appearance import Appearance
from rtc_inspector.ui.style.theme import LIGHT


def clashes(bindings: Sequence[Binding]) -> dict[str, tuple[str, str]]:
    """Keys that would do two things at once, with the names of both."""
    return {
        key: (one.name, other.name)
        for place, one in enumerate(bindings)
        for other in bindings[place + 1 :]
        for key in set(one.keys) & set(other.keys)
        if WINDOW in one.reach | other.reach or one.reach & other.reach
    }


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Remembered:
    path = tmp_path_factory.mktemp("keys") / "settings.ini"
    return Remembered(QSettings(str(path), QSettings.Format.IniFormat))


def opened(qapp: QApplication, remembered: Remembered) -> MainWindow:
    made = MainWindow(Appearance(qapp, "light"), remembered)
    made.show()
    made.activateWindow()
    return made


@pytest.fixture(scope="module")
def only_window(qapp: QApplication, remembered: Remembered) -> Iterator[MainWindow]:
    made = opened(qapp, remembered)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


@pytest.fixture
def window(only_window: MainWindow) -> MainWindow:
    """With the default keys."""
    only_window.keymap.reset_all()
    only_window.activateWindow()
    return only_window


@pytest.fixture
def dialog(window: MainWindow) -> Iterator[KeysDialog]:
    made = KeysDialog(window.keymap, window)
    made.show()
    made.activateWindow()
    wait_until(made.list.hasFocus)
    yield made
    made.reject()


def pick(dialog: KeysDialog, words: str) -> None:
    line = next(line for line in dialog._lines() if line.text(0) == words)
    dialog.list.setCurrentItem(line)


def press(key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget(), key, modifier)


def test_no_default_key_does_two_things(window: MainWindow) -> None:
    bindings = window.keymap.bindings()
    assert clashes(bindings) == {}
    names = {each.name for each in bindings}
    assert names >= {"run", "next-region", "code-next-region", "next-change", "mode-1", "mode-9", "label-undo"}
    assert all(each.words for each in bindings)


def test_a_key_is_chosen_by_keys_alone_and_works_at_once(window: MainWindow, dialog: KeysDialog) -> None:
    pick(dialog, "Ambiguous")
    press(Qt.Key.Key_Return)
    assert dialog.field.hasFocus()
    press(Qt.Key.Key_A)
    assert dialog.list.hasFocus()
    action = window.keymap.binding("mode-4").action
    assert action is not None
    assert [key.toString() for key in action.shortcuts()] == ["A"]
    assert window.parts.labels.buttons[3].accessibleName() == "Ambiguous, key A"
    press(Qt.Key.Key_Insert)
    press(Qt.Key.Key_Tab)
    assert "Tab moves the focus" in dialog.said.text()
    press(Qt.Key.Key_Insert)
    press(Qt.Key.Key_X)
    assert [key.toString() for key in action.shortcuts()] == ["A", "X"]
    press(Qt.Key.Key_Backspace)
    assert [key.toString() for key in action.shortcuts()] == ["4"]


def test_a_key_in_use_is_refused_and_nothing_changes(window: MainWindow, dialog: KeysDialog) -> None:
    keymap = window.keymap
    for name, taken in (("mode-4", "S"), ("mode-4", "Ctrl+R"), ("run", "U"), ("run", "F8")):
        before = keymap.binding(name).keys
        pick(dialog, keymap.binding(name).words)
        press(Qt.Key.Key_Return)
        dialog.field.pressed.emit(taken)
        assert "already" in dialog.said.text() and dialog.said.property("role") == "bad"
        assert keymap.binding(name).keys == before
    keymap.rebind("code-next-region", ["U"])
    assert keymap.binding("code-next-region").keys == ("U",)
    with pytest.raises(UserError, match="no key"):
        keymap.rebind("run", [""])


def test_a_view_made_later_gets_the_chosen_keys(window: MainWindow) -> None:
    keymap = window.keymap
    keymap.rebind("next-change", ["Ctrl+Alt+J"])
    panel = DiffPanel()
    panel.setParent(window)
    panel.show()
    made = panel.edit
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    made.show()
    made.setFocus()
    wait_until(made.hasFocus)
    keys = {action.objectName(): action.shortcut().toString() for action in made.actions()}
    assert keys == {"next-change": "Ctrl+Alt+J", "previous-change": "Alt+Up"}
    with pytest.raises(UserError, match="in Diff"):
        keymap.rebind("compare-next-region", ["Ctrl+Alt+J"])


def test_escape_leaves_the_key_as_it_is(window: MainWindow, dialog: KeysDialog) -> None:
    pick(dialog, "Run")
    press(Qt.Key.Key_Return)
    press(Qt.Key.Key_Escape)
    assert dialog.isVisible() and dialog.list.hasFocus()
    assert window.keymap.binding("run").keys == ("Ctrl+R",)


def test_the_list_is_filtered_by_words_and_keys(dialog: KeysDialog) -> None:
    dialog.words.setText("region f8")
    shown = [line.text(0) for line in dialog._lines() if not line.isHidden()]
    assert shown == ["Next region or edit", "Previous region or edit"]
    assert dialog._chosen() == "next-region"


def test_chosen_keys_are_remembered_and_given_back(
    qapp: QApplication, window: MainWindow, remembered: Remembered
) -> None:
    keymap = window.keymap
    keymap.rebind("run", ["F4"])
    keymap.rebind("stop", [])
    bar = window.parts.bar
    assert bar.run.toolTip() == "Start a run (F4)"
    bar.show_state(RunState.PAUSED)
    wear(LIGHT)
    assert bar.run.toolTip() == "Let a run wait for its turn (F4)"
    assert bar.pause.toolTip() == "Go on (Ctrl+Shift+P)"
    bar.show_state(RunState.IDLE)
    again = opened(qapp, remembered)
    assert again.keymap.binding("run").keys == ("F4",)
    assert again.keymap.binding("stop").keys == ()
    assert again.parts.bar.run.toolTip() == "Start a run (F4)"
    again.keymap.reset("stop")
    again.keymap.reset_all()
    assert again.keymap.binding("run").keys == ("Ctrl+R",)
    assert remembered.keys() == {}
    again.close()
    again.deleteLater()


def test_a_default_gives_way_to_what_the_user_chose_before_it_was_one(window: MainWindow, tmp_path: Path) -> None:
    before = Remembered(QSettings(str(tmp_path / "older.ini"), QSettings.Format.IniFormat))
    before.keep_keys({"code-next-region": ["F8"], "gone": ["F2"]})
    keymap = KeyMap(before, window)
    for binding in window.keymap.bindings():
        keymap.declare(binding.group, [(binding.name, binding.words, " ".join(binding.defaults))], *binding.reach)
    assert clashes(keymap.bindings()) == {}
    assert (keymap.binding("code-next-region").keys, keymap.binding("next-region").keys) == (("F8",), ())


def test_texts_name_the_keys_that_hold_now(window: MainWindow) -> None:
    keymap, parts = window.keymap, window.parts
    keymap.rebind("next-failure", ["F4"])
    keymap.rebind("probe", [])
    keymap.rebind("keys", ["F12"])
    keymap.rebind("compare-next-region", ["Ctrl+Alt+J"])
    window.preferences.show_tour()
    tour = window.preferences.tour
    assert tour is not None
    told = " ".join(step.text for step in tour.steps)
    assert "F4 goes to the next failure" in told and "F12 shows every key" in told
    assert "F9" not in told and "F7" not in told and "F1 " not in told
    tour.end()
    assert "F12 shows all" in parts.labels.keys.accessibleName()
    assert parts.code.probe_bar.probe.text() == "Round trip" and "(" not in parts.code.probe_bar.probe.toolTip()
    page = window.comparing.page
    assert page.reference_button.toolTip() == "Hold all runs against the chosen one (R)"
    assert page.traces.next.toolTip() == "Next item (Ctrl+Alt+J)"
    steps = [side.diff.edit.next.toolTip() for side in page.traces.sides]
    assert {parts.diff.edit.next.toolTip(), *steps} == {"Next change (Alt+Down)"}
    keymap.rebind("make-reference", [])
    assert page.reference_button.toolTip() == "Hold all runs against the chosen one"


def test_the_menu_opens_by_its_key(window: MainWindow) -> None:
    menu = window.parts.bar.menu_button.menu()
    seen: list[bool] = []
    QTimer.singleShot(100, menu, lambda: (seen.append(menu.isVisible()), menu.close()))
    QTest.keyClick(window, Qt.Key.Key_F10)
    assert seen == [True]
    assert window.parts.bar.menu_button.toolTip() == "Menu (F10)"
