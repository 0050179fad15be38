"""Everything that is remembered between sessions and may be chosen, in one place; each change holds at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QWidget,
)

from core.settings import RunSettings
from core.settings.setting import described
from ui.shell.fields import count, form, heading, level_labels
from ui.shell.remembered import SCALES, Remembered
from ui.style.appearance import CHOICES
from ui.style.controls import DIALOG, column, push, row
from ui.style.theme import SPACE

_SANDBOX = described(RunSettings)["oracle.sandbox"].about
SCALED = "Text follows at once, all else from the next start on."
SMALLEST, LARGEST = 6, 28
"""Points of the code font."""


@dataclass(frozen=True, slots=True)
class Now:
    """What holds at the moment and is not read from `Remembered`."""

    sandbox: str
    code_points: int


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

    def __init__(self, remembered: Remembered, now: Now, parent: QWidget | None = None) -> None:
        """Show what holds."""
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._remembered = remembered
        self.theme, self.scale = _choice("Theme"), _choice("Size of everything")
        self.points = count(now.code_points, LARGEST, "Points of the code font", lowest=SMALLEST)
        self.sandbox = _choice("Sandbox of new runs")
        self.danger, self.scaled = QLabel(_SANDBOX.cautions["none"]), QLabel(SCALED)
        self.annotator = QLineEdit(remembered.annotator)
        self.models = QListWidget()
        self._fill(now)
        self._connect()
        self._lay_out()

    def _fill(self, now: Now) -> None:
        for choice in CHOICES:
            self.theme.addItem({"system": "As the system has it"}.get(choice, choice.capitalize()), choice)
        self.theme.setCurrentIndex(self.theme.findData(self._remembered.theme))
        for scale in SCALES:
            self.scale.addItem(f"{scale} %", scale)
        self.scale.setCurrentIndex(self.scale.findData(self._remembered.scale))
        for value, label in _SANDBOX.choices.items():
            self.sandbox.addItem(label, value)
        self.sandbox.setCurrentIndex(max(self.sandbox.findData(now.sandbox), 0))
        self.danger.setProperty("role", "bad")
        self.danger.setWordWrap(True)
        self.danger.setVisible(now.sandbox == "none")
        self.scaled.setProperty("role", "muted")
        self.annotator.setAccessibleName("Name that labels are stored under")
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
        label = QLabel(f"Kept in {self._remembered.place}")
        label.setProperty("role", "caption")
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

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


def _choice(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    return box
