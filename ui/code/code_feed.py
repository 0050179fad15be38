"""What the code view gets to show: the project's files with a run's regions, past files with its edits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.store.rows import ItemRow
from ui.background.gateway import Gateway
from ui.code.past import PastFiles
from ui.code.view import CodeView


class CodeFeed(QObject):
    """`item_asked` when the user chose a file that only items of the run tell about."""

    item_asked = Signal(int)

    def __init__(self, code: CodeView, gateway: Gateway, parent: QObject | None = None) -> None:
        """Nothing to show yet."""
        super().__init__(parent)
        self._code, self._past = code, PastFiles(gateway, self)
        self._items: Sequence[ItemRow] = ()
        self._chosen: ItemRow | None = None
        self._root = Path()
        self._past.came.connect(self._take)

    def set_items(self, items: Sequence[ItemRow], root: Path) -> None:
        """Take the items of a run on the project at `root`."""
        self._items, self._root = items, root
        self._code.set_items(self._past.all_shown(items))

    def show_item(self, item: ItemRow | None) -> None:
        """Bring an item into view."""
        self._chosen = item
        if item is None:
            self._code.show_item(None)
            return
        self._code.show_item(self._past.shown(item))
        self._past.want(item, self._root)

    def show_some(self, path: str = "") -> None:
        """Show the first item's file when none is shown; where there is no item, the file at `path` if it is named."""
        if not self._items and path and not self._code.path:
            self._code.open_file(path)
        if self._code.path or not self._items:
            return
        first = self._items[0]
        self._code.open_file(self._past.shown(first).path)
        self._past.want(first, self._root)

    def open_file(self, path: str) -> None:
        """Show a file of the project, else the first item in it."""
        item = next((item for item in self._items if item.path == path), None)
        if item is None or self._code.holds(path):
            self._code.open_file(path)
        else:
            self.item_asked.emit(item.id)

    def _take(self, name: str, text: str) -> None:
        self._code.lend_past(name, text)
        self._code.set_items(self._past.all_shown(self._items))
        if self._chosen is not None:
            self._code.show_item(self._past.shown(self._chosen))
