"""Searching in every file of the project, and going to a file, a region or a command by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from core.types import SourceFile
from ui.background.gateway import Gateway
from ui.code.project_search import Hit
from ui.code.view import CodeView
from ui.reading.inspection import Inspection
from ui.reading.open_project import OpenProject
from ui.shell.search_dialog import SearchDialog
from ui.shell.search_field import Find
from ui.window.browsing import Browsing
from ui.window.places import Places

OF_THE_FIELD = frozenset({"go-to", "menu"})
"""Commands that the field itself does not offer."""


class Searching(QObject):
    """Of one window; the dialog is made when it is first asked for, and stays open beside the window."""

    def __init__(
        self,
        window: QWidget,
        gateway: Gateway,
        project: OpenProject,
        inspection: Inspection,
        code: CodeView,
        browsing: Browsing,
        leave: Callable[[], object],
    ) -> None:
        """`leave` whatever stands in the place of the views, before a file is opened there."""
        super().__init__(window)
        self._window, self._gateway = window, gateway
        self._project, self._inspection, self._code, self._browsing = project, inspection, code, browsing
        self._leave = leave
        self._dialog: SearchDialog | None = None

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """What can be done here, by the name of its action."""
        return {"search": self.search_project}

    def search_project(self) -> None:
        """Search in every file, beginning with what is selected in the code."""
        if self._dialog is None:
            self._dialog = SearchDialog(self._gateway, self._files, self._window)
            self._dialog.hit_chosen.connect(self._show_hit)
        selected = self._code.editor.textCursor().selectedText()
        # U+2029 is how Qt writes a line break in a selection; no line holds one.
        self._dialog.enter(selected if "\u2029" not in selected else "")

    def close(self) -> None:
        """Close what stays open beside the window."""
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.close()
            self._window.activateWindow()

    def places(self, actions: Sequence[QAction]) -> Find:
        """Where the search field can go just now."""
        overview, codebase = self._inspection.overview, self._project.codebase
        commands = [
            (action.text().replace("&", "").rstrip("…"), action.trigger)
            for action in actions
            if action.objectName() not in OF_THE_FIELD
        ]
        return Places(
            files=[each.path for each in codebase.files] if codebase else [],
            commands=commands,
            regions=overview.items if overview else (),
            open_file=self._open_file,
            choose=self._browsing.choose,
        ).find

    def _open_file(self, path: str) -> None:
        self._leave()
        self._code.open_file(path)

    def _files(self) -> Sequence[SourceFile]:
        codebase = self._project.codebase
        return codebase.files if codebase else ()

    def _show_hit(self, hit: Hit) -> None:
        self._code.show_place(hit.path, hit.line, hit.column, hit.length)
