"""Which models a run asks and how, and whether they fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QPushButton, QWidget

from core.settings import DEFAULT_CONTEXT, EndpointSettings, ModelSettings, RunSettings
from ui.shell.chosen_models import BUNDLED, backward_value, forward_value
from ui.shell.fields import count, pair, say

if TYPE_CHECKING:
    from core.models.gguf import GgufHeader

Headers: TypeAlias = "Mapping[str, GgufHeader]"
"""Headers of the model files by their value in the model boxes; the bundled model stands under `bundled`."""
AskEndpoint = Callable[[EndpointSettings | None], EndpointSettings | None]
"""Has the user name a model server; None when they think better of it."""
STYLES = (
    ("auto", "Automatic"),
    ("chat", "Chat, by the model's own template"),
    ("completion", "Completion, as for base models"),
    ("code", "Code: a file that the model goes on writing"),
    ("fim", "Fill in the middle, for the code"),
)


class ModelOptions:
    """Rows of a form that edit what a run's models are and how they are asked."""

    def __init__(self, settings: RunSettings, headers: Headers, ask_endpoint: AskEndpoint) -> None:
        """Start from `settings`."""
        self._settings, self._headers, self._ask_endpoint = settings, headers, ask_endpoint
        generation = settings.generation
        self.forward, self.backward, self.memory = QLabel(), QLabel(), QLabel()
        self.context = count(generation.context_size or 0, 1_048_576, "Context window", lowest=0)
        self.threads = count(generation.threads or 0, 1024, "Threads", lowest=0)
        self.style = QComboBox()
        self._prepare()

    def _prepare(self) -> None:
        self.context.setSpecialValueText(f"the model's own, at most {DEFAULT_CONTEXT}")
        self.threads.setSpecialValueText("the cores that judging leaves")
        self.context.setSingleStep(1024)
        self.context.valueChanged.connect(self._tell)
        self.style.setAccessibleName("Prompt style")
        for value, label in STYLES:
            self.style.addItem(label, value)
        self.style.setCurrentIndex(max(self.style.findData(self._settings.generation.prompt_style), 0))
        self.memory.setWordWrap(True)

    def add_rows(self, form: QFormLayout) -> None:
        """Put the fields at the end of `form`."""
        form.addRow("Forward model", pair(self.forward, "", self._server("forward")))
        form.addRow("Backward model", pair(self.backward, "", self._server("backward")))
        form.addRow("Prompt style", self.style)
        form.addRow("Context window", self.context)
        form.addRow("Threads", self.threads)
        form.addRow("", self.memory)
        self._form = form
        self._tell()

    def settings(self, settings: RunSettings) -> RunSettings:
        """`settings` with what the user settled on here."""
        mine = self._settings
        return replace(
            settings,
            model=mine.model,
            backward_model=mine.backward_model,
            endpoint=mine.endpoint,
            backward_endpoint=mine.backward_endpoint,
            generation=self._generation(),
        )

    def _generation(self) -> ModelSettings:
        return replace(
            self._settings.generation,
            context_size=self.context.value() or None,
            threads=self.threads.value() or None,
            prompt_style=self.style.currentData(),
        )

    def _server(self, role: str) -> QWidget:
        button = QPushButton("Server…")
        button.setAccessibleName(f"Have a model server make the {role} pass")
        button.clicked.connect(lambda: self._choose_server(role))
        return button

    def _choose_server(self, role: str) -> None:
        old = self._settings
        known = old.endpoint if role == "forward" else old.backward_endpoint or old.endpoint
        endpoint = self._ask_endpoint(known)
        if endpoint is not None:
            if role == "forward":
                self._settings = replace(old, endpoint=endpoint)
            else:
                self._settings = replace(old, backward_endpoint=endpoint)
            self._tell()

    def _tell(self) -> None:
        """Name the models, say how they are asked, and whether they fit."""
        settings = self._settings
        self.forward.setText(_name(settings.model, settings.endpoint))
        other = _name(settings.backward_model or "", settings.backward_endpoint)
        self.backward.setText("the same" if settings.one_model else other)
        forward = self._headers.get(forward_value(settings) or BUNDLED)
        backward = forward if settings.one_model else self._headers.get(backward_value(settings))
        self.style.setItemText(0, _automatic(forward, backward))
        loaded = (forward, None if settings.one_model else backward)
        self._tell_memory([header for header in loaded if header is not None])

    def _tell_memory(self, headers: Sequence[GgufHeader]) -> None:
        from core.models.memory import estimate, memory_now, tight

        generation, free = self._generation(), memory_now()
        bad = bool(headers) and tight(headers, generation, free)
        say(self.memory, estimate(headers, generation, free) if headers else "", bad)
        self._form.setRowVisible(self.memory, bool(headers))


def _automatic(forward: GgufHeader | None, backward: GgufHeader | None) -> str:
    """What the choice comes to; a server is asked in its chat."""
    from core.models.styles import expected_style  # loaded with the engine

    describes = expected_style(forward).forward if forward else "chat"
    writes = expected_style(backward).backward if backward else "chat"
    return f"Automatic: {describes}" + (f", {writes} for the code" if writes != describes else "")


def _name(path: str, endpoint: EndpointSettings | None) -> str:
    if endpoint is not None:
        return f"{endpoint.model or 'the only model'} @ {endpoint.address.split('://')[-1]}"
    return Path(path).name if path else "the bundled model"
