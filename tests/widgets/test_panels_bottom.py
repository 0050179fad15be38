"""Tests, prompt and metrics panels over stored rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTableView
from stored_run import StoredRun, shown, stored_run
from themes import wear

from rtc_inspector.core.types import TestResult
from rtc_inspector.ui.panels.sample_tabs import MetricsPanel, PromptPanel, TestsPanel, lines_through
from rtc_inspector.ui.style.tables import FRACTION
from rtc_inspector.ui.style.theme import DARK, LIGHT

TRACEBACK = """Traceback (most recent call last):
  File "/scratch/tests/test_cart.py", line 31, in test_mean
    assert mean(w) == 1.5
  File "/scratch/shop/cart.py", line 121, in mean
    return total / len(window)
  File "/scratch/other/shop/cart.pyx", line 7, in other
ZeroDivisionError: division by zero"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    with stored_run(Path(tmp_path_factory.mktemp("bottom"))) as run:
        yield run


@pytest.fixture
def tests_panel(qapp: QApplication) -> Iterator[TestsPanel]:
    made = TestsPanel()
    shown(made)
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def prompt_panel(qapp: QApplication) -> Iterator[PromptPanel]:
    made = PromptPanel()
    shown(made)
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def metrics_panel(qapp: QApplication) -> Iterator[MetricsPanel]:
    made = MetricsPanel()
    shown(made)
    yield made
    made.close()
    made.deleteLater()


def cells(table: QTableView) -> list[list[str]]:
    model = table.model()
    return [[model.index(r, c).data() for c in range(model.columnCount())] for r in range(model.rowCount())]


def show_failure(panel: TestsPanel, stored: StoredRun) -> list[TestResult]:
    sample = stored.code_with("fail")
    assert sample.verdict is not None
    tests = stored.reader.tests(sample.verdict.id)
    panel.set_verdict(sample.verdict, tests, covering=len(tests))
    return tests


def test_tests_are_listed_with_sign_word_and_message(tests_panel: TestsPanel, stored: StoredRun) -> None:
    show_failure(tests_panel, stored)
    assert tests_panel.badge.text == "✗ FAIL 1 of 3"
    rows = cells(tests_panel.table)
    assert [row[0] for row in rows] == ["✓ passed", "✓ passed", "✗ failed"]
    assert rows[2][1] == "tests/test_module.py::test_2"
    assert rows[2][3] == "AssertionError: assert 3 == 4"


def test_the_first_failure_is_chosen_and_its_message_shown(tests_panel: TestsPanel, stored: StoredRun) -> None:
    tests = show_failure(tests_panel, stored)
    assert tests_panel.table.currentIndex().row() == 2
    assert tests_panel.message.edit.toPlainText() == tests[2].message
    tests_panel.table.setFocus()
    QTest.keyClick(tests_panel.table, Qt.Key.Key_Up)
    assert tests_panel.message.edit.toPlainText() == ""
    assert tests_panel.message.edit.placeholderText() == "This test left no message."


def test_filters_by_failure_and_by_text(tests_panel: TestsPanel, stored: StoredRun) -> None:
    show_failure(tests_panel, stored)
    tests_panel.failing.click()
    assert [row[0] for row in cells(tests_panel.table)] == ["✗ failed"]
    tests_panel.failing.click()
    QTest.keyClicks(tests_panel.search, "TEST_1")
    assert [row[1] for row in cells(tests_panel.table)] == ["tests/test_module.py::test_1"]


def test_an_update_of_the_same_verdict_keeps_the_choice(tests_panel: TestsPanel, stored: StoredRun) -> None:
    tests = show_failure(tests_panel, stored)
    tests_panel.table.selectRow(0)
    tests_panel.set_verdict(tests_panel._verdict, tests)
    assert tests_panel.table.currentIndex().row() == 0


def test_sorting_by_seconds_is_by_number(tests_panel: TestsPanel, stored: StoredRun) -> None:
    verdict = stored.code_with("pass").verdict
    times = (10.5, 9.25, 0.5)
    tests_panel.set_verdict(verdict, [TestResult(f"t.py::t{n}", "passed", "", s) for n, s in enumerate(times)])
    tests_panel.table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert [row[2] for row in cells(tests_panel.table)] == ["0.500", "9.250", "10.5"]


def test_failing_tests_are_copied_with_their_messages(tests_panel: TestsPanel, stored: StoredRun) -> None:
    show_failure(tests_panel, stored)
    tests_panel.copy.menu().actions()[0].trigger()
    said = "FAILED tests/test_module.py::test_2\nAssertionError: assert 3 == 4"
    assert QGuiApplication.clipboard().text() == said


def test_a_traceback_leads_to_the_line_of_the_candidate(tests_panel: TestsPanel, stored: StoredRun) -> None:
    verdict = stored.code_with("fail").verdict
    wanted: list[int] = []
    tests_panel.line_requested.connect(wanted.append)
    failed = [TestResult("t.py::t", "failed", TRACEBACK, 0.1)]
    tests_panel.set_verdict(verdict, failed, path="shop/cart.py", span=range(118, 124))
    assert tests_panel.jump.text() == "→ line 121"
    tests_panel.jump.click()
    assert wanted == [121]
    tests_panel.set_verdict(verdict, failed, path="shop/cart.py", span=range(1, 5))
    assert not tests_panel.jump.isVisible()


def test_tracebacks_in_pytest_short_form_are_read_too() -> None:
    short = "tests/test_cart.py:3: in test\n    mean()\nshop/cart.py:9: ZeroDivisionError"
    assert lines_through(short, "shop/cart.py") == [9]
    assert lines_through(TRACEBACK, "shop/cart.py") == [121]
    assert lines_through(TRACEBACK, "cart.p") == []


def test_places_named_from_the_root_are_the_very_file() -> None:
    message = 'KeyError: 1\n  File "shop/cart.py", line 9, in mean\n  File "old/shop/cart.py", line 3, in mean'
    assert lines_through(message, "shop/cart.py") == [9]


def test_without_a_verdict_it_says_what_to_do(tests_panel: TestsPanel) -> None:
    tests_panel.set_verdict(None, [])
    assert tests_panel._empty.isVisible() and not tests_panel.table.isVisible()


def test_prompt_answer_and_extraction_stand_exactly_as_stored(prompt_panel: PromptPanel, stored: StoredRun) -> None:
    sample = stored.code_with("pass")
    prompt = stored.reader.prompt(sample.prompt_hash)
    prompt_panel.set_sample(sample, prompt)
    assert prompt_panel.prompt.edit.toPlainText() == prompt
    assert prompt_panel.raw.edit.toPlainText() == sample.raw_text
    assert prompt_panel.extracted.edit.toPlainText() == sample.text
    assert prompt_panel.extracted.detail.text() == "fence → reindented"
    figures = prompt_panel.figures.text()
    assert f"seed {sample.seed}" in figures and "temperature 0.1" in figures and "ended by stop" in figures
    assert prompt_panel.prompt.edit.isReadOnly()


def test_everything_about_a_sample_is_copied(prompt_panel: PromptPanel, stored: StoredRun) -> None:
    sample = replace(stored.code_with("pass"), truncated=True)
    prompt = stored.reader.prompt(sample.prompt_hash)
    prompt_panel.set_sample(sample, prompt)
    prompt_panel.copy.menu().actions()[0].trigger()
    copied = QGuiApplication.clipboard().text()
    assert prompt in copied and sample.raw_text in copied and str(sample.seed) in copied
    assert prompt_panel.short.text == "⚠ file shortened"


def test_scores_of_code_samples_are_listed_with_bars(metrics_panel: MetricsPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    samples = stored.samples(item)
    metrics_panel.set_samples(item, samples)
    rows = cells(metrics_panel.table)
    assert [row[0] for row in rows] == [
        *(f"Description {n} (y{n}) → Reconstruction (x̂)" for n in (1, 2, 3)),
        "Baseline (ε)",
    ]
    first = samples[1]
    model = metrics_panel.table.model()
    heads = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(model.columnCount())]
    place = heads.index("EDIT-SIM")
    assert rows[0][place] == f"{first.scores['edit_sim']:.3f}"
    assert model.index(0, place).data(FRACTION) == pytest.approx(first.scores["edit_sim"])
    assert rows[0][2] == ("✓ yes" if first.scores["exact_match"] else "✗ no")


def test_scores_not_there_yet_are_dashes(metrics_panel: MetricsPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    metrics_panel.set_samples(item, [replace(sample, scores={}) for sample in stored.samples(item)])
    assert cells(metrics_panel.table)[0][2:7] == ["–"] * 5


def test_a_row_picked_by_key_is_an_intent(metrics_panel: MetricsPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    samples = stored.samples(item)
    metrics_panel.set_samples(item, samples)
    picked: list[int] = []
    metrics_panel.sample_selected.connect(picked.append)
    metrics_panel.table.setFocus()
    QTest.keyClick(metrics_panel.table, Qt.Key.Key_Down)
    assert picked[-1:] and picked[-1] in {sample.id for sample in samples}


def test_every_column_is_explained(metrics_panel: MetricsPanel) -> None:
    model = metrics_panel.model
    tips = [
        model.headerData(c, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        for c in range(2, model.columnCount())
    ]
    assert all(tips)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_panels_change_their_theme_with_rows_on_show(
    tests_panel: TestsPanel,
    prompt_panel: PromptPanel,
    metrics_panel: MetricsPanel,
    stored: StoredRun,
    theme: object,
) -> None:
    show_failure(tests_panel, stored)
    item = stored.admitted()
    metrics_panel.set_samples(item, stored.samples(item))
    prompt_panel.set_sample(stored.samples(item)[0], "prompt")
    for panel in (tests_panel, prompt_panel, metrics_panel):
        wear(DARK)
        wear(LIGHT)
        panel.grab()
    wear(DARK)
    colour = tests_panel.table.model().index(2, 0).data(Qt.ItemDataRole.ForegroundRole)
    assert colour.name() == DARK.bad
