"""The words of the prompts in the run dialog: a field that says whose they are, and the page that changes them."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import FIRST_KIND, TASKS
from rtc_inspector.core.settings.setting import Described
from rtc_inspector.core.settings.words import changed, instructions, words_of
from rtc_inspector.ui.shell.fields import show_modal
from rtc_inspector.ui.shell.setting_fields import SettingField
from rtc_inspector.ui.style.controls import DIALOG, PushButton, column, label
from rtc_inspector.ui.style.fonts import keep_on_screen, open_at, write_fixed
from rtc_inspector.ui.style.theme import SPACE


class WordsField(SettingField):
    """Whose words models are asked in; a click opens the page. `task`: the method whose words they are."""

    def __init__(self, each: Described) -> None:
        self._button, self._text, self.task = PushButton(), "", FIRST_KIND.name
        super().__init__(each, self._button)
        self._button.clicked.connect(self._open)

    def _open(self) -> None:
        page = PromptWords(self.task, self._text, self._button.window())
        if show_modal(page):
            self._put(page.words)
            self.changed.emit()

    def _put(self, value: Any) -> None:
        self._text = str(value or "")
        self._button.setText("Your own words…" if self._text else "The program's own…")

    def _read(self) -> str:
        return self._text


class PromptWords(QDialog):
    """Shows what models are asked, and takes other words. `words`: what was changed, as TOML."""

    def __init__(self, task: str, own: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Words of the prompts")
        self._task, self.words = task, own
        self.problem = label(role="bad", wrap=True)
        self.problem.hide()
        self.boxes: dict[str, QPlainTextEdit] = {}
        fixed = ", ".join(kind.title for kind in TASKS.values() if not kind.has("prompts"))
        about = (
            "Models that talk are asked so, after three worked examples; those that go on writing code, or fill a gap, "
            "are asked without words. A run keeps its words, and a comparison names those that differ. "
            f"The prompts of the other tasks have fixed words: {fixed}."
        )
        parts: list[QWidget] = [label(about, "muted", wrap=True)]
        for each in self._instructions():
            self.boxes[each.key] = box = QPlainTextEdit(each.text.strip("\n"), tabChangesFocus=True)
            box.setAccessibleName(each.title)
            box.setProperty("role", "field")
            write_fixed(box, 9)
            box.setMinimumHeight(box.fontMetrics().lineSpacing() * (3 if not each.needs else 6))
            needs = " and ".join(f"{{{name}}}" for name in each.needs)
            parts += [label(f"{each.title}{f': needs {needs}' if needs else ''}", "heading"), box]
        body = column(*parts, spacing=SPACE)
        for at, part in enumerate(parts):
            body.setStretch(at, 2 * isinstance(part, QPlainTextEdit) - (at == 2))
        column(body, self.problem, self._buttons(), margins=DIALOG, spacing=SPACE * 2, owner=self)
        open_at(self, 760, 680)
        keep_on_screen(self)

    def _instructions(self) -> list[Any]:
        try:
            return list(instructions(self._task, self.words))
        except UserError as error:  # words of another method, or of a file that was wrong
            self._say(error.problem)
            self.words = ""
            return list(instructions(self._task))

    def _buttons(self) -> QDialogButtonBox:
        standard = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(standard.Ok | standard.Cancel | standard.RestoreDefaults)
        buttons.button(standard.RestoreDefaults).setText("The program's own")
        buttons.button(standard.RestoreDefaults).clicked.connect(self._restore)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        return buttons

    def _restore(self) -> None:
        self.words = ""
        for each in instructions(self._task):
            self.boxes[each.key].setPlainText(each.text.strip("\n"))

    def _accept(self) -> None:
        texts = {key: box.toPlainText() for key, box in self.boxes.items()}
        words = changed(self._task, texts, self.words)
        try:
            words_of(self._task, words)
        except UserError as error:
            self._say(error.problem)
            return
        self.words = words
        self.accept()

    def _say(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.show()
