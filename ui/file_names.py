"""Names of files to write: asked for, and given the ending that the user left out."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from rtc_inspector.core.errors import UserError


def ask_where(parent: QWidget, title: str, proposed: str, kinds: str, ending: str) -> Path | None:
    """Ask where to write; return that with `.ending` unless another was typed, or None if the user thinks better of it.

    None, too, where a database stands, which the dialog would have offered to replace: that is said.
    """
    chosen, _ = QFileDialog.getSaveFileName(parent, title, proposed, kinds)
    if not chosen:
        return None
    path = with_ending(chosen, ending)
    from rtc_inspector.core.store.files import refuse_database  # the window stands sooner

    try:
        refuse_database(path)
    except UserError as error:
        QMessageBox.warning(parent, title, str(error))
        return None
    return path


def with_ending(name: str, ending: str) -> Path:
    """`name` as a path that has an ending."""
    return Path(name) if Path(name).suffix else Path(f"{name}.{ending}")
