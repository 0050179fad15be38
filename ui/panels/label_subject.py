"""What is being labelled: the description, and the original beside the reconstruction."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from core.store.rows import ItemRow, SampleRow
from ui.diff.columns import Columns
from ui.diff.controls import column, label
from ui.diff.indentation import lost_indentation, restored
from ui.diff.rows import compare
from ui.panels.text_box import TextBox
from ui.theme import SPACE, Theme


class LabelSubject(QWidget):
    """No switches and no verdict: only the texts."""

    def __init__(self, theme: Theme) -> None:
        """Empty until `show_subject`."""
        super().__init__()
        self.setProperty("role", "surface")
        self.description = label(wrap=True, selectable=True)
        self.description.setAccessibleName("Description")
        self.description.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        self.columns = Columns(theme, self)
        self.columns.set_wrap(True)
        self.original = TextBox("Original", wrap=False)
        column(self.description, self.original, self.columns, owner=self).setStretch(1, 1)

    def show_subject(self, item: ItemRow, sample: SampleRow, description: str) -> None:
        """Show a sample of an item; `description` is the one a reconstruction was made from."""
        describes = sample.role == "forward"
        self.description.setText(sample.text if describes else description)
        self.description.setVisible(bool(self.description.text()))
        self.original.setVisible(describes)
        self.columns.setVisible(not describes)
        before = item.old_text or item.text
        indent = lost_indentation(before)
        if describes:
            self.original.show_text(restored(before, indent))
            return
        python = item.path.endswith((".py", ".pyi"))
        diff = compare(restored(before, indent), restored(sample.text, indent), python=python)
        self.columns.show_diff(diff, item.path, (item.start_line, item.start_line))

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self.columns.set_theme(theme)
