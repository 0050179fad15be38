"""Starting, holding, ending and resuming this window's own run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.kinds import TASKS, configured, project_of
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.run.events import Event, Notice, Progress, RunFinished, RunStarted
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.naming import with_models
from rtc_inspector.core.settings.project_file import BACKWARD, FORWARD, ProjectFile, read_project_file
from rtc_inspector.core.settings.setting import check, value_of, with_values
from rtc_inspector.core.settings.setting import described as settings_in
from rtc_inspector.core.source.directives import holds_directives
from rtc_inspector.core.source.notebook import is_episodes, is_notebook
from rtc_inspector.core.types import Span
from rtc_inspector.ui.background.coordinator import Coordinator, Job, RunState, job
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.shell.bars import NoticeBar, NoticeText, from_error
from rtc_inspector.ui.shell.remembered import FIRST_REGIONS, Remembered

NO_CODE = "This project has no Python code."
NO_BENCHMARK = "This project is no benchmark: open a benchmark file."
ONLY_WORDS = "This file holds directives only: nothing to describe and write again."
NO_NOTEBOOK = "This project is no notebook: open a notebook (.ipynb)."
NO_HISTORY = "This project has no git history to take edits from."
NO_PROJECT, NO_PLACE, BUSY, FILE = "no project", "no database", "busy", "project file"
"""Topics of notices that are withdrawn when they hold no longer."""
A_RUN, A_TRIAL = "A run", "A trial that tells how long runs take"
OWN_WORDS, A_CHECK, A_PROBE = "The answer to a description by hand", "A check of selected code", "A round trip by hand"
"""What can be at work in this window, one at a time."""
SETTINGS = settings_in(RunSettings)
CHOSEN = (*SETTINGS, "task", "model", "endpoint", "backward_model", "backward_endpoint", "series")
"""Paths of all that a project's file can set."""


class RunControl(QObject):
    """Starts, holds and ends this window's own work."""

    started = Signal(int)  # id of a run that began
    progressed = Signal(object)  # a Progress
    batch = Signal(object)  # every batch of events
    ended = Signal()
    adopted = Signal(object)  # the settings that the next run starts with, when they changed

    def __init__(self, gateway: Gateway, remembered: Remembered, notices: NoticeBar) -> None:
        super().__init__(notices)
        self._remembered, self._notices = remembered, notices
        self._heard: set[str] = set()
        self._beside = False
        self._at_work = A_RUN
        self._project: Path | None = None
        self._about: Path | None = None
        self.settings = remembered.run_settings()
        self.file = ProjectFile()
        self._own = self._filled = self.settings
        self.database: Path | None = None
        self.coordinator = Coordinator(gateway, self)
        self.coordinator.events.connect(self._take)
        self.coordinator.failed.connect(lambda error: notices.say(replace(from_error(error), everywhere=True)))
        self.coordinator.finished.connect(self._end)

    @property
    def busy(self) -> bool:
        return self.coordinator.state is not RunState.IDLE

    def adopt(self, settings: RunSettings) -> None:
        self.settings = settings
        own = self._without_file()
        self._remembered.keep_run_settings(own)
        if self._project is not None:
            self._remembered.keep_regions(self._project, own.regions)
        self.adopted.emit(settings)

    def look_at(self, project: Path | None) -> None:
        """Take up what this project's own file sets; what another one's file has set holds no longer.

        Without a file as many items are drawn as this project's last run was to have, whatever another one has.
        """
        if project is None or project == self._project:
            return
        first, self._project = self._project is None, project
        own = self._without_file()
        number = self._remembered.regions(project) or (own.regions if first else FIRST_REGIONS)
        self._own = self._filled = replace(own, regions=number)
        self.file = ProjectFile()
        self._notices.withdraw(FILE)
        try:
            file = read_project_file(Path(origin_of(project).file or project))
            self._filled = _filled(self._own, file)
            self.file = file
        except UserError as error:
            self._notices.report(error, FILE)
        if self._filled != self.settings:
            self.adopt(self._filled)

    def _without_file(self) -> RunSettings:
        """Return the settings as they were before the project's file was read, with what was changed since."""
        same = (path for path in CHOSEN if value_of(self.settings, path) == value_of(self._filled, path))
        return with_values(self.settings, {path: value_of(self._own, path) for path in same})

    def _for_task(self, settings: RunSettings, name: str) -> RunSettings:
        """Return the settings with the defaults of another task, as far as the project's file has none of its own."""
        changed = configured(settings, name)
        kept = ((path, value) for path, value in self.file.settings.items() if path in SETTINGS)
        return with_values(changed, {p: v for p, v in kept if value_of(changed, p) != value_of(settings, p)})

    def fit_task(self, *, code: bool, history: bool, benchmark: str = "") -> Mapping[str, str]:
        """Take up another task where the one of the last project makes no sense in this one.

        Gives those that cannot be chosen now, each with its reason. A file of edits needs neither code nor history.
        `benchmark`: the file that the project was generated from; its task is taken up when another was open before.
        """
        source = Path(benchmark)
        drawn = "cells" if is_notebook(source) or source.is_dir() or is_episodes(source) else "problems"
        words = bool(benchmark) and holds_directives(source)
        if benchmark and benchmark != self.settings.benchmark.file:
            named = replace(self.settings, benchmark=replace(self.settings.benchmark, file=benchmark))
            kinds = (kind for kind in TASKS.values() if kind.source.name == drawn and (kind.source.words or not words))
            names, wanted = [kind.name for kind in kinds], self.file.options.get("task")
            self.adopt(self._for_task(named, wanted if wanted in names else names[0]))
        # Another project is open: its runs must not draw from the file of the one before.
        elif not benchmark and self.settings.benchmark.file is not None:
            self.adopt(replace(self.settings, benchmark=replace(self.settings.benchmark, file=None)))
        lacks = {
            "code": "" if code else NO_CODE,
            "history": "" if history or self.settings.edit.file else NO_HISTORY,
            "problems": "" if benchmark and drawn == "problems" else NO_BENCHMARK,
            "cells": "" if benchmark and drawn == "cells" else NO_NOTEBOOK,
        }
        unfit = {
            kind.name: why
            for kind in TASKS.values()
            if (why := lacks.get(kind.source.name, "")) and not (kind.source.functions and code)
        }
        if words:
            unfit |= {kind.name: ONLY_WORDS for kind in TASKS.values() if not kind.source.words}
        fitting = next((kind for kind in TASKS.values() if kind.name not in unfit), None)
        if fitting is None:
            return {}
        # The task of the last project stays where it makes sense in this one.
        if self.settings.task in unfit:
            self.choose_task(fitting.name)
        return unfit

    def choose_task(self, name: str) -> None:
        if name != self.settings.task:
            self.adopt(self._for_task(self.settings, name))

    def choose_sandbox(self, name: str) -> None:
        self.adopt(replace(self.settings, oracle=replace(self.settings.oracle, sandbox=name)))

    def begin(self, project: Path | None, database: Path | None, settings: RunSettings) -> bool:
        """Start a run on a project; False, and a notice, when that cannot be."""
        place = self.place(project, database, settings)
        if place is None:
            return False
        self.database = place[1]
        return self._begin(job("many:start", settings, place[0], database=place[1]), A_RUN, place[0])

    def place(self, project: Path | None, database: Path | None, settings: RunSettings) -> tuple[Path, Path] | None:
        project = project_of(settings, project)
        if project is None:
            remedy = "Open the folder of a Python project that has tests, or of a git repository, then press Run."
            self._notices.report(ProjectError("No project is open.", remedy), NO_PROJECT)
            return None
        if database is None:
            self._notices.report(UserError("No database is open.", "Open one from the menu, then press Run."), NO_PLACE)
            return None
        return project, database

    def resume(self, run_id: int, database: Path, project: Path) -> bool:
        self.database = database
        return self._begin(job("many:resume", run_id, database=database), A_RUN, project)

    def measure(self, project: Path, settings: RunSettings) -> bool:
        """Try how fast such a run would go; the answer is a PaceRow, or None where nothing came in time."""
        return self._begin(job("estimate:try_pace", settings, project), A_TRIAL, project)

    def describe(self, run_id: int, item_id: int, text: str, database: Path) -> bool:
        given = run_id, item_id, text, self._remembered.annotator
        return self._besides(job("by_hand:describe", *given, database=database), OWN_WORDS, database)

    def check(self, project: Path, path: str, span: Span) -> bool:
        return self._besides(job("by_hand:check", project, path, span, self.settings.oracle), A_CHECK)

    def probe(self, run_id: int | None, project: Path, path: str, span: Span, database: Path) -> bool:
        """Make the round trip on selected code, beside a stored run's regions or in a run of its own."""
        work = job("by_hand:probe", run_id, path, span, database=database)
        if run_id is None:
            work = job("by_hand:probe_alone", self.settings, project, path, span, database=database)
        return self._besides(work, A_PROBE, database)

    def _end(self) -> None:
        self._beside = False
        self._notices.withdraw(BUSY)
        self.ended.emit()

    @property
    def what_is_at_work(self) -> str:
        """Return what keeps other work waiting, as a sentence without its end; only while `busy`."""
        return f"{self._at_work} is at work"

    @property
    def checks(self) -> bool:
        return self.busy and self._at_work == A_CHECK

    @property
    def run_on(self) -> Path | None:
        """Return the project of the run at work; None while there is none, or while something else is at work."""
        return self._about if self.busy and self._at_work == A_RUN else None

    def _begin(self, work: Job, name: str, project: Path | None) -> bool:
        if self.busy:
            return False
        # First, for whoever hears that something is at work asks what it is.
        self._at_work, self._about = name, project
        return self.coordinator.begin(work)

    def _besides(self, work: Job, name: str, database: Path | None = None) -> bool:
        if not self._begin(work, name, self._project):
            remedy = "Stop it, or wait for its end, then try again."
            self._notices.report(UserError(f"{self.what_is_at_work}.", remedy), BUSY)
            return False
        self._beside = True
        self.database = database or self.database
        return True

    def _take(self, events: Sequence[Event]) -> None:
        latest: Progress | None = None
        for event in events:
            match event:
                case RunStarted():
                    self._say(event.notices)
                    self.started.emit(event.run_id)
                case Notice():
                    self._say((event.text,))
                case RunFinished():
                    self._say(event.problems)
                case Progress():
                    latest = event
        if latest is not None:
            self.progressed.emit(latest)
        self.batch.emit(events)

    def _say(self, texts: Sequence[str]) -> None:
        """Say these texts; of a small job beside the runs only new ones, for it is asked for again and again."""
        for text in texts:
            if not (self._beside and text in self._heard):
                self._notices.say(NoticeText(text), self._about)
            # Also what is said of runs: a small job need not say it again.
            self._heard.add(text)


def _filled(settings: RunSettings, file: ProjectFile) -> RunSettings:
    if "task" in file.options:
        settings = configured(settings, file.options["task"])
    asked = with_models(settings, file.named)
    if any(name in file.options for name in FORWARD):
        settings = asked
    elif any(name in file.options for name in BACKWARD):
        settings = replace(settings, backward_model=asked.backward_model, backward_endpoint=asked.backward_endpoint)
    filled = with_values(settings, {path: value for path, value in file.settings.items() if path in SETTINGS})
    check(filled)
    return filled
