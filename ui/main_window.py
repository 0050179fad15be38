"""The window: one project, one database, one run at a time; its life from opening to close."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QDialog, QMainWindow, QMenu

from rtc_inspector import resources
from rtc_inspector.core.kinds import kind_of
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.ui.background.gateway import Gateway, IdleWork, Scribe
from rtc_inspector.ui.labels.controls import name_keys
from rtc_inspector.ui.labels.labelling import Labelling
from rtc_inspector.ui.reading.inspection import Inspection, LookedAt, Overview, Wanted
from rtc_inspector.ui.reading.open_project import OpenProject
from rtc_inspector.ui.run.control import NO_PLACE, NO_PROJECT, RunControl
from rtc_inspector.ui.run.lists import RunLists
from rtc_inspector.ui.run.models import ModelList
from rtc_inspector.ui.run.own_runs import ByHand, OwnRun, Queueing
from rtc_inspector.ui.run.recorded import Recorded
from rtc_inspector.ui.run.starting import Starting
from rtc_inspector.ui.shell.bars import NoticeText, Offer
from rtc_inspector.ui.shell.fields import Choice
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.welcome import Welcome
from rtc_inspector.ui.style.appearance import Appearance
from rtc_inspector.ui.style.controls import DIALOG, called, column, label, push, row, to_clipboard
from rtc_inspector.ui.style.theme import SPACE
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.guide import Guide
from rtc_inspector.ui.window.label_desk import LabelDesk
from rtc_inspector.ui.window.opening import Opening, WaysToOpen
from rtc_inspector.ui.window.pages import Auditing, BigFigures, Comparing, Reporting
from rtc_inspector.ui.window.preferences import Preferences
from rtc_inspector.ui.window.searching import Searching
from rtc_inspector.ui.window.window_actions import PANES, Offered, WindowActions, offer_menu, theme_menu
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader

PATIENCE = 2.5  # seconds a closing window waits for its run to end
CHECK = 50  # milliseconds between two looks whether it has
DEMO = (
    "The bundled model has 135 million parameters, as few as fit into a package: expect most of its reconstructions to "
    "fail, which is what a low score looks like. A small model made for code does better. Of the regions drawn, the "
    "shortest come first."
)
CODER = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
DOWNLOAD = "Download Qwen2.5-Coder-1.5B (1.1 GB)…"
"""Asked for by the user alone; the dialog says its size again as it comes."""
TITLE_BAR = 40  # pixels left to a window manager's frame on a screen as small as the window wants to be
DEMO_OFFER, CAUTION = "demo", "caution"
"""Key of an offer about the demo alone, and topic of a notice about the database that is open."""


class MainWindow(QMainWindow):
    """Starts empty; `open_database` and `open_project` fill it. `uncaught` takes an error from any thread."""

    uncaught = Signal(object)

    def __init__(self, appearance: Appearance, remembered: Remembered) -> None:
        super().__init__()
        self.setWindowTitle("RTC Inspector")
        self.appearance, self.remembered = appearance, remembered
        self._closing: float | None = None
        self._asked = False
        self._offered: Path | None = None
        self._offers_coder = False
        menu, runs = QMenu(self), QMenu(self)
        self.gateway = Gateway(self)
        with appearance.laid_aside():
            self.welcome = Welcome(remembered.projects())
            self.parts = WindowParts(self.gateway, menu, runs, self.welcome)
            self.setCentralWidget(self.parts)
        self.project = OpenProject(self.gateway, self)
        self.inspection = Inspection(self.gateway, self)
        self.browsing = Browsing(self.parts, self.inspection, self.project)
        self.control = RunControl(self.gateway, remembered, self.parts.notices)
        self.queueing = Queueing(self.control, remembered, self.parts.offers)
        self.scribe = Scribe(self.gateway)
        parts = self.parts
        self.labelling = Labelling(parts.labels, parts.queue, self.inspection, self.scribe, remembered, self.project)
        self.models = ModelList(self.gateway, self.control, remembered, self.parts.bar, self.parts.notices)
        self.reporting = Reporting(self, self.inspection, parts.notices, parts.offers)
        self.comparing = Comparing(self.parts, self.inspection, self.browsing, self.reporting)
        self.auditing = Auditing(self.parts, self.inspection, self.browsing, self.gateway, self.reporting)
        self.commands = WindowActions(self)
        self.label_desk = LabelDesk(parts, self.labelling, self.inspection, self.scribe, remembered.folder)
        self._name_keys()
        self.preferences = Preferences(
            appearance, remembered, self.commands, parts, lambda: self.control.settings.oracle.sandbox
        )
        self.recorded = Recorded(remembered.bundles, self.gateway, self.inspection, self.browsing, self.control, parts)
        self.big_figures = BigFigures(parts, self.inspection)
        self.guide = Guide(parts, self.inspection, self.browsing, self.preferences)
        self.by_hand = ByHand(parts, self.control, self.inspection, self.project, self.browsing)
        self.starting = Starting(self, self.control, self.inspection, self.project, self.models)
        self.run_lists = RunLists(parts, self.inspection, self.scribe, self.comparing, self.auditing)
        self.searching = Searching(parts, self.project, self.inspection, self.browsing)
        self.own_run = OwnRun(
            parts, self.control, self.queueing, self.inspection, self.project, self.browsing, self.commands["follow"]
        )
        idle = IdleWork(self, (lambda: parts.run.drawings, lambda: parts.run.tables, *self.comparing.pieces()))
        self.opening = Opening(self.inspection, self.project, self.models.search, idle)
        self.to_open = WaysToOpen(self, remembered, self.open_project, self.open_database, self._use_model)
        self._fill_menus(menu, runs)
        self._offer_commands()
        self._connect()
        self._restore()
        self.preferences.restore()  # last: showing and folding panes gives their text its usual size
        self.welcome.setFocus()

    def _name_keys(self) -> None:
        parts, bar, header = self.parts, self.parts.bar, self.parts.code.header
        onward, back, failure, _ = parts.code.keys
        for name, button in (
            ("menu", bar.menu_button), ("runs", bar.runs_button), ("run", bar.run), ("pause", bar.pause),
            ("stop", bar.stop), ("settings", bar.settings), ("candidates", header.candidates),
            ("dropped", header.dropped), ("agreement", parts.queue.agreement), ("error-modes", parts.queue.modes),
        ):  # fmt: skip
            name_keys(button, self.commands[name])
        welcome = self.welcome
        for name, pressed in (
            ("pause", bar.pause), ("stop", bar.stop), ("settings", bar.settings), ("queue", parts.status.queue),
            ("open-project", welcome.folder), ("open-database", welcome.database), ("recorded", welcome.recorded),
        ):  # fmt: skip
            pressed.clicked.connect(self.commands[name].trigger)
        name_keys(header.failure, self.commands["next-failure"], failure)
        name_keys(header.previous, self.commands["previous-region"], back)
        name_keys(header.next, self.commands["next-region"], onward)

    def _fill_menus(self, menu: QMenu, runs: QMenu) -> None:
        themes = theme_menu(self, lambda: self.appearance.choice, self.preferences.choose_theme)
        self.commands.fill(menu, {"Project": self.to_open.projects, "View": themes})
        menu.aboutToShow.connect(self.to_open.fill)
        listed = (self.commands["resume"], self.commands["runs"], self.to_open.databases)
        runs.aboutToShow.connect(lambda: self.run_lists.fill(runs, *listed, self.commands["open-database"]))
        self.commands["resume"].setEnabled(False)
        offer_menu(self.parts.regions.table, self._for_region)
        offer_menu(self.parts.roundtrip, self._for_sample)

    def _for_region(self) -> Sequence[Offered]:
        """Return what can be done with the region that is chosen, for its menu in the list."""
        item = self.inspection.item
        if item is None:
            return ()
        return (
            ("Show in the code", self.commands["focus-code"].trigger),
            ("Copy its place", partial(to_clipboard, item.place)),
            ("Copy its text", partial(to_clipboard, item.text)),
            self.commands["describe"],
            self.commands["labels"],
        )

    def _for_sample(self) -> Sequence[Offered]:
        """Return what can be done with the sample that is chosen, for the menu of its card."""
        chosen = self.parts.roundtrip.chosen
        if chosen is None:
            return ()
        copy = "Copy the description" if chosen.describes else "Copy the code"
        text = partial(to_clipboard, chosen.sample.text)
        return (copy, text), *(self.commands[name] for name in ("focus-tabs", "describe", "labels"))

    def _offer_commands(self) -> None:
        parts = self.parts
        for part in (
            parts, parts.code, self.own_run, self.to_open, self.run_lists, self.label_desk, self.preferences,
        ):  # fmt: skip
            self.commands.connect(part.commands())
        self.commands.connect(
            {
                "reload": self.project.reload,
                "run": self.start_run,
                "pause": self.control.coordinator.toggle_pause,
                "stop": self.control.coordinator.stop,
                "settings": self.starting.ask,
                "recorded": self.recorded.show,
                "search": self.searching.search_project,
                "report": self.reporting.ask_report,
                "audit": self.auditing.audit_shown,
                "guide": self.guide.ask,
                "big-figures": self.big_figures.turn,
                "describe": parts.roundtrip.write_description,
                "ask": self.starting.ask_in_words,
                "go-to": parts.bar.search.enter,
                "menu": parts.bar.menu_button.showMenu,
                "reset-layout": self.reset_layout,
                "quit": self.close,
            }
        )

    def _connect(self) -> None:
        parts, bar = self.parts, self.parts.bar
        self.gateway.failed.connect(parts.notices.report)
        self.inspection.moved.connect(self._look_at)
        self.uncaught.connect(parts.notices.report)
        self.inspection.overview_changed.connect(self._note_overview)
        self.inspection.run_chosen.connect(lambda _: self._name_window())
        self.project.opened.connect(self._note_project)
        self.control.ended.connect(lambda: self.guide.note_end(self.control.coordinator.run_id))
        self.welcome.project_chosen.connect(self.open_project)
        self.welcome.demo.clicked.connect(lambda: self.start_demo())
        self.recorded.left.connect(self._offer_coder)
        # A project without a run, or with the run that is on show already, would stay hidden behind a page.
        self.opening.begun.connect(parts.leave_page)
        parts.folds_changed.connect(self._show_folds)
        bar.search.places = lambda: self.searching.places(self.commands.all())
        bar.run_asked.connect(self.start_run)
        bar.resume_asked.connect(self.commands["resume"].trigger)
        bar.project.other_asked.connect(self.to_open.ask_project)
        bar.project.chosen.connect(lambda value: self.open_project(Path(value)))
        self.starting.start_asked.connect(self.start_run)
        # A run of its own on them; the window's settings stay as they are.
        self.starting.words_written.connect(
            lambda settings: self.queueing.start(self.project.root, self.inspection.database, settings)
        )
        # While an annotator is blind whatever tells the run must be out of sight and reach.
        blinded = parts.labels.blind_changed
        blinded.connect(self.commands.hold_back)
        blinded.connect(lambda blind: self.setAcceptDrops(not blind))
        blinded.connect(self.searching.close)
        self.label_desk.sample_shown.connect(self.browsing.choose)
        self.run_lists.resume_asked.connect(self.resume_run)
        self.browsing.settled.connect(self.opening.go_on)
        self.preferences.sandbox_chosen.connect(self.control.choose_sandbox)
        self.preferences.annotator_named.connect(self.labelling.rename)
        self.preferences.models_changed.connect(self.models.search)
        self.preferences.tour_ended.connect(lambda: parts.regions.table.setFocus(Qt.FocusReason.OtherFocusReason))
        self._show_folds()

    def _show_folds(self) -> None:
        for name in PANES:
            self.commands[f"pane-{name}"].setChecked(name not in self.parts.folded)

    def _use_model(self, path: Path) -> None:
        notice = NoticeText(f"{path.name} is the forward model from now on.")
        self.models.add(path, then=lambda: self.parts.notices.say(notice))

    def greet(self) -> None:
        if not self.remembered.toured and self.parts.shows_views:
            self.preferences.show_tour()

    # ---- what is looked at

    def open_database(self, database: Path, root: Path | None = None) -> None:
        self.remembered.add_database(database)
        self.parts.notices.withdraw(NO_PLACE)
        self.inspection.open(database, Wanted(root=str(root) if root else None))

    def open_project(self, root: Path) -> None:
        self.opening.open_project(root)

    # ---- this window's run

    def start_run(self, settings: RunSettings | None = None) -> bool:
        if isinstance(settings, RunSettings):
            self.control.adopt(settings)
            self.models.search()
        # The project of the run on show is read with a delay: now it is needed.
        self.browsing.settle()
        return self.queueing.start(self.project.root, self.recorded.before or self.inspection.database)

    def start_demo(self, settings: RunSettings | None = None) -> None:
        """Show the recorded run of the demonstration, and begin the same here; `settings` name another model, say."""
        self.open_project(resources.path("demo"))
        self._offers_coder = settings is None
        if settings is None:
            settings = RunSettings(regions=resources.DEMO_REGIONS)
            settings = replace(settings, region=replace(settings.region, short_first=True))
        if self.start_run(settings):
            self.guide.await_end()
            self.recorded.show()
        else:
            self._offer_coder()

    def _offer_coder(self) -> None:
        if self._offers_coder:
            self._offers_coder = False
            self.parts.offers.offer(
                Offer(DEMO_OFFER, DEMO, ((DOWNLOAD, lambda: self.models.ask_download(CODER)), ("Go on without", None)))
            )

    def resume_run(self, run_id: int) -> None:
        database, overview = self.inspection.database, self.inspection.overview
        run = next((run for run in overview.runs if run.id == run_id), None) if overview else None
        if database is not None and run is not None and self.queueing.resume(run, database):
            self.inspection.choose_run(Wanted(run_id))

    # ---- what the window shows of itself

    def _look_at(self, before: LookedAt, now: LookedAt) -> None:
        """Have what is about one project or one database only be said over that one."""
        if before.database != now.database:
            self._offered = None
            self.parts.notices.withdraw(CAUTION)
            self.queueing.withdraw_unfinished()
        if not before.same_run(now):
            self.commands["describe"].setEnabled(False)
            self.commands["resume"].setEnabled(False)
        if before.project != now.project:
            self.parts.notices.look_at(now.project)
            self.parts.offers.withdraw(DEMO_OFFER)
            self.control.look_at(now.project)
            self.queueing.look_at(now.project)
            self.parts.bar.offer_tasks({}, self.control.settings.task)
            self._show_project_name(now.project)

    def _show_project_name(self, project: Path | None) -> None:
        projects = self.remembered.projects()
        # What was generated from a file is known by that file.
        names = [Path(origin_of(each).file).name or each.name or str(each) for each in projects]
        choices = [Choice(name, str(each), str(each)) for name, each in zip(names, projects, strict=True)]
        self.parts.bar.project.set_choices(choices, str(project or ""))
        self._name_window()

    def _name_window(self) -> None:
        run, root, project = self.inspection.run, self.inspection.looked_at.project, self.project
        file = origin_of(root).file if root is not None and project.codebase is not None else ""
        if file and Path(file).exists():
            name = Path(file).name
        else:
            name = run.project_name if run is not None else root.name if root is not None else ""
        self.setWindowTitle(f"{name} – RTC Inspector" if name else "RTC Inspector")

    def _note_overview(self, overview: Overview) -> None:
        self.run_lists.note(overview, self.commands["resume"])
        if overview.run is not None and not self.labelling.blind:
            kind = kind_of(overview.run.task)
            self.commands["describe"].setEnabled(kind is not None and kind.describable)
        database = self.inspection.database
        if database is not None and database != self._offered and self.inspection.stored:
            self._offered = database
            self.inspection.ask("caution", _caution, self._say_caution, of_run=False)
            self.queueing.offer_unfinished(overview.runs, database, self.run_lists.show_all)
        self.queueing.note_runs(overview.runs)

    def _say_caution(self, caution: str) -> None:
        if caution:
            self.parts.notices.say(NoticeText(caution, topic=CAUTION))

    def _note_project(self) -> None:
        root = self.project.root
        if root is None:
            return
        self.parts.notices.withdraw(NO_PROJECT)
        codebase = self.project.codebase
        code = codebase is not None and any(not file.is_test for file in codebase.files)
        benchmark = origin_of(codebase.root).file if codebase is not None else ""
        unfit = self.control.fit_task(code=code, history=self.project.has_history, benchmark=benchmark)
        self.parts.bar.offer_tasks(unfit, self.control.settings.task)
        file = origin_of(root).file
        # Who opened a benchmark knows nothing of the folder made from it.
        place = Path(file) if file and Path(file).exists() else root
        self.remembered.add_project(place)
        self._show_project_name(place)

    # ---- size and place

    def reset_layout(self) -> None:
        self.parts.arrange(self.size())

    def _restore(self) -> None:
        screen = self.screen().availableSize()
        self.resize(min(1280, screen.width()), min(800, screen.height() - TITLE_BAR))
        geometry = self.remembered.state("geometry")
        if geometry is not None:
            self.restoreGeometry(geometry)
        self.parts.arrange(self.size(), self.remembered)

    # ---- the end

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Press the button that has the focus by Enter too, as dialogs do: Qt itself takes Space alone."""
        pressed = self.focusWidget() if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) else None
        if isinstance(pressed, QAbstractButton) and pressed.isEnabled():
            pressed.click()
        else:
            super().keyPressEvent(event)

    def end(self) -> None:
        """Close without a question, as on Ctrl-C in the terminal."""
        self._asked = True
        self.close()

    def _ask_whether_to_close(self) -> None:
        """Ask once what becomes of the run at work; whoever closes the window again meanwhile has it stopped."""
        self._asked = True
        asked = QDialog(self)
        asked.setWindowTitle("A run is at work")
        words = f"Run {self.control.coordinator.run_id} is at work. What is done is stored."
        later = called(push("Go on at next start", "", self.queueing.go_on_next_time), role="primary")
        later.clicked.connect(asked.accept)
        stop, stay = push("Stop", "", asked.accept), push("Stay", "", asked.reject)
        column(label(words), row(None, stay, stop, later), margins=DIALOG, spacing=SPACE * 2, owner=asked)
        asked.accepted.connect(self.close)
        asked.rejected.connect(self._stay)
        asked.finished.connect(asked.deleteLater)
        later.setFocus()
        asked.open()

    def _stay(self) -> None:
        self._asked = False

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        at_work = self.control.run_on is not None and self.control.coordinator.run_id is not None
        app = QGuiApplication.instance()
        ends = isinstance(app, QGuiApplication) and app.isSavingSession()
        # A session that ends asks nothing, and Ctrl-C does not either.
        if at_work and not self._asked and not ends:
            event.ignore()
            self._ask_whether_to_close()
            return
        now = time.monotonic()
        # Closing again and again, by impatient users or by the timer below, does not begin anew.
        if self._closing is None:
            self._closing = now + PATIENCE
            self.remembered.keep_state("geometry", self.saveGeometry())
            self.parts.keep_sizes(self.remembered)
            self.control.coordinator.stop()
        if (self.control.busy or self.scribe.busy) and now < self._closing:
            # The window stays until its run has stopped and its labels are written, and answers meanwhile.
            event.ignore()
            QTimer.singleShot(CHECK, self.close)
            return
        self.inspection.close()
        self.gateway.close(timeout=0.5)
        event.accept()


def _caution(reader: Reader) -> str:
    from rtc_inspector.core.run.bundle import changes  # the window stands sooner
    from rtc_inspector.core.store.files import network_caution

    return " ".join(filter(None, (network_caution(reader.path), changes(reader.path))))
