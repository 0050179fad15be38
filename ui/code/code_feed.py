"""What the code view gets to show: the project's files with a run's regions, past files with its edits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.view import CodeView
from rtc_inspector.ui.presenters import COMMIT, MARK, past_name, presenter


class CodeFeed(QObject):
    """Of an edit the code view shows the old code, in its file as it was before the commit.

    `item_asked` when the user chose a file that only items of the run tell about.
    """

    item_asked = Signal(int)

    def __init__(self, code: CodeView, gateway: Gateway, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._code, self._gateway = code, gateway
        self._items: Sequence[ItemRow] = ()
        self._chosen: ItemRow | None = None
        self._root = Path()

    def set_items(self, items: Sequence[ItemRow], root: Path) -> None:
        self._items, self._root = items, root
        self._place_items()

    def leave_run(self) -> None:
        self._items, self._chosen = (), None
        self._code.show_item(None)
        self._code.set_items(())
        self._leave_past()

    def leave_project(self) -> None:
        self._gateway.cancel("past file")
        self._root = Path()
        self._code.leave_project()

    def _leave_past(self) -> None:
        if MARK in self._code.path:
            self._code.clear()

    def show_item(self, item: ItemRow | None) -> None:
        self._chosen = item
        if item is None:
            self._code.show_item(None)
            self._leave_past()
            self.show_some()
            return
        self._code.show_item(self._placed(item))
        self._want(item)

    def show_some(self, path: str = "") -> None:
        """Show the first item's file when none is shown; where there is no item, the file at `path` if it is named."""
        if not self._items and path and not self._code.path:
            self._code.open_file(path)
        if self._code.path or not self._items:
            return
        first = self._items[0]
        self._code.open_file(self._placed(first).path)
        self._want(first)

    def open_file(self, path: str) -> None:
        item = next((item for item in self._items if item.path == path), None)
        if item is None or self._code.holds(path):
            self._code.open_file(path)
        else:
            self.item_asked.emit(item.id)

    def _place_items(self) -> None:
        items = self._items
        # Asked once, as a run has items of one kind: of 100,000 regions that stand where they stand each answer would
        # be the same.
        moved = bool(items) and (presenter(items[0]).past or not items[0].path)
        self._code.set_items([self._placed(item) for item in items] if moved else items)

    def _placed(self, item: ItemRow) -> ItemRow:
        """Return the item where its code stands: of an edit the old code, in the past file."""
        return presenter(item).code_shown(item, self._code.past)

    def _want(self, item: ItemRow) -> None:
        """Read the file of an edit, unless it was; one that git does not hold any more is left to what is stored."""
        commit, name = item.origin.get(COMMIT), past_name(item)
        if presenter(item).past and commit and name not in self._code.past:
            work = partial(_read, self._root, commit, item.path)
            self._gateway.submit("past file", work, partial(self._take, name), _absent)

    def _take(self, name: str, text: str) -> None:
        self._code.lend_past(name, text)
        self._place_items()
        if self._chosen is not None:
            self._code.show_item(self._placed(self._chosen))


def _read(project: Path, commit: str, path: str) -> str:
    from rtc_inspector.core.source.git import text_before

    return text_before(project, commit, path)


def _absent(error: Exception) -> None:
    """Do nothing: the old code that is stored is shown alone."""
