"""A run about edits in the whole window, over a repository that holds no Python at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from edit_runs import StoredEdits, history, store_edits
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QLabel, QWidget
from stored_run import show_figure
from themes import light
from waiting import wait_until

from rtc_inspector.core.run.results import open_reader
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.panels.pieces import Badge
from rtc_inspector.ui.report.page import render
from rtc_inspector.ui.shell.remembered import Remembered


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> StoredEdits:
    folder = tmp_path_factory.mktemp("edits")
    builder = history(folder / "shapes", commits=8)
    builder.check_out()
    return store_edits(builder.root, folder / "runs.sqlite", 6)


@pytest.fixture(scope="module")
def window(qapp: QApplication, case: StoredEdits, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MainWindow]:
    ini = tmp_path_factory.mktemp("remembered") / "settings.ini"
    made = MainWindow(light(qapp), Remembered(QSettings(str(ini), QSettings.Format.IniFormat)))
    made.resize(1280, 800)
    made.show()
    made.open_database(case.database, case.root)
    made.open_project(case.root)
    wait_until(lambda: made.inspection.run is not None and made.project.codebase is not None)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def test_a_project_of_another_language_opens(window: MainWindow, case: StoredEdits) -> None:
    assert window.project.codebase is not None and not window.project.codebase.files
    assert window.parts.notices.problem.text() == ""
    assert window.parts.bar.project.value == str(case.root)


def test_an_edit_is_shown_in_its_file_as_it_was_before(window: MainWindow, case: StoredEdits) -> None:
    item, code = case.items()[0], window.parts.code
    window.browsing.choose(item.id)
    name = f"{item.origin['commit'][:10]}^:{item.path}"
    wait_until(lambda: code.path == name and code.source.text.count("\n") > 20)
    block = code.editor.blocks[0]
    assert code.source.line(block.first + 3).startswith("value_") and "improved(0" not in code.source.text
    assert code.source.text[block.item.start : block.item.end] == item.old_text
    assert (block.first + 1, block.moved) == (int(item.origin["old line"]), False)
    assert code.header.about.text() == "before the edit"
    assert window.parts.tree.files.node(window.parts.tree.currentIndex()).path == item.path


def test_old_new_and_predicted_code_are_shown(window: MainWindow, case: StoredEdits) -> None:
    item = case.items()[1]
    window.browsing.choose(item.id)
    wait_until(lambda: window.parts.roundtrip.cards and window.parts.diff.edit.isVisible())
    view = window.parts.diff.edit
    wait_until(lambda: view.columns.description.toPlainText())
    olds, news, _ = (
        "\n".join(line.text for line in pane.lines if line.side is not None) for pane in view.columns.sides
    )
    assert (olds, news) == (item.old_text, item.text)


def test_next_and_previous_go_through_the_edits_of_all_files(window: MainWindow, case: StoredEdits) -> None:
    code, seen = window.parts.code, set()
    window.browsing.choose(case.items()[0].id)
    while code.go(-1):
        wait_until(lambda: code.path)
    for _ in case.items():
        assert window.inspection.item is not None
        seen.add(window.inspection.item.id)
        code.go(1)
    assert seen == {item.id for item in case.items()}


def test_a_file_chosen_in_the_tree_shows_its_first_edit(window: MainWindow, case: StoredEdits) -> None:
    first = next(item for item in case.items() if item.path == "web/app.js")
    window.parts.tree.file_chosen.emit("web/app.js")
    assert window.inspection.item is not None and window.inspection.item.id == first.id


def test_the_history_marks_sampled_edits_and_leads_to_them(window: MainWindow, case: StoredEdits) -> None:
    panel, items = window.parts.history, case.items()
    window.commands["history"].trigger()
    wait_until(lambda: panel.commits.rowCount() == 9)
    assert panel.count.text() == "9 commits"
    rows = {item.id: panel.commits.row_of(item.origin["commit"]) for item in items}
    assert None not in rows.values()
    index = panel.commits.index(rows[items[2].id] or 0, 4)
    assert index.data() == items[2].tally
    assert index.siblingAtColumn(0).data(Qt.ItemDataRole.DecorationRole) is not None
    assert "Improve value" in index.siblingAtColumn(3).data()
    panel.table.setFocus()
    panel.table.setCurrentIndex(index)
    wait_until(lambda: window.inspection.item is not None and window.inspection.item.id == items[2].id)
    window.browsing.choose(items[4].id)
    assert panel.table.currentIndex().row() == rows[items[4].id]


def test_the_history_is_filtered_by_words_and_by_what_was_sampled(window: MainWindow, case: StoredEdits) -> None:
    panel = window.parts.history
    window.parts.tabs.setCurrentWidget(panel)
    wait_until(lambda: panel.commits.total == 9)
    QTest.keyClicks(panel.words, f"ADA improve {case.items()[1].origin['commit'][:12]}")
    wait_until(lambda: panel.commits.rowCount() == 1)
    assert panel.count.text() == "1 of 9 commits"
    panel.words.clear()
    panel.sampled.setChecked(True)
    assert panel.commits.rowCount() == 6
    panel.sampled.setChecked(False)
    assert panel.commits.rowCount() == 9


def test_a_run_about_edits_says_edits(window: MainWindow, case: StoredEdits) -> None:
    window.browsing.choose(case.items()[0].id)
    wait_until(lambda: window.parts.roundtrip.cards)
    said: set[str] = set()
    for tab in range(window.parts.tabs.count()):
        window.parts.tabs.setCurrentIndex(tab)
        wait_until(lambda: not window.gateway._waiting)
        seen = (widget for widget in window.findChildren(QWidget) if widget.isVisibleTo(window))
        said |= {text for widget in seen for text in words(widget)}
    assert "6/6 edits" in window.parts.status.summary.text()
    assert "EDITS" in said and "exact match" in {badge.text for badge in window.findChildren(Badge)}
    assert not [text for text in said if "region" in text.lower() and "edit" not in text.lower()]


def words(widget: QWidget) -> list[str]:
    """What a widget says: its text, and its name to screen readers."""
    shown = [widget.accessibleName()]
    if isinstance(widget, (QLabel, QAbstractButton)):
        shown.append(widget.text())
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        model = widget.model()
        columns = range(model.columnCount())
        shown += [str(model.headerData(at, Qt.Orientation.Horizontal) or "") for at in columns]
    return shown


def test_scores_by_kind_stand_in_the_run_panel(window: MainWindow, case: StoredEdits, qapp: QApplication) -> None:
    panel = window.parts.run
    window.parts.tabs.setCurrentWidget(panel)
    wait_until(lambda: any(figure.name == "facets" for figure in panel.drawings.figures))
    show_figure(panel.drawings, "facets")
    rows = [line.split(",") for line in panel.drawings.view.csv().splitlines()]
    assert {row[0] for row in rows[1:]} == {"language", "change", "size"}
    assert sum(int(row[2]) for row in rows if row[0] == "language") == 6
    show_figure(panel.drawings, "scores")
    assert "BLEU to people's words" in panel.drawings.view.csv()
    window.parts.tabs.setCurrentWidget(window.parts.metrics)
    window.browsing.choose(case.items()[0].id)
    wait_until(lambda: window.parts.metrics.table.isVisible())
    assert window.parts.metrics.model.as_text().startswith(
        "Sample\tVerdict\tExact\tExact, strict\tEDIT-SIM\tBLEU\tchrF\tOld code\n"
    )


def test_the_report_is_about_edits(case: StoredEdits) -> None:
    with open_reader(case.database) as reader:
        page = render(reader, case.run_id)
    assert "Describe an edit of the project" in page and "judged against the edit that people made" in page
    assert "<th>old code</th>" in page and "<th>predicted</th>" in page
    assert "<td>language</td><td>JavaScript</td>" in page and "tests judged" not in page


def test_edits_out_of_a_file_need_no_project(window: MainWindow, case: StoredEdits, tmp_path: Path) -> None:
    file = tmp_path / "edits.jsonl"
    lines = [{"old": f"a = {n}\nb = compute(a)", "new": f"a = {n}\nb = better(a)", "comment": "b"} for n in range(2)]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    stored = store_edits(tmp_path, tmp_path / "file.sqlite", 2, file)
    window.open_database(stored.database)
    wait_until(lambda: window.project.codebase is not None and window.project.codebase.root == tmp_path)
    window.browsing.choose(stored.items()[0].id)
    code = window.parts.code
    wait_until(lambda: code.source.text == stored.items()[0].old_text)
    assert code.header.about.text() == "the stored old code"
    assert window.parts.notices.problem.text() == ""
    window.commands["history"].trigger()
    wait_until(lambda: "is not in a git repository" in window.parts.history.empty.accessibleName())
