"""Fetches a model from the Hugging Face hub, because somebody asked for it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QPushButton, QWidget

from rtc_inspector.core.errors import InspectorError
from rtc_inspector.core.models.download import download, parse_wanted
from rtc_inspector.core.models.memory import gib
from rtc_inspector.ui.background.gateway import Errand, Gateway
from rtc_inspector.ui.shell.fields import error_words, say
from rtc_inspector.ui.style.controls import DIALOG, column, field, label
from rtc_inspector.ui.style.text_size import keep_on_screen
from rtc_inspector.ui.style.theme import SPACE

POLL = 100
"""Milliseconds between two looks at how far it is."""
STEPS = 1000
"""Of the progress bar, which counts no bytes: they can be more than its numbers hold."""
WORDS = "Comes from the Hugging Face hub into its own cache, and goes on where an earlier attempt ended."


class DownloadDialog(QDialog):
    """Accepted once the model is there: `path`."""

    def __init__(
        self, gateway: Gateway, parent: QWidget | None = None, endpoint: str | None = None, wanted: str = ""
    ) -> None:
        """`endpoint`: of the hub, unless the environment names it.

        `wanted`: what stands in the field at first.
        """
        super().__init__(parent)
        self.setWindowTitle("Download a model")
        self._gateway, self._endpoint = gateway, endpoint
        self._thread: Errand | None = None
        self.path: Path | None = None
        self.name = field("Repository and file on the hub", "OWNER/NAME:FILE.gguf", wanted)
        self.bar, self.said = QProgressBar(maximum=STEPS, textVisible=False), label(WORDS, "muted", wrap=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.go = QPushButton("Download")
        self._timer = QTimer(self, interval=POLL)
        self._timer.timeout.connect(self._look)
        self._prepare()

    def _prepare(self) -> None:
        self.name.setCursorPosition(0)
        self.name.returnPressed.connect(self._begin)
        self.bar.setAccessibleName("Progress of the download")
        self.go.setProperty("role", "primary")
        self.go.clicked.connect(self._begin)
        self.buttons.addButton(self.go, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.rejected.connect(self.reject)
        column(self.name, self.bar, self.said, self.buttons, margins=DIALOG, spacing=SPACE * 2, owner=self)
        self.setMinimumWidth(460)

    def _begin(self) -> None:
        if self._thread is not None:
            return
        try:
            wanted = parse_wanted(self.name.text())
        except InspectorError as error:
            self._fail(error)
            return
        self._thread = Errand("download", lambda report: download(wanted, report, self._endpoint))
        # A window that is closed meanwhile stops it.
        self._gateway.own(self._thread)
        self._thread.start()
        self._timer.start()
        self._work(True)

    def _look(self) -> None:
        """Show how far it is, or how it ended."""
        thread = self._thread
        if thread is None:
            return
        stage, done, total = thread.step
        # Until the hub has answered the size is not known.
        self.bar.setValue(done * STEPS // total if total > 1 else 0)
        self._say(f"{stage}: {gib(done)} of {gib(total)}" if total > 1 else f"{stage}…")
        if thread.is_alive():
            return
        self._timer.stop()
        self._thread = None
        self._work(False)
        if thread.answer is not None:
            self.path = thread.answer
            self.accept()
        elif thread.error is not None:
            self._fail(thread.error)

    def done(self, result: int) -> None:
        """Break off what is under way."""
        self._timer.stop()
        if self._thread is not None:
            self._thread.stop()
        super().done(result)

    def _work(self, busy: bool) -> None:
        self.go.setEnabled(not busy)
        self.name.setEnabled(not busy)

    def _fail(self, error: Exception) -> None:
        self._say(error_words(error), bad=True)

    def _say(self, words: str, bad: bool = False) -> None:
        say(self.said, words, bad)
        self.adjustSize()
        keep_on_screen(self)
