"""How a model file is asked: by its chat template, by completion, by fill-in-the-middle; chosen or told."""

from __future__ import annotations

from dataclasses import astuple, replace

from core.errors import ModelError
from core.generation import INFILL
from core.models.gguf import GgufHeader
from core.models.special_tokens import special_tokens
from core.models.template import Style
from core.settings import PROMPT_STYLES, ModelSettings


def wire_style(header: GgufHeader, asked: str) -> Style:
    """What the worker is told of prompts. Raises ModelError: no such style, or one the model has not.

    `auto` fills in the middle only where there is no chat template: models that were never trained for it carry the
    tokens too, and instructed ones answer better when asked.
    """
    if asked not in PROMPT_STYLES:
        raise ModelError(f"There is no prompt style {asked!r}.", f"Name one of these: {', '.join(PROMPT_STYLES)}.")
    special = special_tokens(header)
    if asked == "fim" and special.infill is None:
        raise ModelError(
            f"{header.path.name} cannot fill in the middle: its vocabulary has no tokens for it.",
            "Choose the prompt style `auto`, or a code model that has them.",
        )
    wanted = asked == "fim" or (asked == "auto" and header.automatic_style[1] == INFILL)
    fills = special.infill is not None and wanted
    style: Style = {"style": "auto" if asked == "fim" else asked, "control": special.control}
    return {**style, "infill": astuple(special.infill)} if fills and special.infill else style


def backward_style(told: Style, prompt_style: str) -> str:
    """How code is asked for, for the record."""
    return INFILL if told.get("infill") else prompt_style


def forward_only(settings: ModelSettings) -> ModelSettings:
    """The settings for a model that only describes: it has no gap to fill."""
    return replace(settings, prompt_style="auto") if settings.prompt_style == "fim" else settings
