"""Names of files to write: asked for, and given the ending that the user left out."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget


def ask_where(parent: QWidget, title: str, proposed: str, kinds: str, ending: str) -> Path | None:
    """Where to write, with `.ending` unless another one was typed; None when the user thinks better of it."""
    chosen, _ = QFileDialog.getSaveFileName(parent, title, proposed, kinds)
    return with_ending(chosen, ending) if chosen else None


def with_ending(name: str, ending: str) -> Path:
    """`name` as a path that has an ending."""
    return Path(name) if Path(name).suffix else Path(f"{name}.{ending}")
