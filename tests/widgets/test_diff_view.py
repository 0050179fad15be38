"""The diff view: aligned panes, linked scrolling, stepping, switches, copies."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import shown
from themes import wear
from waiting import wait_until

from rtc_inspector.ui.diff.pane import PAD, Pane
from rtc_inspector.ui.panels.sample_tabs import DiffPanel
from rtc_inspector.ui.style.theme import DARK, LIGHT

ORIGINAL = """if weight > limit:
        weight = limit
    name = 'first'
    total += weight * scale
    return total / max(count, 1)"""
CANDIDATE = """if weight > limit:
        weight = limit
    name = "first"
    total += weight
    log(total)
    return total / count"""


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[DiffPanel]:
    made = DiffPanel()
    shown(made)
    yield made
    made.close()
    made.deleteLater()


def show(panel: DiffPanel) -> None:
    panel.set_pair(ORIGINAL, CANDIDATE, "y1 → x^", "a/b.py", first_line=40, description="Cap the weight.")
    QApplication.processEvents()


def texts(pane: Pane) -> list[str]:
    return [raw(pane, row).rstrip(PAD) for row in range(pane.blockCount())]


def raw(pane: Pane, row: int) -> str:
    return pane.document().findBlockByNumber(row).text()


def signs(pane: Pane) -> str:
    return "".join(line.sign if line.side is not None else "." for line in pane.lines)


def test_without_a_pair_it_says_what_to_do(panel: DiffPanel) -> None:
    assert not panel.view.isVisible()
    assert "once a sample is chosen" in panel._empty.accessibleName()


def test_rows_are_aligned_and_signed(panel: DiffPanel) -> None:
    show(panel)
    columns = panel.view.columns
    assert signs(columns.left) == "  ≈~.~"
    assert signs(columns.right) == "  ≈~+~"
    assert texts(columns.left)[4] == ""
    assert [line.labels for line in columns.right.lines] == [(str(n),) for n in range(40, 46)]


def test_a_region_gets_its_lost_indentation_back(panel: DiffPanel) -> None:
    panel.set_pair("a = 1\n    b = 2", "a = 1\n    b = 3", "", "x.py")
    assert texts(panel.view.columns.left) == ["    a = 1", "    b = 2"]
    assert texts(panel.view.columns.right) == ["    a = 1", "    b = 3"]


def test_one_line_stands_where_several_in_its_place_say_that_it_stood(panel: DiffPanel) -> None:
    panel.set_pair("return a + b", "total = a + b\n    return total", "", "x.py")
    assert texts(panel.view.columns.left)[-1] == "    return a + b"
    assert texts(panel.view.columns.right) == ["    total = a + b", "    return total"]
    panel.set_pair("use(a)", "if a:\n    use(a)", "", "x.py")
    assert texts(panel.view.columns.right) == ["if a:", "    use(a)"]


def test_keys_step_through_changes_of_substance(panel: DiffPanel) -> None:
    show(panel)
    right = panel.view.columns.right
    assert right.row() == 2 or right.row() == 3
    right.setFocus()
    panel.view.form.setChecked(False)
    right.go_to(0)
    QTest.keyClick(right, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert (panel.view.columns.left.row(), right.row()) == (2, 2)
    assert not panel.view.next.isEnabled()
    right.go_to(5)
    QTest.keyClick(right, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert right.row() == 2


def test_mere_form_is_dimmed_until_the_switch_says_otherwise(panel: DiffPanel) -> None:
    show(panel)
    pane = panel.view.columns.left
    assert pane.ground(pane.lines[2]) is None
    dimmed = _colours(pane, 2)
    panel.view.form.setChecked(False)
    assert pane.ground(pane.lines[2]) is not None
    assert dimmed == {LIGHT.muted}
    assert LIGHT.muted not in _colours(pane, 2)


def _colours(pane: Pane, row: int) -> set[str]:
    """The colours of a row, which gets them when it comes into view."""
    pane.verticalScrollBar().setValue(row)
    QApplication.processEvents()
    layout = pane.document().findBlockByNumber(row).layout()
    return {each.format.foreground().color().name() for each in layout.formats()}


def test_marks_lie_under_tokens(panel: DiffPanel) -> None:
    show(panel)
    layout = panel.view.columns.left.document().findBlockByNumber(3).layout()
    marked = {
        (each.start, each.start + each.length)
        for each in layout.formats()
        if each.format.background().color().name() == LIGHT.deleted_strong
    }
    text = texts(panel.view.columns.left)[3]
    assert "".join(text[a:b] for a, b in sorted(marked)).replace(" ", "") == "*scale"


def test_marks_count_characters_beyond_the_basic_plane(panel: DiffPanel) -> None:
    panel.set_pair("x = '😀😀' + old", "x = '😀😀' + new", "", "x.py")
    QApplication.processEvents()
    block = panel.view.columns.left.document().findBlockByNumber(0)
    marks = [f for f in block.layout().formats() if f.format.background().style() != Qt.BrushStyle.NoBrush]
    assert [(f.start, f.length) for f in marks] == [(13, 3)]


def long_pair() -> tuple[str, str]:
    left = [f"value_{n} = compute({n})" for n in range(600)]
    right = [line if n % 50 else f"{line}  # {'long ' * 60}" for n, line in enumerate(left)]
    return "\n".join(left), "\n".join(right)


@pytest.mark.parametrize("wrap", [False, True])
def test_panes_scroll_as_one_in_both_directions(panel: DiffPanel, wrap: bool) -> None:
    panel.view.wrap.setChecked(wrap)
    panel.set_pair(*long_pair(), "", "x.py")
    QApplication.processEvents()
    left, right = panel.view.columns.left, panel.view.columns.right
    assert left.verticalScrollBar().maximum() == right.verticalScrollBar().maximum() > 500
    left.verticalScrollBar().setValue(123)
    assert right.verticalScrollBar().value() == 123
    right.verticalScrollBar().setValue(321)
    assert left.verticalScrollBar().value() == 321
    assert _tops(left) == _tops(right)


def _tops(pane: Pane) -> list[tuple[int, float]]:
    return [(number, place.top()) for number, place in pane.visible_rows()]


def test_wrapped_rows_stay_aligned_when_the_window_narrows(panel: DiffPanel) -> None:
    panel.view.wrap.setChecked(True)
    panel.set_pair(*long_pair(), "", "x.py")
    panel.resize(500, 400)
    wait_until(lambda: _tops(panel.view.columns.left) == _tops(panel.view.columns.right), what="for alignment")
    panel.view.columns.left.verticalScrollBar().setValue(260)
    assert _tops(panel.view.columns.left) == _tops(panel.view.columns.right)


def test_horizontal_scrolling_is_linked_and_both_show_a_bar(panel: DiffPanel) -> None:
    panel.set_pair("short", "x" * 900, "", "x.py")
    QApplication.processEvents()
    left, right = panel.view.columns.left, panel.view.columns.right
    assert left.viewport().height() == right.viewport().height()
    right.horizontalScrollBar().setValue(200)
    assert right.horizontalScrollBar().value() == 200


def test_one_column_holds_both_texts(panel: DiffPanel) -> None:
    show(panel)
    panel.view.unified.setChecked(True)
    single = panel.view.columns.single
    assert single.isVisible()
    assert [line.sign for line in single.lines] == list("  ---+++++"[:2] + "---" + "++++")
    assert single.lines[0].labels == ("40", "40")
    panel.view.unified.setChecked(False)
    assert panel.view.columns.left.isVisible()


def test_the_description_stands_between_on_demand(panel: DiffPanel) -> None:
    show(panel)
    middle = panel.view.columns.description
    assert not middle.isVisible()
    panel.view.between.setChecked(True)
    assert middle.isVisible() and middle.toPlainText() == "Cap the weight."


def test_copied_selections_hold_neither_fillers_nor_padding(panel: DiffPanel) -> None:
    panel.view.wrap.setChecked(True)
    panel.set_pair("a\nc", "a\nb\nc" + " " * 10 + "x" * 400, "", "x.py")
    QApplication.processEvents()
    left = panel.view.columns.left
    assert raw(left, 2).endswith(PAD)
    left.setFocus()
    left.selectAll()
    left.copy()
    assert QGuiApplication.clipboard().text() == "a\nc"


def test_part_of_a_row_is_copied_as_selected(panel: DiffPanel) -> None:
    panel.set_pair("'😀' + one\ntwo", "'😀' + one\ntwo", "", "x.py")
    left = panel.view.columns.left
    cursor = left.textCursor()
    cursor.setPosition(4)
    cursor.setPosition(left.document().characterCount() - 2, QTextCursor.MoveMode.KeepAnchor)
    left.setTextCursor(cursor)
    left.copy()
    assert QGuiApplication.clipboard().text() == " + one\ntw"


def test_the_copy_menu_gives_the_exact_texts(panel: DiffPanel) -> None:
    show(panel)
    actions = {action.text(): action for action in panel.view.copy.menu().actions()}
    actions["Original"].trigger()
    assert QGuiApplication.clipboard().text().lstrip() == ORIGINAL
    actions["Reconstruction"].trigger()
    assert QGuiApplication.clipboard().text().lstrip() == CANDIDATE
    actions["Difference"].trigger()
    assert "-    total += weight * scale" in QGuiApplication.clipboard().text()


def test_a_line_of_the_file_can_be_shown(panel: DiffPanel) -> None:
    show(panel)
    panel.go_to_line(44)
    assert panel.view.columns.right.row() == 4
    panel.view.unified.setChecked(True)
    panel.go_to_line(45)
    assert texts(panel.view.columns.single)[panel.view.columns.single.row()].endswith("return total / count")


def test_notes_and_summary_say_what_the_rows_cannot(panel: DiffPanel) -> None:
    panel.set_pair("a = 'x'\n", 'a = "x"', "", "x.py")
    assert panel.view.summary.text() == "Same syntax tree: 1 line changed"
    assert "Only the original ends with a line break." in panel.view.note.text()
    panel.set_pair("a", "a", "", "x.py")
    assert panel.view.summary.text() == "Identical"
    assert not panel.view.note.isVisible()


def test_ten_thousand_lines_are_on_screen_within_a_second(panel: DiffPanel) -> None:
    left = [f"    if value_{n % 700} > {n}:  # step {n}" if n % 3 else "" for n in range(10_000)]
    right = [line if n % 17 else line + " changed" for n, line in enumerate(left)]
    started = time.process_time()
    panel.set_pair("\n".join(left), "\n".join(right), "long", "x.py")
    panel.grab()
    assert time.process_time() - started < 1
    assert "Long texts" in panel.view.note.text()


def test_only_texts_that_are_soon_read_are_coloured(panel: DiffPanel) -> None:
    lines = [f"    if value_{n} > {n}:  # step {n}" for n in range(2_000)]
    for text, coloured in (("\n".join(lines[:500]), True), ("\n".join(lines), False)):
        panel.set_pair(text, text, "long", "x.py")
        assert (LIGHT.token(_keyword()) in _colours(panel.view.columns.right, 499)) is coloured


def _keyword() -> object:
    from pygments.token import Keyword

    return Keyword


def test_themes_change_in_place(panel: DiffPanel) -> None:
    show(panel)
    wear(DARK)
    assert DARK.token(_keyword()) in _colours(panel.view.columns.left, 0)
    panel.grab()


def test_a_click_on_the_map_goes_there(panel: DiffPanel) -> None:
    panel.set_pair(*long_pair(), "", "x.py")
    QApplication.processEvents()
    strip = panel.view.columns.map
    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=strip.rect().center())
    assert abs(panel.view.columns.right.row() - 300) <= 2
