"""What the window's actions, menus and the search field do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from core.errors import UserError
from core.store.rows import RunRow
from core.types import SourceFile
from ui.code.project_search import Hit
from ui.comparing import proposed
from ui.inspection import Overview, Wanted
from ui.key_wiring import wire_keys
from ui.places import Places
from ui.preferences import Preferences
from ui.shell.queue_dialog import QueueDialog
from ui.shell.run_model import RESUMABLE, run_title
from ui.shell.runs_dialog import RunsDialog
from ui.shell.search_dialog import SearchDialog
from ui.shell.search_field import Find
from ui.starting import Starting
from ui.window_actions import PANES, WindowActions, theme_menu

if TYPE_CHECKING:
    from core.store.writer import Store
    from ui.main_window import MainWindow

RUNS_IN_MENU = 12


class Commands(QObject):
    """Handlers of one window."""

    def __init__(self, window: MainWindow, menu: QMenu, runs: QMenu) -> None:
        """Make actions, fill `menu`, keep `runs` up to date."""
        super().__init__(window)
        self._window, self._runs_menu = window, runs
        self.actions = WindowActions(window)
        self._projects, self._databases = QMenu("Recent projects", window), QMenu("Recent databases", window)
        self._runs: Sequence[RunRow] = ()
        self.preferences, self.starting = Preferences(window), Starting(window)
        self._search: SearchDialog | None = None
        self._fill(menu)
        self._connect()
        self.actions["resume"].setEnabled(False)
        self.keymap = wire_keys(window, self.actions)

    def _fill(self, menu: QMenu) -> None:
        window = self._window
        themes = theme_menu(window, lambda: window.appearance.choice, self.preferences.choose_theme)
        self.actions.fill(menu, {"Project": self._projects, "View": themes})
        menu.aboutToShow.connect(self._fill_recent)
        self._runs_menu.aboutToShow.connect(self._fill_runs)

    def _connect(self) -> None:
        window, parts = self._window, self._window.parts
        code = parts.code
        self.actions.connect(
            {
                "open-project": self.ask_project,
                "open-database": self.ask_database,
                "reload": window.project.reload,
                "run": window.start_run,
                "pause": window.control.coordinator.toggle_pause,
                "stop": window.control.coordinator.stop,
                "resume": self._resume_shown,
                "settings": self.ask_settings,
                "runs": lambda: self.show_runs(),
                "queue": self.show_queue,
                "compare": self.ask_comparison,
                "report": window.reporting.ask_report,
                "check": code.selecting.check,
                "probe": code.selecting.probe,
                "describe": parts.roundtrip.write_description,
                "follow": self._toggle_follow,
                "go-to": parts.bar.search.enter,
                "next-region": partial(code.go, 1),
                "previous-region": partial(code.go, -1),
                "next-failure": partial(code.go, 1, True),
                "previous-failure": partial(code.go, -1, True),
                "candidates": code.header.candidates.toggle,
                "dropped": code.header.dropped.toggle,
                "find": code.find_bar.open_bar,
                "search": self.search_project,
                "focus-project": self._in_views(partial(self._go_to, parts.tree)),
                "focus-regions": self._in_views(partial(self._go_to, parts.regions.table)),
                "focus-code": self._in_views(code.editor.setFocus),
                "focus-roundtrip": self._in_views(partial(self._go_to, parts.roundtrip)),
                "focus-tabs": self._in_views(partial(self._go_to, parts.tabs.tabBar())),
                "labels": self._in_views(window.label_samples),
                "history": self._show_history,
                "adjudicate": window.label_desk.adjudicate,
                "agreement": window.label_desk.show_agreement,
                "error-modes": window.label_desk.ask_modes,
                "next-tab": self._next_tab,
                "menu": parts.bar.menu_button.showMenu,
                "larger": partial(self.preferences.scale_code, 1.0),
                "smaller": partial(self.preferences.scale_code, -1.0),
                **{f"pane-{name}": partial(self._fold, name) for name in PANES},
                "reset-layout": window.reset_layout,
                "preferences": self.preferences.ask,
                "keys": self.preferences.show_keys,
                "tour": self.preferences.show_tour,
                "quit": window.close,
            }
        )
        window.comparing.choose_asked.connect(self.ask_comparison)
        window.comparing.report_asked.connect(window.reporting.ask_comparison)
        parts.folds_changed.connect(self._show_folds)
        self._show_folds()
        bar = parts.bar
        bar.search.set_source(self.places)
        bar.run_asked.connect(window.start_run)
        bar.pause_asked.connect(window.control.coordinator.toggle_pause)
        bar.stop_asked.connect(window.control.coordinator.stop)
        bar.settings_asked.connect(self.ask_settings)
        bar.project.other_asked.connect(self.ask_project)
        bar.project.chosen.connect(lambda value: window.open_project(Path(value)))

    def note(self, overview: Overview) -> None:
        """Remember the runs there are, for the menu, and whether the one on show can be taken up again."""
        self._runs = overview.runs
        run, resume = overview.run, self.actions["resume"]
        resume.setEnabled(run is not None and run.status in RESUMABLE)
        resume.setText(f"Res&ume run {run.id}" if run is not None and resume.isEnabled() else "Res&ume this run")

    def ask_project(self) -> None:
        """Let the user name a project folder."""
        folder = QFileDialog.getExistingDirectory(self._window, "Open the folder of a Python project")
        if folder:
            self._window.open_project(Path(folder))

    def ask_database(self) -> None:
        """Let the user name a database."""
        kinds = "Databases (*.sqlite *.sqlite3 *.db);;All files (*)"
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a database of runs", "", kinds)
        if path:
            self._window.open_database(Path(path))

    def ask_settings(self) -> None:
        """Let the user change what the next run is started with."""
        self.starting.ask()

    def ask_comparison(self) -> None:
        """List every run, with those selected that can be compared."""
        chosen = proposed(self._runs, self._window.inspection.run, self._window.comparing.runs)
        if len(self._runs) < 2:
            remedy = "Start another one, with another model, quantization or seed, then compare them."
            self._window.parts.notices.report(UserError("A comparison needs two runs.", remedy))
            return
        self.show_runs(chosen)

    def show_runs(self, chosen: Sequence[int] = ()) -> None:
        """List every run of the database, with some of them selected."""
        current = self._window.inspection.run
        dialog = RunsDialog(self._runs, current.id if current else None, True, self._window)
        dialog.opened.connect(self._open_run)
        dialog.resumed.connect(self._window.resume_run)
        dialog.compared.connect(self._window.comparing.compare)
        dialog.renamed.connect(lambda run_id, name: self._change_runs(lambda store: store.rename_run(run_id, name)))
        dialog.noted.connect(lambda run_id, notes: self._change_runs(lambda store: store.note_run(run_id, notes)))
        dialog.hidden.connect(self._hide_run)
        dialog.restored.connect(lambda run_id: self._change_runs(lambda store: store.restore_run(run_id)))
        self._window.inspection.ask("deleted runs", lambda reader: reader.runs(hidden=True), dialog.set_deleted)
        if chosen:
            dialog.preselect(chosen)
        dialog.exec()
        self._window.inspection.forget("deleted runs")
        dialog.deleteLater()

    def show_queue(self) -> None:
        """List the runs that wait for their turn."""
        dialog = QueueDialog(self._window.queueing, self._window)
        dialog.exec()
        dialog.deleteLater()  # it would go on to list every change

    def search_project(self) -> None:
        """Search in every file, beginning with what is selected in the code."""
        window = self._window
        if self._search is None:
            self._search = SearchDialog(window.appearance.theme, window.gateway, self._files, window)
            self._search.hit_chosen.connect(self._show_hit)
            window.appearance.changed.connect(self._search.set_theme)
        selected = window.parts.code.editor.textCursor().selectedText()
        self._search.enter(selected if "\u2029" not in selected else "")

    def close_search(self) -> None:
        """Close what stays open beside the window."""
        if self._search is not None and self._search.isVisible():
            self._search.close()
            self._window.activateWindow()

    def _files(self) -> Sequence[SourceFile]:
        codebase = self._window.project.codebase
        return codebase.files if codebase else ()

    def _show_hit(self, hit: Hit) -> None:
        self._window.parts.code.show_place(hit.path, hit.line, hit.column, hit.length)

    def places(self) -> Find:
        """Where the search field can go just now."""
        window, overview = self._window, self._window.inspection.overview
        codebase = window.project.codebase
        commands = [
            (action.text().replace("&", "").rstrip("…"), action.trigger)
            for action in self.actions.all()
            if action.objectName() not in ("go-to", "menu")
        ]
        return Places(
            files=[each.path for each in codebase.files] if codebase else [],
            commands=commands,
            regions=overview.items if overview else (),
            open_file=lambda path: self._in_views(partial(window.parts.code.open_file, path))(),
            choose=window.browsing.choose,
        ).find

    def _go_to(self, part: QWidget) -> None:
        self._window.parts.unfold_around(part)
        part.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _fold(self, pane: str) -> None:
        self._window.parts.fold(pane, not self.actions[f"pane-{pane}"].isChecked())

    def _show_folds(self) -> None:
        folded = self._window.parts.folded
        for name in PANES:
            self.actions[f"pane-{name}"].setChecked(name not in folded)

    def _in_views(self, act: Callable[[], object]) -> Callable[[], object]:
        """What acts on the views leaves the comparison first."""

        def leave_and_act() -> None:
            self._window.comparing.close()
            act()

        return leave_and_act

    def _open_run(self, run_id: int) -> None:
        self._window.comparing.close()
        self._window.inspection.choose_run(Wanted(run_id))

    def _change_runs(self, change: Callable[[Store], None]) -> None:
        database = self._window.inspection.database
        if database is not None:
            self._window.scribe.write(database, change, lambda _: self._window.inspection.refresh(), wait=False)

    def _hide_run(self, run_id: int) -> None:
        """Delete a run so that it can come back; the window shows another one if this one was on show."""
        self._change_runs(lambda store: store.hide_run(run_id))
        shown = self._window.inspection.run
        if shown is not None and shown.id == run_id:
            self._window.inspection.choose_run(Wanted(root=shown.project_root))

    def _toggle_follow(self) -> None:
        self._window.browsing.follow = self.actions["follow"].isChecked()

    def _show_history(self) -> None:
        parts = self._window.parts
        parts.unfold_around(parts.tabs)
        parts.tabs.setCurrentWidget(parts.history)
        parts.history.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _next_tab(self) -> None:
        tabs = self._window.parts.tabs
        tabs.setCurrentIndex((tabs.currentIndex() + 1) % tabs.count())

    def _fill_recent(self) -> None:
        window = self._window
        _list_paths(self._projects, window.remembered.projects(), window.open_project)
        _list_paths(self._databases, window.remembered.databases(), window.open_database)

    def _fill_runs(self) -> None:
        """The newest runs, unfinished ones with an entry to resume them, and the way to all of them."""
        menu, current = self._runs_menu, self._window.inspection.run
        menu.clear()
        for run in sorted(self._runs, key=lambda run: -run.id)[:RUNS_IN_MENU]:
            action = menu.addAction(run_title(run))
            action.setCheckable(True)
            action.setChecked(current is not None and run.id == current.id)
            action.triggered.connect(partial(self._open_listed, run.id))
        menu.addSeparator()
        menu.addAction(self.actions["resume"])
        menu.addAction(self.actions["runs"])
        menu.addMenu(self._databases)
        menu.addAction(self.actions["open-database"])

    def _open_listed(self, run_id: int, checked: bool = False) -> None:
        self._open_run(run_id)

    def _resume_shown(self) -> None:
        run = self._window.inspection.run
        if run is not None and run.status in RESUMABLE:
            self._window.resume_run(run.id)


def _list_paths(menu: QMenu, paths: Sequence[Path], choose: object) -> None:
    """One entry a path."""
    menu.clear()
    menu.setEnabled(bool(paths))
    for path in paths:
        action = menu.addAction(str(path))
        action.triggered.connect(lambda _=False, path=path: choose(path))  # type: ignore[operator]
