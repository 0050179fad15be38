"""The page of the run dialog on which a person changes the words that models are asked in."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QLabel

from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.words import words_of
from rtc_inspector.ui.shell.run_dialog import RunDialog
from rtc_inspector.ui.shell.setting_fields import PromptWords


@pytest.mark.parametrize("task", ["synthesis", "editing"])
def test_words_are_shown_changed_refused_and_put_back(qapp: QApplication, task: str) -> None:
    page = PromptWords(task)
    about = page.findChildren(QLabel)[0].text()
    assert "fixed words: " in about and "Cosmetic" in about and "Chain" in about
    given = words_of(task)
    assert page.boxes["forward.question"].toPlainText() == given["forward"]["question"].strip("\n")
    asked = page.boxes["backward.question"].toPlainText()
    page.boxes["backward.question"].setPlainText("Write it.")
    page._accept()
    assert not page.result() and "backward.question lacks {" in page.problem.text()
    page.boxes["backward.question"].setPlainText(f"Bitte.\n{asked}")
    page._accept()
    assert page.result() and words_of(task, page.words)["backward"]["question"] == f"Bitte.\n{asked}"
    again = PromptWords(task, page.words)
    assert again.boxes["backward.question"].toPlainText().startswith("Bitte.")
    buttons = again.findChild(QDialogButtonBox)
    assert buttons is not None
    buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults).click()
    again._accept()
    assert again.words == ""


def test_the_run_dialog_gives_a_run_the_words_of_the_page(qapp: QApplication) -> None:
    dialog = RunDialog(RunSettings())
    dialog.show()

    def answer() -> None:
        page = QApplication.activeModalWidget()
        assert isinstance(page, PromptWords)
        page.boxes["system"].setPlainText("Be brief.")
        page._accept()

    QTimer.singleShot(0, answer)
    dialog.words.box.click()
    assert dialog.settings().prompts == 'system = "Be brief."\n'
    assert dialog.words.box.text() == "Your own words…"
    dialog.task.setCurrentIndex(dialog.task.findData("chain"))
    assert not dialog.words.box.isVisible() and dialog.task.toolTip().endswith("fixed words.")
    dialog.close()
