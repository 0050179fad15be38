"""Which edits a run takes: from the project's history or from a file, and which are passed over."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QFormLayout, QLineEdit, QPushButton

from core.settings import EditSettings
from ui.shell.fields import FIELD, count, pair

HISTORY, FILE = "history", "file"
MOST_CHARACTERS, MOST_LINES = 100_000, 2_000


class EditOptions(QObject):
    """Rows of a form that edit EditSettings; what no field shows stays. `changed` when another row is of use."""

    changed = Signal()

    def __init__(self, settings: EditSettings) -> None:
        """Start from `settings`."""
        super().__init__()
        self._settings = settings
        self.source = QComboBox()
        self.source.setAccessibleName("Where edits come from")
        self.source.addItem("The project's git history", HISTORY)
        self.source.addItem("A JSONL file", FILE)
        self.source.setCurrentIndex(self.source.findData(FILE if settings.file else HISTORY))
        self.file = _text(settings.file or "", "File of edits", "one object a line: old, new, perhaps comment")
        self.revision = _text(settings.revision or "", "Branch or commit", "what is checked out")
        self.endings = _text(" ".join(settings.endings), "Endings of file names", "every language; or e.g. .py .go")
        self.paths = _text(", ".join(settings.paths), "Files and folders", "all; or e.g. src, lib/*.c")
        self.since = _text(settings.since or "", "Author date from", "YYYY-MM-DD")
        self.until = _text(settings.until or "", "Author date until", "YYYY-MM-DD")
        self.characters = count(settings.max_characters, MOST_CHARACTERS, "Characters of a snippet at most")
        self.lines = count(settings.max_lines, MOST_LINES, "Changed lines at most")
        self.tests = QCheckBox("the tests of its commit, too")
        self.tests.setChecked(settings.tests)
        self.tests.setMinimumHeight(FIELD)
        self.source.currentIndexChanged.connect(self._follow)
        self.tests.toggled.connect(self.changed)
        self._used = True

    def add_rows(self, form: QFormLayout) -> None:
        """Put the fields at the end of `form`."""
        browse = QPushButton("Choose…")
        browse.setAccessibleName("Choose the file of edits")
        browse.clicked.connect(self._choose_file)
        rows = (
            ("Edits from", self.source, (HISTORY, FILE)),
            ("File", pair(self.file, "", browse), (FILE,)),
            ("Up to commit", self.revision, (HISTORY,)),
            ("Only files ending in", self.endings, (HISTORY,)),
            ("Only below", self.paths, (HISTORY,)),
            ("Authored from", pair(self.since, "until", self.until), (HISTORY,)),
            ("Characters, at most", pair(self.characters, "changed lines", self.lines), (HISTORY, FILE)),
            ("Oracle", self.tests, (HISTORY,)),
        )
        for label, field, _ in rows:
            form.addRow(label, field)
        self._form, self._rows = form, [(field, sources) for _, field, sources in rows]

    def use(self, used: bool) -> None:
        """Show the rows or hide them."""
        self._used = used
        self._follow()

    @property
    def runs_tests(self) -> bool:
        """Whether a sandbox is needed."""
        return self._from_history and self.tests.isChecked()

    @property
    def _from_history(self) -> bool:
        return bool(self.source.currentData() == HISTORY)

    def problem(self) -> str:
        """What must be mended before a run can start; empty when nothing."""
        if not self._from_history:
            path = self.file.text().strip()
            if not path:
                return "Choose the file that the edits are in."
            return "" if Path(path).expanduser().is_file() else f"There is no file {path}."
        for field in (self.since, self.until):
            if not _is_day(field.text().strip()):
                return f"“{field.text()}” is not a date: write it as YYYY-MM-DD."
        return ""

    def settings(self) -> EditSettings:
        """What the user settled on."""
        file = self.file.text().strip()
        return replace(
            self._settings,
            file=None if self._from_history else str(Path(file).expanduser().absolute()),
            revision=self.revision.text().strip() or None,
            since=self.since.text().strip() or None,
            until=self.until.text().strip() or None,
            paths=tuple(path.strip() for path in self.paths.text().split(",") if path.strip()),
            endings=tuple(_ending(word) for word in _words(self.endings.text())),
            max_characters=self.characters.value(),
            max_lines=self.lines.value(),
            tests=self.runs_tests,
        )

    def _follow(self) -> None:
        """Show the fields that the source has."""
        for field, sources in self._rows:
            self._form.setRowVisible(field, self._used and self.source.currentData() in sources)
        self.changed.emit()

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self.source, "Open a file of edits", "", "JSON lines (*.jsonl);;All files (*)"
        )
        if path:
            self.file.setText(path)


def _text(value: str, name: str, hint: str) -> QLineEdit:
    field = QLineEdit(value)
    field.setAccessibleName(name)
    field.setPlaceholderText(hint)
    return field


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,;]+", text) if word]


def _ending(word: str) -> str:
    """`py` and `*.py` mean `.py`; a whole name such as `Makefile` stays."""
    word = word.removeprefix("*")
    return word if word.startswith(".") or word[:1].isupper() else f".{word}"


def _is_day(text: str) -> bool:
    try:
        return not text or bool(date.fromisoformat(text))
    except ValueError:
        return False
