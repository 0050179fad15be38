"""Opening models, wherever they are: files on this machine, or servers that the settings name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import Model
from rtc_inspector.core.languages import PYTHON, Language
from rtc_inspector.core.models.chat_http import HttpFailure
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.devices import (
    Memory,
    build_backends,
    estimate,
    found_gpus,
    memory_now,
    slowed,
    tight,
    too_much,
    unused_gpu,
)
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.gguf import GgufHeader, read_header
from rtc_inspector.core.models.remote import RemoteModel
from rtc_inspector.core.models.served import Served, choose, list_served, looked_into
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, NamedModel, RunSettings
from rtc_inspector.core.types import Notify
from rtc_inspector.core.waiting import Poll, no_poll, patiently

if TYPE_CHECKING:
    from rtc_inspector.core.models.embedder import GgufEmbedder

NO_LIST = (404, 405, 501)
"""What a server without a list of models answers."""


def open_endpoint(
    settings: EndpointSettings,
    generation: ModelSettings,
    poll: Poll = no_poll,
    notify: Notify = lambda text: None,
) -> RemoteModel:
    """Ask the server what it serves, and make a model of it; `poll` is called on the way, raising from it gives up.

    `notify` is told of what the server does not take, when that turns out.

    Raises ModelError: no address, a key that is not set, no answer, an unknown name, gaps that it does not fill.
    """
    check_address(settings.address)
    key = key_of(settings, os.environ)
    try:
        served = choose(_listed(settings, key, poll), settings.model, settings.address)
    except HttpFailure as failure:
        if failure.status not in NO_LIST or not settings.model:
            raise _unusable(settings, failure) from None
        served = Served(settings.model)  # a server without a list is taken at its word
    with suppress(HttpFailure):  # one that has gone away since will say so when it is asked for samples
        served = patiently(lambda: looked_into(served, settings.address, key), poll)
    model = RemoteModel(settings, generation, served, key, notify=notify)
    try:
        if not (served.window or generation.context_size):
            patiently(model.find_window, poll)
        if text := model.on_window():
            notify(text)
        if generation.prompt_style == "fim":
            patiently(model.check_gap, poll)
    except BaseException:
        model.close()
        raise
    return model


def models_at(settings: EndpointSettings, poll: Poll = no_poll) -> list[Served]:
    """Return every model of a server; `poll` is called meanwhile. Raises ModelError, and what `poll` raises."""
    check_address(settings.address)
    try:
        return _listed(settings, key_of(settings, os.environ), poll)
    except HttpFailure as failure:
        raise _unusable(settings, failure) from None


def check_address(address: str) -> None:
    """Raise ModelError when this is no address of a server, or one that holds a secret."""
    try:
        parts = urlsplit(address)
        host, secret = parts.hostname, parts.username or parts.password or parts.query or parts.fragment
        _ = parts.port
    except ValueError:
        host, secret = None, None
    if not address.startswith(("http://", "https://")) or not host or any(c.isspace() for c in address):
        raise ModelError(f"{address} is not an address of a server.", "Give one like http://127.0.0.1:8080/v1.")
    if secret:
        raise ModelError(
            "The address of a server holds more than the server.",
            "Leave out what follows `?` and stands before `@`; a key belongs in an environment variable.",
        )


def key_of(settings: EndpointSettings, environment: Mapping[str, str]) -> str:
    """The key out of the user's environment; empty when none is asked for. Raises ModelError."""
    name = settings.key_variable
    if not name:
        return ""
    key = environment.get(name, "").strip()
    if not key:
        raise ModelError(
            f"The environment variable {name}, which should hold the key for {settings.address}, is not set.",
            f"Set it (`export {name}=...`) and start again, or name another variable.",
        )
    if not (key.isascii() and key.isprintable()):
        raise ModelError(f"The key in {name} holds characters that no server takes.", "Copy the key once more.")
    return key


def _listed(settings: EndpointSettings, key: str, poll: Poll) -> list[Served]:
    def ask() -> list[Served]:
        try:
            return list_served(settings.address, key)
        except HttpFailure:
            raise
        except Exception as error:
            raise HttpFailure(f"The server's answer makes no sense: {error}.", passing=False) from error

    return patiently(ask, poll)


def _unusable(settings: EndpointSettings, failure: HttpFailure) -> ModelError:
    if failure.status in (401, 403):
        named = f"the key in {settings.key_variable}" if settings.key_variable else "a request without a key"
        return ModelError(
            f"The server at {settings.address} refuses {named} (status {failure.status}).",
            "Name the environment variable that holds the right key.",
        )
    return ModelError(failure.sentence, "Start the server, or check the address: it usually ends in /v1.")


def open_model(
    model: NamedModel, generation: ModelSettings, poll: Poll, notify: Notify, language: Language = PYTHON
) -> Model:
    """Load a file, or ask a server what it serves; raising from `poll` gives up. Raises ModelError.

    `notify` is told of what a server does not take, when that turns out.
    """
    if model.endpoint is not None:
        return open_endpoint(model.endpoint, generation, poll, notify)
    return LocalModel(model_file(model), generation, poll=poll, language=language)


def open_embedder(path: str | None, generation: ModelSettings, notify: Notify, poll: Poll) -> GgufEmbedder:
    """Load the embedding model at `path`, else MiniLM; raising from `poll` gives up. Raises ModelError."""
    from rtc_inspector.core.models.embedder import GgufEmbedder, packaged_minilm  # loads numpy

    file = Path(path) if path else packaged_minilm(notify)
    embedder = GgufEmbedder(file, replace(generation, context_size=None), poll=poll)
    if said := slowed(embedder.info.build):
        notify(said)
    return embedder


def local_files(settings: RunSettings) -> list[Path]:
    """The model files that a run loads, each once. Raises ModelError when the bundled one is missing."""
    models = dict.fromkeys((settings.forward, settings.backward))
    return [model_file(model) for model in models if model.endpoint is None]


def check_machine(settings: RunSettings, notify: Notify) -> None:
    """Check that the models fit, and tell `notify` of an idle GPU or a window beyond the model's. Raises ModelError.

    Nothing is loaded for it.
    """
    headers = [read_header(path) for path in local_files(settings)]
    for header in headers:
        asked = settings.generation.context_size or 0
        if asked > header.context_length > 0:
            notify(f"{header.label} was made for windows of {header.context_length:,} tokens, not of {asked:,}.")
    gpus, backends = found_gpus(), build_backends()
    idle = unused_gpu(gpus, backends) if headers else None
    if idle is not None:
        notify(f"{idle.problem} {idle.remedy}")
    if not (gpus and idle is None and settings.generation.gpu_layers):  # else weights go to the GPU's own memory
        _check_memory(headers, settings.generation, memory_now(), notify)


def _check_memory(headers: Sequence[GgufHeader], generation: ModelSettings, memory: Memory, notify: Notify) -> None:
    if too_much(headers, generation, memory):
        raise ModelError(
            estimate(headers, generation, memory),
            "Choose a smaller model or quantization, or a smaller context size, or close other programs.",
        )
    if tight(headers, generation, memory):
        notify(estimate(headers, generation, memory) + " Swapping will make it slow.")


def model_file(model: NamedModel) -> Path:
    """The GGUF file that is named, the bundled one where none is. Raises ModelError."""
    return Path(model.file) if model.file else bundled_model()
