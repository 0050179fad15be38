"""The bar at the top: what is looked at, with which models, and the run's controls."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from rtc_inspector.core.kinds import TASKS
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.shell.fields import Choice, ChoiceBox
from rtc_inspector.ui.shell.search import SearchField
from rtc_inspector.ui.style.controls import button, on_ground, row
from rtc_inspector.ui.style.fonts import grown
from rtc_inspector.ui.style.icons import icon
from rtc_inspector.ui.style.theme import SPACE

FILE, FOLDER, SERVER, DOWNLOAD = MORE_MODELS = ("Choose file…", "Choose folder…", "Model server…", "Download…")
WHOLE, ROOMY, WIDE = 0, 1050, 1400
"""Pixels: a box that is never shortened; the least widths, for text of the usual size, with words on every button, and
with a stopped run's count on its own."""
SAME_MODEL = Choice("Same as forward", "", "The model that describes also writes")


class TopBar(QWidget):
    """Emits what the user wants; decides nothing."""

    run_asked = Signal()
    resume_asked = Signal()
    pause_asked = Signal()
    stop_asked = Signal()
    settings_asked = Signal()

    def __init__(self, menu: QMenu, runs: QMenu) -> None:
        """`menu` opens from the button at the left, `runs` from the one beside the search field."""
        super().__init__()
        on_ground(self, "bar")
        self.project = ChoiceBox("Project", "Open folder…")
        self.task = ChoiceBox("Task")
        self.forward = ChoiceBox("Forward model", *MORE_MODELS)
        self.backward = ChoiceBox("Backward model", *MORE_MODELS)
        at_once = QToolButton.ToolButtonPopupMode.InstantPopup
        self.menu_button, self.runs_button = QToolButton(popupMode=at_once), QToolButton(popupMode=at_once)
        self.run = button("Run", "Start a run", self._ask_run, flat=False)
        self._fresh = QMenu(self)
        self._fresh.addAction("New run").triggered.connect(lambda: self.run_asked.emit())
        self._state, self._resumes = RunState.IDLE, ""
        self.pause = button("", "Pause", self.pause_asked.emit, flat=False)
        self.stop = button("", "Stop; the run can be resumed", self.stop_asked.emit, flat=False, icon="stop")
        self.settings = button("", "Run settings", self.settings_asked.emit, flat=False, icon="settings")
        self.search = SearchField()
        self.project.box.setPlaceholderText("None open")
        self.offer_tasks({}, next(iter(TASKS)))
        self.run.setProperty("role", "primary")
        self.run.setIcon(icon("run", "accent_text"))
        self.run.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._menus(menu, runs)
        self._lay_out()
        self.show_state(RunState.IDLE)

    def offer_tasks(self, unfit: Mapping[str, str], chosen: str) -> None:
        """Offer every task; `unfit` are those that make no sense here, each with its reason."""
        choices = [
            Choice(kind.title, kind.name, unfit.get(kind.name, kind.tip), usable=kind.name not in unfit)
            for kind in TASKS.values()
        ]
        self.task.set_choices(choices, chosen)

    def _menus(self, menu: QMenu, runs: QMenu) -> None:
        for opens, entries, name in ((self.menu_button, menu, "Menu"), (self.runs_button, runs, "Runs")):
            opens.setIcon(icon(name.lower()))
            opens.setMenu(entries)
            opens.setAccessibleName(name)
            opens.setToolTip(name)
        self.menu_button.setProperty("role", "bare")
        self.runs_button.setText("Runs")
        self.runs_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)

    def _lay_out(self) -> None:
        line = row(margins=(SPACE, SPACE // 2 + 2, SPACE + 4, SPACE), owner=self)
        bottom = Qt.AlignmentFlag.AlignBottom
        line.addWidget(self.menu_button, 0, bottom)
        for box, stretch, widest in (
            (self.project, 7, 300),
            (self.task, 0, WHOLE),
            (self.forward, 9, 480),
            (self.backward, 9, 480),
        ):
            if widest == WHOLE:
                box.show_whole()
            else:
                # Names of models may be longer than any window: the bar shares out what room there is.
                box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
                box.setMaximumWidth(widest)
            line.addWidget(box, stretch, bottom)
        line.addSpacing(SPACE // 2)
        for each in (self.run, self.pause, self.stop, self.settings, self.runs_button):
            line.addWidget(each, 0, bottom)
        line.addStretch(1)
        self.search.setMaximumWidth(420)
        line.addWidget(self.search, 5, bottom)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Hide the task and the word on a button where there is little room: the names of models come first."""
        super().resizeEvent(event)
        style = Qt.ToolButtonStyle
        narrow = self.width() < grown(self, ROOMY)
        self.runs_button.setToolButtonStyle(style.ToolButtonIconOnly if narrow else style.ToolButtonTextBesideIcon)
        self.task.setVisible(not narrow)  # the run settings have it too
        self.show_state(self._state)

    def offer_resume(self, progress: str) -> None:
        """Have the button go on with the run on show, which was stopped after so much; empty where there is none."""
        self._resumes = progress
        self.show_state(self._state)

    def _ask_run(self) -> None:
        (self.resume_asked if self._resumes and self._state is RunState.IDLE else self.run_asked).emit()

    def show_state(self, state: RunState) -> None:
        """Offer what can be done now."""
        self._state = state
        busy = state is not RunState.IDLE
        going = state in (RunState.RUNNING, RunState.PAUSED)
        resumes = bool(self._resumes) and not busy
        counted = f" ({self._resumes})" if self.width() >= grown(self, WIDE) else ""
        self.run.setText("Queue" if busy else f"Resume{counted}" if resumes else "Run")
        stopped = f"Go on with the run that was stopped, {self._resumes} done; the arrow or the key starts a new one"
        tip = stopped if resumes else "Start a run"
        _say(self.run, "Let a run wait for its turn" if busy else tip)
        self.run.setMenu(self._fresh if resumes else None)  # type: ignore[arg-type]
        popup = QToolButton.ToolButtonPopupMode
        self.run.setPopupMode(popup.MenuButtonPopup if resumes else popup.DelayedPopup)
        self.pause.setEnabled(going)
        self.stop.setEnabled(going)
        paused = state is RunState.PAUSED
        self.pause.setIcon(icon("run" if paused else "pause"))
        _say(self.pause, "Go on" if paused else "Pause after what is in flight")


def _say(control: QToolButton, words: str) -> None:
    """Say what the button does now, beside the keys that its tip names."""
    _, mark, keys = control.toolTip().partition(" (")
    control.setToolTip(words + mark + keys)
    control.setAccessibleName(words)
