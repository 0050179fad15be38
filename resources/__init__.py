"""Data files: prompts, the demo project, the error-mode taxonomy, icons and themes."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

# A fifth of the demo's regions that do not overlap: a run that draws more is warned that its interval is too narrow.
DEMO_REGIONS = 10
DEMOS = {"pocketlab": "demo", "shop-js": "shop-js"}
"""Folders of the bundled projects, by their names: the first is shown where none is named."""


def path(*parts: str) -> Path:
    """Return the real path of the file or folder `parts` inside resources/. Raises FileNotFoundError."""
    found = Path(str(files(__name__))).resolve().joinpath(*parts)  # a link in a checkout
    if not found.exists():
        raise FileNotFoundError(found)
    return found


def text(*parts: str) -> str:
    """The UTF-8 text of the file `parts` inside resources/."""
    return path(*parts).read_text(encoding="utf-8")
