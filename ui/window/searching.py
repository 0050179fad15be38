"""Searching in every file of the project, and going to a file, a region or a command by words of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import SourceFile
from rtc_inspector.ui.reading.inspection import Inspection, LookedAt
from rtc_inspector.ui.reading.open_project import OpenProject
from rtc_inspector.ui.shell.search import MOST, Find, Hit, SearchDialog, Target
from rtc_inspector.ui.style.controls import has_words
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.window_parts import WindowParts

WORTH = 60.0  # similarity of 100 from which a misspelt name counts as meant


@dataclass(frozen=True, slots=True)
class Places:
    """Everything there is just now; a Target is made only of what is found."""

    files: Mapping[str, str]  # paths by what people call them; `open_file` goes to one
    commands: Sequence[tuple[str, Callable[[], object]]]  # what can be done, by its words
    regions: Sequence[ItemRow]  # of the run that is shown; `choose` goes to one by its id
    open_file: Callable[[str], object]
    choose: Callable[[int], object]

    def find(self, words: str) -> list[Target]:
        found = list(islice(self._named(words), MOST))
        if not words.strip():
            return found
        found += islice(self._regions(words), MOST - len(found))
        # Similar names come last: who typed a name right means that one.
        if len(found) < MOST:
            # What was found by its words is similar, too.
            titles = {target.title for target in found}
            found += [target for target in self._similar(words) if target.title not in titles]
        return found[:MOST]

    def _named(self, words: str) -> Iterator[Target]:
        for name in self.files:
            if has_words(name, words):
                yield self._file(name)
        for title, act in self.commands:
            if has_words(title, words):
                yield Target(title, "command", act)

    def _regions(self, words: str) -> Iterator[Target]:
        for item in self.regions:
            if has_words(f"{item.place}\n{item.text}", words):
                yield Target(item.place, item.kind, partial(self.choose, item.id), item.text.partition("\n")[0])

    def _similar(self, words: str) -> Iterator[Target]:
        from rapidfuzz import fuzz, process  # not before it is needed: the window opens sooner

        commands = dict(self.commands)
        names = [*self.files, *commands]
        scored = process.extract(words, names, scorer=fuzz.WRatio, processor=str.lower, score_cutoff=WORTH, limit=MOST)
        for name, _, _ in scored:
            yield Target(name, "command", commands[name]) if name in commands else self._file(name)

    def _file(self, name: str) -> Target:
        return Target(name, "file", partial(self.open_file, self.files[name]))


OF_THE_FIELD = frozenset({"go-to", "menu"})  # commands that the field itself does not offer


class Searching(QObject):
    """The search of one window; the dialog is made when it is first asked for, and stays open beside the window."""

    def __init__(self, parts: WindowParts, project: OpenProject, inspection: Inspection, browsing: Browsing) -> None:
        super().__init__(parts)
        self._parts, self._project, self._inspection, self._browsing = parts, project, inspection, browsing
        self._dialog: SearchDialog | None = None
        self._keys: Mapping[str, str] = {}
        inspection.moved.connect(self._move)

    def search_project(self) -> None:
        if self._dialog is None:
            self._dialog = SearchDialog(self._project.gateway, self._files, self._parts.window(), self._named)
            self._dialog.hit_chosen.connect(self._show_hit)
        selected = self._parts.code.editor.textCursor().selectedText()
        # U+2029 is how Qt writes a line break in a selection; no line holds one.
        self._dialog.enter(selected if "\u2029" not in selected else "")

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        if before.project != now.project:
            self.close()

    def close(self) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.close()
            self._parts.activateWindow()

    def places(self, actions: Sequence[QAction]) -> Find:
        overview, files = self._inspection.overview, self._files()
        commands = [
            (action.text().replace("&", "").rstrip("…"), action.trigger)
            for action in actions
            if action.objectName() not in OF_THE_FIELD
        ]
        return Places(
            files={self._named(each.path): each.path for each in files},
            commands=commands,
            regions=overview.items if overview else (),
            open_file=self._open_file,
            choose=self._browsing.choose,
        ).find

    def _open_file(self, path: str) -> None:
        self._parts.leave_page()
        self._parts.preparing.left.emit()
        self._parts.code.open_file(path)

    def _files(self) -> Sequence[SourceFile]:
        codebase = self._project.codebase
        self._keys = known = origin_of(codebase.root).keys if codebase else {}
        return [each for each in codebase.files if not known or each.path in known] if codebase else ()

    def _named(self, path: str) -> str:
        return self._keys.get(path, path)

    def _show_hit(self, hit: Hit) -> None:
        self._parts.leave_page()
        self._parts.preparing.left.emit()
        self._parts.code.show_place(hit.path, hit.line, hit.column, hit.length)
