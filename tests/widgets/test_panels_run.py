"""The run panel: a chart that moves in place, files, provenance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import StoredRun, shown, stored_run

from core.store.rows import RunningPoint
from core.types import Score
from ui.panels import RunPanel
from ui.panels.histogram import bins
from ui.panels.provenance import provenance
from ui.theme import DARK, LIGHT


def point(items: int, rtc: float) -> RunningPoint:
    return RunningPoint(items, 100 + items, Score(rtc, rtc - 0.1, rtc + 0.1), Score(rtc - 0.3, rtc - 0.5, rtc - 0.1))


POINTS = [point(n, 0.3 + n / 100) for n in range(1, 11)]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    with stored_run(Path(tmp_path_factory.mktemp("run")), items=60) as run:
        yield run


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[RunPanel]:
    made = RunPanel(LIGHT)
    shown(made, 1200, 320)
    yield made
    made.close()
    made.deleteLater()


def test_without_a_run_it_says_what_to_do(panel: RunPanel) -> None:
    assert panel._empty.isVisible()
    assert not panel.charts.running.isVisible()


def test_lines_and_bands_hold_the_stored_points(panel: RunPanel, stored: StoredRun) -> None:
    points = stored.reader.running(stored.run.id)
    panel.set_run(stored.run, points, stored.reader.files(stored.run.id))
    xs, ys = panel.charts.running.rtc.line.getData()
    assert list(xs) == [each.items for each in points]
    assert list(ys) == pytest.approx([each.rtc.value for each in points])


def test_points_without_a_value_are_left_out(panel: RunPanel, stored: StoredRun) -> None:
    none = Score(None, None, None)
    panel.set_run(stored.run, [RunningPoint(1, 1, none, none), *POINTS[1:]], [])
    assert list(panel.charts.running.rtc.line.getData()[0]) == [each.items for each in POINTS[1:]]


def test_the_chart_grows_in_place(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS[:4], [])
    before = list(panel.charts.running._plot.getPlotItem().items)
    panel.set_run(stored.run, POINTS, [])
    assert list(panel.charts.running._plot.getPlotItem().items) == before
    low, high = panel.charts.running.rtc.low.getData()[1], panel.charts.running.rtc.high.getData()[1]
    assert list(low) == [each.rtc.low for each in POINTS]
    assert list(high) == [each.rtc.high for each in POINTS]


def test_axes_are_named_and_everything_is_in_sight(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS, [])
    assert panel.charts.running._plot.getAxis("bottom").labelText == "regions completed"
    assert panel.charts.running._plot.getAxis("left").labelText
    (x0, x1), (y0, y1) = panel.charts.running._plot.viewRange()
    assert x0 <= 0 and x1 >= 10
    assert y0 <= min(each.lift.low or 0 for each in POINTS) and y1 >= max(each.rtc.high or 0 for each in POINTS)


def test_the_pointer_reads_off_values_and_a_click_opens_the_region(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS, [])
    QApplication.processEvents()
    opened: list[int] = []
    panel.region_activated.connect(opened.append)
    plot = panel.charts.running._plot
    spot = plot.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(7.1, 0.3)))
    QTest.mouseMove(plot.viewport(), spot)
    QApplication.processEvents()
    assert panel.charts.running.said == "━━ RTC 0.37 (0.27 to 0.47) · ╍╍ lift +0.07 (-0.13 to +0.27) · after 7 regions"
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert opened == [107]


def test_arrow_keys_read_off_values_and_enter_opens_the_region(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS, [])
    opened: list[int] = []
    panel.region_activated.connect(opened.append)
    plot = panel.charts.running._plot
    plot.setFocus()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Return, Qt.Key.Key_Home, Qt.Key.Key_Return):
        QTest.keyClick(plot, key)
    assert opened == [109, 101]


def test_without_a_pointer_the_last_values_stand_in_the_legend(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS, [])
    assert panel.charts.running.said.startswith("━━ RTC 0.40 (0.30 to 0.50)")
    assert panel.charts.running.said.endswith("after 10 regions")


def test_files_are_listed_and_sorted_by_number(panel: RunPanel, stored: StoredRun) -> None:
    files = stored.reader.files(stored.run.id)
    panel.set_run(stored.run, [], [replace(file, rtc=rtc) for file, rtc in zip(files, (0.5, None), strict=True)])
    panel.table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    model = panel.table.model()
    assert [model.index(r, 2).data() for r in range(model.rowCount())] == ["0.50", "–"]
    assert model.index(0, 1).data() == f"{files[0].done}/{files[0].items}"


def test_provenance_names_what_the_run_was_made_with(stored: StoredRun) -> None:
    groups = dict(provenance(replace(stored.run, dirty=True)))
    assert dict(groups["Run"])["seed"] == "5"
    assert dict(groups["Code and tests"])["revision"] == "0123456789abcdef with uncommitted changes"
    assert dict(groups["Forward model"])["sha256"] == "ab" * 32
    assert groups["Backward model"] == (("", "the forward model"),)
    assert dict(groups["Settings"])["forward samples"] == "3"
    assert dict(groups["Oracle settings"])["memory mib"] == "2048"


def test_provenance_names_the_servers_there_were(stored: StoredRun) -> None:
    groups = dict(provenance(stored.run))
    assert "endpoint" not in dict(groups["Settings"]) and "Server of the forward model" not in groups
    server = {"address": "http://127.0.0.1:8080/v1", "model": "coder", "key_variable": "MY_KEY"}
    asked = dict(provenance(replace(stored.run, config_json=json.dumps({"endpoint": server}))))
    assert dict(asked["Server of the forward model"])["key variable"] == "MY_KEY"


def test_a_damaged_record_of_settings_is_shown_as_far_as_it_goes(stored: StoredRun) -> None:
    groups = dict(provenance(replace(stored.run, config_json="{", model_json="[]")))
    assert groups["Settings"] == ()
    assert dict(groups["Run"])["task"] == "synthesis"


def test_provenance_is_copied_whole_or_by_value(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, [], [])
    panel.provenance.copy.click()
    assert "  sha256: " + "ab" * 32 in QGuiApplication.clipboard().text()
    tree = panel.provenance.tree
    top = tree.topLevelItem(0)
    assert top is not None
    tree.setCurrentItem(top.child(0))
    tree.setFocus()
    QTest.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == str(stored.run.id)


def test_changed_values_leave_the_tree_as_it_was_folded(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, [], [])
    tree = panel.provenance.tree
    first = tree.topLevelItem(0)
    assert first is not None
    first.setExpanded(False)
    panel.set_run(replace(stored.run, samples=99), [], [])
    assert tree.topLevelItem(0) is first and not first.isExpanded()
    values = {child.text(0): child.text(1) for n in range(first.childCount()) if (child := first.child(n))}
    assert values["samples"] == "99"


def test_spread_has_a_bar_for_each_value(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS, [], stored.items)
    panel.charts.choose(1)
    spread = panel.charts.spread
    assert spread.isVisible()
    judged = [item for item in stored.items if item.rtc is not None]
    assert sum(len(each.items) for each in spread.bins) == len(judged)
    assert [each.low for each in spread.bins] == sorted({round(item.rtc or 0.0, 6) for item in judged})
    assert spread.said == f"{len(judged)} judged regions by RTC"


def test_many_values_share_ten_bins(stored: StoredRun) -> None:
    one = stored.admitted()
    found = bins([replace(one, id=n, rtc=n / 40) for n in range(41)])
    assert len(found) == 10
    assert [len(each.items) for each in found] == [4] * 9 + [5]


def test_keys_step_through_bars_and_enter_opens_their_regions(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS, [], stored.items)
    panel.charts.choose(1)
    opened: list[int] = []
    panel.region_activated.connect(opened.append)
    spread = panel.charts.spread
    spread._plot.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Return):
        QTest.keyClick(spread._plot, key)
    assert opened == list(spread.bins[0].items[:2])
    assert spread.said.startswith("RTC 0.00: ")


def test_a_click_on_a_bar_opens_one_of_its_regions(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS, [], stored.items)
    panel.charts.choose(1)
    QApplication.processEvents()
    opened: list[int] = []
    panel.region_activated.connect(opened.append)
    plot = panel.charts.spread._plot
    spot = plot.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(1.0, 0.5)))
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert opened == [panel.charts.spread.bins[-1].items[0]]


def test_charts_are_exported_as_table_and_picture(panel: RunPanel, stored: StoredRun, tmp_path: Path) -> None:
    none = Score(None, None, None)
    panel.set_run(stored.run, [RunningPoint(1, 1, Score(0.5, None, None), none), *POINTS[1:2]], [], stored.items)
    panel.charts.export(tmp_path / "running.csv")
    assert (tmp_path / "running.csv").read_text("utf-8").splitlines() == [
        "regions,rtc,rtc_low,rtc_high,lift,lift_low,lift_high",
        "1,0.500000,,,,,",
        "2,0.320000,0.220000,0.420000,0.020000,-0.180000,0.220000",
    ]
    panel.charts.choose(1)
    panel.charts.export(tmp_path / "spread.png")
    picture = QImage(str(tmp_path / "spread.png"))
    assert picture.width() >= 2 * 760
    assert panel.charts.csv().startswith("rtc_low,rtc_high,regions\n0.000000,0.000000,")
    with pytest.raises(OSError):
        panel.charts.export(tmp_path / "absent" / "spread.png")


def test_the_dark_theme_reaches_the_chart(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run, POINTS, [])
    panel.set_theme(DARK)
    QApplication.processEvents()
    image = panel.charts.running._plot.grab().toImage()
    assert image.pixelColor(image.width() - 3, 3).name() == DARK.surface
    panel.set_theme(LIGHT)
