"""The model files on this machine, looked for in the background and offered in the top bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from core.errors import InspectorError
from core.models.discovery import bundled_model
from core.models.gguf import read_header
from ui.gateway import Gateway
from ui.run_control import RunControl
from ui.shell.choice_box import Choice
from ui.shell.remembered import Remembered
from ui.shell.top_bar import SAME_MODEL, TopBar

BUNDLED = "Bundled demo model"


def model_choice(path: Path) -> Choice:
    """One file as an entry, with what its header says; a file that cannot be used is greyed with the reason."""
    try:
        header = read_header(path)
    except (InspectorError, OSError) as error:
        problem = error.problem if isinstance(error, InspectorError) else str(error)
        return Choice(path.stem, str(path), f"{path}\n{problem}", usable=False)
    if header.is_embedding:
        return Choice(path.stem, str(path), f"{path}\nAn embedding model writes no text.", usable=False)
    about = f"{header.name}\n{header.architecture} · {header.quantization} · context {header.context_length:,}"
    return Choice(path.stem, str(path), f"{path}\n{about}")


def find_models(extra: Sequence[Path]) -> list[Choice]:
    """The bundled model, then the files the user named."""
    choices = [model_choice(path) for path in dict.fromkeys(extra)]
    try:
        path = bundled_model()
    except InspectorError as error:
        return [Choice(BUNDLED, "", f"{error.problem} {error.remedy}", usable=False), *choices]
    own = model_choice(path)
    return [Choice(f"{own.label} (bundled)", "", own.tip, own.usable), *choices]


class ModelList(QObject):
    """Fills both model boxes and keeps what is chosen in the run settings."""

    changed = Signal()

    def __init__(self, gateway: Gateway, control: RunControl, remembered: Remembered, bar: TopBar) -> None:
        """Offer the models of `bar`; call `search` to look for them."""
        super().__init__(bar)
        self._gateway, self._control, self._remembered, self._bar = gateway, control, remembered, bar
        self._choices: list[Choice] = []
        bar.forward.chosen.connect(self._keep)
        bar.backward.chosen.connect(self._keep)
        bar.forward.other_asked.connect(lambda: self._ask_file(backward=False))
        bar.backward.other_asked.connect(lambda: self._ask_file(backward=True))

    def search(self) -> None:
        """Look for models in the background."""
        settings = self._control.settings
        used = [Path(path) for path in (settings.model, settings.backward_model) if path]
        extra = [*used, *self._remembered.models()]
        self._gateway.submit("models", lambda: find_models(extra), self._show)

    def add(self, path: Path, backward: bool = False) -> None:
        """Use a file the user chose or dropped."""
        self._remembered.add_model(path)
        settings = self._control.settings
        forward, other = settings.model, settings.backward_model or ""
        self._control.choose_models(*((forward, str(path)) if backward else (str(path), other)))
        self.search()

    def _show(self, choices: list[Choice]) -> None:
        self._choices = choices
        settings = self._control.settings
        self._bar.forward.set_choices(choices, settings.model)
        others = [choice for choice in choices if choice.value]
        self._bar.backward.set_choices([SAME_MODEL, *others], settings.backward_model or "")
        self.changed.emit()

    def _keep(self) -> None:
        self._control.choose_models(self._bar.forward.value, self._bar.backward.value)

    def _ask_file(self, backward: bool) -> None:
        window: QWidget = self._bar.window()
        path, _ = QFileDialog.getOpenFileName(window, "Choose a model file", "", "GGUF models (*.gguf);;All files (*)")
        if path:
            self.add(Path(path), backward)
