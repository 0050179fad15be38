"""Fields of bars and dialogs, named for screen readers, and the question for a file name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)
from shiboken6 import isValid

from rtc_inspector.core.errors import InspectorError, UserError
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.settings.setting import described
from rtc_inspector.ui.style.controls import called, column, give_role, label, row
from rtc_inspector.ui.style.fonts import keep_on_screen
from rtc_inspector.ui.style.theme import SPACE

FIELD = 28  # pixels of a field of one line


_VALUE = r""" (?!out\b)(?:(?P<value>\d+(?:\.\d+)?|off|[A-Z][a-z]+|[a-z]+(?=[`.)]))\b|"(?P<quoted>[^"]+)"|[A-Z]+\b)"""
_OPTION = re.compile(rf"`(?!--)[^`]*`|`?(--[a-z][a-z-]+)(?:{_VALUE})?`?")
"""As sentences name an option of the command line, with a value where one is proposed; or a command, to be left."""
_PLACE = r" in the run settings| of the model server"
_ORDER = (
    (re.compile(rf"(“[^”]+”)({_PLACE})((?:(?:,| and| or) “[^”]+”(?!{_PLACE}))+)"), r"\1\3\2"),
    (re.compile(rf"([Ll]eave) (“[^”]+”(?:{_PLACE})?) out\b"), r"\1 out \2"),
    (re.compile(r"(“[^”]+”) or \1"), r"\1"),
)
"""What stands elsewhere once options have names: the place after several of one place, and no name twice."""


def window_words(text: str) -> str:
    """Return a sentence of the engine with the names that the window has for options of the command line."""
    places = set[str]()

    def name(found: re.Match[str]) -> str:
        if found[1] not in _fields():
            return found[0]
        field, place = _fields()[found[1]]
        where = "" if place in places else place
        places.add(place)
        value = found["value"] or found["quoted"]
        return f"“{field}: {value}”{where}" if value else f"“{field}”{where}"

    said = _OPTION.sub(name, re.sub(r" \((on the command line: [^)]+|--db)\)", "", text))
    for order, better in _ORDER:
        said = order.sub(better, said)
    return said


@cache
def _fields() -> Mapping[str, tuple[str, str]]:
    bar = {"--task": "Task", "--model": "Forward model"}
    bar |= dict.fromkeys(("--backward-model", "--backward-endpoint"), "Backward model")
    found = {option: (name, "") for option, name in bar.items()}
    for settings, place in ((EndpointSettings, " of the model server"), (RunSettings, " in the run settings")):
        every = described(settings).values()
        found = {each.option: (each.about.label, place) for each in every if each.about.label} | found
    return found


def error_words(error: Exception) -> str:
    """Return in a line what is wrong and what to do."""
    return window_words(f"{error.problem} {error.remedy}") if isinstance(error, InspectorError) else str(error)


def show_modal(dialog: QDialog) -> bool:
    """Show a dialog until it is closed, then focus what had the focus; return whether it was accepted.

    What stands in the dialog can still be read for a moment.
    """
    before = QApplication.focusWidget()
    accepted = dialog.exec() == QDialog.DialogCode.Accepted
    # Unless what the dialog led to has taken it, e.g. a page that was opened.
    if before is not None and isValid(before) and before.isVisible() and QApplication.focusWidget() is None:
        before.setFocus(Qt.FocusReason.OtherFocusReason)
    # A window would keep every dialog it ever had, and one that hears of changes would go on to list them.
    dialog.deleteLater()
    return accepted


def pair(left: QWidget, right: QWidget) -> QWidget:
    """Return two fields in one row of a form."""
    holder = QWidget()
    row(left, right, owner=holder, grows=left)
    return holder


def form(title: str = "") -> QFormLayout:
    """Return an empty form, under a heading where it has one."""
    rows = QFormLayout()
    rows.setVerticalSpacing(SPACE)
    rows.setHorizontalSpacing(SPACE * 2)
    if title:
        rows.addRow(heading(title, first=True))
    return rows


def level_labels(form: QFormLayout) -> None:
    """Put each label on a level with its field: by itself a form hangs it a little too high."""
    for at in range(form.rowCount()):
        item = form.itemAt(at, QFormLayout.ItemRole.LabelRole)
        words = item.widget() if item is not None else None
        if isinstance(words, QLabel) and words.text():
            words.setMinimumHeight(FIELD)


def heading(text: str, first: bool = False) -> QLabel:
    """Return a heading for rows of a form that belong together, a little apart from those above."""
    line = label(text, "heading")
    line.setContentsMargins(0, 0 if first else SPACE, 0, 0)
    return line


def say(line: QLabel, words: str, bad: bool = False) -> None:
    """Show words in a dialog's own line: what to know, or what is wrong."""
    line.setText(words)
    give_role(line, "bad" if bad else "muted")


def say_in(dialog: QDialog, line: QLabel, words: str, bad: bool = False) -> None:
    """Show words as `say` does, in a dialog that is then as high as they need, and on the screen."""
    say(line, words, bad)
    dialog.adjustSize()
    keep_on_screen(dialog)


def choice_box(name: str, entries: Mapping[Any, str], chosen: Any) -> QComboBox:
    """Return a box of values in words, named for screen readers, with the chosen one, or else the first, on show."""
    box = called(QComboBox(), name)
    for value, words in entries.items():
        box.addItem(words, value)
    box.setCurrentIndex(max(box.findData(chosen), 0))
    return box


def indent(box: QAbstractSpinBox) -> None:
    """Let a number begin where the text of other fields does; a style sheet does not reach it."""
    field = box.findChild(QLineEdit)
    if field is not None:
        field.setTextMargins(SPACE - 2, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry. `value` is what is chosen; `usable` False greys it, `tip` says more."""

    label: str
    value: str
    tip: str = ""
    usable: bool = True


class ElidedBox(QComboBox):
    """Shortens what does not fit in the middle, where Qt would cut off the end; its list shows all."""

    def showPopup(self) -> None:  # noqa: N802
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 2 * SPACE)
        super().showPopup()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        option, painter = QStyleOptionComboBox(), QStylePainter(self)
        self.initStyleOption(option)
        control, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(control, option, part, self).width() - 4
        text = option.currentText or self.placeholderText()
        # Names of models differ at their ends: `…-Q4_K_M.gguf`, `…-Q8_0.gguf`.
        option.currentText = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, room)
        painter.drawComplexControl(control, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class ChoiceBox(QWidget):
    """`chosen` carries the value the user picked; `other_asked` the text of a last entry."""

    chosen = Signal(str)
    other_asked = Signal(str)

    def __init__(self, caption: str, *others: str) -> None:
        super().__init__()
        self._others = others
        self.value = ""  # what is chosen, if anything
        above = label(caption, "caption")
        shrinks = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.box = ElidedBox(sizeAdjustPolicy=shrinks, minimumContentsLength=8, placeholderText=caption)
        self.box.setAccessibleName(caption)
        # Only the user activates; the current index changes whenever the list is filled.
        self.box.activated.connect(self._picked)
        above.setBuddy(self.box)
        column(above, self.box, spacing=2, owner=self)

    def set_choices(self, choices: Sequence[Choice], value: str) -> None:
        self.value = value
        self.box.clear()
        model = self.box.model()
        assert isinstance(model, QStandardItemModel)  # that of a combo box which was given no other
        for place, choice in enumerate(choices):
            self.box.addItem(choice.label, choice.value)
            self.box.setItemData(place, choice.tip, Qt.ItemDataRole.ToolTipRole)
            model.item(place).setEnabled(choice.usable)
        if self._others:
            self.box.insertSeparator(self.box.count())
            self.box.addItems(self._others)
        self._show_value()

    def choose(self, value: str) -> None:
        self.value = value
        self._show_value()

    def _show_value(self) -> None:
        row = self.box.findData(self.value)
        self.box.setCurrentIndex(row)
        self.box.setToolTip(self.box.itemData(row, Qt.ItemDataRole.ToolTipRole) or "")

    def _picked(self, row: int) -> None:
        value = self.box.itemData(row)
        if value is not None:
            self.choose(value)
            self.chosen.emit(value)
        else:
            # An entry that asks for something is no choice: the box shows again what is chosen.
            self._show_value()
            self.other_asked.emit(self.box.itemText(row))


def ask_where(parent: QWidget, title: str, proposed: str, kinds: str, ending: str) -> Path | None:
    """Ask where to write; return that with `.ending` unless another was typed, or None if the user thinks better of it.

    None, too, where a database stands, which the dialog would have offered to replace: that is said.
    """
    chosen, _ = QFileDialog.getSaveFileName(parent, title, proposed, kinds)
    if not chosen:
        return None
    path = Path(chosen) if Path(chosen).suffix else Path(f"{chosen}.{ending}")
    from rtc_inspector.core.store.files import refuse_database  # the window stands sooner

    try:
        refuse_database(path)
    except UserError as error:
        QMessageBox.warning(parent, title, str(error))
        return None
    return path
