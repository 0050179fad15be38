"""What is being labelled: the description, and the original beside the reconstruction."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cached_property

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.core.types import TestResult
from rtc_inspector.ui.diff.columns import Columns
from rtc_inspector.ui.diff.lines import lost_indentation, restored
from rtc_inspector.ui.diff.pane_lines import EditLines, PairLines, shown_edit
from rtc_inspector.ui.diff.rows import compare
from rtc_inspector.ui.diff.view import EDIT_TITLES
from rtc_inspector.ui.panels.pieces import CardScroll, TextBox
from rtc_inspector.ui.presenters import as_known, describes, presenter
from rtc_inspector.ui.style.controls import breakable, column, label, split
from rtc_inspector.ui.style.theme import SPACE

MOST_WORDS, LEAST_WORDS = 0.5, 40
"""Share of the height that a description may take, and pixels that it may take in any case."""


class LabelContext(QWidget):
    """Beside a large diff: where the code stands, the function around it, and the test that failed."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "surface")
        self.place = label(role="heading", wrap=True, selectable=True)
        self.place.setAccessibleName("Where the code stands")
        self.place.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        self.around, self.failed = TextBox("Function around it"), TextBox("Failing test")
        self._column = column(self.place, self.around, self.failed, owner=self)
        for part, share in ((self.around, 2), (self.failed, 3)):
            self._column.setStretchFactor(part, share)

    def show_context(self, item: ItemRow, around: str, failing: Sequence[TestResult], *, blind: bool) -> None:
        """Show an item's place, the head of the function `around` it, and tests that failed; none while `blind`."""
        lines = f"{item.start_line}–{item.end_line}" if item.end_line > item.start_line else f"{item.start_line}"
        self.place.setText(breakable(f"{item.path}  lines {lines}" if item.has_file else item.key))
        self.around.show_text(textwrap.dedent(around))
        self.around.setVisible(bool(around))
        said = "\n\n".join(as_known(item, f"{test.node_id}\n{test.message.strip()}") for test in failing)
        self.failed.show_text(said, f"{len(failing)} failed" if len(failing) > 1 else "")
        self.failed.setVisible(bool(failing) and not blind)


class LabelSubject(QWidget):
    """No switches and no verdict: only the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "surface")
        self.description = label(role="judged", wrap=True, selectable=True)
        self.description.setAccessibleName("Description")
        self.description.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        self.columns = Columns(self)
        self.columns.set_wrap(True)
        self.original = TextBox("Original", wrap=False)
        self._words = CardScroll(self.description)
        self.context = LabelContext()
        codes = QWidget()
        self._column = column(self.original, self.columns, owner=codes)
        beside = split(Qt.Orientation.Horizontal, codes, self.context, sizes=(700, 300), stretch=(5, 2))
        column(self._words, beside, owner=self, grows=beside)
        self.context.hide()

    def show_context(self, shown: bool) -> None:
        self.context.setVisible(shown)
        self._make_room()

    def show_subject(self, item: ItemRow, sample: SampleRow, description: str) -> None:
        """Show a sample of an item; `description` is the one a reconstruction was made from."""
        words = describes(sample)
        self.description.setText(breakable(sample.text if words else description))
        self._words.setVisible(bool(self.description.text()))
        self._make_room()
        self.original.setVisible(words)
        self.columns.setVisible(not words)
        if presenter(item).past:
            self._show_edit(item, None if words else sample.text)
            return
        # It stands there once it was made; to ask for it would make it.
        if "edit" in self.__dict__:
            self.edit.hide()
        before = item.text
        indent = lost_indentation(before)
        if words:
            self.original.show_text(restored(before, indent))
            return
        python = item.path.endswith((".py", ".pyi"))
        diff = compare(restored(before, indent), restored(sample.text, indent), python=python)
        self.columns.show_lines(PairLines(diff, (item.start_line, item.start_line)), item.path)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        most = max(int(self.height() * MOST_WORDS), LEAST_WORDS)
        self._words.setFixedHeight(min(max(self.description.heightForWidth(self.width()), 0), most))

    @cached_property
    def edit(self) -> Columns:
        """Return the view of old, new and predicted code, made with the first edit: most runs have none."""
        made = Columns(self, EDIT_TITLES)
        made.set_wrap(True)
        self._column.addWidget(made, 1)
        return made

    def _show_edit(self, item: ItemRow, predicted: str | None) -> None:
        self.original.hide()
        self.columns.hide()
        self.edit.show()
        self.edit.show_last(predicted is not None)
        self.edit.show_lines(EditLines(shown_edit(item, predicted)), item.path)
