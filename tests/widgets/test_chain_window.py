"""A chain in the window: link by link in the trace, side by side, and program beside program with what parted them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from chains import PROBLEMS, echo, forgetful, garbage, second, settings
from chat_server import chat_server
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from themes import light
from waiting import wait_until

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.figures import Grid, Lines, Link
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import EndpointSettings
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.presenters import presenter, trace
from rtc_inspector.ui.report.page import render
from rtc_inspector.ui.run.lists import _beside, _cells
from rtc_inspector.ui.shell.bars import run_summary
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.region_state import RegionState, region_state, state_words


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A chain of three steps that breaks at the second, crossed with a second model."""
    folder = tmp_path_factory.mktemp("chains")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        file = folder / "own.jsonl"
        file.write_text("".join(json.dumps(problem) + "\n" for problem in PROBLEMS))
        with chat_server(echo) as server, open_store(folder / "runs.sqlite") as store:
            start(settings(file, server), folder, store, lambda event: None, Control())
        with chat_server(forgetful) as server, chat_server(second("Told 1 times.", "return 0")) as other:
            crossed = replace(
                settings(file, server, cross=True), backward_endpoint=EndpointSettings(other.address, attempts=1)
            )
            with open_store(folder / "runs.sqlite") as store:
                start(crossed, folder, store, lambda event: None, Control())
        yield folder / "runs.sqlite"


@pytest.fixture(scope="module")
def window(qapp: QApplication, database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MainWindow]:
    ini = tmp_path_factory.mktemp("remembered") / "settings.ini"
    made = MainWindow(light(qapp), Remembered(QSettings(str(ini), QSettings.Format.IniFormat)))
    made.resize(1500, 950)
    made.show()
    with open_reader(database) as reader:
        root = Path(reader.run(1).project_root)
    made.open_database(database, root)
    made.open_project(root)
    wait_until(lambda: made.inspection.run is not None and made.project.codebase is not None)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def link_of(database: Path, row: str, column: str) -> Link:
    """What a cell of the grid of problems and steps leads to."""
    with open_reader(database) as reader:
        grid = next(figure for figure in analyse(reader, [2]) if figure.name == "tom")
    assert isinstance(grid, Grid)
    return next(cell.links[0] for cell in grid.cells if (cell.row, cell.column) == (row, column))


def test_a_cell_of_the_grid_opens_both_programs_with_the_tests_that_parted(window: MainWindow, database: Path) -> None:
    parts, link = window.parts, link_of(database, "Own/1", "step 2")
    parts.run.opened.emit(link)
    wait_until(lambda: parts.roundtrip.selected == link.sample)
    wait_until(lambda: "1 of 4 gave something else before" in parts.tests.detail.text())
    view = parts.diff.view
    assert view.title.text() == "program 1 → program 2"
    assert "return number + 1" in view._texts[0] and "return 7 if number == 5" in view._texts[1]
    model = parts.tests.table.model()
    first = [model.index(0, column).data() for column in range(model.columnCount())]
    assert first[1] == "test 3 of Own/1" and first[4:] == ["pass", "value 7"]
    assert parts.tests.table.isColumnHidden(3) and not parts.tests.table.isColumnHidden(4)
    parts.tests.parting.setChecked(True)
    assert parts.tests.table.model().rowCount() == 1
    parts.tests.parting.setChecked(False)


def test_the_trace_is_words_and_code_in_turn_and_says_which_pass_lost_the_meaning(
    window: MainWindow, database: Path
) -> None:
    parts, link = window.parts, link_of(database, "Own/1", "step 2")
    parts.run.opened.emit(link)
    wait_until(lambda: parts.roundtrip.selected == link.sample and len(parts.roundtrip.cards) == 11)
    cards = parts.roundtrip.cards
    assert [card.inset for card in cards if card.sample.index == 0 and "beside" not in card.node.name][:8] == [0] * 8
    beside = [card for card in cards if card.inset]
    assert len(beside) == 3 and all("beside the chain" in card.node.name for card in beside)
    chosen = next(card for card in cards if card.sample.id == link.sample)
    assert "TOM 0.75 to Program 1 (pl1)" in chosen.node.against
    assert [card.node.name for card in cards][:4] == [
        "Description (nl)", "First program (pl0)", "Description 1 (nl1)", "Program 1 (pl1)"
    ]  # fmt: skip
    words = next(card for card in cards if card.sample.id == chosen.sample.parent_id)
    assert "lost in this description: the second model does not come back (TOM 0.25)" in words.node.remark


def test_it_stands_side_by_side_and_keys_walk_along_it(window: MainWindow, database: Path) -> None:
    parts, link = window.parts, link_of(database, "Own/1", "step 2")
    parts.run.opened.emit(link)
    wait_until(lambda: parts.roundtrip.selected == link.sample)
    parts.tabs.setCurrentWidget(parts.wide)
    wait_until(lambda: len(parts.wide.tiles) == 11)
    chain = [tile for tile in parts.wide.tiles.values() if tile.node.inset == 0]
    assert [tile.node.sample.form for tile in chain] == ["text", "code"] * 4
    assert len({tile.y() for tile in chain}) == 1 and sorted(chain, key=lambda tile: tile.x()) == chain
    assert any("TOM 0.75" in link.text() for link in parts.wide.findChildren(QLabel, "link"))
    tile = parts.wide.tiles[link.sample or 0]
    assert tile.marked
    QTest.keyClick(parts.wide, Qt.Key.Key_Right)
    wait_until(lambda: parts.roundtrip.selected != link.sample)
    following = next(each for each in chain if each.marked)
    assert chain.index(following) == chain.index(tile) + 1


def test_a_chain_none_of_whose_programs_parses_is_named_and_never_green(database: Path) -> None:
    with chat_server(garbage) as server, open_store(database) as store:
        run_id = start(settings(database.parent / "own.jsonl", server), database.parent, store, print, Control()).run_id
    with open_reader(database) as reader:
        run, item = reader.run(run_id), reader.items(run_id)[0]
        nodes, page = trace(item, reader.samples(item.id)), render(reader, run_id)
    assert item.measures["sc"] == 1.0 and region_state(item) is RegionState.FAIL
    assert state_words(item) == "0 of 3 steps right: no program of the chain parses"
    assert presenter(item).difference(item)[0] == "SC 1.00, no program of the chain parses"
    assert nodes[1].remark == "None of the programs of this chain parses: that they are alike says nothing."
    assert "No program of the chain parses: 2 of 2 problems." in page
    for line in (run_summary(run), "\n".join((*(cell.text for cell in _cells(run)), _beside(run)))):
        assert "SC 1.00" in line and "no program of the chain parses: 2 of 2 problems" in line


def test_models_are_drawn_over_each_other_where_runs_are_compared(window: MainWindow) -> None:
    """Last: the page stays open."""
    window.comparing.compare((1, 2))
    page = window.comparing.page
    wait_until(lambda: page.comparisons)
    page.figures_button.click()
    wait_until(lambda: any(figure.name == "by-step" for figure in page.figures.figures))
    drawn = next(figure for figure in page.figures.figures if figure.name == "by-step")
    assert isinstance(drawn, Lines)
    assert [series.name for series in drawn.series] == ["SSC m, run 1", "SC m, run 1", "SSC m, run 2", "SC m, run 2"]
    assert "Who solves and keeps more problems" in {figure.title for figure in page.figures.figures}


def test_the_report_holds_each_program_against_the_one_before_as_the_window_does(database: Path) -> None:
    with open_reader(database) as reader:
        page = render(reader, 1)
    for left, right in (("original", "first program"), ("first program", "program 1"), ("program 1", "program 2")):
        assert f'<th>{left}</th><th class="sign"></th><th>{right}</th>' in page
    assert "<th>reconstruction<" not in page, "a chain has no such thing"
