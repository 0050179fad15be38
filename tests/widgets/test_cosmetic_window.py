"""The marginals of a cosmetic run in the window: a click or Enter on a cell opens the functions behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import model_info, suite
from PySide6.QtCore import QModelIndex, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox
from themes import light
from waiting import wait_until

from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.types import Item, Outcome, Span, Verdict
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.remembered import Remembered

TEXT = "def bill(total):\n    price = total\n    return price\n"
CHANGES = ("identity", "rename", "logging")
CHANGED = {"big": {"rename": 0.1, "logging": 0.5}, "small": {"rename": 0.4, "logging": 0.2}}
"""Hidden names found, of an original's 0.5."""


def sample(role: Role, index: int, text: str, author: str = "model") -> Sample:
    return Sample(role, index, "asked", 1, 0.1, text, Extraction(text, ()), 9, 9, 0.1, "stop", author=author)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two functions, each with three variants and a name guessed in each."""
    folder = tmp_path_factory.mktemp("cosmetic")
    (folder / "shop").mkdir()
    (folder / "shop" / "shop.py").write_text(TEXT)
    with open_store(folder / "runs.sqlite") as store:
        project, settings = store.add_project(folder / "shop", "shop", None, False), RunSettings(task="cosmetic")
        info = model_info()
        run_id = store.start_run(
            project, settings, info, info,
            sandbox="tests/none", image_digest="", app_version="0", fingerprint="f", suite=suite(),
        )  # fmt: skip
        for key, changed in CHANGED.items():
            span, facets = Span(0, len(TEXT) - 1), {"complexity": "0-10"}
            item = Item(key, "function", "shop.py", span, 1, 3, TEXT[:-1], tests=("t",), facets=facets)
            item_id = store.add_item(run_id, item)
            store.add_sample(item_id, None, sample(Role.COMPLETE, 0, "total"))
            for number, change in enumerate(CHANGES, 1):
                text = TEXT[:-1].replace("price", f"{change}_{key}")
                made = store.add_sample(item_id, None, sample(Role.TRANSFORM, number, text, change))
                store.add_verdict(made, Verdict(Outcome.PASS, 0.1))
                store.add_sample(item_id, made, sample(Role.COMPLETE, 0, "total"))
            measures = {"identifiers": 0.5, "identifiers@identity": 0.5}
            measures |= {f"identifiers@{change}": value for change, value in changed.items()}
            store.set_measures(item_id, measures, True)
        store.finish_run(run_id, "finished", [])
    return folder / "runs.sqlite"


@pytest.fixture
def window(qapp: QApplication, database: Path, tmp_path: Path) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = MainWindow(light(qapp), Remembered(settings))
    made.resize(1500, 950)
    made.show()
    made.open_database(database, database.parent / "shop")
    made.open_project(database.parent / "shop")
    wait_until(lambda: made.inspection.run is not None and made.project.codebase is not None)
    made.parts.tabs.setCurrentWidget(made.parts.run)
    wait_until(lambda: made.parts.run.drawings.view.figure is not None)
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def cell(window: MainWindow, name: str) -> QModelIndex:
    """Of the only row, by its column."""
    model = window.parts.run.drawings.view.cells.table.model()
    names = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(model.columnCount())]
    return model.index(0, names.index(name))


def shown(window: MainWindow) -> tuple[str, str]:
    """The function on show, and who wrote the sample that is chosen."""
    item, chosen = window.inspection.item, window.parts.roundtrip.selected
    cards = {card.sample.id: card.sample for card in window.parts.roundtrip.cards}
    return (item.key if item else "", cards[chosen].author if chosen in cards else "")


def test_a_click_on_a_cell_opens_the_functions_behind_it_one_after_the_other(window: MainWindow) -> None:
    table = window.parts.run.drawings.view.cells.table
    assert "0.25 worse" in cell(window, "rename").data()
    for expected in (("big", "rename"), ("small", "rename"), ("big", "rename")):
        spot = table.visualRect(cell(window, "rename")).center()
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        wait_until(lambda expected=expected: shown(window) == expected)
    view = window.parts.diff.view
    window.parts.tabs.setCurrentWidget(window.parts.diff)
    wait_until(lambda: view.title.text() == "variant 3, rename")
    assert "price = total" in view._texts[0] and "rename_big = total" in view._texts[1], "the pair stands side by side"


def test_keys_go_to_a_cell_and_open_the_function_that_changed_most(window: MainWindow) -> None:
    table = window.parts.run.drawings.view.cells.table
    table.setFocus()
    table.setCurrentIndex(cell(window, "rename"))
    QTest.keyClick(table, Qt.Key.Key_Right)
    assert table.currentIndex() == cell(window, "logging")
    QTest.keyClick(table, Qt.Key.Key_Return)
    wait_until(lambda: shown(window) == ("small", "logging"))


def test_other_axes_are_chosen_by_keyboard(window: MainWindow) -> None:
    view = window.parts.run.drawings.view
    box = next(box for box in view.findChildren(QComboBox) if box.property("choice") == "columns")
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_End)
    wait_until(lambda: view.cells.table.model().columnCount() == 2)
    assert view.cells.table.model().headerData(1, Qt.Orientation.Horizontal) == "hidden names"
