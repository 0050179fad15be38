"""What a run's models are and how they are asked: the rows of the run dialog, and the values of the model boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QListWidget, QListWidgetItem, QWidget

from rtc_inspector.core.settings import EndpointSettings, NamedModel, RunSettings, SeriesSettings
from rtc_inspector.core.settings.setting import with_values
from rtc_inspector.ui.shell.fields import Choice, pair, say
from rtc_inspector.ui.shell.setting_fields import SettingField
from rtc_inspector.ui.style.controls import called, column, label, push, row
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.core.models.gguf import GgufHeader

BUNDLED = "bundled"
"""Value of the bundled model in the box of backward models, where an empty one means the forward model."""
_SERVER = "server "


def endpoint_choice(endpoint: EndpointSettings) -> Choice:
    """Return a model server as an entry."""
    where = f"{endpoint.model or 'the only model'} at {endpoint.address}"
    tip = f"{where}\nAn OpenAI-compatible server: what it is asked leaves this program."
    return Choice(NamedModel(endpoint=endpoint).label, endpoint_value(endpoint), tip)


def endpoint_value(endpoint: EndpointSettings) -> str:
    """Return a server's value in both boxes."""
    return f"{_SERVER}{endpoint.address} {endpoint.model}"


def forward_value(settings: RunSettings) -> str:
    """Return the value of the forward model; empty is the bundled one."""
    return endpoint_value(settings.endpoint) if settings.endpoint else settings.model


def backward_value(settings: RunSettings) -> str:
    """Return the value of the backward model; empty is the forward one."""
    if settings.backward_endpoint is not None:
        return endpoint_value(settings.backward_endpoint)
    return BUNDLED if settings.backward_model == "" else settings.backward_model or ""


def with_models(
    settings: RunSettings, forward: str, backward: str, endpoints: Sequence[EndpointSettings]
) -> RunSettings:
    """Return the settings with the models that these values name, and no others beside them."""
    servers = {endpoint_value(each): NamedModel(endpoint=each) for each in endpoints}
    first, other = (
        servers.get(value) or NamedModel("" if value == BUNDLED else value) for value in (forward, backward)
    )
    return replace(settings.asking(first, other if backward else None), series=None)


Headers: TypeAlias = "Mapping[str, GgufHeader]"
"""Headers of the model files by their value in the model boxes; the bundled model stands under `bundled`."""
AskServed = Callable[[Sequence[EndpointSettings]], object]
"""Asks servers for their models; the answers come to `ModelOptions.add_served` and `say_served`."""
AskEndpoint = Callable[[EndpointSettings | None], EndpointSettings | None]
"""Has the user name a model server; None when they think better of it."""
ASKING = "Asking the servers…"
MOST_OTHERS = 4  # lines of the list of further models; the rest is scrolled to


class ModelOptions:
    """Rows of a form that edit what a run's models are and how they are asked."""

    def __init__(
        self,
        settings: RunSettings,
        headers: Headers,
        ask_endpoint: AskEndpoint,
        fields: Mapping[str, SettingField],
        endpoints: Sequence[EndpointSettings] = (),
        ask_served: AskServed = lambda endpoints: None,
    ) -> None:
        self._settings, self._headers, self._ask_endpoint, self._fields = settings, headers, ask_endpoint, fields
        used = (each for each in (settings.endpoint, settings.backward_endpoint) if each is not None)
        self._endpoints = list({endpoint_value(each): each for each in (*endpoints, *used)}.values())
        self._ask_served = ask_served
        self.forward, self.backward = label(), label()
        self.memory = label(wrap=True, selectable=True)  # may hold a command to copy
        tip = "Models that are ticked are run one after the other on the same items, and ranked"
        self.others = called(QListWidget(), "Further models to run on the same items", tip=tip)
        tip = "One run for every pair: who describes well, and who writes well"
        self.cross = called(QCheckBox("Every model describes for every other one"), tip=tip)
        tip = "Ask each server that is named here for every model it has"
        self.served = called(push("List models", "", self._list_served), tip=tip)
        self.served_said = label(role="muted", wrap=True)
        self.add_server = push("Server…", "Name a model server to run as well", self._add_server)
        self._offer_others()
        for name in ("context_size", "threads"):
            fields[f"generation.{name}"].changed.connect(self._tell)

    def add_rows(self, form: QFormLayout) -> None:
        for role, chosen in (("forward", self.forward), ("backward", self.backward)):
            server = push("Server…", "", partial(self._choose_server, role))
            called(server, f"Have a model server make the {role} pass")
            form.addRow(f"{role.capitalize()} model", pair(chosen, server))
        buttons = row(self.served, self.add_server, None)
        self._others_row = QWidget()
        column(self.others, buttons, self.served_said, spacing=SPACE // 2, owner=self._others_row)
        form.addRow("Run as well", self._others_row)
        form.addRow(self.cross)
        self._form = form
        self._fit_others()

    def _offer_others(self) -> None:
        """Offer the other models there are: those that are ticked are run on the same items, and ranked."""
        self.others.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # names are shortened instead
        self.others.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        series = self._settings.series
        ticked = series.models[1:] if series is not None else ()
        self.cross.setChecked(series is not None and series.cross)
        found = [NamedModel("" if value == BUNDLED else value) for value in self._headers]
        served = [NamedModel(endpoint=each) for each in self._endpoints]
        for model in dict.fromkeys([*ticked, *found, *served]):
            # The first model is chosen above the list.
            if model != self._settings.forward:
                self._add_other(model, model in ticked)

    def _fit_others(self) -> None:
        some = self.others.count() > 0
        self.others.setVisible(some)
        self.served.setVisible(bool(self._endpoints))
        self.served_said.setVisible(bool(self.served_said.text()))
        self._form.setRowVisible(self.cross, some)
        rows = min(max(self.others.count(), 1), MOST_OTHERS)
        self.others.ensurePolished()  # the style's padding is part of a row's height
        height = max(self.others.sizeHintForRow(0), self.others.fontMetrics().lineSpacing())
        self.others.setFixedHeight(rows * height + 2 * self.others.frameWidth())

    def _add_other(self, model: NamedModel, ticked: bool) -> None:
        item = QListWidgetItem(model.label)
        item.setToolTip(model.file or model.label)
        item.setData(Qt.ItemDataRole.UserRole, model)
        self.others.addItem(item)
        item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)  # in the list: it tells of it

    def _list_served(self) -> None:
        """Ask the servers: only now, for nothing leaves this machine that nobody asked for."""
        self.say_served(ASKING)
        # One question for each server, however many of its models are known.
        self._ask_served(list({(each.address, each.key_variable): each for each in self._endpoints}.values()))

    def add_served(self, endpoint: EndpointSettings, names: Sequence[str]) -> None:
        listed = [self.others.item(place).data(Qt.ItemDataRole.UserRole) for place in range(self.others.count())]
        named = (each.endpoint for each in (self._settings.forward, *listed))
        places = {(each.address, each.model) for each in named if each is not None}
        for name in names:
            if (endpoint.address, name) not in places:
                self._add_other(NamedModel(endpoint=replace(endpoint, model=name)), ticked=False)
        # What another server answered stays: it may be why its models are missing.
        self.say_served("" if self.served_said.text() == ASKING else self.served_said.text())

    def say_served(self, words: str) -> None:
        self.served_said.setText(words)
        self._fit_others()

    def _add_server(self) -> None:
        endpoint = self._ask_endpoint(None)
        if endpoint is not None:
            self._endpoints.append(endpoint)
            self._add_other(NamedModel(endpoint=endpoint), ticked=True)
            self._fit_others()

    def add_memory(self) -> None:
        self._form.addRow("", self.memory)
        self._tell()

    def settings(self, settings: RunSettings) -> RunSettings:
        mine, items = self._settings, [self.others.item(row) for row in range(self.others.count())]
        ticked = [each.data(Qt.ItemDataRole.UserRole) for each in items if each.checkState() is Qt.CheckState.Checked]
        models = tuple(dict.fromkeys([mine.forward, *ticked]))
        series = SeriesSettings(models, self.cross.isChecked()) if len(models) > 1 else None
        crossed = series is not None and series.cross  # then every model writes, whichever was chosen to
        return replace(
            settings,
            model=mine.model,
            backward_model=None if crossed else mine.backward_model,
            endpoint=mine.endpoint,
            backward_endpoint=None if crossed else mine.backward_endpoint,
            series=series,
        )

    def _choose_server(self, role: str) -> None:
        old = self._settings
        current = old.endpoint if role == "forward" else old.backward_endpoint or old.endpoint
        endpoint = self._ask_endpoint(current)
        if endpoint is not None:
            self._endpoints.append(endpoint)
            self._fit_others()
            if role == "forward":
                self._settings = replace(old, endpoint=endpoint)
            else:
                self._settings = replace(old, backward_endpoint=endpoint)
            self._tell()

    def _tell(self) -> None:
        settings = self._settings
        self.forward.setText(settings.forward.label)
        self.backward.setText("the same" if settings.one_model else settings.backward.label)
        forward = self._headers.get(forward_value(settings) or BUNDLED)
        backward = forward if settings.one_model else self._headers.get(backward_value(settings))
        box = self._fields["generation.prompt_style"].box
        if isinstance(box, QComboBox):
            from rtc_inspector.core.models.styles import expected_style  # loaded with the engine

            describes = expected_style(forward).forward if forward else "chat"
            writes = expected_style(backward).backward if backward else "chat"
            box.setItemText(0, f"Automatic: {describes}" + (f", {writes} for the code" if writes != describes else ""))
        # One model in both roles is loaded once.
        loaded = (forward, None if settings.one_model else backward)
        self._tell_memory([header for header in loaded if header is not None])

    def _tell_memory(self, headers: Sequence[GgufHeader]) -> None:
        from rtc_inspector.core.models.devices import estimate, idle_gpu, memory_now, tight

        values = {path: field.value() for path, field in self._fields.items() if path.startswith("generation.")}
        generation, free = with_values(self._settings, values).generation, memory_now()
        bad = bool(headers) and tight(headers, generation, free)
        words = [estimate(headers, generation, free)] if headers else []
        if headers and (idle := idle_gpu()):
            words.append(f"{idle.problem} {idle.remedy}")
        say(self.memory, " ".join(words), bad)
        self._form.setRowVisible(self.memory, bool(headers))
