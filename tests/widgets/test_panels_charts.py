"""A metric against the verdict, and the files of a run: marks that lead to samples, files written."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import StoredRun, shown, stored_run

from core.store.rows import ScoredRow
from ui.panels import RunPanel
from ui.panels.metric_values import BINS, MetricValues, metric_bins, read_metric
from ui.theme import DARK, LIGHT


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    with stored_run(Path(tmp_path_factory.mktemp("charts")), items=50) as run:
        yield run


@pytest.fixture(scope="module")
def values(stored: StoredRun) -> MetricValues:
    return read_metric(stored.run.id, "", stored.reader)


@pytest.fixture
def panel(qapp: QApplication, stored: StoredRun) -> Iterator[RunPanel]:
    made = RunPanel(LIGHT)
    shown(made, 1200, 320)
    made.set_run(stored.run, [], stored.reader.files(stored.run.id), stored.items)
    yield made
    made.close()
    made.deleteLater()


def rows(*values: tuple[float, bool]) -> list[ScoredRow]:
    return [ScoredRow(n, n, value, passed) for n, (value, passed) in enumerate(values)]


def test_bins_part_what_passed_from_what_did_not() -> None:
    found = metric_bins(rows((0.0, False), (0.04, False), (0.05, False), (1.0, True), (0.96, True), (0.5, True)))
    assert [(each.low, each.passed, len(each.rows), each.share) for each in found] == [
        (0.5, True, 1, pytest.approx(1 / 3)),
        (0.95, True, 2, pytest.approx(2 / 3)),
        (0.0, False, 2, pytest.approx(2 / 3)),
        (0.05, False, 1, pytest.approx(1 / 3)),
    ]
    assert metric_bins([]) == []


def test_how_well_a_metric_tells_is_said() -> None:
    good = MetricValues(1, "bleu", ("bleu",), tuple(rows((0.1, False), (0.2, False), (0.9, True))))
    assert good.said.startswith("AUC 1.00 · r +0.9")
    assert MetricValues(1, "bleu", ("bleu",), tuple(rows((0.1, True)))).said == "1 passed, 0 did not"


def test_the_chart_asks_only_while_it_is_looked_at(panel: RunPanel, stored: StoredRun) -> None:
    asked: list[str] = []
    panel.metric_asked.connect(asked.append)
    panel.set_run(replace(stored.run, samples=1), [], [], stored.items)
    assert asked == []
    panel.charts.choose(2)
    assert asked == [""]
    panel.set_run(stored.run, [], [], stored.items)
    assert asked == ["", ""]


def test_another_metric_is_asked_for_by_its_name(panel: RunPanel, values: MetricValues) -> None:
    panel.charts.choose(2)
    chart = panel.charts.by_metric
    chart.set_values(values)
    assert (values.metric, chart.choice.currentText()) == ("edit_sim", "EDIT-SIM")
    asked: list[str] = []
    panel.metric_asked.connect(asked.append)
    chart.choice.setFocus()
    QTest.keyClick(chart.choice, Qt.Key.Key_Home)
    assert asked == [values.known[0]]


def test_bars_are_opened_by_click_and_by_keys(panel: RunPanel, values: MetricValues) -> None:
    panel.charts.choose(2)
    chart = panel.charts.by_metric
    chart.set_values(values)
    QApplication.processEvents()
    opened: list[tuple[int, int]] = []
    panel.sample_activated.connect(lambda item, sample: opened.append((item, sample)))
    failing = next(each for each in chart.bins if not each.passed)
    middle = QPointF(failing.low + 0.5 / BINS, -failing.share / 2)
    spot = chart.plot.mapFromScene(chart.plot.getViewBox().mapViewToScene(middle))
    QTest.mouseClick(chart.plot.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    first = failing.rows[0]
    assert opened == [(first.item_id, first.sample_id)]
    assert f"{len(failing.rows)} failing reconstructions" in chart.said
    chart.plot.setFocus()
    for key in (Qt.Key.Key_Up, Qt.Key.Key_End, Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_Right):
        QTest.keyClick(chart.plot, key)
    last = next(each for each in reversed(chart.bins) if each.passed)
    assert opened[1] == (last.rows[0].item_id, last.rows[0].sample_id)
    assert chart.bins[chart._at or 0].passed is False


def test_the_metric_chart_is_exported(panel: RunPanel, values: MetricValues, tmp_path: Path) -> None:
    panel.charts.choose(2)
    panel.charts.by_metric.set_values(values)
    panel.charts.export(tmp_path / "metric.csv")
    table = list(csv.DictReader(io.StringIO((tmp_path / "metric.csv").read_text())))
    assert [int(row["sample_id"]) for row in table] == [row.sample_id for row in values.rows]
    assert sum(int(row["passed"]) for row in table) == sum(row.passed for row in values.rows)
    panel.charts.export(tmp_path / "metric.png")
    assert QImage(str(tmp_path / "metric.png")).width() >= 2 * 760


def test_a_run_without_metrics_says_so(panel: RunPanel) -> None:
    panel.charts.choose(2)
    chart = panel.charts.by_metric
    chart.set_values(MetricValues(1, "", (), ()))
    assert chart.said == "No judged reconstruction has a metric yet"
    assert not chart.choice.isEnabled()


def test_a_file_opens_its_regions_one_after_the_other(panel: RunPanel, stored: StoredRun) -> None:
    opened: list[int] = []
    panel.region_activated.connect(opened.append)
    view = panel.files.table
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(0, 2)).center())
    QTest.keyClick(view, Qt.Key.Key_Return)
    path = view.model().index(0, 0).data()
    judged = sorted((i for i in stored.items if i.path == path and i.rtc is not None), key=lambda i: (i.rtc, i.start))
    assert opened == [judged[0].id, judged[1].id]


def test_files_are_exported_whole(panel: RunPanel, stored: StoredRun, tmp_path: Path) -> None:
    files = [replace(stored.reader.files(stored.run.id)[0], path=f"a,{n}.py") for n in range(60)]
    panel.set_run(stored.run, [], files, stored.items)
    panel.files.export.export(tmp_path / "files.csv")
    with (tmp_path / "files.csv").open(newline="") as stream:
        assert [row["path"] for row in csv.DictReader(stream)] == [file.path for file in files]
    panel.files.export.export(tmp_path / "files.png")
    assert QImage(str(tmp_path / "files.png")).height() > 2 * 26 * 60


def test_the_dark_theme_reaches_the_metric_chart(panel: RunPanel, values: MetricValues) -> None:
    panel.charts.choose(2)
    panel.charts.by_metric.set_values(values)
    panel.set_theme(DARK)
    image = panel.charts.by_metric.plot.grab().toImage()
    assert image.pixelColor(image.width() - 3, 3).name() == DARK.surface
