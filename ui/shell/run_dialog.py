"""What a run is started with: the task, how many of what, how many samples, where the tests run."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QWidget,
)

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import TASKS, Kind, configured, task
from rtc_inspector.core.run.estimate import cost_words, estimate
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.settings.naming import with_models
from rtc_inspector.core.settings.project_file import BACKWARD, FORWARD, ProjectFile
from rtc_inspector.core.settings.setting import check, described, value_of, with_values
from rtc_inspector.core.store.rows import TRIAL, PaceRow
from rtc_inspector.ui.shell.bars import duration
from rtc_inspector.ui.shell.fields import choice_box, error_words, form, heading, level_labels, say
from rtc_inspector.ui.shell.model_options import AskEndpoint, Headers, ModelOptions
from rtc_inspector.ui.shell.remembered import FIRST_REGIONS
from rtc_inspector.ui.shell.setting_fields import SettingField, SettingRow, WordsField, field_of, rows_of
from rtc_inspector.ui.style.controls import DIALOG, called, column, label, push, row, scrolled
from rtc_inspector.ui.style.fonts import FRAME, keep_on_screen
from rtc_inspector.ui.style.theme import SPACE

ROOMY, NARROWEST = 960, 700  # pixels: the width it opens with where the screen has it, and the least
WIDE = 1264  # pixels: with all settings, which are too many for two columns on a low screen
PRESET = 600  # seconds that a first run is preset to take, by a trial
ASKED = ("generation", "oracle")  # parts of the settings that stand in the right column
OF_TASK = ("forward_temperature", "backward_temperature", "forward_max_tokens", "backward_max_tokens")
"""What another task brings its own defaults for."""
REST = 300  # milliseconds after the last change until the environment of the tests is looked at
NO_FILE = ProjectFile()
FEWEST, MOST = 5, 100  # regions it is preset to have: fewer tell nothing, and more are for who asks for them


class RunDialog(QDialog):
    """Edits RunSettings; the project stays as the top bar has it. A task brings its own defaults."""

    measure_asked = Signal(object)  # settings: try how fast such a run goes, and say so with `set_paces`
    stop_asked = Signal()  # measure no longer
    check_asked = Signal(object)  # settings: say with `say_environment` what the tests' environment lacks
    try_asked = Signal(object)  # settings: run the tests, and say with `say_environment` what came of it
    served_asked = Signal(object)  # endpoints: offer with `models.add_served` what these servers have

    def __init__(
        self,
        settings: RunSettings,
        parent: QWidget | None = None,
        headers: Headers = MappingProxyType({}),
        ask_endpoint: AskEndpoint = lambda every: None,
        endpoints: Sequence[EndpointSettings] = (),
        file: ProjectFile = NO_FILE,
        there: int = 0,
    ) -> None:
        """`there`: how many problems or cells the open file has, as far as one is open."""
        super().__init__(parent)
        self.setWindowTitle("Run settings")
        self._settings, self._file, self._there = settings, file, there
        self.task = choice_box("Task", {kind.name: kind.title for kind in TASKS.values()}, settings.task)
        self.all = called(QCheckBox("All settings"), tip="Show every setting there is, also those that few change")
        every = described(RunSettings)
        self.fields = {path: field_of(each, value_of(settings, path)) for path, each in every.items()}
        self.words = WordsField(every["prompts"])
        self.words.show(settings.prompts)
        self.fields["prompts"] = self.words
        self.models = ModelOptions(settings, headers, ask_endpoint, self.fields, endpoints, self.served_asked.emit)
        self._rows: list[tuple[QWidget | None, list[SettingRow]]] = []
        self.environment = label(wrap=True)
        self.trial = push("Try the tests", "Run the project's tests now, with these settings", self._try)
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.check)
        self.problem, self.cost = label(role="bad", wrap=True), label(role="muted", wrap=True)
        self.origin = label(role="muted", wrap=True)
        self.measure = push("", "", self._measure)
        self._measuring, self._sandboxed, self._can_be_tried = False, True, False
        self._paces: Sequence[PaceRow] | None = None
        self.starts = False
        self.task.currentIndexChanged.connect(self._take_task)
        self.all.toggled.connect(self._arrange)
        self.problem.hide()
        self.cost.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.cost.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for path, field in self.fields.items():
            field.changed.connect(self._tell)
            if path.startswith("oracle."):
                field.changed.connect(self._rest.start)
        self.models.others.itemChanged.connect(self._tell)
        self.models.cross.toggled.connect(self._tell)
        self._fields = QWidget()
        self._columns = row(margins=(0, 0, SPACE, 0), spacing=SPACE * 4, owner=self._fields)
        self._scroll = scrolled(self._fields)  # what a low or narrow screen has no room for is scrolled to
        self._tests = QWidget()
        self._left = column(self._sampling(), self._tests, None, spacing=SPACE * 2)
        self._columns.addLayout(self._left, 1)
        self._columns.addLayout(column(self._asking(), None), 1)
        self._testing()
        cost = row(self.cost, self.measure, spacing=SPACE * 2, grows=self.cost)
        cost.setAlignment(self.measure, Qt.AlignmentFlag.AlignTop)
        parts = (self._scroll, self.problem, self.origin, cost, self._buttons())
        column(*parts, margins=DIALOG, spacing=SPACE * 2, owner=self, grows=self._scroll)
        self.run.setDefault(True)  # it counts only once the button stands in the dialog
        self.setMinimumWidth(NARROWEST)
        self._tell()
        self.resize(min(ROOMY, self.screen().availableSize().width()), self.minimumHeight())

    def _sampling(self) -> QFormLayout:
        rows = form("WHAT IS SAMPLED")
        rows.addRow("Task", self.task)
        for part, paths in self._parts().items():
            if part not in ASKED:
                self._add_rows(rows, part, paths)
        level_labels(rows)
        return rows

    def _asking(self) -> QFormLayout:
        rows, parts = form("WHO IS ASKED"), self._parts()
        self.models.add_rows(rows)
        self._add_rows(rows, "", parts[ASKED[0]])
        self.models.add_memory()
        level_labels(rows)
        return rows

    def _testing(self) -> None:
        paths = self._parts()[ASKED[1]]
        rows = form(self.fields[paths[0]].each.title.upper())
        rows.setContentsMargins(0, 0, 0, 0)
        added = rows_of(self.fields, paths)
        for each in added:
            each.add_to(rows, spans=True)
        self._rows.append((self._tests, added))
        rows.addRow(self.environment)
        rows.addRow("", self.trial)
        self._tests.setLayout(rows)
        self._testing_form = rows

    def _arrange(self) -> None:
        """Give the tests a column of their own where all settings are shown and the screen is wide enough."""
        room = self.screen().availableSize().width()
        apart = self.all.isChecked() and room >= WIDE
        if apart:
            self._columns.addWidget(self._tests, 1, Qt.AlignmentFlag.AlignTop)
        else:
            self._left.insertWidget(1, self._tests)
        for rows in self.findChildren(QFormLayout):
            rows.setHorizontalSpacing(SPACE if apart else SPACE * 2)
            rows.setVerticalSpacing(SPACE * 3 // 4 if apart else SPACE)
        self._columns.setSpacing(SPACE * (2 if apart else 4))
        self._tell()
        self.resize(WIDE if apart else min(ROOMY, room), self.minimumHeight())

    def _parts(self) -> dict[str, list[str]]:
        parts: dict[str, list[str]] = {}
        for path in self.fields:
            parts.setdefault(path.rpartition(".")[0], []).append(path)
        return parts

    def _add_rows(self, rows: QFormLayout, part: str, paths: Sequence[str]) -> None:
        title = None
        if part:
            title = heading(self.fields[paths[0]].each.title.upper())
            rows.addRow(title)
        added = rows_of(self.fields, paths)
        for each in added:
            each.add_to(rows)
        self._rows.append((title, added))

    def _buttons(self) -> QDialogButtonBox:
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Ok | standard.Cancel)
        self.buttons.button(standard.Ok).setText("Keep")
        self.buttons.button(standard.Ok).setToolTip("Keep these settings for the next run")
        self.run = self.buttons.addButton("Run", QDialogButtonBox.ButtonRole.AcceptRole)
        tip = "Start with these settings; while a run is at work, wait for its end (Ctrl+Return)"
        called(self.run, tip=tip, role="primary")
        self.run.setShortcut("Ctrl+Return")
        self.buttons.addButton(self.all, QDialogButtonBox.ButtonRole.HelpRole)
        self.buttons.clicked.connect(self._note_button)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        return self.buttons

    def _note_button(self, button: QAbstractButton) -> None:
        self.starts = button is self.run

    def set_paces(self, paces: Sequence[PaceRow]) -> None:
        self._paces = paces
        cost = estimate(self.settings(), self._paces or ())
        regions = self.fields["regions"]
        # A number that somebody chose, now or in an earlier run, stays.
        untouched = regions.value() == self._settings.regions == FIRST_REGIONS
        if cost.trial and cost.seconds and untouched and all(pace.run_id == TRIAL for pace in self._paces or ()):
            wanted = round(regions.value() * PRESET / cost.seconds)
            regions.show(min(max(wanted, FEWEST), MOST))
        self._tell()

    @property
    def kind(self) -> Kind:
        return task(self.task.currentData())

    def _take_task(self) -> None:
        defaults = configured(self._settings, self.kind.name)
        for path in OF_TASK:
            # Four fields change at once: the cost is worked out once, afterwards.
            with QSignalBlocker(self.fields[path]):
                self.fields[path].show(self._file.settings.get(path, value_of(defaults, path)))
        self._tell()

    def _accept(self) -> None:
        shown = (field.problem() for path, field in self.fields.items() if self._is_of_use(path))
        problem = next(filter(None, shown), "")
        if not problem:
            try:
                check(self.settings())
            except UserError as error:
                problem = error_words(error)
        self._say(problem)
        if not problem:
            self.accept()

    def _say(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    def _is_of_use(self, path: str) -> bool:
        about = self.fields[path].each.about
        lacks = bool(about.needs) and not self._value(about.needs)
        beside = bool(about.unless) and bool(self._value(about.unless))
        runs = not path.startswith("oracle.") or self._sandboxed
        return self.kind.has(path) and not lacks and not beside and runs

    def _is_shown(self, field: SettingField) -> bool:
        """Return whether a field is of use and shown: what few change, only where it was changed or all is shown."""
        each = field.each
        plain = not each.about.rare or self.all.isChecked() or self._value(each.path) != each.default
        return plain and self._is_of_use(each.path)

    def _value(self, path: str) -> Any:
        """Return the value of a field, or what it began with as long as it holds none."""
        try:
            return self.fields[path].value()
        except ValueError:
            return value_of(self._settings, path)

    def _tell(self) -> None:
        fixed = "" if self.kind.has("prompts") else "\nIts prompts have fixed words."
        self.task.setToolTip(self.kind.tip + fixed)
        self.words.task = self.kind.name
        self._sandboxed = self.kind.sandboxed(self.settings())
        self._tell_cost()
        self._tell_origin()
        for title, rows in self._rows:
            shown = [row.follow(self._is_shown) for row in rows]
            if title is not None:
                title.setVisible(any(shown))
            for each in rows:
                if each.fields[0].each.path == "regions":
                    each.label.setText(self.kind.nouns.capitalize())
        answered = bool(self.environment.text()) and self._is_of_use("oracle.sandbox")
        self._testing_form.setRowVisible(self.environment, answered)
        self._testing_form.setRowVisible(self.trial, answered and self._can_be_tried)
        self._fit()

    def _try(self) -> None:
        self.say_environment("Running the tests…")
        self.try_asked.emit(self.settings().oracle)

    def check(self) -> None:
        self.check_asked.emit(self.settings().oracle)

    def say_environment(self, words: str, bad: bool = False, can_be_tried: bool = False) -> None:
        """Say what the environment of the tests lacks, or that it lacks nothing; and whether they can be tried now."""
        say(self.environment, words, bad)
        self._can_be_tried = can_be_tried
        self._tell()

    def _tell_origin(self) -> None:
        """Say what the project's own file has set here and nobody has changed since."""
        path, options = self._file.path, self._file.options
        now, named = self.models.settings(self._settings), with_models(self._settings, self._file.named)
        names = ["Task"] if options.get("task") == self.kind.name else []
        if any(each in options for each in FORWARD) and (now.model, now.endpoint) == (named.model, named.endpoint):
            names.append("Forward model")
        backward = (named.backward_model, named.backward_endpoint)
        if any(each in options for each in BACKWARD) and (now.backward_model, now.backward_endpoint) == backward:
            names.append("Backward model")
        for setting, value in self._file.settings.items():
            if setting in self.fields and self._is_of_use(setting) and self._value(setting) == value:
                about = self.fields[setting].each.about
                names.append(self.kind.nouns.capitalize() if setting == "regions" else about.label)
        said = f"From this project's {path.name}: {'; '.join(names)}." if path is not None and names else ""
        self.origin.setText(said)
        self.origin.setVisible(bool(said))

    def _tell_cost(self) -> None:
        settings, few = self.settings(), ""
        if self.kind.source.name in ("problems", "cells") and 0 < self._there < settings.regions:
            settings, few = replace(settings, regions=self._there), f"There are {self._there} {self.kind.nouns}. "
        cost = estimate(settings, self._paces or ())
        runs = settings.series.runs if settings.series is not None else 1
        each = few + (f"For each of {runs} runs: " if runs > 1 else "")
        self.cost.setText(each + cost_words(cost, self.kind, duration, self._paces is not None))
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
        self._note_measuring(True)
        self.cost.setText(words)

    def end_measuring(self, problem: str = "") -> None:
        self._note_measuring(False)
        self._say(problem)
        self._fit()

    def _note_measuring(self, measuring: bool) -> None:
        self._measuring = measuring
        self.run.setEnabled(not measuring)
        self._tell_cost()

    def _fit(self) -> None:
        """Make the dialog high enough for wrapped lines, as far as the screen is: it does not see to that itself."""
        layout, fields = self.layout(), self._fields.layout()
        if layout is not None and fields is not None:
            width = max(self.width(), self.minimumWidth())
            others = layout.totalHeightForWidth(width) - self._scroll.sizeHint().height()
            # The dialog's own margins at both sides.
            wrapped = fields.totalHeightForWidth(width - 6 * SPACE)  # -1 while no line wraps
            whole = wrapped if wrapped >= 0 else fields.totalSizeHint().height()
            self._fields.setMinimumHeight(whole)  # where they scroll their lines would be squeezed
            wanted = others + whole
            # On a low screen the fields scroll; the buttons must not leave it.
            before = self.minimumHeight()
            self.setMinimumHeight(min(wanted, self.screen().availableSize().height() - FRAME))
            if self.height() == before:  # nobody has made it higher
                self.resize(self.width(), self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()
        QTimer.singleShot(0, self, lambda: keep_on_screen(self))  # once it has its new size

    def settings(self) -> RunSettings:
        old = self._settings if self.kind.name == self._settings.task else configured(self._settings, self.kind.name)
        values = {path: self._value(path) for path in self.fields if self.kind.has(path)}
        for path in values:
            # What is out of sight has no say: a value that was typed before its row went counts as not set.
            about = self.fields[path].each.about
            if (about.needs and not values[about.needs]) or (about.unless and values[about.unless]):
                values[path] = self.fields[path].each.default
        return with_values(self.models.settings(old), values)
