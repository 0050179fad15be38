"""Everything that is remembered between sessions and may be chosen, in one place; each change holds at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QListWidget,
    QSpinBox,
    QWidget,
)

from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.setting import described
from rtc_inspector.ui.shell.fields import form, heading, indent, level_labels
from rtc_inspector.ui.shell.remembered import SCALES, Remembered
from rtc_inspector.ui.style.appearance import CHOICES
from rtc_inspector.ui.style.controls import DIALOG, column, field, label, push, row
from rtc_inspector.ui.style.theme import SPACE

_SANDBOX = described(RunSettings)["oracle.sandbox"].about
SCALED = "Text follows at once, all else from the next start on."
SMALLEST, LARGEST = 6, 28
"""Points of the code font."""


class SettingsDialog(QDialog):
    """Tells what was changed: theme, scale, points of code, sandbox, name, models; and asks for keys or the tour."""

    theme_chosen = Signal(str)
    scale_chosen = Signal(int)
    code_sized = Signal(int)
    sandbox_chosen = Signal(str)
    annotator_named = Signal(str)
    models_changed = Signal()
    keys_asked = Signal()
    tour_asked = Signal()

    def __init__(self, remembered: Remembered, sandbox: str, code_points: int, parent: QWidget | None = None) -> None:
        """Show what holds: `sandbox` for the next run, `code_points` in this window."""
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._remembered = remembered
        looks = {each: {"system": "As the system has it"}.get(each, each.capitalize()) for each in CHOICES}
        self.theme = _choice("Theme", looks, remembered.theme)
        self.scale = _choice("Size of everything", {each: f"{each} %" for each in SCALES}, remembered.scale)
        self.points, self.sandbox = QSpinBox(), _choice("Sandbox of new runs", _SANDBOX.choices, sandbox)
        self.danger, self.scaled = label(_SANDBOX.cautions["none"], "bad", wrap=True), label(SCALED, "muted")
        self.annotator = field("Name that labels are stored under", text=remembered.annotator)
        self.models = QListWidget()
        self._fill(sandbox, code_points)
        self._connect()
        self._lay_out()

    def _fill(self, sandbox: str, code_points: int) -> None:
        self.danger.setVisible(sandbox == "none")
        self.points.setAccessibleName("Points of the code font")
        self.points.setRange(SMALLEST, LARGEST)
        self.points.setValue(code_points)
        indent(self.points)
        self.models.setAccessibleName("Model files and folders to look through")
        self.models.setMaximumHeight(96)
        self.models.addItems([str(path) for path in self._remembered.models()])

    def _connect(self) -> None:
        # `activated` tells of the user alone, not of how the box is filled.
        self.theme.activated.connect(lambda _: self.theme_chosen.emit(self.theme.currentData()))
        self.scale.activated.connect(self._take_scale)
        self.points.valueChanged.connect(self.code_sized)
        self.sandbox.activated.connect(self._take_sandbox)
        self.annotator.editingFinished.connect(self._take_annotator)

    def _lay_out(self) -> None:
        rows = form("LOOK")
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        rows.addRow("&Theme", self.theme)
        rows.addRow("&Size of everything", self.scale)
        rows.addRow("", self.scaled)
        rows.addRow("&Code font, points", self.points)
        rows.addRow(heading("MODELS"))
        rows.addRow("Files and folders", self.models)
        rows.addRow("", self._model_buttons())
        rows.addRow(heading("RUNS AND LABELS"))
        rows.addRow("Sand&box", self.sandbox)
        rows.addRow("", self.danger)
        rows.addRow("&Your name on labels", self.annotator)
        level_labels(rows)
        column(rows, self._where(), self._buttons(), margins=DIALOG, spacing=SPACE * 2, owner=self)
        self.setMinimumWidth(560)

    def _model_buttons(self) -> QWidget:
        holder = QWidget()
        file, folder, remove = (
            push("Add file…", "Add a model file", lambda: self._add_model(_ask_file)),
            push("Add folder…", "Add a folder to look through for models", lambda: self._add_model(_ask_folder)),
            push("Remove", "Look there no more", self._remove_model),
        )
        row(file, folder, remove, None, owner=holder)
        return holder

    def _where(self) -> QLabel:
        where = label(f"Kept in {self._remembered.place}", "caption", wrap=True)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return where

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for text, tip, asked in (
            ("Keys…", "Show every key", self.keys_asked),
            ("Tour", "Show the tour of the window again", self.tour_asked),
        ):
            button = push(text, tip, asked.emit)
            buttons.addButton(button, QDialogButtonBox.ButtonRole.HelpRole)
        buttons.rejected.connect(self.reject)
        return buttons

    def _take_scale(self) -> None:
        self._remembered.scale = self.scale.currentData()
        self.scale_chosen.emit(self.scale.currentData())

    def _take_sandbox(self) -> None:
        self.danger.setVisible(self.sandbox.currentData() == "none")
        self.sandbox_chosen.emit(self.sandbox.currentData())

    def _take_annotator(self) -> None:
        if self.annotator.text().strip():
            self.annotator_named.emit(self.annotator.text().strip())

    def _add_model(self, ask: Callable[[QWidget], str]) -> None:
        path = ask(self)
        if path and not self.models.findItems(path, Qt.MatchFlag.MatchExactly):
            self._remembered.add_model(Path(path))
            self.models.insertItem(0, path)
            self.models_changed.emit()

    def _remove_model(self) -> None:
        item = self.models.takeItem(self.models.currentRow())
        if item is not None:
            self._remembered.remove_model(Path(item.text()))
            self.models_changed.emit()


def _ask_file(parent: QWidget) -> str:
    return QFileDialog.getOpenFileName(parent, "Add a model file", "", "GGUF models (*.gguf);;All files (*)")[0]


def _ask_folder(parent: QWidget) -> str:
    return QFileDialog.getExistingDirectory(parent, "Add a folder to look through for models")


def _choice(name: str, entries: Mapping[Any, str], chosen: Any) -> QComboBox:
    """Return a box of values with their words; the first one is chosen where `chosen` is none of them."""
    box = QComboBox()
    box.setAccessibleName(name)
    for value, words in entries.items():
        box.addItem(words, value)
    box.setCurrentIndex(max(box.findData(chosen), 0))
    return box
