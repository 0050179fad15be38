"""The code view over real files and a real run: blocks, keys, clicks, files that changed, long files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from store_cases import Filled, filled
from themes import wear
from waiting import wait_until

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import Codebase, SourceFile, Span
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.blocks import SourceText, neighbour, place
from rtc_inspector.ui.code.editor import _paint_strip_mark
from rtc_inspector.ui.code.view import CodeView
from rtc_inspector.ui.style.region_state import RegionState
from rtc_inspector.ui.style.theme import DARK, LIGHT

PATH = "shop/module_000.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return filled(tmp_path_factory.mktemp("code"), items=60)


@pytest.fixture
def view(qapp: QApplication, run: Filled) -> Iterator[CodeView]:
    gateway = Gateway()
    made = CodeView(gateway)
    made.resize(700, 500)
    made.show()
    made.activateWindow()
    made.set_codebase(run.codebase())
    made.set_items(run.items())
    made.open_file(PATH)
    yield made
    made.close()
    assert gateway.close()


def here(run: Filled) -> list[ItemRow]:
    return sorted((each for each in run.items() if each.path == PATH and each.admitted), key=lambda each: each.start)


def listen(view: CodeView) -> list[int]:
    heard: list[int] = []
    view.item_chosen.connect(heard.append)
    return heard


def test_every_region_stands_on_the_lines_the_store_names(view: CodeView, run: Filled) -> None:
    blocks = view.editor.blocks
    assert [(block.item.id, block.first + 1, block.last + 1) for block in blocks] == [
        (item.id, item.start_line, item.end_line) for item in here(run)
    ]
    assert {block.indent for block in blocks} == {4}


def test_the_editor_shows_the_file_and_cannot_change_it(view: CodeView, run: Filled) -> None:
    assert view.editor.toPlainText() == run.codebase().file(PATH).text
    QTest.keyClicks(view.editor, "xyz")
    assert view.editor.toPlainText() == run.codebase().file(PATH).text


def test_dropped_regions_are_drawn_when_asked_for(view: CodeView, run: Filled) -> None:
    dropped = [item for item in run.items() if item.path == PATH and not item.admitted]
    assert dropped
    view.header.dropped.click()
    states = [block.state for block in view.editor.blocks]
    assert states.count(RegionState.DROPPED) == len(dropped)


def test_a_dropped_region_is_shown_as_long_as_it_is_chosen(view: CodeView, run: Filled) -> None:
    dropped = next(item for item in run.items() if not item.admitted)
    view.show_item(dropped)
    assert dropped.id in {block.item.id for block in view.editor.blocks}
    view.show_item(next(item for item in run.items() if item.admitted))
    assert dropped.id not in {block.item.id for block in view.editor.blocks}
    assert not view.header.dropped.isChecked()


def test_region_is_tinted_and_the_line_above_is_not(view: CodeView, run: Filled) -> None:
    block = next(block for block in view.editor.blocks if block.state is RegionState.PASS)
    view.show_item(block.item)
    image = view.editor.viewport().grab().toImage()
    rect = view.editor.canvas().rect(block)
    x = int(rect.right()) - 60
    inside = image.pixelColor(x, int(rect.bottom()) - 5)
    outside = image.pixelColor(x, int(rect.top()) - 8)
    assert outside == QColor(LIGHT.surface)
    assert inside.green() > inside.red()


def test_keys_go_to_next_and_previous_region(view: CodeView, run: Filled) -> None:
    heard, items = listen(view), here(run)
    view.editor.setFocus()
    wait_until(view.editor.hasFocus)
    view.show_item(items[0])
    QTest.keyClick(view.editor, Qt.Key.Key_N)
    view.show_item(items[1])
    QTest.keyClick(view.editor, Qt.Key.Key_N)
    QTest.keyClick(view.editor, Qt.Key.Key_P)
    assert heard == [items[1].id, items[2].id, items[0].id]


def test_next_failure_skips_passes_and_goes_over_to_the_next_file(view: CodeView, run: Filled) -> None:
    heard, items = listen(view), here(run)
    view.failure_chosen.connect(heard.append)
    failing = [item for item in items if item.state == "done" and item.headline is not None and item.headline < 1]
    view.show_item(failing[0])
    assert view.go(1, failing=True)
    assert heard == [failing[1].id]
    view.show_item(items[-1])
    assert view.go(1)
    other = next(item for item in run.items() if item.id == heard[-1])
    assert other.path == "shop/module_001.py"
    view.show_item(other)
    assert view.go(-1)
    assert heard[-1] == items[-1].id


def test_there_is_nothing_after_the_last_region(view: CodeView, run: Filled) -> None:
    last = max((item for item in run.items() if item.admitted), key=lambda item: (item.path, item.start))
    view.show_item(last)
    heard = listen(view)
    assert not view.go(1)
    assert heard == []


def test_a_click_selects_the_region_and_a_drag_does_not(view: CodeView, run: Filled) -> None:
    heard = listen(view)
    block = view.editor.blocks[0]
    view.show_item(block.item)
    middle = view.editor.canvas().rect(block).center().toPoint()
    QTest.mouseClick(view.editor.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert heard == [block.item.id]
    start, end = middle - QPoint(120, 0), middle
    QTest.mousePress(view.editor.viewport(), Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view.editor.viewport(), end)
    QTest.mouseRelease(view.editor.viewport(), Qt.MouseButton.LeftButton, pos=end)
    assert view.editor.textCursor().hasSelection() == (heard == [block.item.id])


def test_resting_on_a_region_opens_its_card(view: CodeView, run: Filled) -> None:
    block = next(block for block in view.editor.blocks if block.item.tally)
    view.show_item(block.item)
    centre = view.editor.canvas().rect(block).center()
    QTest.mouseMove(view.editor.viewport(), centre.toPoint())
    card = view.editor._card
    wait_until(card.isVisible)
    assert f"Lines {block.first + 1}" in card.title.text()
    assert f"{block.item.headline:.2f}" in card.scores.text()
    assert str(len(block.item.tests)) in card.more.text()
    QApplication.sendEvent(view.editor, QEvent(QEvent.Type.Leave))
    assert not card.isVisible()


def test_a_click_on_the_strip_goes_there(view: CodeView) -> None:
    strip = view.editor._strip
    lines: list[int] = []
    strip.line_chosen.connect(lines.append)
    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(5, strip.height() - 10))
    assert lines[0] > view.editor.blockCount() * 0.8
    assert lines[0] in view.editor.visible_lines()


def test_each_state_has_a_shape_of_its_own_in_the_strip(qapp: QApplication) -> None:
    shapes = {}
    for state in RegionState:
        image = QImage(14, 12, QImage.Format.Format_RGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        _paint_strip_mark(painter, QRectF(1, 2, 12, 8), state)
        painter.end()
        shapes[state] = tuple(image.pixelColor(x, y) == QColor("white") for x in range(14) for y in range(12))
    judged = (RegionState.PASS, RegionState.PARTIAL, RegionState.FAIL, RegionState.RUNNING, RegionState.DROPPED)
    assert len({shapes[state] for state in (*judged, RegionState.UNJUDGED)}) == 6


def test_a_moved_region_is_found_and_said_to_have_moved(view: CodeView, run: Filled) -> None:
    codebase = run.codebase()
    changed = [replace(each, text="# one\n# two\n" + each.text) for each in codebase.files]
    view.set_codebase(replace(codebase, files=tuple(changed)))
    first = here(run)[0]
    assert view.editor.blocks[0].first + 1 == first.start_line + 2
    assert "changed since the run" in view.header.about.text()


def test_a_region_that_is_gone_is_counted_and_not_drawn(view: CodeView, run: Filled) -> None:
    codebase, first = run.codebase(), here(run)[0]
    text = codebase.file(PATH).text
    unique = text[: first.start] + "return value" + text[first.end :]
    source = SourceText(unique)
    placed = place(here(run), source)
    assert [item.id for item in placed.gone] == [first.id]


def test_what_was_inserted_in_the_middle_moves_only_what_comes_after(run: Filled) -> None:
    items, text = here(run), run.codebase().file(PATH).text
    middle = items[len(items) // 2].start
    line = text.rindex("\n", 0, middle) + 1
    changed = text[:line] + "    # inserted\n" + text[line:]
    blocks = place(items, SourceText(changed)).blocks
    assert [block.first + 1 - block.item.start_line for block in blocks] == [int(item.start >= line) for item in items]


def test_a_text_that_could_be_in_two_places_is_not_guessed(run: Filled) -> None:
    body = "a = compute(1)\nb = compute(2)\n"
    item = replace(run.items()[0], span=Span(4, 4 + len(body)), text=body)
    placed = place([item], SourceText(f"{body}# between\n{body}"))
    assert placed.gone == (item,)


def test_without_the_project_the_stored_region_is_shown_at_its_line(view: CodeView, run: Filled) -> None:
    view.set_codebase(None)
    item = here(run)[3]
    view.show_item(item)
    assert view.editor.toPlainText() == item.text
    assert view.editor.first_number == item.start_line
    assert "not on this machine" in view.header.about.text()
    assert [block.item.id for block in view.editor.blocks] == [item.id]


def test_windows_line_ends_and_wide_characters_keep_regions_in_place(qapp: QApplication, run: Filled) -> None:
    text = "# 😀 é\r\ndef f(x):\r\n    y = '😀'\r\n    return x + y\r\n"
    start = text.index("y = ")
    base = run.items()[0]
    item = replace(base, path="m.py", span=Span(start, start + 9), text=text[start : start + 9])
    block = place([item], SourceText(text)).blocks[0]
    assert (block.first, block.last, block.indent, block.moved) == (2, 2, 4, False)


def test_find_goes_round_and_says_when_there_is_nothing(view: CodeView) -> None:
    view.find_bar.open_bar()
    QTest.keyClicks(view.find_bar.words, "subtotal")
    first = view.editor.textCursor().position()
    assert view.editor.textCursor().selectedText() == "subtotal"
    QTest.keyClick(view.find_bar.words, Qt.Key.Key_Return)
    assert view.editor.textCursor().position() > first
    QTest.keyClick(view.find_bar.words, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert view.editor.textCursor().position() == first
    for _ in range(5):
        QTest.keyClick(view.find_bar.words, Qt.Key.Key_Return)
    found, line = view.editor.textCursor().position(), view.editor.cursorRect()
    QTest.keyClick(view.find_bar.words, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert view.editor.textCursor().position() == found and view.editor.textCursor().hasSelection()
    assert view.editor.viewport().rect().contains(view.editor.cursorRect()) and line.isValid()
    assert QApplication.focusWidget() is view.editor
    view.find_bar.open_bar()
    view.find_bar.words.setText("no such thing")
    assert not view.find_bar.seek()
    assert "Not in this file" in view.find_bar.found.text()
    QTest.keyClick(view.find_bar.words, Qt.Key.Key_Escape)
    assert not view.find_bar.isVisible()


def test_visible_lines_are_coloured_from_the_theme(view: CodeView) -> None:
    def colours() -> set[str]:
        block = view.editor.document().findBlockByNumber(view.editor.blocks[0].first)
        return {piece.format.foreground().color().name() for piece in block.layout().formats()}

    wait_until(lambda: colours())
    assert colours() <= set(LIGHT.tokens.values())
    wear(DARK)
    view.grab()
    assert colours() and colours() <= set(DARK.tokens.values())


def test_a_long_file_opens_at_once_and_colours_only_what_is_seen(qapp: QApplication) -> None:
    body = "".join(f"def function_{n}(value):\n    return value + {n}\n\n\n" for n in range(12_500))
    gateway = Gateway()
    view = CodeView(gateway)
    view.resize(700, 500)
    view.show()
    view.set_codebase(Codebase(root=None, files=(SourceFile("long.py", body, "utf-8", False),), skipped=()))  # type: ignore[arg-type]
    began = time.perf_counter()
    view.open_file("long.py")
    view.grab()
    assert time.perf_counter() - began < 1.0
    document = view.editor.document()
    wait_until(lambda: document.findBlockByNumber(0).layout().formats(), 20)
    assert not document.findBlockByNumber(40_000).layout().formats()
    view.editor.show_line(40_000)
    view.grab()
    assert document.findBlockByNumber(40_000).layout().formats()
    view.close()
    assert gateway.close()


def test_neighbours_by_line() -> None:
    assert neighbour((), 0, 1) is None


def test_a_path_too_long_for_its_room_is_cut_at_the_front(view: CodeView) -> None:
    view.header.title.show_path("a/very/long/way/down/to/module_with_a_long_name.py")
    view.resize(420, 400)
    QApplication.processEvents()
    text = view.header.title.text()
    assert text.endswith(".py</b>") and "…" in text and "a/very" not in text
    view.resize(1400, 400)
    QApplication.processEvents()
    assert view.header.title.text() == "a/very/long/way/down/to/<b>module_with_a_long_name.py</b>"
