"""The project tree: heat as colour and number, counts, folders, many files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from store_cases import Filled, filled
from themes import wear

from rtc_inspector.core.store.rows import FileRow
from rtc_inspector.ui.project.tree import (
    NAME,
    NARROWEST_NAME,
    REGIONS,
    SCORE,
    ListedFile,
    ProjectModel,
    ProjectTree,
    listed_files,
)
from rtc_inspector.ui.style.tables import FRACTION
from rtc_inspector.ui.style.theme import DARK, LIGHT


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return filled(tmp_path_factory.mktemp("tree"), items=90)


def test_model_obeys_qt(qapp: QApplication, run: Filled) -> None:
    model = ProjectModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    model.set_files(listed_files(run.codebase()))
    model.set_rows(run.files())
    model.set_rows([])
    model.set_files([])
    assert tester.model() is model


def test_files_show_rtc_and_counts(qapp: QApplication, run: Filled) -> None:
    model = ProjectModel()
    model.set_files(listed_files(run.codebase()))
    model.set_rows(run.files())
    row = run.files()[0]
    index = model.index_of(row.path)
    assert row.measures["rtc"] is not None
    assert index.data() == row.path.rpartition("/")[2]
    assert index.siblingAtColumn(SCORE).data() == f"{row.measures['rtc']:.2f}"
    assert index.siblingAtColumn(SCORE).data(FRACTION) == row.measures["rtc"]
    assert index.siblingAtColumn(REGIONS).data() in (f"{row.done}/{row.items}", str(row.items))


def test_a_folder_has_the_mean_over_its_regions(qapp: QApplication) -> None:
    model = ProjectModel()
    model.set_rows(
        [
            FileRow("a/x.py", 3, 3, {"rtc": 1.0, "lift": 0.5}),
            FileRow("a/b/y.py", 2, 1, {"rtc": 0.0, "lift": -0.5}),
            FileRow("z.py", 1, 0, {}),
        ]
    )
    assert model.index_of("a").siblingAtColumn(SCORE).data() == "0.75"
    assert model.index_of("a").siblingAtColumn(REGIONS).data() == "4/5"
    assert model.index_of("a/b").siblingAtColumn(SCORE).data() == "0.00"
    assert model.index_of("z.py").siblingAtColumn(SCORE).data() == ""
    assert "lift +0.25" in model.index_of("a").data(3)


def test_folders_come_first_then_names(qapp: QApplication) -> None:
    model = ProjectModel()
    model.set_files([ListedFile(path) for path in ("b.py", "A.py", "z/c.py", "a/c.py")])
    assert [model.index(row, NAME).data() for row in range(model.rowCount())] == ["a", "z", "A.py", "b.py"]


def test_tests_and_left_out_files_say_so(qapp: QApplication) -> None:
    model = ProjectModel()
    model.set_files([ListedFile("bad.py", "left out: does not parse"), ListedFile("m.py")])
    assert "does not parse" in model.index_of("bad.py").data(3)
    assert model.index_of("bad.py").data(9).name() == LIGHT.muted
    assert model.index_of("m.py").data(9) is None


def test_choosing_a_file_says_its_path_but_folders_do_not(qapp: QApplication) -> None:
    tree = ProjectTree()
    heard: list[str] = []
    tree.file_chosen.connect(heard.append)
    tree.set_files([ListedFile("a/m.py"), ListedFile("n.py")])
    tree.setCurrentIndex(tree.files.index_of("a"))
    tree.setCurrentIndex(tree.files.index_of("a/m.py"))
    assert heard == ["a/m.py"]
    tree.show_file("n.py")
    assert heard == ["a/m.py"]
    assert tree.currentIndex().data() == "n.py"


def test_folders_with_regions_open_and_stay_open_when_figures_change(qapp: QApplication, run: Filled) -> None:
    tree = ProjectTree()
    tree.set_files(listed_files(run.codebase()))
    tree.set_rows(run.files())
    assert tree.isExpanded(tree.files.index_of("shop"))
    tree.set_rows([*run.files(), FileRow("new/file.py", 1, 0, {})])
    assert tree.isExpanded(tree.files.index_of("shop"))


def test_files_that_a_run_adds_stand_where_a_tree_built_anew_has_them(qapp: QApplication) -> None:
    def shown(model: ProjectModel, parent: QModelIndex) -> list[object]:
        places = (model.index(row, NAME, parent) for row in range(model.rowCount(parent)))
        return [[at.data(), at.siblingAtColumn(REGIONS).data(), shown(model, at)] for at in places]

    grown, anew = ProjectModel(), ProjectModel()
    tester = QAbstractItemModelTester(grown, QAbstractItemModelTester.FailureReportingMode.Fatal)
    files = [ListedFile("b.py"), ListedFile("m/n.py")]
    rows = [FileRow(path, 2, 1, {}) for path in ("m/k.py", "a.py", "m/a/z.py", "c/d.py", "b.py", "m/o.py")]
    for model in (grown, anew):
        model.set_files(files)
    for last in range(1, len(rows) + 1):
        grown.set_rows(rows[:last])
    anew.set_files([])
    anew.set_rows(rows)
    anew.set_files(files)
    assert shown(grown, QModelIndex()) == shown(anew, QModelIndex())
    grown.set_rows([])
    assert grown.index_of("b.py").isValid() and not grown.index_of("a.py").isValid(), "a run's own files leave with it"
    assert tester.model() is grown


def test_names_stay_readable_however_deep_they_stand(qapp: QApplication, run: Filled) -> None:
    tree, deep = ProjectTree(), "a/b/c/d/e/f/measured_values.py"
    tree.resize(332, 300)  # as at 1280 x 800
    tree.set_files([ListedFile(deep)])
    tree.set_rows([replace(run.files()[0], path=deep)])
    tree.show()
    QApplication.processEvents()
    room = tree.visualRect(tree.files.index_of(deep)).width()
    assert room >= NARROWEST_NAME and tree.horizontalScrollBar().maximum() == 0
    assert tree.isColumnHidden(REGIONS) and not tree.isColumnHidden(SCORE), "the score stays, the count is in the tip"
    tree.close()


def test_both_themes_paint(qapp: QApplication, run: Filled) -> None:
    tree = ProjectTree()
    tree.resize(300, 300)
    tree.set_rows(run.files())
    light = tree.grab().toImage()
    wear(DARK)
    assert tree.grab().toImage() != light


def test_five_thousand_files_open(qapp: QApplication, tmp_path: Path) -> None:
    files = [ListedFile(f"package_{n % 50}/part_{n % 7}/module_{n}.py") for n in range(5000)]
    rows = [FileRow(each.path, 3, 2, {"rtc": 0.5, "lift": 0.1}) for each in files]
    tree = ProjectTree()
    tree.resize(300, 600)
    tree.show()
    tree.set_files(files)
    tree.set_rows(rows)
    tree.grab()
    assert tree.files.rowCount() == 50
