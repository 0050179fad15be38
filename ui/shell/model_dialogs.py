"""Dialogs that bring a model: from the Hugging Face hub, or from a server."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QPlainTextEdit, QProgressBar, QWidget

from rtc_inspector.core.errors import Cancelled, InspectorError
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.models.devices import gib
from rtc_inspector.core.models.download import download, parse_wanted
from rtc_inspector.core.models.loading import check_address, models_at
from rtc_inspector.core.models.remote import Served
from rtc_inspector.core.settings import EndpointSettings, ModelSettings
from rtc_inspector.core.settings.setting import described, value_of
from rtc_inspector.ui.background.gateway import Errand, Gateway
from rtc_inspector.ui.shell.fields import error_words, form, level_labels, pair, say_in
from rtc_inspector.ui.shell.setting_fields import field_of
from rtc_inspector.ui.style.controls import DIALOG, called, column, field, label, push
from rtc_inspector.ui.style.fonts import keep_on_screen, write_fixed
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.core.run.trying import Trial

POLL = 100  # milliseconds between two looks at how far it is
STEPS = 1000  # of the progress bar, which counts no bytes: they can be more than its numbers hold
HUB = "Comes from the Hugging Face hub into its own cache, and goes on where an earlier attempt ended."


class DownloadDialog(QDialog):
    """Accepted once the model is there: `path`."""

    def __init__(
        self, gateway: Gateway, parent: QWidget | None = None, endpoint: str | None = None, wanted: str = ""
    ) -> None:
        """`endpoint`: of the hub, unless the environment names it. `wanted`: what stands in the field at first."""
        super().__init__(parent)
        self.setWindowTitle("Download a model")
        self._gateway, self._endpoint = gateway, endpoint
        self._thread: Errand | None = None
        self.path: Path | None = None
        self.name = field("Repository and file on the hub", "OWNER/NAME:FILE.gguf", wanted)
        self.bar = called(QProgressBar(maximum=STEPS, textVisible=False), "Progress of the download")
        self.said = label(HUB, "muted", wrap=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.go = called(push("Download", "", self._begin), role="primary")
        self._timer = QTimer(self, interval=POLL)
        self._timer.timeout.connect(self._look)
        self.name.setCursorPosition(0)
        self.name.returnPressed.connect(self._begin)
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
        thread = self._thread
        if thread is None:
            return
        stage, done, total = thread.step
        # Until the hub has answered the size is not known.
        self.bar.setValue(done * STEPS // total if total > 1 else 0)
        say_in(self, self.said, f"{stage}: {gib(done)} of {gib(total)}" if total > 1 else f"{stage}…")
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
        self._timer.stop()
        if self._thread is not None:
            self._thread.stop()
        super().done(result)

    def _work(self, busy: bool) -> None:
        self.go.setEnabled(not busy)
        self.name.setEnabled(not busy)

    def _fail(self, error: Exception) -> None:
        say_in(self, self.said, error_words(error), bad=True)


WORDS = (
    "llama-server, Ollama, LM Studio, vLLM: any server with an OpenAI-compatible interface. "
    "Code and descriptions are sent to this address during a run."
)


class EndpointDialog(QDialog):
    """Edits EndpointSettings. The server is asked for its models only when the button is pressed."""

    def __init__(self, endpoint: EndpointSettings | None, gateway: Gateway, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Model server")
        start = endpoint or EndpointSettings("")
        self._gateway, self._left = gateway, threading.Event()
        self.address = field("Address of the server", "http://127.0.0.1:8080/v1", start.address)
        self.key = field("Environment variable that holds the key", "none", start.key_variable)
        self.model = called(QComboBox(editable=True), "Model of the server")
        self.list = called(push("List", "", self._ask), "Ask the server which models it serves")
        self.fields = {
            name: field_of(each, value_of(start, name)) for name, each in described(EndpointSettings).items()
        }
        self.said = label(WORDS, "muted", wrap=True)
        tip = "Ask it one small question of each kind: what comes, what is read from it, how fast it is"
        self.trial = push("Try", tip, self._try)
        self.report = called(QPlainTextEdit(readOnly=True), "What came of the trial")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.model.setCurrentText(start.model)
        line = self.model.lineEdit()
        if line is not None:
            line.setPlaceholderText("the only one it serves")
        self.key.setToolTip("The name of a variable, not the key itself, which is never stored")
        write_fixed(self.report)
        self.report.hide()
        self.buttons.addButton(self.trial, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        rows = form()
        rows.addRow("Address", self.address)
        rows.addRow("Key in variable", self.key)
        rows.addRow("Model", pair(self.model, self.list))
        for each in self.fields.values():
            rows.addRow(each.each.about.label, each.holder)
        level_labels(rows)
        column(rows, self.said, self.report, self.buttons, margins=DIALOG, spacing=SPACE * 2, owner=self)
        self.setMinimumWidth(460)

    def endpoint(self) -> EndpointSettings:
        return EndpointSettings(
            address=self.address.text().strip().rstrip("/"),
            model=self.model.currentText().strip(),
            key_variable=self.key.text().strip(),
            **{name: each.value() for name, each in self.fields.items()},
        )

    def _ask(self) -> None:
        endpoint = self.endpoint()
        say_in(self, self.said, "Asking the server…")
        self.list.setEnabled(False)
        self._gateway.submit("served models", lambda: models_at(endpoint, self._heed), self._show, self._fail)

    def _show(self, served: list[Served]) -> None:
        wanted = self.model.currentText()
        self.list.setEnabled(True)
        self.model.clear()
        self.model.addItems([each.name for each in served])
        # What was typed stays; a server that serves one model needs no choice.
        self.model.setCurrentText(wanted or (served[0].name if served else ""))
        say_in(self, self.said, f"It serves {counted(len(served), 'model')}.")

    def _try(self) -> None:
        # It reads answers, which nobody needs who only types an address.
        from rtc_inspector.core.run.trying import try_server

        endpoint = self.endpoint()
        say_in(self, self.said, "Asking it four small questions…")
        self.trial.setEnabled(False)
        self._gateway.submit(
            "server trial", lambda: try_server(endpoint, ModelSettings(), self._heed), self._tell, self._fail
        )

    def _tell(self, trial: Trial) -> None:
        from rtc_inspector.core.run.trying import words

        self.trial.setEnabled(True)
        failed = sum(bool(each.error) for each in trial.tried)
        say_in(self, self.said, f"It answered {len(trial.tried) - failed} of {len(trial.tried)} questions.")
        self.report.setPlainText("\n".join(words(trial)))
        self.report.setMinimumHeight(320)
        self.setMinimumWidth(760)  # lines of code, as they came
        self.report.show()
        self.adjustSize()
        keep_on_screen(self)

    def _fail(self, error: Exception) -> None:
        self.list.setEnabled(True)
        self.trial.setEnabled(True)
        say_in(self, self.said, error_words(error), bad=True)

    def _accept(self) -> None:
        try:
            check_address(self.endpoint().address)
        except InspectorError as error:
            self._fail(error)
            return
        self.accept()

    def done(self, result: int) -> None:
        """Break off what was asked of the server: nobody waits for it any more."""
        self._left.set()
        self._gateway.cancel("served models")
        self._gateway.cancel("server trial")
        super().done(result)

    def _heed(self) -> None:
        """Raise Cancelled, in the background, once the dialog was left: a silent server is not waited for."""
        if self._left.is_set():
            raise Cancelled
