"""A combo box under its caption, whose last entries ask for something that is not in the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QSizePolicy, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from rtc_inspector.ui.style.controls import column, label


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry. `value` is what is chosen; `usable` False greys it, `tip` says more."""

    label: str
    value: str
    tip: str = ""
    usable: bool = True


class _ElidedBox(QComboBox):
    """Shortens what does not fit in the middle, where Qt would cut off the end."""

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
        """`others` are the texts of the last entries."""
        super().__init__()
        self._others = others
        self._choices: list[Choice] = []
        self.value = ""  # what is chosen, if anything
        above = label(caption, "caption")
        shrinks = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.box = _ElidedBox(sizeAdjustPolicy=shrinks, minimumContentsLength=8, placeholderText=caption)
        self.box.setAccessibleName(caption)
        # Only the user activates; the current index changes whenever the list is filled.
        self.box.activated.connect(self._picked)
        above.setBuddy(self.box)
        column(above, self.box, spacing=2, owner=self)

    def set_choices(self, choices: Sequence[Choice], value: str) -> None:
        """List these entries, with `value` chosen; the user hears nothing of it."""
        self._choices = list(choices)
        self.value = value
        self.box.clear()
        model = self.box.model()
        assert isinstance(model, QStandardItemModel)  # that of a combo box which was given no other
        for row, choice in enumerate(choices):
            self.box.addItem(choice.label)
            self.box.setItemData(row, choice.tip, Qt.ItemDataRole.ToolTipRole)
            model.item(row).setEnabled(choice.usable)
        if self._others:
            self.box.insertSeparator(self.box.count())
            self.box.addItems(self._others)
        self._show_value()

    def show_whole(self) -> None:
        """Show entries whole, never shortened: they are few and short."""
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def choose(self, value: str) -> None:
        """Choose an entry without telling anybody."""
        self.value = value
        self._show_value()

    def _show_value(self) -> None:
        row = next((row for row, choice in enumerate(self._choices) if choice.value == self.value), -1)
        self.box.setCurrentIndex(row)
        self.box.setToolTip(self._choices[row].tip if row >= 0 else "")

    def _picked(self, row: int) -> None:
        if row < len(self._choices):
            self.value = self._choices[row].value
            self.box.setToolTip(self._choices[row].tip)
            self.chosen.emit(self.value)
        else:
            # An entry that asks for something is no choice: the box shows again what is chosen.
            self._show_value()
            self.other_asked.emit(self._others[row - len(self._choices) - 1])
