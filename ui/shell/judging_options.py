"""Where tests run: the sandbox, the interpreter, and what is installed for them."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QFormLayout, QLabel, QLineEdit, QPushButton, QWidget

from core.settings import OracleSettings
from ui.shell.fields import heading, pair, say

SANDBOXES = (
    ("auto", "Docker, else bubblewrap"),
    ("docker", "Docker"),
    ("bubblewrap", "bubblewrap"),
    ("none", "None: target code runs unprotected"),
)
DANGER = "Without a sandbox, code that the model writes runs with all your rights: it can read and delete your files."
THERE, INDEX, WHEELS = "there", "index", "wheels"
KEPT = "It is kept for later runs; yours stay as they are."
INSTALLS = (
    (THERE, "are in the interpreter's environment", "Nothing is installed."),
    (
        INDEX,
        "are installed from the package index",
        f"When the run begins, pip makes an environment over the network. {KEPT}",
    ),
    (
        WHEELS,
        "are installed from a folder of wheels",
        f"When the run begins, pip makes an environment without network. {KEPT}",
    ),
)
"""What it is stored as, words that go on from `Requirements`, and an explanation."""
REST = 300
"""Milliseconds after the last change of a text until the environment is looked at."""


class JudgingOptions(QObject):
    """Rows of a form that edit where tests run.

    `changed` when another sandbox is chosen; `check_asked(settings)`: say with `say` what the environment lacks.
    """

    changed = Signal()
    check_asked = Signal(object)

    def __init__(self, settings: OracleSettings, parent: QWidget) -> None:
        """Start from `settings`."""
        super().__init__(parent)
        self._settings, self._parent, self._used = settings, parent, True
        self.sandbox, self.installs = QComboBox(), QComboBox()
        self.python, self.file, self.wheels = (QLineEdit() for _ in range(3))
        self.danger, self.explained, self.said = QLabel(DANGER), QLabel(), QLabel()
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.check)
        self._fill()
        self._connect()

    def _fill(self) -> None:
        settings = self._settings
        for box, entries in ((self.sandbox, SANDBOXES), (self.installs, [entry[:2] for entry in INSTALLS])):
            for value, words in entries:
                box.addItem(words, value)
        self.sandbox.setCurrentIndex(max(self.sandbox.findData(settings.sandbox), 0))
        self.installs.setCurrentIndex(self.installs.findData(_way(settings)))
        for field, given, name, placeholder in (
            (self.python, settings.python, "Interpreter of the project", "the project's own"),
            (self.file, settings.requirements, "File that lists the requirements", "what the project declares"),
            (self.wheels, settings.wheels, "Folder of wheels", "a folder of .whl files"),
        ):
            field.setText(given or "")
            field.setAccessibleName(name)
            field.setPlaceholderText(placeholder)
        self.sandbox.setAccessibleName("Sandbox")
        self.installs.setAccessibleName("Requirements")
        self.danger.setProperty("role", "bad")
        self.explained.setProperty("role", "muted")
        for line in (self.danger, self.explained, self.said):
            line.setWordWrap(True)
            line.setAlignment(Qt.AlignmentFlag.AlignTop)

    def _connect(self) -> None:
        self.sandbox.currentIndexChanged.connect(self._follow)
        self.installs.currentIndexChanged.connect(self._follow)
        for field in (self.python, self.file, self.wheels):
            field.textChanged.connect(lambda: self._rest.start())

    def add_rows(self, form: QFormLayout) -> None:
        """Put the fields at the end of `form`, under a heading."""
        self._form, self._heading = form, heading("WHERE TESTS RUN")
        self._python_row = pair(self.python, "", self._choose("the project's interpreter", self.python))
        self._file_row = pair(self.file, "", self._choose("the file of requirements", self.file))
        self._wheels_row = pair(self.wheels, "", self._choose("the folder of wheels", self.wheels, folder=True))
        form.addRow(self._heading)
        form.addRow("Sandbox", self.sandbox)
        form.addRow("", self.danger)
        form.addRow("Interpreter", self._python_row)
        form.addRow("Requirements", self.installs)
        form.addRow("", self.explained)
        form.addRow("Listed in", self._file_row)
        form.addRow("Wheels in", self._wheels_row)
        form.addRow("", self.said)
        self._follow()

    def _choose(self, name: str, field: QLineEdit, *, folder: bool = False) -> QPushButton:
        button = QPushButton("Choose…")
        button.setAccessibleName(f"Choose {name}")

        def choose() -> None:
            title = f"Choose {name}"
            ask = QFileDialog.getExistingDirectory if folder else QFileDialog.getOpenFileName
            chosen = ask(self._parent, title)
            path = chosen if isinstance(chosen, str) else chosen[0]
            if path:
                field.setText(path)

        button.clicked.connect(choose)
        return button

    def use(self, used: bool) -> None:
        """Show the rows, or hide them where no test is run."""
        self._used = used
        for part in (self._heading, self.sandbox, self._python_row, self.installs):
            self._form.setRowVisible(part, used)
        self._show_rows()

    def _follow(self) -> None:
        self._show_rows()
        self.explained.setText(INSTALLS[self.installs.currentIndex()][2])
        self.check()
        self.changed.emit()

    def _show_rows(self) -> None:
        way = self.installs.currentData()
        self._form.setRowVisible(self.danger, self._used and self.sandbox.currentData() == "none")
        self._form.setRowVisible(self.explained, self._used and way != THERE)
        self._form.setRowVisible(self._file_row, self._used and way != THERE)
        self._form.setRowVisible(self._wheels_row, self._used and way == WHEELS)
        self._form.setRowVisible(self.said, self._used and bool(self.said.text()))

    def check(self) -> None:
        """Ask what the environment lacks."""
        self.check_asked.emit(self.settings(self._settings))

    def say(self, words: str, bad: bool = False) -> None:
        """What the environment lacks, or that it lacks nothing."""
        say(self.said, words, bad)
        self._show_rows()
        self.changed.emit()

    def problem(self) -> str:
        """What must be mended before a run; empty when nothing."""
        if self._used and self.installs.currentData() == WHEELS and not self.wheels.text().strip():
            return "Name the folder of wheels, or have the requirements installed in another way."
        return ""

    def settings(self, settings: OracleSettings) -> OracleSettings:
        """`settings` with what the user settled on here."""
        way = self.installs.currentData()
        return replace(
            settings,
            sandbox=self.sandbox.currentData(),
            python=self.python.text().strip() or None,
            install=way != THERE,
            requirements=(self.file.text().strip() or None) if way != THERE else None,
            wheels=(self.wheels.text().strip() or None) if way == WHEELS else None,
        )


def _way(settings: OracleSettings) -> str:
    if not settings.install:
        return THERE
    return INDEX if settings.wheels is None else WHEELS
