"""A model server: where it is, which of its models, and how it is asked."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QPlainTextEdit, QPushButton, QWidget

from rtc_inspector.core.errors import Cancelled, InspectorError
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.models.endpoint import check_address, models_at
from rtc_inspector.core.models.served import Served
from rtc_inspector.core.settings import EndpointSettings, ModelSettings
from rtc_inspector.core.settings.setting import described, value_of
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.shell.fields import error_words, form, level_labels, pair, say
from rtc_inspector.ui.shell.setting_fields import field_of
from rtc_inspector.ui.style.controls import DIALOG, column, field, label
from rtc_inspector.ui.style.fonts import write_fixed
from rtc_inspector.ui.style.text_size import keep_on_screen
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.core.run.trying import Trial

WORDS = (
    "llama-server, Ollama, LM Studio, vLLM: any server with an OpenAI-compatible interface. "
    "Code and descriptions are sent to this address during a run."
)


class EndpointDialog(QDialog):
    """Edits EndpointSettings. The server is asked for its models only when the button is pressed."""

    def __init__(self, endpoint: EndpointSettings | None, gateway: Gateway, parent: QWidget | None = None) -> None:
        """Start from a known server, or empty."""
        super().__init__(parent)
        self.setWindowTitle("Model server")
        known = endpoint or EndpointSettings("")
        self._known, self._gateway, self._left = known, gateway, threading.Event()
        self.address = field("Address of the server", "http://127.0.0.1:8080/v1", known.address)
        self.key = field("Environment variable that holds the key", "none", known.key_variable)
        self.model, self.list = QComboBox(editable=True), QPushButton("List")
        self.fields = {
            name: field_of(each, value_of(known, name)) for name, each in described(EndpointSettings).items()
        }
        self.said = label(WORDS, "muted", wrap=True)
        self.trial, self.report = QPushButton("Try"), QPlainTextEdit(readOnly=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._prepare()
        self._lay_out()

    def _prepare(self) -> None:
        self.model.setCurrentText(self._known.model)
        self.model.setAccessibleName("Model of the server")
        line = self.model.lineEdit()
        if line is not None:
            line.setPlaceholderText("the only one it serves")
        self.key.setToolTip("The name of a variable, not the key itself, which is never stored")
        self.list.setAccessibleName("Ask the server which models it serves")
        self.list.clicked.connect(self._ask)
        self.trial.setToolTip(
            "Ask it one small question of each kind: what comes, what is read from it, how fast it is"
        )
        self.trial.clicked.connect(self._try)
        self.report.setAccessibleName("What came of the trial")
        write_fixed(self.report)
        self.report.hide()
        self.buttons.addButton(self.trial, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)

    def _lay_out(self) -> None:
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
        """Return the server that the user settled on."""
        return EndpointSettings(
            address=self.address.text().strip().rstrip("/"),
            model=self.model.currentText().strip(),
            key_variable=self.key.text().strip(),
            **{name: each.value() for name, each in self.fields.items()},
        )

    def _ask(self) -> None:
        """List the server's models, in the background."""
        endpoint = self.endpoint()
        self._say("Asking the server…")
        self.list.setEnabled(False)
        self._gateway.submit("served models", lambda: models_at(endpoint, self._heed), self._show, self._fail)

    def _show(self, served: list[Served]) -> None:
        wanted = self.model.currentText()
        self.list.setEnabled(True)
        self.model.clear()
        self.model.addItems([each.name for each in served])
        # What was typed stays; a server that serves one model needs no choice.
        self.model.setCurrentText(wanted or (served[0].name if served else ""))
        self._say(f"It serves {counted(len(served), 'model')}.")

    def _try(self) -> None:
        """Ask the server one small question of each kind, in the background."""
        from rtc_inspector.core.run.trying import (
            try_server,  # readers of answers, which nobody needs who only types an address
        )

        endpoint = self.endpoint()
        self._say("Asking it four small questions…")
        self.trial.setEnabled(False)
        self._gateway.submit(
            "server trial", lambda: try_server(endpoint, ModelSettings(), self._heed), self._tell, self._fail
        )

    def _tell(self, trial: Trial) -> None:
        from rtc_inspector.core.run.trying import words

        self.trial.setEnabled(True)
        failed = sum(bool(each.error) for each in trial.tried)
        self._say(f"It answered {len(trial.tried) - failed} of {len(trial.tried)} questions.")
        self.report.setPlainText("\n".join(words(trial)))
        self.report.setMinimumHeight(320)
        self.setMinimumWidth(760)  # lines of code, as they came
        self.report.show()
        self.adjustSize()
        keep_on_screen(self)

    def _fail(self, error: Exception) -> None:
        self.list.setEnabled(True)
        self.trial.setEnabled(True)
        self._say(error_words(error), bad=True)

    def _accept(self) -> None:
        """Close, unless the address is none."""
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

    def _say(self, words: str, bad: bool = False) -> None:
        say(self.said, words, bad)
        self.adjustSize()
        keep_on_screen(self)
