"""Everything the keyboard reaches says what it is: in the window, on its pages and in every dialog there is."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSettings, QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QWidget,
)
from store_cases import filled
from themes import light
from waiting import wait_until

from rtc_inspector import ui
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.taxonomy import read_taxonomy
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.run.lists import RunsDialog
from rtc_inspector.ui.run.own_runs import QueueDialog
from rtc_inspector.ui.run.starting import WordsDialog
from rtc_inspector.ui.shell.label_dialogs import AgreementDialog, TaxonomyDialog
from rtc_inspector.ui.shell.model_dialogs import DownloadDialog, EndpointDialog
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.run_dialog import RunDialog
from rtc_inspector.ui.shell.search import SearchDialog
from rtc_inspector.ui.shell.setting_fields import PromptWords
from rtc_inspector.ui.window.preferences import HelpDialog, SettingsDialog

CONTROLS = (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QAbstractSpinBox,
    QAbstractItemView,
    QPlainTextEdit,
    QTabWidget,
)
Make = Callable[[MainWindow], QDialog]
DIALOGS: Mapping[type[QDialog], Make] = {
    AgreementDialog: lambda window: AgreementDialog("run 1", window),
    DownloadDialog: lambda window: DownloadDialog(window.gateway, window),
    EndpointDialog: lambda window: EndpointDialog(EndpointSettings("http://127.0.0.1:1/v1"), window.gateway, window),
    HelpDialog: lambda window: HelpDialog(window.commands.key_groups(), window),
    PromptWords: lambda window: PromptWords("synthesis", "", window),
    QueueDialog: lambda window: QueueDialog(window.queueing, window),
    RunDialog: lambda window: RunDialog(RunSettings(task="editing"), window),
    RunsDialog: lambda window: RunsDialog([window.inspection.run], 1, window),
    SearchDialog: lambda window: SearchDialog(window.gateway, lambda: (), window),
    TaxonomyDialog: lambda window: TaxonomyDialog(read_taxonomy(), Path("error_modes.toml"), window),
    SettingsDialog: lambda window: SettingsDialog(window.preferences, window.remembered, "auto", 9),
    WordsDialog: lambda window: WordsDialog(("", "", ""), window),
}


def nameless(root: QWidget) -> list[str]:
    """Controls without a name or a text of their own, by their place."""
    found = []
    for widget in root.findChildren(QWidget):
        reached = widget.focusPolicy() != Qt.FocusPolicy.NoFocus and isinstance(widget, CONTROLS)
        text = widget.text() if isinstance(widget, QAbstractButton) else ""
        if reached and not _part_of_another(widget) and not (widget.accessibleName() or text):
            found.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
    return found


def _part_of_another(widget: QWidget) -> bool:
    """What a combo box or a number field is made of takes its name."""
    above = widget.parent()
    while above is not None and not isinstance(above, QComboBox | QAbstractSpinBox):
        above = above.parent()
    return above is not None


@pytest.fixture(scope="module")
def window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MainWindow]:
    tmp_path = tmp_path_factory.mktemp("names")
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = MainWindow(light(qapp), Remembered(settings))
    made.show()
    case = filled(tmp_path, items=12, finish=False)
    made.open_database(case.database, case.root)
    wait_until(lambda: made.inspection.run is not None)
    made.browsing.choose(next(item.id for item in case.items() if item.tally))
    wait_until(lambda: made.parts.roundtrip.cards)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def test_every_control_of_the_window_has_a_name(window: MainWindow) -> None:
    tabs = window.parts.tabs
    for place in range(tabs.count()):
        tabs.setCurrentIndex(place)
        QApplication.processEvents()
    window.preferences.show_tour()
    assert nameless(window) == []
    window.preferences.tour.end()
    window.parts.bar.run.setText("")
    window.parts.bar.run.setAccessibleName("")
    assert nameless(window) == ["QToolButton in TopBar"], "and one without a name is found"


@pytest.mark.parametrize("kind", DIALOGS, ids=lambda kind: kind.__name__)
def test_every_control_of_a_dialog_has_a_name(window: MainWindow, kind: type[QDialog]) -> None:
    dialog = DIALOGS[kind](window)
    dialog.show()
    QApplication.processEvents()
    assert dialog.windowTitle()
    assert nameless(dialog) == []
    dialog.close()


class Passed(QObject):
    """Notes the keys that a window or dialog gets because nothing in it took them, and lets it do nothing."""

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner)
        self.keys: list[int] = []
        owner.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            self.keys.append(event.key())
            return True
        return False


def deaf_to_enter(owner: QWidget) -> list[str]:
    """The buttons in sight that Enter, while they have the focus, does not press."""
    passed, deaf = Passed(owner), []
    for button in owner.findChildren(QAbstractButton):
        if button.isVisible() and button.isEnabled() and button.focusPolicy() != Qt.FocusPolicy.NoFocus:
            passed.keys.clear()
            with QSignalBlocker(button):  # what it does is not the question here
                QTest.keyClick(button, Qt.Key.Key_Return)
            if passed.keys and not (isinstance(owner, MainWindow) or isinstance(button, QCheckBox)):
                deaf.append(button.text())
            if not passed.keys and not isinstance(button, QPushButton):
                deaf.append(f"{button.text()}: lost on the way to the window, which presses it")
    owner.removeEventFilter(passed)
    passed.deleteLater()
    return deaf


def test_enter_presses_the_focused_button_everywhere(window: MainWindow) -> None:
    tabs = window.parts.tabs
    for place in range(tabs.count()):
        tabs.setCurrentIndex(place)
        QApplication.processEvents()
        assert deaf_to_enter(window) == []
    button = window.parts.run.made
    tabs.setCurrentWidget(window.parts.run)
    before = button.isChecked()
    window.activateWindow()
    button.setFocus()
    for _ in range(2):
        QTest.keyClick(button, Qt.Key.Key_Return)
        assert button.isChecked() is not before
        before = not before


@pytest.mark.parametrize("kind", DIALOGS, ids=lambda kind: kind.__name__)
def test_enter_presses_the_focused_button_of_a_dialog(window: MainWindow, kind: type[QDialog]) -> None:
    dialog = DIALOGS[kind](window)
    dialog.show()
    QApplication.processEvents()
    assert deaf_to_enter(dialog) == []
    dialog.close()
    dialog.deleteLater()


def test_no_dialog_is_left_out(qapp: QApplication) -> None:
    for module in pkgutil.walk_packages(ui.__path__, "rtc_inspector.ui."):
        importlib.import_module(module.name)
    known = {each for each in _below(QDialog) if each.__module__.startswith("rtc_inspector.ui.")}
    assert known == set(DIALOGS)


def _below(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


@pytest.mark.parametrize("kind", DIALOGS, ids=lambda kind: kind.__name__)
def test_a_dialog_stays_on_the_screen_with_its_buttons(window: MainWindow, kind: type[QDialog]) -> None:
    """From a place with as much room below and beside it as 1280 x 800 and a panel leave, however it grows."""
    dialog = DIALOGS[kind](window)
    screen = dialog.screen().availableGeometry()
    dialog.move(screen.bottomRight() - QPoint(1280, 740))
    dialog.show()
    if isinstance(dialog, RunDialog):
        dialog.all.setChecked(True)
    for at in range(dialog.task.count() if isinstance(dialog, RunDialog) else 1):
        if isinstance(dialog, RunDialog):
            dialog.task.setCurrentIndex(at)
        QApplication.processEvents()
        assert screen.contains(dialog.frameGeometry()), dialog.frameGeometry()
        for button in dialog.findChildren(QPushButton):
            if button.isVisible() and not any(isinstance(each, QScrollArea) for each in above(button)):
                assert dialog.rect().contains(QRect(button.mapTo(dialog, QPoint()), button.size())), button.text()
    least = dialog.minimumSizeHint()
    assert least.width() <= 1280 and least.height() <= 736
    dialog.close()
    dialog.deleteLater()


def above(widget: QWidget) -> Iterator[QWidget]:
    while (parent := widget.parentWidget()) is not None:
        yield parent
        widget = parent
