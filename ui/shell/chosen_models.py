"""Which models a run has, as the values of the two model boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.settings import EndpointSettings, RunSettings
from ui.shell.choice_box import Choice

BUNDLED = "bundled"
"""Value of the bundled model in the box of backward models, where an empty one means the forward model."""
_SERVER = "server "


def endpoint_choice(endpoint: EndpointSettings) -> Choice:
    """A model server as an entry."""
    name = endpoint.model or "the only model"
    tip = f"{name} at {endpoint.address}\nAn OpenAI-compatible server: what it is asked leaves this program."
    return Choice(f"{name} @ {endpoint.address.split('://')[-1]}", endpoint_value(endpoint), tip)


def endpoint_value(endpoint: EndpointSettings) -> str:
    """Its value in both boxes."""
    return f"{_SERVER}{endpoint.address} {endpoint.model}"


def forward_value(settings: RunSettings) -> str:
    """Of the forward model; empty is the bundled one."""
    return endpoint_value(settings.endpoint) if settings.endpoint else settings.model


def backward_value(settings: RunSettings) -> str:
    """Of the backward model; empty is the forward one."""
    if settings.backward_endpoint is not None:
        return endpoint_value(settings.backward_endpoint)
    return BUNDLED if settings.backward_model == "" else settings.backward_model or ""


def with_models(
    settings: RunSettings, forward: str, backward: str, endpoints: Sequence[EndpointSettings]
) -> RunSettings:
    """Settings with the models that these values name, and no others beside them."""
    known = {endpoint_value(each): each for each in endpoints}
    server, other = known.get(forward), known.get(backward)
    file = None if other or not backward else "" if backward == BUNDLED else backward
    return replace(
        settings,
        model="" if server else forward,
        endpoint=server,
        backward_model=file,
        backward_endpoint=other,
        series=None,
    )
