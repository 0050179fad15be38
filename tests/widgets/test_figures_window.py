"""Figures in the window: what pointer and keys read off, where marks lead, what is exported, in both themes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyqtgraph as pg  # type: ignore[import-untyped]
import pytest
from figure_cases import one_of_each
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QWidget
from stored_run import StoredRun, said, show_figure, shown, stored_run
from themes import wear

from rtc_inspector.core.analyses import scores
from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.figures import Axis, Categories, Cell, Figure, Grid, Head, Histogram, Lines, Link, Table
from rtc_inspector.core.figures.reading import Mark, bins, marks
from rtc_inspector.core.kinds import task
from rtc_inspector.core.store.rows import RunningPoint
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.background.gateway import ignore
from rtc_inspector.ui.figures.plot import step
from rtc_inspector.ui.figures.view import FiguresView, FigureView
from rtc_inspector.ui.panels.run import RunPanel
from rtc_inspector.ui.style.theme import DARK, LIGHT, Theme


def point(items: int, rtc: float) -> RunningPoint:
    lift = Estimate(rtc - 0.3, rtc - 0.5, rtc - 0.1)
    return RunningPoint(items, 100 + items, {"rtc": Estimate(rtc, rtc - 0.1, rtc + 0.1), "lift": lift})


POINTS = [point(n, 0.3 + n / 100) for n in range(1, 11)]
RUNNING = scores.running(task("synthesis"), {1: POINTS})


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    with stored_run(Path(tmp_path_factory.mktemp("figures")), items=60) as run:
        yield run


@pytest.fixture(scope="module")
def figures(stored: StoredRun) -> list[Figure]:
    return analyse(stored.reader, [stored.run.id])


def named(figures: list[Figure], name: str) -> Figure:
    return next(figure for figure in figures if figure.name == name)


@pytest.fixture
def view(qapp: QApplication) -> Iterator[FigureView]:
    made = FigureView()
    shown(made, 700, 320)
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def panel(qapp: QApplication, stored: StoredRun) -> Iterator[RunPanel]:
    made = RunPanel(ignore)
    shown(made, 1400, 320)
    made.set_run(stored.run)
    yield made
    made.close()
    made.deleteLater()


def opened_by(view: FigureView) -> list[tuple[Link, ...]]:
    found: list[tuple[Link, ...]] = []
    view.opened.connect(lambda links, turn: found.append(links[turn % len(links) :][:1]))
    return found


def press(view: FigureView, *keys: Qt.Key) -> None:
    view.plot.canvas.setFocus()
    for key in keys:
        QTest.keyClick(view.plot.canvas, key)


def at(view: FigureView, x: float, y: float) -> QPointF:
    canvas = view.plot.canvas
    QApplication.processEvents()
    return canvas.mapFromScene(canvas.getViewBox().mapViewToScene(QPointF(x, y)))


KEY = Qt.Key


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("size", [(900, 400), (240, 130)], ids=["large", "small"])
def test_every_figure_is_shown_in_both_themes(
    qapp: QApplication, view: FigureView, theme: Theme, size: tuple[int, int]
) -> None:
    view.resize(*size)
    wear(theme)
    for figure in one_of_each():
        view.show_figure(figure)
        QApplication.processEvents()
        assert view.accessibleName() == figure.title
        picture = view.grab().toImage()
        assert picture.pixelColor(picture.width() - 4, 2).name() == theme.surface


def test_points_without_a_value_are_left_out(view: FigureView) -> None:
    view.show_figure(scores.running(task("synthesis"), {1: [RunningPoint(1, 1, {}), *POINTS[1:]]}))
    assert {place.mark.x for place in view.plot.shapes} == {each.items for each in POINTS[1:]}


def test_axes_are_named_and_everything_is_in_sight(view: FigureView) -> None:
    view.show_figure(RUNNING)
    canvas = view.plot.canvas
    assert canvas.getAxis("bottom").labelText == "regions completed"
    assert canvas.getAxis("left").labelText == "mean over regions ↑"
    (x0, x1), (y0, y1) = canvas.viewRange()
    assert x0 <= 0 and x1 >= 10
    assert y0 <= min(each.scores["lift"].low or 0 for each in POINTS[1:]) and y1 >= max(
        each.scores["rtc"].high or 0 for each in POINTS
    )


def test_the_pointer_reads_off_every_line_and_a_click_opens_the_item(view: FigureView) -> None:
    view.show_figure(RUNNING)
    opened = opened_by(view)
    spot = at(view, 7.1, 0.3)
    QTest.mouseMove(view.plot.canvas.viewport(), spot)
    assert said(view) == "━━ RTC 0.37 (0.27 to 0.47) · ╍╍ lift +0.07 (-0.13 to +0.27) · regions completed 7"
    far, near = at(view, 7.1, -0.3), at(view, 7.1, 0.36)
    QTest.mouseClick(view.plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=far)
    assert opened == [], "far from both lines it is read off alone"
    QTest.mouseClick(view.plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=near)
    assert opened == [(Link(1, 107),)]


def test_a_heading_stands_over_its_figures(view: FigureView) -> None:
    view.show_figure(one_of_each()[5])
    model, role = view.cells.table.model(), Qt.ItemDataRole.TextAlignmentRole
    sides = [model.headerData(at, Qt.Orientation.Horizontal, role) for at in range(model.columnCount())]
    assert sides == [model.index(0, at).data(role) for at in range(model.columnCount())] and len(set(sides)) == 2


def test_the_names_of_the_axes_are_whole(view: FigureView) -> None:
    view.show_figure(replace(RUNNING, y=replace(RUNNING.y, label="share of reconstructions that pass every test")))
    canvas = view.plot.canvas
    view.resize(700, 190)
    QApplication.processEvents()
    for side in ("left", "bottom"):
        name = canvas.mapFromScene(canvas.getAxis(side).label.sceneBoundingRect()).boundingRect()
        blank = int(canvas.getAxis(side).label.document().documentMargin())
        assert canvas.viewport().rect().contains(name.adjusted(blank, blank, -blank, -blank)), side


def test_arrow_keys_read_off_values_and_enter_opens_the_item(view: FigureView) -> None:
    view.show_figure(RUNNING)
    opened = opened_by(view)
    press(view, KEY.Key_Left, KEY.Key_Left, KEY.Key_Return, KEY.Key_Home, KEY.Key_Down, KEY.Key_Enter)
    assert opened == [(Link(1, 109),), (Link(1, 101),)]
    assert view.plot.mark is not None and view.plot.mark.group == "lift"


def test_without_a_pointer_the_last_values_stand_in_the_legend(view: FigureView) -> None:
    view.show_figure(RUNNING)
    assert said(view).startswith("━━ RTC 0.40 (0.30 to 0.50)")
    assert said(view).endswith("regions completed 10")


def test_what_is_read_off_stays_while_a_line_grows(view: FigureView) -> None:
    view.show_figure(scores.running(task("synthesis"), {1: POINTS[:4]}))
    press(view, KEY.Key_Home, KEY.Key_Right)
    view.show_figure(RUNNING)
    assert view.plot.mark is not None and view.plot.mark.x == 2
    assert said(view).endswith("regions completed 2")


def test_many_lines_are_named_and_the_one_pointed_at_is_said(view: FigureView) -> None:
    both = scores.running(task("synthesis"), {1: POINTS, 2: POINTS[:5]})
    view.show_figure(both)
    press(view, KEY.Key_Home)
    assert "━━ RTC, run 1" in said(view) and "╍╍ RTC, run 2" in said(view)
    lines = (each for each in view.plot.canvas.listDataItems() if isinstance(each, pg.PlotDataItem))
    assert len({each.opts["pen"].style() for each in lines}) == len(both.series) == 4  # told apart without colour
    assert said(view).endswith(marks(both)[0].text)


def test_a_bar_for_each_value_opens_its_items_one_after_the_other(
    view: FigureView, stored: StoredRun, figures: list[Figure]
) -> None:
    figure = named(figures, "spread")
    assert isinstance(figure, Histogram)
    view.show_figure(figure)
    judged = [item for item in stored.items if item.headline is not None]
    assert said(view) == f"{len(judged)} judged regions by RTC"
    opened = opened_by(view)
    press(view, KEY.Key_Right, KEY.Key_Return, KEY.Key_Return)
    first = [item.id for item in judged if item.headline == 0]
    assert [links[0].item for links in opened] == first[:2]
    assert said(view).startswith("RTC of a region 0.00: ")
    QTest.mouseClick(view.plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at(view, 1.0, 0.5))
    assert opened[-1] == bins(figure)[-1].links[:1]


def test_a_metric_stands_back_to_back_and_leads_to_samples(view: FigureView, figures: list[Figure]) -> None:
    figure = named(figures, "metric")
    assert isinstance(figure, Histogram)
    view.show_figure(figure)
    opened = opened_by(view)
    failing = next(each for each in bins(figure) if each.group == "failed")
    spot = at(view, failing.middle, -failing.share / 2)
    QTest.mouseClick(view.plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert opened == [failing.links[:1]] and failing.links[0].sample is not None
    assert "failed reconstructions" in said(view)
    press(view, KEY.Key_Up, KEY.Key_End, KEY.Key_Return, KEY.Key_Down, KEY.Key_Home, KEY.Key_Right)
    last = [each for each in bins(figure) if each.group == "passed"][-1]
    assert opened[1] == last.links[:1]
    assert view.plot.mark is not None and view.plot.mark.group == "failed"


def test_another_choice_is_asked_for_by_its_name(view: FigureView, figures: list[Figure]) -> None:
    figure = named(figures, "metric")
    view.show_figure(figure)
    asked: list[tuple[str, str]] = []
    view.chosen.connect(lambda name, value: asked.append((name, value)))
    box = view.findChild(QComboBox)
    assert box is not None and box.currentData() == "edit_sim"
    box.setFocus()
    QTest.keyClick(box, KEY.Key_Home)
    assert asked == [("metric", next(iter(figure.choices[0].options)))]
    view.show_figure(replace(figure, note="newer"))
    assert view.findChild(QComboBox) is box, "the box keeps the focus while the run goes on"


def test_a_run_without_metrics_says_so(view: FigureView, figures: list[Figure]) -> None:
    figure = named(figures, "metric")
    assert isinstance(figure, Histogram)
    view.show_figure(replace(figure, values=(), choices=(), note=scores.verdict_words([], [])))
    assert view._wait.isVisible() and view._wait.text() == "No judged reconstruction has a metric yet"
    assert view.findChild(QComboBox) is None or not view.findChild(QComboBox).isVisible()


def test_a_row_opens_its_items_one_after_the_other_the_worst_first(
    view: FigureView, stored: StoredRun, figures: list[Figure]
) -> None:
    view.show_figure(named(figures, "files"))
    opened = opened_by(view)
    cells = view.cells.table
    QTest.mouseClick(
        cells.viewport(), Qt.MouseButton.LeftButton, pos=cells.visualRect(cells.model().index(0, 2)).center()
    )
    QTest.keyClick(cells, KEY.Key_Return)
    path = cells.model().index(0, 0).data()
    judged = sorted(
        (i for i in stored.items if i.path == path and i.headline is not None), key=lambda i: (i.headline, i.start)
    )
    assert [links[0].item for links in opened] == [judged[0].id, judged[1].id]


def test_columns_sort_by_number_with_undefined_values_last(view: FigureView) -> None:
    table = next(figure for figure in one_of_each() if isinstance(figure, Table))
    view.show_figure(table)
    view.cells.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    model = view.cells.table.model()
    assert [model.index(row, 0).data() for row in range(2)] == ["a.py", "b.py"]
    assert model.index(1, 1).data() == "–"
    view.show_figure(replace(table, note="newer"))
    assert view.cells.table.horizontalHeader().sortIndicatorSection() == 1


def test_a_cell_of_a_heat_map_leads_to_what_is_behind_it(view: FigureView) -> None:
    cells = (Cell("b", "2", Estimate(0.5), links=(Link(item=7, sample=9),)), Cell("a", "1", Estimate(0.25)))
    names = Categories("problem", ("a", "b")), Categories("step", ("1", "2"))
    view.show_figure(Grid(Head("g", "G"), rows=names[0], columns=names[1], scale=Axis("TOM", 0, 1, "up"), cells=cells))
    opened, table = opened_by(view), view.cells.table
    table.setFocus()
    table.setCurrentIndex(table.model().index(1, 2))
    assert said(view).endswith("b, 2: 0.50")
    QTest.keyClick(table, KEY.Key_Return)
    assert opened == [(Link(item=7, sample=9),)]
    grounds = [table.model().index(0, column).data(Qt.ItemDataRole.BackgroundRole) for column in (1, 2)]
    assert grounds[1].name() == LIGHT.raised != grounds[0].name(), "grey where nothing is defined"


def test_keys_go_along_a_group_and_between_groups() -> None:
    found = [Mark(x, y, "", (), group) for group, y in (("a", 1.0), ("b", -1.0)) for x in (0.0, 1.0, 2.0)]
    assert step(found, None, KEY.Key_Right) == 0
    assert step(found, None, KEY.Key_Left) == 2
    assert step(found, None, KEY.Key_Down) == 3
    assert step(found, 1, KEY.Key_Right) == 2 == step(found, 2, KEY.Key_Right)
    assert step(found, 1, KEY.Key_Down) == 4 and step(found, 4, KEY.Key_Up) == 1
    assert step(found, 4, KEY.Key_Down) == 4
    assert step(found, 4, KEY.Key_End) == 5 and step(found, 4, KEY.Key_Home) == 3
    assert step(found, 4, KEY.Key_A) is None and step([], None, KEY.Key_Right) is None


def test_one_key_or_a_double_click_shows_a_figure_over_the_whole_window_and_back(
    qapp: QApplication, panel: RunPanel, figures: list[Figure]
) -> None:
    def turn(owner: QWidget) -> None:
        next(action for action in owner.actions() if action.shortcut().toString() == "Z").trigger()

    panel.set_figures(figures)
    for views, name in ((panel.drawings, "running"), (panel.tables, "files")):
        show_figure(views, name)
        before = views.view.size()
        turn(views)
        page = views.view.window()
        assert page is not panel.window() and page.size() == panel.window().size()
        qapp.processEvents()
        assert views.view.width() > before.width() and views.view.isVisible()
        panel.set_figures(figures[:-1])
        turn(page)
        assert views.view.window() is panel.window() and views.view.isVisible()
        QTest.mouseDClick(views.view, Qt.MouseButton.LeftButton)
        assert views.view.window() is not panel.window()
        QTest.keyClick(views.view.window(), KEY.Key_Escape)
        assert views.view.window() is panel.window()


def test_a_double_click_beside_the_marks_of_a_drawing_enlarges_it_once(
    qapp: QApplication, panel: RunPanel, figures: list[Figure]
) -> None:
    panel.set_figures(figures)
    show_figure(panel.drawings, "running")
    plot = panel.drawings.view.plot
    qapp.processEvents()
    for enlarged in (True, False):
        ground = plot.canvas.viewport()
        beside = at(panel.drawings.view, 30, -0.9)
        assert plot._under(QPointF(beside)) is not None, "below both lines their values are read off"
        # What a hand's double click is; Qt's own sends its third event alone.
        for send in (QTest.mouseClick, QTest.mouseDClick, QTest.mouseRelease):
            send(ground, Qt.MouseButton.LeftButton, pos=beside)
        qapp.processEvents()
        assert (plot.window() is not panel.window()) is enlarged


def test_symbols_are_explained(view: FigureView) -> None:
    view.show_figure(RUNNING)
    assert view._names[0].toolTip().startswith("RTC: round-trip correctness")
    view.show_figure(replace(one_of_each()[5]))
    head = view.cells.table.model().headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "round-trip correctness" in head and head.endswith("more is better")


def test_the_figure_looked_at_stays_while_the_run_goes_on(panel: RunPanel, figures: list[Figure]) -> None:
    panel.set_figures(figures)
    show_figure(panel.drawings, "spread")
    show_figure(panel.tables, "files")
    panel.set_figures([*figures[1:], figures[0]])
    assert panel.drawings.view.figure == named(figures, "spread")
    assert panel.tables.view.figure == named(figures, "files")
    wear(DARK)
    image = panel.drawings.view.plot.canvas.grab().toImage()
    assert image.pixelColor(image.width() - 3, 3).name() == DARK.surface


def test_marks_of_the_panel_lead_to_one_thing_each(panel: RunPanel, figures: list[Figure]) -> None:
    panel.set_figures(figures)
    found: list[Link] = []
    panel.opened.connect(found.append)
    press(panel.drawings.view, KEY.Key_Home, KEY.Key_Return)
    running = named(figures, "running")
    assert isinstance(running, Lines)
    assert found == [running.series[0].points[0].links[0]]


def test_figures_are_drawn_once_somebody_looks(qapp: QApplication, stored: StoredRun, figures: list[Figure]) -> None:
    made = RunPanel(ignore)
    made.set_run(stored.run)
    made.set_figures(figures)
    assert "drawings" not in vars(made) and "tables" not in vars(made), "the library that draws is not loaded before"
    shown(made, 1200, 320)
    assert made.drawings.view.figure == figures[0]
    made.close()
    made.deleteLater()


@pytest.mark.parametrize("width", [947, 1065], ids=["1280", "1440"])
def test_tables_of_a_run_have_the_whole_width_of_a_usual_window(
    panel: RunPanel, figures: list[Figure], width: int
) -> None:
    """As many pixels as the Run tab has in a window so wide, and half of them, where headings are shortened."""
    panel.set_figures(figures)
    panel.resize(width, 320)
    view, table = panel.drawings, panel.drawings.view.cells.table
    assert len(view.figures) == len(figures) and not panel.tables.isVisible()
    assert not isinstance(view.view.figure, Table), "drawings come first"
    tables = [figure for figure in figures if isinstance(figure, Table)]
    assert {"scores", "files", "metrics"} <= {figure.name for figure in tables}
    for figure in tables:
        show_figure(view, figure.name)
        for shown_width in (width, 2 * width // 3, width):
            panel.resize(shown_width, 320)
            QApplication.processEvents()
            assert table.horizontalScrollBar().maximum() == 0, figure.name
        header = table.horizontalHeader()
        narrow = [at for at in range(1, header.count()) if header.sectionSize(at) < table.sizeHintForColumn(at)]
        assert narrow in ([], [header.count() - 1]), "figures are whole; the words of the last column may be cut"
        assert all(header.model().headerData(at, Qt.Orientation.Horizontal, 3) for at in range(header.count()))


def test_many_figures_are_chosen_from_a_list(qapp: QApplication) -> None:
    made = FiguresView(ignore)
    shown(made, 500, 300)
    made.set_figures(one_of_each())
    assert made._list.isVisible() and made._list.count() == 7
    made._list.setFocus()
    QTest.keyClick(made._list, KEY.Key_Down)
    assert made.view.figure == one_of_each()[1]
    made.set_figures(one_of_each()[:2])
    assert not made._list.isVisible() and made._switches.checkedId() == 1
    made.close()
    made.deleteLater()


def test_figures_are_exported_as_table_and_picture(panel: RunPanel, stored: StoredRun, tmp_path: Path) -> None:
    half = {"rtc": Estimate(0.5, None, None)}
    running = scores.running(task("synthesis"), {1: [RunningPoint(1, 1, half), *POINTS[1:2]]})
    panel.set_figures([running, named(analyse(stored.reader, [stored.run.id]), "metric")])
    panel.drawings.export_button.export(tmp_path / "running.csv")
    assert (tmp_path / "running.csv").read_text("utf-8").splitlines() == [
        "regions completed,RTC,RTC low,RTC high,lift,lift low,lift high",
        "1,0.500000,,,,,",
        "2,0.320000,0.220000,0.420000,0.020000,-0.180000,0.220000",
    ]
    panel.drawings.choose(1)
    panel.drawings.export_button.export(tmp_path / "metric.csv")
    table = list(csv.DictReader(io.StringIO((tmp_path / "metric.csv").read_text())))
    scored = stored.reader.scored(stored.run.id, "edit_sim")
    assert [int(row["sample"]) for row in table] == [row.sample_id for row in scored]
    assert sum(row["group"] == "passed" for row in table) == sum(row.passed for row in scored)
    panel.drawings.export_button.export(tmp_path / "metric.png")
    assert QImage(str(tmp_path / "metric.png")).width() >= 2 * 760
    with pytest.raises(OSError):
        panel.drawings.export_button.export(tmp_path / "absent" / "metric.png")


def test_a_long_table_is_exported_whole(panel: RunPanel, stored: StoredRun, tmp_path: Path) -> None:
    one = stored.admitted()
    items = [replace(one, path=f"a,{n:03}.py") for n in range(60)]
    panel.set_figures([*scores.files(items, stored.run)])
    panel.tables.export_button.export(tmp_path / "files.csv")
    with (tmp_path / "files.csv").open(newline="") as stream:
        assert [row["File"] for row in csv.DictReader(stream)] == [item.path for item in items]
    panel.tables.export_button.export(tmp_path / "files.png")
    assert QImage(str(tmp_path / "files.png")).height() > 2 * 26 * 60
