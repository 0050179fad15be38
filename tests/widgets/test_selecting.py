"""Selecting code: whole statements, what is known of them, and the two things that can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication
from store_cases import Filled, filled
from waiting import wait_until

from rtc_inspector.core.regions.admission import as_item
from rtc_inspector.core.types import Codebase, SourceFile
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.blocks import SourceText, place
from rtc_inspector.ui.code.view import CodeView
from rtc_inspector.ui.diff.lines import units

PATH = "shop/module_000.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return filled(tmp_path_factory.mktemp("selecting"), items=12)


@pytest.fixture
def view(qapp: QApplication, run: Filled) -> Iterator[CodeView]:
    gateway = Gateway()
    made = CodeView(gateway)
    made.resize(700, 500)
    made.show()
    made.set_codebase(run.codebase())
    made.set_items(run.items())
    made.open_file(PATH)
    yield made
    made.close()
    assert gateway.close()


def select(view: CodeView, start: str, end: str = "") -> None:
    text = view.editor.toPlainText()
    cursor = view.editor.textCursor()
    cursor.setPosition(units(text[: text.index(start)]))
    stop = text.index(end or start) + len(end or start)
    cursor.setPosition(units(text[:stop]), QTextCursor.MoveMode.KeepAnchor)
    view.editor.setTextCursor(cursor)


def test_a_selection_becomes_whole_statements(view: CodeView) -> None:
    select(view, "sum(prices)", "discount = subto")
    wait_until(view.probe_bar.isVisible)
    region = view.selecting.region
    assert region is not None
    assert region.text == "subtotal = sum(prices)\n    discount = subtotal * rate"
    assert view.probe_bar.place.text() == f"Lines {region.start_line}–{region.end_line}"
    asked: list[tuple[str, int, int]] = []
    view.selecting.probe_asked.connect(lambda *of: asked.append(of))
    view.selecting.check_asked.connect(lambda *of: asked.append(of))
    view.probe_bar.check.click()
    view.probe_bar.probe.click()
    assert asked == [(PATH, region.span.start, region.span.end)] * 2


def test_a_region_of_the_run_is_known_at_once(view: CodeView, run: Filled) -> None:
    item = next(item for item in run.items() if item.admitted and "subtotal" in item.text)
    select(view, "subtotal = sum", "subtotal -= discount")
    wait_until(view.probe_bar.isVisible)
    assert view.selecting.region is not None and view.selecting.region.span.start == item.start
    assert view.probe_bar.said.text().startswith("A region of this run: ")


def test_what_the_tests_say_stands_beside_the_selection(view: CodeView) -> None:
    select(view, "discount = subtotal")
    wait_until(view.probe_bar.isVisible)
    region = view.selecting.region
    assert region is not None
    view.selecting.check()
    assert view.probe_bar.said.text() == "Asking the tests…"
    view.selecting.show_answer(as_item(region, "no test covers it"))
    assert view.probe_bar.said.text() == "No test covers it."
    view.selecting.check()
    view.selecting.settle()
    assert "run the round trip" in view.probe_bar.said.text()


def test_without_a_selection_there_is_no_bar(view: CodeView) -> None:
    select(view, "subtotal")
    wait_until(view.probe_bar.isVisible)
    view.editor.show_line(3)
    wait_until(lambda: not view.probe_bar.isVisible())
    assert view.selecting.region is None


def test_comments_and_tests_cannot_be_tried(view: CodeView) -> None:
    files = tuple(
        SourceFile(f"{name}.py", "# a remark\n\nx = 1\n", "utf-8", name == "tests") for name in ("code", "tests")
    )
    view.set_codebase(Codebase(Path("/nowhere"), files, ()))
    view.open_file("code.py")
    select(view, "remark")
    wait_until(view.probe_bar.isVisible)
    assert view.probe_bar.said.text() == "No statement is selected."
    assert not view.probe_bar.probe.isVisible()
    view.open_file("tests.py")
    select(view, "x = 1")
    wait_until(lambda: "tests" in view.probe_bar.said.text())


def test_positions_count_characters_not_units(view: CodeView) -> None:
    text = 'a = "\U0001f600\U0001f600"\nb = 2\n'
    view.set_codebase(Codebase(Path("/nowhere"), (SourceFile("code.py", text, "utf-8", False),), ()))
    view.open_file("code.py")
    select(view, "b = 2")
    wait_until(view.probe_bar.isVisible)
    assert view.selecting.region is not None
    assert view.selecting.region.text == "b = 2"


def test_what_was_tried_by_hand_says_so_in_the_code(run: Filled) -> None:
    item = next(item for item in run.items() if item.tally and item.path == PATH)
    text = SourceText(run.codebase().file(PATH).text)
    (block,) = place([replace(item, extra=True)], text).blocks
    assert block.tag == f"by hand {item.tally}"
