"""The project that is open: read in the background, read again when a run begins."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from rtc_inspector.core.oracle.bench.project import origin_of, without_binding
from rtc_inspector.core.types import Codebase
from rtc_inspector.ui.background.gateway import Gateway, ignore

if TYPE_CHECKING:
    from rtc_inspector.core.source.reading import Checking

CHECKED = "checked project"


class OpenProject(QObject):
    """The project that is open; `has_history`: it is under git."""

    opened = Signal(object)  # the Codebase
    absent = Signal(object)  # the folder that could not be read; its reason goes to the notices
    lent = Signal(str, str)  # path and text of one file that is wanted before all are read

    def __init__(self, gateway: Gateway, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.gateway = gateway
        self.root: Path | None = None
        self.codebase: Codebase | None = None
        self.has_history = False
        self._needs_python = True
        self._checking: Checking | None = None

    def open(self, root: Path, needs_python: bool = True) -> None:
        """Read a project's files; a folder without any Python will do if it has a history or none is needed."""
        root = root.expanduser().resolve()
        if self.root != root:
            self.codebase = None
        self.root, self._needs_python = root, needs_python
        self._forget()
        self.gateway.submit("project", partial(_read_all, root, needs_python), self._take, self._fail)

    def lend(self, root: Path, path: str) -> None:
        """Read one file now, while the others are still to come; why it cannot be read the others will say."""

        def take(text: str) -> None:
            if self.codebase is None:
                self.lent.emit(path, text)

        if self.codebase is None or self.codebase.root != root:
            self.gateway.submit("one file", partial(_read_one, root, path), take, ignore)

    def close(self) -> None:
        self.gateway.cancel("project")
        self._forget()
        self.root, self.codebase = None, None

    def reload(self) -> None:
        if self.root is not None:
            self.open(self.root, self._needs_python)

    def _take(self, read: tuple[Codebase, bool]) -> None:
        """Show the files; those that do not compile are taken out once that is known."""
        from rtc_inspector.core.source.reading import Checking

        codebase, self.has_history = read
        # Shown before it is known which files compile: the compiler is asked about each.
        self._show(codebase)
        self._checking = Checking(codebase)
        self.gateway.own(self._checking)
        self.gateway.submit(CHECKED, partial(_check, self._checking, codebase), self._take_checked)

    def _forget(self) -> None:
        self.gateway.cancel(CHECKED)
        if self._checking is not None:
            self._checking.stop()

    def _take_checked(self, codebase: Codebase) -> None:
        # The same object where all of them compile: then there is nothing to draw anew.
        if codebase is not self.codebase:
            self._show(codebase)

    def _show(self, codebase: Codebase) -> None:
        self.codebase = codebase
        self.opened.emit(codebase)

    def _fail(self, error: Exception) -> None:
        self.absent.emit(self.root)
        self.gateway.failed.emit(error)


def _read_all(root: Path, needs_python: bool) -> tuple[Codebase, bool]:
    from rtc_inspector.core.oracle.command.commands import shown_languages
    from rtc_inspector.core.source.codebase import open_codebase  # in the background: the window opens sooner
    from rtc_inspector.core.source.git import in_repository

    history = in_repository(root)
    languages = shown_languages(root)
    codebase = open_codebase(root, compiled=False, languages=languages, needed=needs_python and not history)
    # In a generated project programs are shown as the problems' file has them.
    if keys := origin_of(codebase.root).keys:
        files = (replace(f, text=without_binding(f.text)) if f.path in keys else f for f in codebase.files)
        codebase = replace(codebase, files=tuple(files))
    return codebase, history


def _check(checking: Checking, codebase: Codebase) -> Codebase:
    from rtc_inspector.core.source.codebase import without

    broken = checking.broken()
    return without(codebase, broken) if broken else codebase


def _read_one(root: Path, path: str) -> str:
    from rtc_inspector.core.source.reading import read

    text = read(root / path)[0]
    return without_binding(text) if path in origin_of(root).keys else text
