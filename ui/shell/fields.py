"""Fields of the dialogs, named for screen readers, and the line in which a dialog says something."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from ui.style.controls import label, row
from ui.style.theme import SPACE

FIELD = 28
"""Pixels of a field of one line."""
Box = TypeVar("Box", bound=QAbstractSpinBox)


def count(value: int, most: int, name: str, lowest: int = 1) -> QSpinBox:
    """A whole number."""
    box = QSpinBox()
    box.setRange(lowest, most)
    box.setValue(value)
    return _named(box, name)


def pair(left: QWidget, words: str, right: QWidget) -> QWidget:
    """Two fields in one row of a form."""
    holder = QWidget()
    made = row(left, *([label(words, "muted")] if words else []), owner=holder, grows=left)
    made.addWidget(right, 1 if words else 0)
    return holder


def form(title: str) -> QFormLayout:
    """A form under a heading."""
    made = QFormLayout()
    made.setVerticalSpacing(SPACE)
    made.setHorizontalSpacing(SPACE * 2)
    made.addRow(heading(title, first=True))
    return made


def level_labels(form: QFormLayout) -> None:
    """Put each label on a level with its field: by itself a form hangs it a little too high."""
    for at in range(form.rowCount()):
        item = form.itemAt(at, QFormLayout.ItemRole.LabelRole)
        words = item.widget() if item is not None else None
        if isinstance(words, QLabel) and words.text():
            words.setMinimumHeight(FIELD)


def heading(text: str, first: bool = False) -> QLabel:
    """Over the rows of a form that belong together, a little apart from those above."""
    made = QLabel(text)
    made.setContentsMargins(0, 0 if first else SPACE, 0, 0)
    made.setProperty("role", "heading")
    return made


def say(label: QLabel, words: str, bad: bool = False) -> None:
    """Show words in a dialog's own line: what to know, or what is wrong."""
    label.setText(words)
    label.setProperty("role", "bad" if bad else "muted")
    # A style sheet reads the property `role` only when a widget is polished.
    label.style().unpolish(label)
    label.style().polish(label)


def _named(box: Box, name: str) -> Box:
    """Name a field, and indent its text as in the other fields."""
    box.setAccessibleName(name)
    indent(box)
    return box


def indent(box: QAbstractSpinBox) -> None:
    """Let a number begin where the text of other fields does; a style sheet does not reach it."""
    field = box.findChild(QLineEdit)
    if field is not None:
        field.setTextMargins(SPACE - 2, 0, 0, 0)
