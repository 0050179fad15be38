"""The table of regions: order, filter, selection, and many rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from store_cases import Filled, filled
from themes import wear
from waiting import wait_until

from rtc_inspector.core.kinds import task
from rtc_inspector.core.types import Span
from rtc_inspector.ui.project.regions import (
    DIFFERENCE,
    FILE,
    LINE,
    PASSES,
    SCORE,
    STATE,
    STATES,
    RegionModel,
    RegionTable,
)
from rtc_inspector.ui.style.fonts import elided_path
from rtc_inspector.ui.style.region_state import RegionState, region_state, state_words
from rtc_inspector.ui.style.tables import FRACTION
from rtc_inspector.ui.style.theme import DARK


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return filled(tmp_path_factory.mktemp("regions"), items=90)


@pytest.fixture
def table(qapp: QApplication, run: Filled) -> Iterator[RegionTable]:
    made = RegionTable()
    made.resize(520, 400)
    made.set_items(run.items())
    yield made
    made.close()  # the pointer would find it above the windows of later tests


def test_model_obeys_qt(qapp: QApplication, run: Filled) -> None:
    model = RegionModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    model.set_items(run.items())
    model.sort(SCORE, Qt.SortOrder.DescendingOrder)
    model.filter("module_001")
    model.set_items([])
    assert tester.model() is model


def test_dropped_regions_are_listed_only_when_asked_for(table: RegionTable, run: Filled) -> None:
    admitted = [item for item in run.items() if item.admitted]
    assert len(table.regions.shown) == len(admitted) < len(run.items())
    table.states.setCurrentIndex([name for name, _ in STATES].index("Dropped"))
    assert {region_state(item) for item in table.regions.shown} == {RegionState.DROPPED}
    assert table.count.text() == f"{len(table.regions.shown)} of {len(run.items())}"


def test_cells_say_what_the_store_says(table: RegionTable) -> None:
    item = next(item for item in table.regions.shown if item.headline is not None and item.secondary is not None)
    row = table.regions.row_of(item.id)
    assert row is not None

    def cell(column: int) -> object:
        return table.regions.index(row, column).data()

    assert (cell(FILE), cell(LINE)) == (item.path, str(item.start_line))
    assert (cell(SCORE), cell(DIFFERENCE)) == (f"{item.headline:.2f}", f"{item.secondary:+.2f}")
    assert cell(PASSES) == item.tally
    assert table.regions.index(row, SCORE).data(FRACTION) == item.headline
    assert table.regions.index(row, STATE).data(Qt.ItemDataRole.AccessibleTextRole) == state_words(item)


def test_items_without_a_file_of_the_users_are_listed_as_what_they_are(table: RegionTable, run: Filled) -> None:
    def heads() -> tuple[object, object]:
        across = Qt.Orientation.Horizontal
        return table.regions.headerData(FILE, across), table.regions.headerData(LINE, across)

    assert heads() == ("File", "Line")
    table.set_kind(task("benchmark"))
    table.set_items([replace(item, kind="problem") for item in run.items()])
    assert heads() == ("Problem", "")
    table.set_kind(task("synthesis"))
    table.set_items(run.items())
    assert heads() == ("File", "Line")


@pytest.mark.parametrize("column", range(8))
def test_every_column_sorts_both_ways(table: RegionTable, column: int) -> None:
    table.table.sortByColumn(column, Qt.SortOrder.AscendingOrder)
    up = [item.id for item in table.regions.shown]
    table.table.sortByColumn(column, Qt.SortOrder.DescendingOrder)
    assert [item.id for item in table.regions.shown] == up[::-1]


def test_rtc_sorts_as_numbers_with_unjudged_lowest(table: RegionTable) -> None:
    table.table.sortByColumn(SCORE, Qt.SortOrder.AscendingOrder)
    values = [-1.0 if item.headline is None else item.headline for item in table.regions.shown]
    assert values == sorted(values)


def test_words_are_found_in_path_and_code(table: RegionTable) -> None:
    QTest.keyClicks(table.words, "module_001 DISCOUNT")
    wait_until(lambda: all("discount" in item.text for item in table.regions.shown))
    assert table.regions.shown
    assert {item.path for item in table.regions.shown} == {"shop/module_001.py"}
    table.words.setText("no such words anywhere")
    wait_until(lambda: not table.regions.shown)


def test_choosing_with_the_keyboard_says_the_id(table: RegionTable) -> None:
    heard: list[int] = []
    table.item_chosen.connect(heard.append)
    table.table.setFocus()
    QTest.keyClick(table.table, Qt.Key.Key_Down)
    QTest.keyClick(table.table, Qt.Key.Key_Down)
    assert heard == [item.id for item in table.regions.shown[: len(heard)]]
    assert heard


def test_selection_survives_sorting_filtering_and_fresh_rows(table: RegionTable, run: Filled) -> None:
    heard: list[int] = []
    chosen = table.regions.shown[20]
    table.select(chosen.id)
    table.item_chosen.connect(heard.append)
    table.table.sortByColumn(SCORE, Qt.SortOrder.DescendingOrder)
    table.set_items([replace(item, state=item.state) for item in run.items()][::-1])
    assert table.regions.shown[table.table.currentIndex().row()].id == chosen.id
    assert heard == []


def test_scroll_position_stays_while_a_run_adds_regions(table: RegionTable, run: Filled) -> None:
    items = run.items()
    table.show()
    table.set_items(items[:60])
    table.select(table.regions.shown[0].id)
    table.table.verticalScrollBar().setValue(25)
    table.set_items(items)
    assert table.table.verticalScrollBar().value() == 25


def test_both_themes_paint(table: RegionTable) -> None:
    light = table.grab().toImage()
    wear(DARK)
    assert table.grab().toImage() != light


def test_a_hundred_thousand_rows_are_filtered(qapp: QApplication, run: Filled) -> None:
    base = run.items()[0]
    items = [
        replace(
            base,
            id=n,
            path=f"p/module_{n % 997}.py",
            span=Span(n, n + 1),
            admitted=True,
            state="done",
            measures={"rtc": (n % 4) / 3},
        )
        for n in range(100_000)
    ]
    table = RegionTable()
    table.resize(520, 400)
    table.show()
    table.set_items(items)
    table.regions.filter("module_99")
    table.grab()
    table.close()
    assert len(table.regions.shown) > 500


def test_columns_without_room_are_left_out_and_nothing_is_scrolled_sideways(table: RegionTable) -> None:
    table.show()
    for width in range(200, 640, 17):
        table.resize(width, 400)
        QApplication.processEvents()
        assert table.table.horizontalScrollBar().maximum() == 0, width
        hidden = [table.table.isColumnHidden(each) for each in range(len(table.regions.heads))]
        assert hidden == sorted(hidden), "the last ones go first"
    table.resize(332, 400)  # as at 1280 x 800
    QApplication.processEvents()
    assert not table.table.isColumnHidden(DIFFERENCE)
    tip = table.regions.index(0, FILE).data(Qt.ItemDataRole.ToolTipRole)
    assert "3 covering tests" in tip, "what has no column is in the tip"


def test_a_methods_own_headings_are_whole(table: RegionTable) -> None:
    table.set_kind(task("chain"))
    header = table.table.horizontalHeader()
    assert table.regions.heads[PASSES] == "Steps right" and not header.isSectionHidden(PASSES)
    assert header.sectionSize(PASSES) >= header.fontMetrics().horizontalAdvance("Steps right") + 8


def test_edits_are_listed_by_the_subject_of_their_commit(table: RegionTable, run: Filled) -> None:
    origin = {"commit": "1" * 40, "message": "Make it quick\n\nIt was slow."}
    item = replace(run.items()[0], kind="edit", task="editing", old_text="", origin=origin)
    table.set_items([item, replace(item, id=item.id + 1, start_line=9, origin={})])
    assert [table.regions.index(row, FILE).data() for row in (0, 1)] == ["Make it quick", item.path]
    assert table.regions.headerData(FILE, Qt.Orientation.Horizontal) == "Edit"
    assert table.regions.index(0, FILE).data(Qt.ItemDataRole.ToolTipRole).startswith(item.path)
    table.words.setText("quick")
    table.words.settle()
    assert len(table.regions.shown) == 1


def test_a_path_keeps_the_name_of_its_file(qapp: QApplication) -> None:
    metrics = QFontMetrics(QApplication.font())
    path = "src/platform/measurements/interpolation.py"
    whole = metrics.horizontalAdvance(path)
    for room in range(40, whole + 9, 7):
        shown = elided_path(metrics, path, room)
        assert metrics.horizontalAdvance(shown) <= room
        if room >= metrics.horizontalAdvance("…/interpolation.py"):
            assert shown.endswith("/interpolation.py")
        else:
            assert shown.startswith("int") or room < 60
    assert elided_path(metrics, path, whole) == path


def test_a_headline_that_is_no_share_of_right_ones_is_written_without_colour(table: RegionTable, run: Filled) -> None:
    item = replace(run.items()[0], task="cosmetic", state="done", admitted=True, measures={"change": 0.0})
    table.set_kind(task("cosmetic"))
    table.set_items([item])
    table.show()
    cell = table.table.visualRect(table.regions.index(0, SCORE))
    image = table.table.viewport().grab(cell).toImage()
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert table.regions.index(0, SCORE).data(FRACTION) is None
    assert len(colours) > 2, "the figure is there"


def test_flagged_regions_are_listed_and_found_by_their_flags(table: RegionTable) -> None:
    wanted: list[bool] = []
    table.flags_wanted.connect(lambda: wanted.append(True))
    one, other = table.regions.shown[3], table.regions.shown[8]
    table.states.setCurrentIndex([name for name, _ in STATES].index("Flagged"))
    assert wanted == [True] and not table.regions.shown
    table.regions.set_flags({one.id: ("frames",), other.id: ("frames", "gc")})
    assert [item.id for item in table.regions.shown] == [one.id, other.id]
    tip = table.regions.index(1, FILE).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.endswith("odd, but no proof of anything: frames, gc")
    table.words.setText("gc")
    wait_until(lambda: [item.id for item in table.regions.shown] == [other.id])
