"""Ollama keeps models as blobs named by hash; their names stand in manifests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

MODEL_LAYER = "application/vnd.ollama.image.model"
COMMON = "library"


def ollama_models(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name (`model:tag`) and blob of each model in one Ollama store; manifests that make no sense are passed over."""
    manifests = folder / "manifests"
    if not manifests.is_dir():
        return
    for manifest in sorted(manifests.rglob("*")):
        blob = _blob(manifest, folder) if manifest.is_file() else None
        if blob is not None:
            yield _name(manifest.relative_to(manifests).parts), blob


def _blob(manifest: Path, folder: Path) -> Path | None:
    try:
        layers = json.loads(manifest.read_text(encoding="utf-8"))["layers"]
        digest = next(layer["digest"] for layer in layers if layer["mediaType"] == MODEL_LAYER)
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        return None
    return folder / "blobs" / str(digest).replace(":", "-")


def _name(parts: tuple[str, ...]) -> str:
    """`model:tag`, after its namespace unless that is the common one; which host it came from is left out."""
    if len(parts) < 2:
        return "/".join(parts)
    *place, model, tag = parts
    return "/".join([*(part for part in place[1:] if part != COMMON), model]) + f":{tag}"
