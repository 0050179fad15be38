"""Original and reconstruction side by side; of an edit old, new and predicted code."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtWidgets import QWidget

from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.ui.diff.lines import PAIR, Sides, lost_indentation, restored
from rtc_inspector.ui.diff.pane_lines import ShownEdit, shown_edit
from rtc_inspector.ui.diff.rows import MOST_CHARACTERS
from rtc_inspector.ui.diff.view import DiffView, EditView
from rtc_inspector.ui.panels.pieces import EmptyState
from rtc_inspector.ui.presenters import describes, presenter
from rtc_inspector.ui.style.controls import column


class DiffPanel(QWidget):
    """The comparison of one pair, or of one edit, or what to do while there is none."""

    def __init__(self, unified: bool = False) -> None:
        super().__init__()
        self.setAccessibleName("Difference")
        self.view = DiffView()
        self.view.unified.setChecked(unified)
        self._unified = unified
        self._empty = EmptyState("", "")
        self._column = column(self._empty, self.view, owner=self)
        self.clear()

    def clear(self) -> None:
        self._say_nothing(None)
        self.view.clear()

    def _say_nothing(self, item: ItemRow | None) -> None:
        """Say why there are no two texts: nothing is chosen, nothing was made yet, or nothing came of it."""
        if item is None:
            self._empty.say("Original and reconstruction", "They stand here side by side, once a sample is chosen.")
        elif item.state in ("waiting", "running"):
            self._empty.say("No code yet", "The model's code stands here beside the original as soon as it is written.")
        else:
            self._empty.say("No code was written from this", "Choose a sample that has some.")
        self._turn_to(self._empty)

    def show_code(
        self,
        item: ItemRow | None,
        code: SampleRow | None,
        title: str,
        description: str = "",
        before: SampleRow | None = None,
    ) -> None:
        """Compare what was made of an item with the original, or with the code `before` that it is held against.

        An edit is shown before anything was made of it.
        """
        if item is not None and presenter(item).past:
            self.set_edit(shown_edit(item, code.text if code else None, title or "the edit", description))
        elif item is None or code is None:
            self.clear()
            self._say_nothing(item)
        else:
            original = item.text if before is None else before.text
            sides = presenter(item).sides_of(item, code, before)
            path = item.key if describes(code) else item.path  # words are not coloured as code
            first_line = max(1, item.start_line)
            self.set_pair(original, code.text, title, path, first_line=first_line, description=description, sides=sides)

    def set_pair(
        self,
        original: str,
        candidate: str,
        title: str,
        path: str,
        *,
        first_line: int = 1,
        description: str = "",
        sides: Sides = PAIR,
    ) -> None:
        """Compare two texts of one place in a file.

        `first_line`: the file's line on which the original starts. `description` can be shown between the two.
        `sides`: what each text is.
        """
        indent = lost_indentation(original) if len(original) < MOST_CHARACTERS else ""
        original, candidate = restored(original, indent), restored(candidate, indent)
        self.view.name_sides(sides)
        self._turn_to(self.view if original or candidate else self._empty)
        self.view.show_pair(original, candidate, title, path, first_line, description)

    @cached_property
    def edit(self) -> EditView:
        """Return the view of edits, made with the first one: most runs have none."""
        made = EditView()
        made.unified.setChecked(self._unified)
        self._column.addWidget(made, 1)
        return made

    def set_edit(self, edit: ShownEdit) -> None:
        self.edit.show_edit(edit)
        self._turn_to(self.edit)

    def go_to_line(self, line: int) -> None:
        """Show a line of the reconstruction, by its number in the file."""
        (self.edit if self.view.isHidden() else self.view).go_to_line(line)

    def _turn_to(self, page: QWidget) -> None:
        # A cached property stands in __dict__ once it was made; to ask for it would make it.
        for each in (self._empty, self.view, *([self.edit] if "edit" in self.__dict__ else [])):
            each.setVisible(each is page)
