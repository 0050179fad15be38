"""What a run is started with: the task, how many of what, how many samples, where the tests run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from core.kinds import TASKS, Kind, configured, task
from core.run.estimate import estimate
from core.settings import RunSettings
from core.store.rows import TRIAL, PaceRow
from ui.shell.edit_options import EditOptions
from ui.shell.fields import count, form, heat, level_labels, pair
from ui.shell.judging_options import JudgingOptions
from ui.shell.model_options import AskEndpoint, Headers, ModelOptions
from ui.shell.remembered import FIRST_REGIONS
from ui.shell.run_cost import cost_words
from ui.style.theme import SPACE

ROOMY, NARROWEST, FRAME = 960, 700, 40
"""Pixels: the width it opens with where the screen has it, the least, and what the title bar takes of a screen."""
PRESET = 600
"""Seconds that a first run is preset to take, by a trial."""
FEWEST, MOST = 5, 100
"""Regions it is preset to have: fewer tell nothing, and more are for who asks for them."""


class RunDialog(QDialog):
    """Edits RunSettings; the project stays as the top bar has it. A task brings its own defaults.

    `measure_asked(settings)`: try how fast such a run goes, and say so with `set_paces`; `stop_asked`: no longer.
    """

    measure_asked = Signal(object)
    stop_asked = Signal()

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
        self.forward_most = count(settings.forward_max_tokens, 32_768, "Tokens of a description at most")
        self.backward_most = count(settings.backward_max_tokens, 32_768, "Tokens of a reconstruction at most")
        region = settings.region
        self.smallest = count(region.min_characters, 100_000, "Characters of a region at least")
        self.largest = count(region.max_characters, 100_000, "Characters of a region at most")
        self.seed = count(settings.seed, 2**31 - 1, "Seed", lowest=0)
        self.models = ModelOptions(settings, headers, ask_endpoint)
        self.judging = JudgingOptions(settings.oracle, self)
        self.problem, self.cost, self.measure = QLabel(), QLabel(), QPushButton()
        self._measuring = False
        self._paces: Sequence[PaceRow] | None = None
        self.starts = False
        self._prepare()
        self._lay_out()
        self._follow_task()
        self.resize(min(ROOMY, self.screen().availableSize().width()), self.minimumHeight())

    def _prepare(self) -> None:
        self.task.setAccessibleName("Task")
        for kind in TASKS.values():
            self.task.addItem(kind.title, kind.name)
        self.task.setCurrentIndex(max(self.task.findData(self._settings.task), 0))
        self.task.currentIndexChanged.connect(self._take_task)
        self.edits.changed.connect(self._tell)
        self.edits.changed.connect(self._fit)
        self.judging.changed.connect(self._fit)
        self.problem.setProperty("role", "bad")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.cost.setProperty("role", "muted")
        self.cost.setWordWrap(True)
        self.cost.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.cost.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.measure.setAutoDefault(False)
        self.measure.clicked.connect(self._measure)
        counts = (self.regions, self.forward, self.backward, self.forward_most, self.backward_most)
        for box in (*counts, self.models.context, self.models.threads):
            box.valueChanged.connect(self._tell)

    def _lay_out(self) -> None:
        self._fields = QWidget()
        columns = QHBoxLayout(self._fields)
        columns.setContentsMargins(0, 0, SPACE, 0)
        columns.setSpacing(SPACE * 4)
        self._scroll = QScrollArea()  # what a low or narrow screen has no room for is scrolled to
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self._fields)
        columns.addLayout(self._sampling(), 1)
        columns.addLayout(self._asking(), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE * 3, SPACE * 2, SPACE * 3, SPACE * 2)
        column.setSpacing(SPACE * 2)
        column.addWidget(self._scroll, 1)
        column.addWidget(self.problem)
        column.addLayout(self._cost_row())
        column.addWidget(self._buttons())
        self.setMinimumWidth(NARROWEST)

    def _cost_row(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(SPACE * 2)
        line.addWidget(self.cost, 1)
        line.addWidget(self.measure, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _sampling(self) -> QFormLayout:
        self._form = rows = form("WHAT IS SAMPLED")
        rows.addRow("Task", self.task)
        rows.addRow(" ", self.regions)
        self._sizes = pair(self.smallest, "to", self.largest)
        rows.addRow("Characters", self._sizes)
        rows.addRow("Descriptions each", pair(self.forward, "at temperature", self.forward_heat))
        rows.addRow("Reconstructions each", pair(self.backward, "at temperature", self.backward_heat))
        rows.addRow("Tokens at most", pair(self.forward_most, "for code", self.backward_most))
        rows.addRow("Seed", self.seed)
        self.edits.add_rows(rows)
        level_labels(rows)
        return rows

    def _asking(self) -> QFormLayout:
        models = form("WHO IS ASKED")
        self.models.add_rows(models)
        self.judging.add_rows(models)
        level_labels(models)
        return models

    def _buttons(self) -> QDialogButtonBox:
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Ok | standard.Cancel)
        self.buttons.button(standard.Ok).setText("Keep")
        self.buttons.button(standard.Ok).setToolTip("Keep these settings for the next run")
        self.run = self.buttons.addButton("Run", QDialogButtonBox.ButtonRole.AcceptRole)
        self.run.setProperty("role", "primary")
        self.run.setToolTip("Start with these settings; while a run is at work, wait for its end (Ctrl+Return)")
        self.run.setShortcut("Ctrl+Return")
        self.run.setDefault(True)
        self.buttons.clicked.connect(self._note_button)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        return self.buttons

    def _note_button(self, button: QAbstractButton) -> None:
        self.starts = button is self.run

    def set_paces(self, paces: Sequence[PaceRow]) -> None:
        """Say how long it will take, by how fast stored runs went."""
        self._paces = paces
        self._preset_regions()
        self._tell()

    def _preset_regions(self) -> None:
        """Of a first run: as many as a trial says are done in minutes, unless the user named a number."""
        cost = estimate(self.settings(), self._paces or ())
        untouched = self.regions.value() == self._settings.regions == FIRST_REGIONS
        if cost.trial and cost.seconds and untouched and all(pace.run_id == TRIAL for pace in self._paces or ()):
            wanted = round(self.regions.value() * PRESET / cost.seconds)
            self.regions.setValue(min(max(wanted, FEWEST), MOST))

    @property
    def kind(self) -> Kind:
        """The task that is chosen."""
        return task(self.task.currentData())

    def _take_task(self) -> None:
        """Another task: its own temperatures."""
        defaults = configured(self._settings, self.kind.name)
        self.forward_heat.setValue(defaults.forward_temperature)
        self.backward_heat.setValue(defaults.backward_temperature)
        self.forward_most.setValue(defaults.forward_max_tokens)
        self.backward_most.setValue(defaults.backward_max_tokens)
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
        problem = (options.problem() if options else self._size_problem()) or self.judging.problem()
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        if not problem:
            self.accept()

    def _size_problem(self) -> str:
        if self.smallest.value() <= self.largest.value():
            return ""
        return "No region is that small and that large: let the second number of characters be the larger one."

    def _tell(self) -> None:
        """Say what these settings cost, and what is dangerous about them."""
        self._tell_cost()
        options = self._drawn.get(self.kind.draws_from)
        tests_run = options is None or options.runs_tests
        self.judging.use(tests_run)
        self._form.setRowVisible(self._sizes, options is None)
        self._fit()

    def _tell_cost(self) -> None:
        cost = estimate(self.settings(), self._paces or ())
        self.cost.setText(cost_words(cost, self.kind, self._paces is not None))
        self.measure.setText("Stop measuring" if self._measuring else "Measure again" if cost.trial else "Measure")
        self.measure.setToolTip(f"Try one {self.kind.noun} now, for about a minute at most; nothing of it is kept")
        self.measure.setAccessibleName("Stop measuring" if self._measuring else "Measure how long such a run takes")
        rough = cost.seconds is None or cost.trial or not cost.like
        self.measure.setVisible((self._paces is not None and rough) or self._measuring)

    def _measure(self) -> None:
        if self._measuring:
            self.stop_asked.emit()
        else:
            self.measure_asked.emit(self.settings())

    def show_measuring(self, words: str) -> None:
        """Say how far the trial is; no run can be started meanwhile."""
        self._note_measuring(True)
        self.cost.setText(words)

    def end_measuring(self, problem: str = "") -> None:
        """It has ended; `problem` says why it brought nothing."""
        self._note_measuring(False)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self._fit()

    def _note_measuring(self, measuring: bool) -> None:
        self._measuring = measuring
        self.run.setEnabled(not measuring)
        self._tell_cost()

    def _fit(self) -> None:
        """Be high enough for wrapped lines, as far as the screen is: a dialog does not see to that itself."""
        layout, fields = self.layout(), self._fields.layout()
        if layout is not None and fields is not None:
            width = max(self.width(), self.minimumWidth())
            others = layout.totalHeightForWidth(width) - self._scroll.sizeHint().height()
            wrapped = fields.totalHeightForWidth(width - 6 * SPACE)  # -1 while no line wraps
            wanted = others + (wrapped if wrapped >= 0 else fields.totalSizeHint().height())
            self.setMinimumHeight(min(wanted, self.screen().availableSize().height() - FRAME))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Another width wraps otherwise (called by Qt)."""
        super().resizeEvent(event)
        self._fit()

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
            forward_max_tokens=self.forward_most.value(),
            backward_max_tokens=self.backward_most.value(),
            region=replace(old.region, min_characters=self.smallest.value(), max_characters=self.largest.value()),
            seed=self.seed.value(),
            oracle=self.judging.settings(old.oracle),
        )
