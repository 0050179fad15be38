"""Search in the whole project: what is found, how it is shown, and that keys alone do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from store_cases import filled
from stored_run import shown
from waiting import wait_until

from rtc_inspector.core.types import SourceFile
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.view import CodeView
from rtc_inspector.ui.shell.search import MOST_HITS, Hit, SearchDialog, search


def file(path: str, text: str) -> SourceFile:
    return SourceFile(path, text, "utf-8", False)


def never() -> bool:
    return False


def test_places_are_found_by_line_and_column_in_every_file() -> None:
    files = [file("a.py", "x = 1\r\n\ttotal = '😀' + total\r\n"), file("b.py", "nothing\n"), file("c.py", "Total")]
    hits = search(files, "total", never)
    assert [(hit.path, hit.line, hit.column) for hit in hits] == [("a.py", 1, 1), ("a.py", 1, 16), ("c.py", 0, 0)]
    assert all(hit.shown[hit.start : hit.start + hit.size].lower() == "total" for hit in hits)


def test_capitals_count_if_there_are_any() -> None:
    files = [file("a.py", "Total total TOTAL")]
    assert [hit.column for hit in search(files, "Total", never)] == [0]
    assert len(search(files, "total", never)) == 3


def test_long_lines_show_the_match_and_many_matches_end() -> None:
    (hit,) = search([file("a.py", "a" * 5_000 + "needle" + "b" * 5_000)], "needle", never)
    assert hit.column == 5_000 and hit.shown[hit.start :].startswith("needle") and len(hit.shown) <= 200
    assert len(search([file("a.py", "x\n" * 5_000)], "x", never)) == MOST_HITS + 1


def test_five_thousand_files_are_searched_in_a_moment() -> None:
    text = "".join(f"def function_{n}(value):\n    return value + {n}\n\n\n" for n in range(80))
    files = [file(f"module_{n}.py", text) for n in range(5_000)]
    began = time.thread_time()
    assert not search(files, "no such thing anywhere", never)
    assert time.thread_time() - began < 1.0
    assert not search(files, "value", lambda: True)


@pytest.fixture
def view(qapp: QApplication, tmp_path: Path) -> Iterator[tuple[CodeView, SearchDialog]]:
    case, gateway, owner = filled(tmp_path, items=50), Gateway(), QWidget()
    made = CodeView(gateway)
    made.setParent(owner)
    made.set_codebase(case.codebase())
    dialog = SearchDialog(gateway, lambda: case.codebase().files, owner)
    dialog.hit_chosen.connect(lambda hit: made.show_place(hit.path, hit.line, hit.column, hit.length))
    yield made, dialog
    dialog.close()
    assert gateway.close()


def test_files_that_were_written_for_a_run_go_by_the_names_that_people_know(qapp: QApplication) -> None:
    gateway, owner = Gateway(), QWidget()
    files = [file("problems/c_0006.py", "total = 1\n")]
    dialog = SearchDialog(gateway, lambda: files, owner, {"problems/c_0006.py": "Pocket/6"}.__getitem__)
    dialog.enter("total")
    wait_until(lambda: dialog.found.rowCount())
    shown = dialog.found.index(0, 0)
    assert shown.data().startswith("Pocket/6:1 ") and dialog._row.detail(dialog.found.shown[0]) == "Pocket/6:1"
    dialog.close()
    assert gateway.close()


def test_keys_alone_find_and_go_there(view: tuple[CodeView, SearchDialog]) -> None:
    code, dialog = view
    shown(dialog)
    dialog.enter("")
    QTest.keyClicks(dialog.words, "subtotal -= discount")
    wait_until(lambda: dialog.found.rowCount())
    assert "places in 2 files" in dialog.said.text()
    QTest.keyClick(dialog.words, Qt.Key.Key_Down)
    hit: Hit = dialog.found.shown[1]
    QTest.keyClick(dialog.words, Qt.Key.Key_Return)
    assert code.path == hit.path
    assert code.editor.textCursor().selectedText() == "subtotal -= discount"
    assert code.editor.textCursor().blockNumber() == hit.line
    assert dialog.isVisible()
    dialog.words.clear()
    QTest.keyClicks(dialog.words, "zzzqqq")
    wait_until(lambda: dialog.said.text() == "Nowhere")
    QTest.keyClick(dialog.words, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
