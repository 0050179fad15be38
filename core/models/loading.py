"""Opening models, wherever they are: files on this machine, or servers that the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import Model
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.devices import build_backends, found_gpus, slowed, unused_gpu
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.embedder import GgufEmbedder
from rtc_inspector.core.models.endpoint import open_endpoint
from rtc_inspector.core.models.gguf import GgufHeader, read_header
from rtc_inspector.core.models.memory import Memory, estimate, memory_now, tight, too_much
from rtc_inspector.core.models.minilm import packaged_minilm
from rtc_inspector.core.settings import ModelSettings, NamedModel, RunSettings
from rtc_inspector.core.types import Notify
from rtc_inspector.core.waiting import Beat


def open_model(model: NamedModel, generation: ModelSettings, beat: Beat, notify: Notify) -> Model:
    """Load a file, or ask a server what it serves; raising from `beat` gives up. Raises ModelError.

    `notify` is told of what a server does not take, when that turns out.
    """
    if model.endpoint is not None:
        return open_endpoint(model.endpoint, generation, beat, notify)
    return LocalModel(model_file(model), generation, beat=beat)


def open_embedder(path: str | None, generation: ModelSettings, notify: Notify, beat: Beat) -> GgufEmbedder:
    """The embedding model at `path`, else MiniLM from its package; raising from `beat` gives up. Raises ModelError."""
    file = Path(path) if path else packaged_minilm(notify)
    embedder = GgufEmbedder(file, replace(generation, context_size=None), beat=beat)
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
