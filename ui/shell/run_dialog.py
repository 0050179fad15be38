"""What a run is started with: how many regions, how many samples, where the tests run."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from core.settings import DEFAULT_CONTEXT, RunSettings
from ui.theme import SPACE

Box = TypeVar("Box", bound=QAbstractSpinBox)
SANDBOXES = (
    ("auto", "Docker, else bubblewrap"),
    ("docker", "Docker"),
    ("bubblewrap", "bubblewrap"),
    ("none", "None: target code runs unprotected"),
)
DANGER = "Without a sandbox, code that the model writes runs with all your rights: it can read and delete your files."


class RunDialog(QDialog):
    """Edits RunSettings; models, task and project stay as the top bar has them."""

    def __init__(self, settings: RunSettings, parent: QWidget | None = None) -> None:
        """Start from `settings`."""
        super().__init__(parent)
        self.setWindowTitle("Run settings")
        self._settings = settings
        self.regions = _count(settings.regions, 100_000, "Regions to sample")
        self.forward = _count(settings.forward_samples, 100, "Descriptions of each region")
        self.backward = _count(settings.backward_samples, 100, "Reconstructions from each description")
        self.forward_heat = _heat(settings.forward_temperature, "Temperature of descriptions")
        self.backward_heat = _heat(settings.backward_temperature, "Temperature of reconstructions")
        self.seed = _count(settings.seed, 2**31 - 1, "Seed", lowest=0)
        self.context = _count(settings.generation.context_size or 0, 1_048_576, "Context window", lowest=0)
        self.threads = _count(settings.generation.threads or 0, 1024, "Threads", lowest=0)
        self.sandbox, self.python = QComboBox(), QLineEdit(settings.oracle.python or "")
        self.danger, self.cost = QLabel(DANGER), QLabel()
        self._prepare()
        self._lay_out()
        self._tell()

    def _prepare(self) -> None:
        self.context.setSpecialValueText(f"the model's own, at most {DEFAULT_CONTEXT}")
        self.threads.setSpecialValueText("all but one core")
        self.context.setSingleStep(1024)
        self.sandbox.setAccessibleName("Sandbox")
        for value, label in SANDBOXES:
            self.sandbox.addItem(label, value)
        self.sandbox.setCurrentIndex(max(self.sandbox.findData(self._settings.oracle.sandbox), 0))
        self.sandbox.currentIndexChanged.connect(self._tell)
        self.python.setPlaceholderText("the project's own environment")
        self.python.setAccessibleName("Interpreter of the project")
        self.danger.setProperty("role", "bad")
        self.danger.setWordWrap(True)
        self.cost.setProperty("role", "muted")
        for box in (self.regions, self.forward, self.backward):
            box.valueChanged.connect(self._tell)

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setVerticalSpacing(SPACE)
        form.setHorizontalSpacing(SPACE * 2)
        form.addRow("Regions", self.regions)
        form.addRow("Descriptions each", _pair(self.forward, "at temperature", self.forward_heat))
        form.addRow("Reconstructions each", _pair(self.backward, "at temperature", self.backward_heat))
        form.addRow("Seed", self.seed)
        form.addRow("Sandbox", self.sandbox)
        form.addRow("", self.danger)
        form.addRow("Interpreter", self._interpreter())
        form.addRow("Context window", self.context)
        form.addRow("Threads", self.threads)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE * 3, SPACE * 2, SPACE * 3, SPACE * 2)
        column.setSpacing(SPACE * 2)
        column.addLayout(form)
        column.addWidget(self.cost)
        column.addWidget(buttons)
        self.setMinimumWidth(480)

    def _interpreter(self) -> QWidget:
        browse = QPushButton("Choose…")
        browse.setAccessibleName("Choose the project's interpreter")
        browse.clicked.connect(self._choose_interpreter)
        return _pair(self.python, "", browse)

    def _choose_interpreter(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Interpreter that has the project's dependencies")
        if path:
            self.python.setText(path)

    def _tell(self) -> None:
        """Say what these settings cost, and what is dangerous about them."""
        regions, forward, backward = self.regions.value(), self.forward.value(), self.backward.value()
        descriptions, codes = regions * forward, regions * forward * backward
        baselines = regions * backward
        self.cost.setText(
            f"{descriptions:,} descriptions, {codes:,} reconstructions and {baselines:,} baselines; "
            f"{codes + baselines:,} candidates to test."
        )
        self.danger.setVisible(self.sandbox.currentData() == "none")

    def settings(self) -> RunSettings:
        """What the user settled on."""
        old = self._settings
        return replace(
            old,
            regions=self.regions.value(),
            forward_samples=self.forward.value(),
            backward_samples=self.backward.value(),
            forward_temperature=round(self.forward_heat.value(), 2),
            backward_temperature=round(self.backward_heat.value(), 2),
            seed=self.seed.value(),
            oracle=replace(old.oracle, sandbox=self.sandbox.currentData(), python=self.python.text().strip() or None),
            generation=replace(
                old.generation, context_size=self.context.value() or None, threads=self.threads.value() or None
            ),
        )


def _count(value: int, most: int, name: str, lowest: int = 1) -> QSpinBox:
    box = QSpinBox()
    box.setRange(lowest, most)
    box.setValue(value)
    return _named(box, name)


def _heat(value: float, name: str) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(0.0, 2.0)
    box.setSingleStep(0.1)
    box.setValue(value)
    return _named(box, name)


def _named(box: Box, name: str) -> Box:
    """Name a field for screen readers, and indent its text as in the other fields."""
    box.setAccessibleName(name)
    field = box.findChild(QLineEdit)
    if field is not None:
        field.setTextMargins(SPACE - 2, 0, 0, 0)
    return box


def _pair(left: QWidget, words: str, right: QWidget) -> QWidget:
    """Two fields in one row of the form."""
    row = QWidget()
    line = QHBoxLayout(row)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(SPACE)
    line.addWidget(left, 1)
    if words:
        label = QLabel(words)
        label.setProperty("role", "muted")
        line.addWidget(label)
    line.addWidget(right, 1 if words else 0)
    return row
