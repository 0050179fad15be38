"""Old, new and predicted code of an edit: how they are aligned, and how the view shows and walks them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from edit_runs import history, store_edits
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import shown
from themes import wear

from rtc_inspector.core.run.results import open_reader
from rtc_inspector.ui.diff.rows import EditDiff, ShownEdit, compare_edit
from rtc_inspector.ui.labels.panel import LabelSubject
from rtc_inspector.ui.panels.sample_tabs import DiffPanel
from rtc_inspector.ui.style.theme import DARK

OLD = "def f(a):\n    log(a)\n    b = a + 1\n    return b\n"
NEW = "def f(a):\n    check(a)\n    b = a + 1\n    return b * 2\n"
HALF = "def f(a):\n    check(a)\n    b = a + 1\n    return b\n"
EDIT = ShownEdit(OLD, NEW, HALF, "reconstruction", "f.go", 40, 38, "Check a, and double what is returned.")


@pytest.fixture
def panel(qapp: QApplication) -> DiffPanel:
    made = DiffPanel()
    made.set_edit(EDIT)
    shown(made, 1000, 360)
    return made


def said(diff: EditDiff) -> list[tuple[str | None, str | None, str | None, str]]:
    def text(cell: object) -> str | None:
        return getattr(cell, "text", None)

    return [(text(row.old), text(row.new), text(row.predicted), row.prediction.value) for row in diff.rows]


def test_each_line_of_the_answer_is_told_apart() -> None:
    old, new = "a\nb = 1\nc\n", "a\nb = 2\nc\n"
    for line, made in (("b = 2", "done"), ("b = 2  ", "done"), ("b = 1", "kept"), ("b = 3", "other")):
        row = said(compare_edit(old, new, f"a\n{line}\nc\n"))[1]
        assert row == ("b = 1", "b = 2", line, made)
    assert said(compare_edit("a\nc\n", "a\nb\nc\n", "a\nc\n"))[1] == (None, "b", None, "missing")
    assert {row[3] for row in said(compare_edit("a\nc\n", "a\nb\nc\n", "a\nb\nc\n"))} == {"same", "done"}


def test_a_deleted_line_that_stays_is_the_old_code_and_one_made_up_is_neither() -> None:
    assert said(compare_edit("a\nb\nc", "a\nc", "a\nb\nc")) == [
        ("a", "a", "a", "same"),
        ("b", None, "b", "kept"),
        ("c", "c", "c", "same"),
    ]
    assert said(compare_edit("a\nb\nc", "a\nc", "a\nc"))[1] == ("b", None, None, "done")
    assert said(compare_edit("a\nc", "a\nd", "a\nzzz\nd"))[1] == (None, None, "zzz", "other")


@pytest.mark.parametrize("predicted", ["", NEW, OLD, HALF, NEW + OLD, "x\n" * 50])
def test_no_line_is_lost(predicted: str) -> None:
    rows = said(compare_edit(OLD, NEW, predicted))
    for place, text in enumerate((OLD, NEW, predicted)):
        lines = [row[place] for row in rows if row[place] is not None]
        assert lines == (text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else lines)


def test_three_panes_and_the_description_above_them(panel: DiffPanel) -> None:
    view = panel.edit
    assert view.isVisible() and not panel.view.isVisible()
    assert [pane.accessibleName() for pane in view.columns.sides] == ["Old", "New", "Predicted"]
    assert all(pane.isVisible() for pane in view.columns.sides)
    assert view.columns.description.toPlainText() == EDIT.description and view.columns.description.isVisible()
    assert ["".join(line.sign for line in pane.lines).strip() for pane in view.columns.sides] == ["~ ~", "~ ~", "✓ ✗"]
    assert [pane.lines[0].labels for pane in view.columns.sides] == [("38",), ("40",), ("40",)]
    assert view.summary.text() == "Lines: 1 as in the new code, 1 as in the old"
    wear(DARK)
    left = view.columns.left
    assert left.grab().toImage().pixelColor(2, left.height() - 4).name() == DARK.gutter


def test_keys_step_through_the_changes_in_all_panes(panel: DiffPanel) -> None:
    first, second, third = panel.edit.columns.sides
    first.setFocus()
    assert [pane.row() for pane in (first, second, third)] == [1, 1, 1]
    QTest.keyClick(first, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert [pane.row() for pane in (first, second, third)] == [3, 3, 3]
    QTest.keyClick(first, Qt.Key.Key_Tab)
    assert second.hasFocus()
    QTest.keyClick(second, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert third.row() == 1
    panel.go_to_line(43)
    assert third.row() == 3


def test_one_column_shows_the_answer_where_it_differs(panel: DiffPanel) -> None:
    panel.edit.unified.setChecked(True)
    lines = panel.edit.columns.single.lines
    assert [(line.sign, line.text.strip()) for line in lines if line.sign != " "] == [
        ("-", "log(a)"),
        ("+", "check(a)"),
        ("-", "return b"),
        ("+", "return b * 2"),
        ("✗", "return b"),
    ]


def test_before_anything_is_predicted_the_edit_is_shown(panel: DiffPanel) -> None:
    panel.set_edit(replace(EDIT, predicted=None, old_line=None))
    sides = panel.edit.columns.sides
    assert [pane.isVisible() for pane in sides] == [True, True, False]
    assert sides[0].lines[0].labels == ("",)
    assert panel.edit.summary.text() == "not predicted yet"


def test_copies_and_words_for_exact_and_unchanged_answers(panel: DiffPanel, qapp: QApplication) -> None:
    panel.set_edit(replace(EDIT, predicted=NEW))
    assert panel.edit.summary.text() == "As the new code"
    panel.set_edit(replace(EDIT, predicted=NEW.replace("(a)\n", "(a) \n")))
    assert panel.edit.summary.text() == "As the new code but for white space at line ends"
    panel.set_edit(replace(EDIT, predicted=OLD))
    assert panel.edit.summary.text() == "The old code, unchanged"
    actions = {action.text(): action for action in panel.edit.copy.menu().actions()}
    actions["The edit"].trigger()
    assert "-    log(a)\n+    check(a)" in qapp.clipboard().text()


def test_who_labels_an_edit_sees_old_new_and_predicted_code(qapp: QApplication, tmp_path: Path) -> None:
    stored = store_edits(history(tmp_path / "shapes", 3).root, tmp_path / "runs.sqlite", 1)
    item = stored.items()[0]
    with open_reader(stored.database) as reader:
        samples = reader.samples(item.id)
    subject = LabelSubject()
    shown(subject, 900, 300)
    described, made = (next(each for each in samples if each.role == role) for role in ("forward", "backward"))
    subject.show_subject(item, made, described.text)
    assert [pane.isVisible() for pane in subject.edit.sides] == [True, True, True]
    assert not subject.columns.isVisible() and not subject.original.isVisible()
    subject.show_subject(item, described, "")
    assert [pane.isVisible() for pane in subject.edit.sides] == [True, True, False]
    subject.show_subject(replace(item, kind="region", old_text=None), made, described.text)
    assert subject.columns.isVisible() and not subject.edit.isVisible()


def test_a_pane_that_is_hidden_makes_no_row_taller(qapp: QApplication) -> None:
    panel = DiffPanel()
    panel.set_edit(replace(EDIT, old="a = compute(1, 2, 3)\nb", new="a = compute(1, 2, 3)\nc", predicted=None))
    shown(panel, 1000, 360)
    QTest.qWait(100)
    assert not any(panel.edit.columns.left.padding)
