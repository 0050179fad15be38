"""Opening a model, wherever it is: a file on this machine, or a server that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.generation import Model
from core.models.client import LocalModel
from core.models.discovery import bundled_model
from core.models.endpoint import open_endpoint
from core.settings import EndpointSettings, ModelSettings


def open_model(
    path: str, endpoint: EndpointSettings | None, generation: ModelSettings, beat: Callable[[], None]
) -> Model:
    """The model at `endpoint`, else the file at `path`, else the bundled one; raising from `beat` gives up.

    Raises ModelError.
    """
    if endpoint is not None:
        return open_endpoint(endpoint, generation, beat)
    return LocalModel(Path(path) if path else bundled_model(), generation, beat=beat)
