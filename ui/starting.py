"""What the start dialog asks of the window: how fast runs went, and what the tests' environment lacks."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog

from core.errors import InspectorError
from core.settings import OracleSettings
from ui.shell.run_dialog import RunDialog

if TYPE_CHECKING:
    from core.oracle.missing import Standing
    from ui.main_window import MainWindow

CHECK = "environment"


class Starting(QObject):
    """Opens the dialog over one window."""

    def __init__(self, window: MainWindow) -> None:
        """Nothing is open yet."""
        super().__init__(window)
        self._window = window

    def ask(self) -> None:
        """Let the user change what the next run is started with, and start it."""
        window, models = self._window, self._window.models
        dialog = RunDialog(window.control.settings, window, models.headers, models.ask_endpoint)
        window.inspection.ask("paces", lambda reader: reader.paces(), dialog.set_paces)
        dialog.judging.check_asked.connect(partial(self._check, dialog))
        dialog.judging.check()
        if dialog.exec() == QDialog.DialogCode.Accepted:
            window.control.adopt(dialog.settings())
            if dialog.starts:
                window.start_run()
        window.inspection.forget("paces")
        window.gateway.cancel(CHECK)

    def _check(self, dialog: RunDialog, settings: OracleSettings) -> None:
        """Say in the dialog what the environment lacks, before any model is asked."""
        root = self._window.project.root
        if root is None:
            return

        def show(standing: Standing) -> None:
            dialog.judging.say(standing.said, bool(standing.missing))

        def fail(error: Exception) -> None:
            if isinstance(error, InspectorError):
                dialog.judging.say(f"{error.problem} {error.remedy}", bad=True)
            else:
                self._window.parts.notices.report(error)

        self._window.gateway.submit(CHECK, partial(_standing, root, settings), show, fail)


def _standing(root: Path, settings: OracleSettings) -> Standing:
    """Loaded when it is first asked: few look at the dialog before the window is open."""
    from core.oracle.missing import check_environment

    return check_environment(root, settings)
