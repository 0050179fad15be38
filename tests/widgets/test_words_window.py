"""An item written in words: the dialog that takes it, and how its programs and summaries are shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import model_info, suite
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QDialog
from themes import light
from waiting import wait_until

from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.kinds import for_words
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import DirectiveSettings, RunSettings
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.types import Form, Item, Outcome, Span, Verdict
from rtc_inspector.resources import path as resource
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.presenters import presenter, trace
from rtc_inspector.ui.project.regions import FILE, LINE
from rtc_inspector.ui.run.starting import WordsDialog
from rtc_inspector.ui.shell.remembered import Remembered


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path) -> Iterator[MainWindow]:
    remembered = Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    made = MainWindow(light(qapp), remembered)
    made.show()
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def test_the_dialog_takes_words_and_says_what_cannot_be_used(qapp: QApplication) -> None:
    dialog = WordsDialog(("Add them.", "add them", ""))
    assert dialog.windowTitle() == "Write a directive"
    dialog.words.clear()
    assert not dialog.run.isEnabled()
    dialog.words.setPlainText(" Add them.\n")
    dialog.run.click()
    assert dialog.result() != QDialog.DialogCode.Accepted and "`header` is no `def` line" in dialog.problem.text()
    dialog.header.setText("def add(a, b):")
    dialog.tests.setPlainText("assert add(1, 2) ==")
    dialog.run.click()
    assert dialog.result() != QDialog.DialogCode.Accepted and "`tests` is not Python" in dialog.problem.text()
    dialog.tests.setPlainText("assert add(1, 2) == 3")
    dialog.run.click()
    assert dialog.result() == QDialog.DialogCode.Accepted
    assert dialog.written == ("Add them.", "def add(a, b):", "assert add(1, 2) == 3")
    dialog.deleteLater()


def test_a_run_on_words_leaves_the_windows_settings_alone(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    before, begun = window.control.settings, []

    def accept(dialog: WordsDialog) -> int:
        dialog.words.setPlainText("Add them.")
        return QDialog.DialogCode.Accepted

    monkeypatch.setattr(WordsDialog, "exec", accept)
    monkeypatch.setattr(window.queueing, "start", lambda *asked: begun.append(asked[-1]))
    window.commands["ask"].trigger()
    assert window.control.settings == before
    assert begun == [for_words(before, "Add them.", "", "")]
    assert begun[0].directive.words == "Add them." and begun[0].task != before.task


def test_a_file_of_directives_brings_its_task(window: MainWindow) -> None:
    control, file = window.control, str(resource("directives", "six.jsonl"))
    unfit = control.fit_task(code=True, history=False, benchmark=file)
    assert control.settings.task == "directive" and control.settings.benchmark.file == file
    assert "directive" not in unfit and {"synthesis", "benchmark", "chain"} <= set(unfit)
    control.fit_task(code=True, history=False, benchmark=str(resource("benchmark", "pocket.jsonl")))
    assert control.settings.task == "benchmark"


def stored(database: Path) -> int:
    """A run on one directive, with a program that passes and its summary."""
    settings = RunSettings(task="directive", directive=DirectiveSettings(embedder_name="tiny-embedder"))
    with open_store(database) as store:
        project, info = store.add_project(database.parent, "own", None, False), model_info("m")
        run_id = store.start_run(
            project, settings, info, info, sandbox="similarity", image_digest="", app_version="1", fingerprint="f",
            suite=suite(),
        )  # fmt: skip
        words = "Add the two numbers."
        path = "problems/p_0001.py"
        item = Item("add", "directive", path, Span(0, 20), 1, 1, words, form=Form.TEXT, directive=words)
        item_id = store.add_item(run_id, item)
        program = store.add_sample(item_id, None, made(Role.SOLVE, "return a + b"))
        store.add_verdict(program, Verdict(Outcome.PASS, 0.1, detail="All 1 tests passed."))
        summary = store.add_sample(item_id, program, made(Role.FORWARD, "Returns the sum."))
        for sample in (program, summary):
            store.add_scores(sample, {"cosine": 0.64})
        store.set_measures(item_id, {"cosine": 0.64, "programs": 1.0, "distinct": 1.0}, True)
        store.finish_run(run_id, "finished", [])
    return item_id


def made(role: Role, text: str) -> Sample:
    return Sample(role, 0, "asked", 0, 0.0, text, Extraction(text), 1, 1, 0.1, "stop")


def test_summaries_are_shown_with_their_similarity_and_beside_what_was_asked(
    window: MainWindow, tmp_path: Path
) -> None:
    item_id = stored(tmp_path / "runs.sqlite")
    window.open_database(tmp_path / "runs.sqlite")
    wait_until(lambda: window.inspection.overview is not None and window.inspection.knows(item_id))
    window.browsing.choose(item_id)
    wait_until(lambda: len(window.parts.roundtrip.cards) == 2)
    program, summary = window.parts.roundtrip.cards
    assert "Cosine 0.64" in program.node.against and summary.node.against == ("Cosine 0.64",)
    assert summary.node.name == "Summary 1 (s1)"
    window.parts.roundtrip.select(summary.sample.id)
    view = window.parts.diff.view
    wait_until(lambda: "Returns the sum." in view.columns.right.toPlainText())
    assert "Add the two numbers." in view.columns.left.toPlainText()
    item = window.inspection.item
    assert item is not None
    shown = presenter(item)
    assert (shown.heading(item), shown.headline(item)[0], shown.judged(item)[0]) == (
        "add",
        "similarity 0.64",
        "no tests",
    )
    headings = [pane.accessibleName() for pane in view.columns.panes]
    assert headings == ["Asked", "Made", "Asked and made in one column"]
    assert [action.text() for action in view.copy.menu().actions()] == ["Asked", "Made", "Difference"]
    samples: list[SampleRow] = [card.sample for card in (program, summary)]
    assert [node.depth for node in trace(item, samples)] == [0, 1]


def test_lists_call_it_by_its_name_not_by_a_file_that_was_written_for_the_run(
    window: MainWindow, tmp_path: Path
) -> None:
    item_id = stored(tmp_path / "runs.sqlite")
    window.open_database(tmp_path / "runs.sqlite")
    wait_until(lambda: window.inspection.overview is not None and window.inspection.knows(item_id))
    parts = window.parts
    wait_until(lambda: parts.tree.files.index_of("problems/p_0001.py").isValid())
    row = [parts.regions.regions.index(0, column).data() for column in (FILE, LINE)]
    assert row == ["add", ""]
    assert parts.tree.files.index_of("problems/p_0001.py").data() == "add"
    assert [place.title for place in window.searching.places([])("numbers")] == ["add"]


def test_nobody_is_asked_to_describe_what_takes_no_description(window: MainWindow, tmp_path: Path) -> None:
    item_id = stored(tmp_path / "runs.sqlite")
    window.open_database(tmp_path / "runs.sqlite")
    wait_until(lambda: window.inspection.overview is not None and window.inspection.knows(item_id))
    window.browsing.choose(item_id)
    panel = window.parts.roundtrip
    wait_until(lambda: len(panel.cards) == 2)
    assert not panel.describe.isEnabled() and not window.commands["describe"].isEnabled()
    assert panel.describe.isHidden()
    panel.write_description()
    assert panel.own.isHidden()
