"""Edits as the code view shows them: the old code, in its file as it was before the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.store.rows import ItemRow
from core.types import OLD_LINE
from ui.gateway import Gateway

COMMIT = "commit"
"""Under this name of its origin an edit out of a history has its commit."""
MARK = "^:"
"""As git writes it: `1a2b3c4d5e^:src/a.c` is that file at the commit's parent."""
KEPT = 30
"""Files whose text is kept."""


class PastFiles(QObject):
    """Reads files of the history in the background. `came` carries name and text of one that was wanted."""

    came = Signal(str, str)

    def __init__(self, gateway: Gateway, parent: QObject | None = None) -> None:
        """Nothing read yet."""
        super().__init__(parent)
        self._gateway = gateway
        self._texts: dict[str, str] = {}

    def shown(self, item: ItemRow) -> ItemRow:
        """The item as it is; of an edit the old code, at its place in the past file."""
        if item.old_text is None:
            return item
        name, line = past_name(item), int(item.origin.get(OLD_LINE) or 0)
        text = self._texts.get(name)
        start = _offset(text, line) if text is not None and line else 0
        last = (line or item.start_line) + item.old_text.count("\n")
        return replace(
            item, path=name, text=item.old_text, start=start, end=start + len(item.old_text),
            start_line=line or item.start_line, end_line=last,
        )  # fmt: skip

    def all_shown(self, items: Sequence[ItemRow]) -> Sequence[ItemRow]:
        """Every item of a run that way; a run has edits alone or none."""
        return [self.shown(item) for item in items] if items and items[0].old_text is not None else items

    def want(self, item: ItemRow, project: Path) -> None:
        """Read the file of an edit, unless it was; one that git does not hold any more is left to what is stored."""
        commit, name = item.origin.get(COMMIT), past_name(item)
        if item.old_text is None or not commit or name in self._texts:
            return
        work = partial(_read, project, commit, item.path)
        self._gateway.submit("past file", work, partial(self._take, name), _absent)

    def _take(self, name: str, text: str) -> None:
        while len(self._texts) >= KEPT:
            del self._texts[next(iter(self._texts))]
        self._texts[name] = text
        self.came.emit(name, text)


def past_name(item: ItemRow) -> str:
    """How the file is called in which an edit's old code stands; an edit out of a file of edits stands alone."""
    commit = item.origin.get(COMMIT, "")
    return f"{commit[:10]}{MARK}{item.path}" if commit else item.key


def present_path(name: str) -> str:
    """The path in the project that a name stands for."""
    return name.partition(MARK)[2] or name


def _offset(text: str, line: int) -> int:
    """Characters before a line, counted from 1."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return at


def _read(project: Path, commit: str, path: str) -> str:
    from core.source.past import text_before

    return text_before(project, commit, path)


def _absent(error: Exception) -> None:
    """The old code that is stored is shown alone."""
