"""Edits as the code view shows them: the old code, in its file as it was before the commit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.store.rows import ItemRow
from ui.background.gateway import Gateway
from ui.presenters import COMMIT, MARK, past_name, presenter

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
        """The item where its code stands: of an edit the old code, in the past file."""
        return presenter(item).code_shown(item, self._texts)

    def all_shown(self, items: Sequence[ItemRow]) -> Sequence[ItemRow]:
        """Every item of a run that way; a run has items of one kind."""
        # Asked once: of 100,000 regions that stand where they stand each answer would be the same.
        moved = bool(items) and (presenter(items[0]).past or not items[0].path)
        return [self.shown(item) for item in items] if moved else items

    def want(self, item: ItemRow, project: Path) -> None:
        """Read the file of an edit, unless it was; one that git does not hold any more is left to what is stored."""
        commit, name = item.origin.get(COMMIT), past_name(item)
        if not presenter(item).past or not commit or name in self._texts:
            return
        work = partial(_read, project, commit, item.path)
        self._gateway.submit("past file", work, partial(self._take, name), _absent)

    def _take(self, name: str, text: str) -> None:
        while len(self._texts) >= KEPT:
            del self._texts[next(iter(self._texts))]
        self._texts[name] = text
        self.came.emit(name, text)


def present_path(name: str) -> str:
    """The path in the project that a name stands for."""
    return name.partition(MARK)[2] or name


def _read(project: Path, commit: str, path: str) -> str:
    from core.source.commits import text_before

    return text_before(project, commit, path)


def _absent(error: Exception) -> None:
    """The old code that is stored is shown alone."""
