"""The commands about this machine: `models` and `doctor`."""

from __future__ import annotations

from typing import Any


def add_commands(commands: Any) -> None:
    """Add `models` and `doctor`."""
