"""A stored run to show: real rows, read back from a real database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from factories import fill_store
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ItemRow, RunRow, SampleRow
from rtc_inspector.core.store.writer import Store

if TYPE_CHECKING:
    from rtc_inspector.ui.figures.view import FiguresView, FigureView


@dataclass(frozen=True)
class StoredRun:
    """A filled database with short ways to its rows."""

    reader: Reader
    run: RunRow
    items: tuple[ItemRow, ...]

    def admitted(self) -> ItemRow:
        return next(item for item in self.items if item.admitted)

    def dropped(self) -> ItemRow:
        return next(item for item in self.items if not item.admitted)

    def samples(self, item: ItemRow) -> list[SampleRow]:
        return self.reader.samples(item.id)

    def code_with(self, outcome: str) -> SampleRow:
        """The first reconstruction judged so."""
        every = (sample for item in self.items if item.admitted for sample in self.samples(item))
        return next(sample for sample in every if sample.verdict and sample.verdict.outcome == outcome)


@contextmanager
def stored_run(folder: Path, items: int = 24, seed: int = 5) -> Iterator[StoredRun]:
    """Fill a database under `folder` and read it."""
    with Store.open(folder / "runs.db") as store:
        run_id = fill_store(store, folder / "shop", items, seed)
    reader = Reader.open(folder / "runs.db")
    try:
        yield StoredRun(reader, reader.run(run_id), tuple(reader.items(run_id)))
    finally:
        reader.close()


def show_figure(views: FiguresView, name: str) -> None:
    """Choose one of several figures by its name."""
    views.choose([figure.name for figure in views.figures].index(name))


def said(view: FigureView) -> str:
    """What stands above a figure: the names of lines with their values, then the mark that is read off, or the note."""
    return " · ".join([*(name.text() for name in view._names), view._said.text()])


def shown(widget: QWidget, width: int = 900, height: int = 400) -> QWidget:
    """The widget on the (virtual) screen, active, so that focus and keys are real."""
    widget.resize(width, height)
    widget.show()
    widget.activateWindow()
    assert QTest.qWaitForWindowActive(widget, 3000)
    QApplication.processEvents()
    return widget
