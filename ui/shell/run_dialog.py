"""What a run is started with: the task, how many of what, how many samples, where the tests run."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.settings import RunSettings
from core.trips.tasks import TASKS, TaskKind, configured, task
from ui.shell.edit_options import EditOptions
from ui.shell.fields import count, heat, pair
from ui.shell.model_options import AskEndpoint, Headers, ModelOptions
from ui.theme import SPACE

SANDBOXES = (
    ("auto", "Docker, else bubblewrap"),
    ("docker", "Docker"),
    ("bubblewrap", "bubblewrap"),
    ("none", "None: target code runs unprotected"),
)
DANGER = "Without a sandbox, code that the model writes runs with all your rights: it can read and delete your files."


class RunDialog(QDialog):
    """Edits RunSettings; the project stays as the top bar has it. A task brings its own defaults."""

    def __init__(
        self,
        settings: RunSettings,
        parent: QWidget | None = None,
        headers: Headers = MappingProxyType({}),
        ask_endpoint: AskEndpoint = lambda known: None,
    ) -> None:
        """Start from `settings`; `headers` say what the models need, `ask_endpoint` has a model server named."""
        super().__init__(parent)
        self.setWindowTitle("Run settings")
        self._settings = settings
        self.task = QComboBox()
        self.edits = EditOptions(settings.edit)
        self._drawn = {"edit": self.edits}
        self.regions = count(settings.regions, 100_000, "How many to sample")
        self.forward = count(settings.forward_samples, 100, "Descriptions of each")
        self.backward = count(settings.backward_samples, 100, "Reconstructions from each description")
        self.forward_heat = heat(settings.forward_temperature, "Temperature of descriptions")
        self.backward_heat = heat(settings.backward_temperature, "Temperature of reconstructions")
        self.seed = count(settings.seed, 2**31 - 1, "Seed", lowest=0)
        self.models = ModelOptions(settings, headers, ask_endpoint)
        self.sandbox, self.python = QComboBox(), QLineEdit(settings.oracle.python or "")
        self.danger, self.problem, self.cost = QLabel(DANGER), QLabel(), QLabel()
        self._prepare()
        self._lay_out()
        self._follow_task()

    def _prepare(self) -> None:
        self.task.setAccessibleName("Task")
        for kind in TASKS.values():
            self.task.addItem(kind.title, kind.name)
        self.task.setCurrentIndex(max(self.task.findData(self._settings.task), 0))
        self.task.currentIndexChanged.connect(self._take_task)
        self.edits.changed.connect(self._tell)
        self.edits.changed.connect(self.adjustSize)
        self.sandbox.setAccessibleName("Sandbox")
        for value, label in SANDBOXES:
            self.sandbox.addItem(label, value)
        self.sandbox.setCurrentIndex(max(self.sandbox.findData(self._settings.oracle.sandbox), 0))
        self.sandbox.currentIndexChanged.connect(self._tell)
        self.python.setPlaceholderText("the project's own environment")
        self.python.setAccessibleName("Interpreter of the project")
        for warning in (self.danger, self.problem):
            warning.setProperty("role", "bad")
            warning.setWordWrap(True)
        self.problem.hide()
        self.cost.setProperty("role", "muted")
        for box in (self.regions, self.forward, self.backward):
            box.valueChanged.connect(self._tell)

    def _lay_out(self) -> None:
        self._form = form = QFormLayout()
        form.setVerticalSpacing(SPACE)
        form.setHorizontalSpacing(SPACE * 2)
        form.addRow("Task", self.task)
        form.addRow(" ", self.regions)
        form.addRow("Descriptions each", pair(self.forward, "at temperature", self.forward_heat))
        form.addRow("Reconstructions each", pair(self.backward, "at temperature", self.backward_heat))
        form.addRow("Seed", self.seed)
        self.edits.add_rows(form)
        form.addRow("Sandbox", self.sandbox)
        form.addRow("", self.danger)
        self._interpreter_row = self._interpreter()
        form.addRow("Interpreter", self._interpreter_row)
        self.models.add_rows(form)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE * 3, SPACE * 2, SPACE * 3, SPACE * 2)
        column.setSpacing(SPACE * 2)
        column.addLayout(form)
        column.addWidget(self.problem)
        column.addWidget(self.cost)
        column.addWidget(self.buttons)
        self.setMinimumWidth(480)

    def _interpreter(self) -> QWidget:
        browse = QPushButton("Choose…")
        browse.setAccessibleName("Choose the project's interpreter")
        browse.clicked.connect(self._choose_interpreter)
        return pair(self.python, "", browse)

    def _choose_interpreter(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Interpreter that has the project's dependencies")
        if path:
            self.python.setText(path)

    @property
    def kind(self) -> TaskKind:
        """The task that is chosen."""
        return task(self.task.currentData())

    def _take_task(self) -> None:
        """Another task: its own temperatures."""
        defaults = configured(self._settings, self.kind.name)
        self.forward_heat.setValue(defaults.forward_temperature)
        self.backward_heat.setValue(defaults.backward_temperature)
        self._follow_task()

    def _follow_task(self) -> None:
        """Name what is sampled, and show the fields that say which."""
        label = self._form.labelForField(self.regions)
        if isinstance(label, QLabel):
            label.setText(self.kind.nouns.capitalize())
        self.task.setToolTip(self.kind.tip)
        for part, options in self._drawn.items():
            options.use(part == self.kind.draws_from)
        self._tell()

    def _accept(self) -> None:
        """Close, unless something must be mended first."""
        options = self._drawn.get(self.kind.draws_from)
        problem = options.problem() if options else ""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        if not problem:
            self.accept()

    def _tell(self) -> None:
        """Say what these settings cost, and what is dangerous about them."""
        regions, forward, backward = self.regions.value(), self.forward.value(), self.backward.value()
        descriptions, codes = regions * forward, regions * forward * backward
        baselines = regions * backward
        self.cost.setText(
            f"{descriptions:,} descriptions, {codes:,} reconstructions and {baselines:,} baselines; "
            f"{codes + baselines:,} candidates to judge."
        )
        options = self._drawn.get(self.kind.draws_from)
        tests_run = options is None or options.runs_tests
        for row in (self.sandbox, self._interpreter_row):
            self._form.setRowVisible(row, tests_run)
        self._form.setRowVisible(self.danger, tests_run and self.sandbox.currentData() == "none")

    def settings(self) -> RunSettings:
        """What the user settled on."""
        old = self._settings if self.kind.name == self._settings.task else configured(self._settings, self.kind.name)
        return replace(
            self.models.settings(old),
            edit=self.edits.settings() if self.kind.draws_from == "edit" else old.edit,
            regions=self.regions.value(),
            forward_samples=self.forward.value(),
            backward_samples=self.backward.value(),
            forward_temperature=round(self.forward_heat.value(), 2),
            backward_temperature=round(self.backward_heat.value(), 2),
            seed=self.seed.value(),
            oracle=replace(old.oracle, sandbox=self.sandbox.currentData(), python=self.python.text().strip() or None),
        )
