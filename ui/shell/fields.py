"""Fields of the dialogs, named for screen readers, and the line in which a dialog says something."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractSpinBox, QDialog, QFormLayout, QLabel, QLineEdit, QWidget

from rtc_inspector.core.errors import InspectorError
from rtc_inspector.ui.style.controls import give_role, label, row
from rtc_inspector.ui.style.theme import SPACE

FIELD = 28
"""Pixels of a field of one line."""


def error_words(error: Exception) -> str:
    """Return in a line what is wrong and what to do."""
    return f"{error.problem} {error.remedy}" if isinstance(error, InspectorError) else str(error)


def show_modal(dialog: QDialog) -> bool:
    """Show a dialog until it is closed; whether it was accepted. What stands in it can still be read for a moment."""
    accepted = dialog.exec() == QDialog.DialogCode.Accepted
    # A window would keep every dialog it ever had, and one that hears of changes would go on to list them.
    dialog.deleteLater()
    return accepted


def pair(left: QWidget, right: QWidget) -> QWidget:
    """Return two fields in one row of a form."""
    holder = QWidget()
    row(left, right, owner=holder, grows=left)
    return holder


def form(title: str = "") -> QFormLayout:
    """Return an empty form, under a heading where it has one."""
    made = QFormLayout()
    made.setVerticalSpacing(SPACE)
    made.setHorizontalSpacing(SPACE * 2)
    if title:
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
    """Return a heading for rows of a form that belong together, a little apart from those above."""
    made = label(text, "heading")
    made.setContentsMargins(0, 0 if first else SPACE, 0, 0)
    return made


def say(line: QLabel, words: str, bad: bool = False) -> None:
    """Show words in a dialog's own line: what to know, or what is wrong."""
    line.setText(words)
    give_role(line, "bad" if bad else "muted")


def indent(box: QAbstractSpinBox) -> None:
    """Let a number begin where the text of other fields does; a style sheet does not reach it."""
    field = box.findChild(QLineEdit)
    if field is not None:
        field.setTextMargins(SPACE - 2, 0, 0, 0)
