"""Every part of the window is a function of what is looked at: random changes, held against fresh windows."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import shiboken6
from edit_runs import history, store_edits
from factories import fill_store
from notebooks import notebook
from PySide6.QtCore import QCoreApplication, QEvent, QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)
from themes import light
from waiting import wait_until

from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.types import Outcome, Verdict
from rtc_inspector.resources import path as resource
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.panels.pieces import Badge
from rtc_inspector.ui.presenters import MARK
from rtc_inspector.ui.reading.inspection import LookedAt, Wanted
from rtc_inspector.ui.shell.bars import run_summary
from rtc_inspector.ui.shell.remembered import FIRST_REGIONS, Remembered

CHANGES = 100


@dataclass
class World:
    """Two databases whose ids are alike, three projects with runs, one without, and a benchmark file."""

    folder: Path
    one: Path
    two: Path
    projects: list[Path]
    writes: int = 0

    def runs(self, database: Path) -> list[int]:
        with open_reader(database) as reader:
            return [run.id for run in reader.runs()]

    def items(self, database: Path, run: int) -> list[int]:
        with open_reader(database) as reader:
            return [item.id for item in reader.items(run)]

    def labelled(self) -> set[tuple[Path, int, int]]:
        """Database, run and sample of every label that is stored."""
        found = set()
        for database in (self.one, self.two):
            with open_reader(database) as reader:
                for run in reader.runs():
                    found |= {(database, run.id, label.sample_id) for label in reader.current_labels(run.id)}
        return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    one, two, projects = folder / "one.sqlite", folder / "two.sqlite", [folder / "ada", folder / "bob", folder / "eve"]
    for project in projects:
        project.mkdir()
    (projects[2] / "alone.py").write_text("def alone():\n    return 1\n")
    repository = folder / "repository"
    history(repository, 4)
    for database, order in ((one, (0, 0, 1)), (two, (1, 0))):
        with open_store(database) as store:
            for seed, at in enumerate(order, 1):
                fill_store(store, projects[at], 5, seed, settings=RunSettings(regions=5, forward_samples=2, seed=seed))
        store_edits(repository, database, 3)
    gone = folder / "gone"
    gone.mkdir()
    with open_store(two) as store:
        fill_store(store, gone, 4, 7)
        fill_store(store, gone, 4, 8)
    shutil.rmtree(gone)
    return World(folder, one, two, [*projects, repository])


@pytest.fixture
def opened(
    qapp: QApplication, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], MainWindow]]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(world.folder / "cache"))
    made: list[MainWindow] = []

    def make() -> MainWindow:
        remembered = Remembered(QSettings(str(tmp_path / f"{len(made)}.ini"), QSettings.Format.IniFormat))
        remembered.annotator = "Ann"
        window = MainWindow(light(qapp), remembered)
        made.append(window)
        window.resize(1280, 800)
        window.show()
        return window

    yield make
    for window in made:
        shut(window)


def shut(window: MainWindow) -> None:
    if shiboken6.isValid(window) and window.isVisible():
        window.close()
        wait_until(lambda: not window.isVisible())
        window.deleteLater()
        # Now: whatever window is left is styled anew with each that is made.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


# ---- what a window shows


def at_rest(window: MainWindow) -> bool:
    """Whether all that was asked for is on show."""
    if window.gateway._waiting or window.browsing._turns._pending:
        return False  # to look for every timer in the window takes long
    run, labelling, figures = window.inspection.run, window.labelling, window.browsing._figures
    asleep = (window.inspection._timer, labelling._reading._rest, figures._reading._rest)
    timers = [each for each in window.findChildren(QTimer) if each.isActive() and each not in asleep]
    if any(each.isSingleShot() or not each.interval() for each in timers):
        return False
    if window.parts.labels.isVisible() and run is not None and labelling._read != run.changes:
        return False
    return not (window.parts.run.isVisible() and run is not None and (figures._stale or not figures._runs))


def settle(window: MainWindow) -> None:
    wait_until(lambda: at_rest(window), 20)
    QApplication.processEvents()
    wait_until(lambda: at_rest(window), 20)


def shown(part: QWidget, left_out: tuple[QWidget, ...] = ()) -> list[str]:
    """Every word, mark and choice in a part; by the alphabet, since cards are used again in any order."""
    said: list[str] = []
    for each in (part, *part.findChildren(QWidget)):
        if not each.isVisible() or each in left_out or isinstance(each.parent(), QAbstractItemView):
            continue
        if isinstance(each, QLabel | QLineEdit):
            said.append(each.text())
        elif isinstance(each, Badge):
            said.append(each.text)
        elif isinstance(each, QAbstractButton):
            said.append(f"[{each.text()}{' on' * each.isChecked()}{' off' * (not each.isEnabled())}]")
        elif isinstance(each, QComboBox):
            said.append(f"<{each.currentText()}>")
        elif isinstance(each, QPlainTextEdit):
            # Rows that only keep the sides of a diff level depend on how wide it was.
            said.append("\n".join(line for line in each.toPlainText().split("\n") if line))
        elif isinstance(each, QAbstractItemView):
            said += cells(each)
    return sorted(text for text in said if text)


def cells(view: QAbstractItemView) -> list[str]:
    model, chosen = view.model(), view.selectionModel().selectedIndexes()
    rows = min(model.rowCount(), 20)
    lines = [
        " | ".join(str(model.index(row, column).data()) for column in range(model.columnCount())) for row in range(rows)
    ]
    heads = [str(model.headerData(column, Qt.Orientation.Horizontal)) for column in range(model.columnCount())]
    return [" | ".join(heads), *lines, f"chosen {sorted({index.row() for index in chosen})}"]


def dump(window: MainWindow) -> dict[str, list[str]]:
    """What each part of a window shows."""
    parts = window.parts
    labels, bar = parts.labels, parts.labels.bar
    own = (labels.progress, labels.history, bar.undo, parts.queue.said)
    found = {
        name: shown(part, own)
        for name, part in {
            "tree": parts.tree, "regions": parts.regions, "count": parts.regions.count, "code": parts.code,
            "roundtrip": parts.roundtrip, "tab": parts.tabs.currentWidget(), "status": parts.status,
            "project": parts.bar.project, "task": parts.bar.task, "welcome": window.welcome,
        }.items()
    }  # fmt: skip
    editor = parts.code.editor
    found["blocks"] = [f"{block.first} {block.item.id} {block.state}" for block in editor.blocks]
    found["title"] = [window.windowTitle()]
    found["enabled"] = [name for name in ("describe", "resume") if window.commands[name].isEnabled()]
    return found


def look_at(window: MainWindow, value: LookedAt, like: MainWindow) -> None:
    """Bring a fresh window to the same place, with the same settings and the same tab on show."""
    window.control.adopt(like.control.settings)
    window.parts.tabs.setCurrentIndex(like.parts.tabs.currentIndex())
    if value.database is not None:
        window.open_database(value.database, value.project)
    settle(window)
    if value.run is not None:
        window.inspection.choose_run(Wanted(value.run), value.item, value.sample)
    elif value.project is not None:
        window.open_project(value.project)
    settle(window)
    if window.inspection.looked_at.item != value.item:
        # The list chooses its first region, and the desk the one of its sample.
        window.inspection.choose_item(value.item, value.sample)
        settle(window)
    if value.file and window.parts.code.path != value.file:
        window.parts.code.open_file(value.file)
        settle(window)
    window.control.adopt(like.control.settings)
    settle(window)  # how many there are is counted anew


# ---- what happens to it


class Driver:
    """Changes what is looked at, as a user's hand and a run elsewhere would; keeps what must hold besides."""

    def __init__(self, window: MainWindow, world: World, seed: int) -> None:
        self.window, self.world, self.choose = window, world, random.Random(seed)
        self.numbers: dict[Path, int] = {}
        self.said: dict[Path, list[str]] = {}

    def change(self) -> str:
        acts = (
            self.database, self.project, self.project, self.benchmark, self.run, self.run, self.item, self.item,
            self.item, self.sample, self.file, self.tab, self.tab, self.label, self.finish, self.delete, self.task,
            self.notice, self.number, self.failure,
        )  # fmt: skip
        act = self.choose.choice(acts)
        return f"{act.__name__} {act() or ''}"

    @property
    def at(self) -> LookedAt:
        return self.window.inspection.looked_at

    def database(self) -> str:
        database = self.choose.choice((self.world.one, self.world.two))
        self.window.open_database(database)
        return database.name

    def project(self) -> str:
        project = self.choose.choice(self.world.projects)
        self.window.open_project(project)
        return project.name

    def benchmark(self) -> None:
        self.window.open_project(resource("benchmark", "pocket.jsonl"))
        wait_until(lambda: "pocket" in str(self.at.project).lower())

    def run(self) -> str:
        runs = self.world.runs(self.at.database) if self.at.database is not None else []
        if not runs:
            return ""
        run = self.choose.choice(runs)
        self.window.run_lists._open(run)
        return str(run)

    def item(self) -> str:
        settle(self.window)
        items = self.window.inspection.overview.items if self.window.inspection.overview else ()
        if not items:
            return ""
        item = self.choose.choice(items).id
        self.window.parts.regions.item_chosen.emit(item)
        return str(item)

    def sample(self) -> None:
        settle(self.window)
        cards = self.window.parts.roundtrip.cards
        if cards:
            self.window.parts.roundtrip.select(self.choose.choice(cards).sample.id)

    def failure(self) -> None:
        settle(self.window)
        self.window.commands["next-failure"].trigger()

    def file(self) -> None:
        settle(self.window)
        codebase = self.window.project.codebase
        if codebase is not None and codebase.files:
            self.window.parts.code.open_file(self.choose.choice(codebase.files).path)

    def tab(self) -> str:
        tabs = self.window.parts.tabs
        wanted = self.choose.randrange(tabs.count())
        if tabs.isTabVisible(wanted):
            tabs.setCurrentIndex(wanted)
        return tabs.tabText(tabs.currentIndex())

    def label(self) -> None:
        """A label goes to the run on show, or nowhere."""
        window, before = self.window, self.world.labelled()
        window.label_desk.label_samples()
        if self.choose.random() < 0.5:
            settle(window)
        at = self.at
        QTest.keyClick(window.parts.labels, Qt.Key.Key_2)
        new = self.world.labelled() - before
        assert {(database, run) for database, run, _ in new} <= {(at.database, at.run)}, new
        self.world.writes += 1

    def finish(self) -> str:
        """A run goes on elsewhere: one of its samples fails now, and it ends."""
        database = self.at.database or self.world.one
        run = self.choose.choice(self.world.runs(database))
        item = self.choose.choice(self.world.items(database, run))
        with open_store(database) as store:
            codes = [each for each in store.reader.samples(item) if each.verdict is not None]
            for sample in codes[:1]:
                store.add_verdict(sample.id, Verdict(Outcome.FAIL, 0.1, (), "failed", "", "tests/none"))
            store.finish_run(run, "finished", [])
        self.world.writes += 1
        self.window.inspection.refresh()
        return str(run)

    def delete(self) -> None:
        """Delete the run on show; another program brings it back while the next one is looked at."""
        at = self.at
        if at.run is None or at.database is None:
            return
        settle(self.window)
        self.window.run_lists.hide(at.run)
        wait_until(lambda: not self.window.scribe.busy)
        settle(self.window)
        assert self.at.run != at.run
        with open_store(at.database) as store:
            store.restore_run(at.run)
        self.world.writes += 1
        self.window.inspection.choose_run(Wanted(self.at.run, None if self.at.run else str(self.at.project)))

    def task(self) -> None:
        settle(self.window)
        box = self.window.parts.bar.task.box
        every = (box.model().index(row, 0) for row in range(box.count()))
        fit = [each.data(Qt.ItemDataRole.UserRole) for each in every if each.flags() & Qt.ItemFlag.ItemIsEnabled]
        self.window.parts.bar.task.chosen.emit(self.choose.choice(fit))

    def notice(self) -> None:
        settle(self.window)
        if self.at.project is not None:
            text = f"notice {len(self.said)} of {self.at.project}"
            self.window.parts.notices.warn(text)
            self.said.setdefault(self.at.project, []).append(text)

    def number(self) -> None:
        settle(self.window)
        if self.at.project is not None:
            number = self.choose.randrange(30, 90)
            self.window.control.adopt(replace(self.window.control.settings, regions=number))
            self.numbers[self.at.project] = number

    def check(self) -> None:
        """Notices and the number of regions are those of the project."""
        window, project = self.window, self.at.project
        foreign = [each for other, said in self.said.items() if other != project for each in said]
        assert not [each.problem for each in window.parts.notices.notices if each.problem in foreign]
        assert window.control.settings.regions == self.numbers.get(project or Path(), FIRST_REGIONS)


@pytest.mark.parametrize("seed", [2])
def test_a_hundred_changes_leave_nothing_of_before_on_show(
    opened: Callable[[], MainWindow], world: World, seed: int
) -> None:
    window = opened()
    driver, fresh_ones = Driver(window, world, seed), {}
    done: list[str] = []
    while len(done) < CHANGES:
        # Several changes, before the answers to the first are there; a fresh window takes seconds to make.
        done += [driver.change() for _ in range(driver.choose.randint(4, 20))]
        settle(window)
        driver.check()
        value, tab = window.inspection.looked_at, window.parts.tabs.currentIndex()
        key = value, tab, world.writes, window.control.settings
        if key not in fresh_ones:
            fresh = opened()
            look_at(fresh, value, window)
            assert fresh.inspection.looked_at == value, done[-6:]
            fresh_ones[key] = dump(fresh)
            shut(fresh)
        mine = dump(window)
        for part, expected in fresh_ones[key].items():
            assert mine[part] == expected, (part, value, done[-6:])


# ---- what users met, one by one


def opened_on(make: Callable[[], MainWindow], world: World, project: int) -> MainWindow:
    window = make()
    window.open_database(world.one, world.projects[project])
    wait_until(lambda: window.inspection.run is not None and window.project.codebase is not None)
    wait_until(lambda: window.parts.code.path)
    return window


def books(folder: Path) -> Path:
    folder.mkdir()
    notebook(folder / "one.ipynb", ("code", "x = 1\ny = x + 1"))
    return folder


@pytest.mark.parametrize("what", ["project", "benchmark", "notebooks"])
def test_no_label_goes_to_a_run_whose_project_was_left(
    opened: Callable[[], MainWindow], world: World, tmp_path: Path, what: str
) -> None:
    window, before = opened_on(opened, world, 0), world.labelled()
    window.label_desk.label_samples()
    wait_until(lambda: window.parts.labels._sample is not None)
    folder = books(tmp_path / "books") if what == "notebooks" else world.projects[2]
    window.open_project(resource("benchmark", "pocket.jsonl") if what == "benchmark" else folder)
    wait_until(lambda: window.inspection.run is None)
    QTest.keyClick(window.parts.labels, Qt.Key.Key_2)
    wait_until(lambda: not window.scribe.busy)
    assert world.labelled() == before
    assert window.parts.labels._sample is None


@pytest.mark.parametrize("left_for", ["run", "project"])
def test_an_edit_s_file_goes_with_its_run_and_failures_are_found(
    opened: Callable[[], MainWindow], world: World, left_for: str
) -> None:
    window = opened_on(opened, world, 3)
    overview = window.inspection.overview
    assert overview is not None and overview.run is not None and overview.run.task == "editing"
    window.browsing.choose(overview.items[0].id)
    wait_until(lambda: MARK in window.parts.code.path)
    if left_for == "run":
        window.run_lists._open(1)
    else:
        window.open_project(world.projects[0])
    wait_until(lambda: window.inspection.run is not None and window.inspection.run.task == "synthesis")
    wait_until(lambda: window.project.codebase is not None and window.project.codebase.root == world.projects[0])
    wait_until(lambda: window.parts.code.path.startswith("shop/"))
    assert window.parts.code.header.failure.isVisible()
    window.commands["next-failure"].trigger()
    assert window.inspection.item is not None and window.inspection.item.path == window.parts.code.path


def test_a_failure_that_comes_is_there_to_be_labelled(opened: Callable[[], MainWindow], tmp_path: Path) -> None:
    root, database = tmp_path / "project", tmp_path / "runs.sqlite"
    root.mkdir()
    with open_store(database) as store:
        run = fill_store(store, root, 3, 1, finish=False)
        for item in store.reader.items(run):
            for sample in store.reader.samples(item.id):
                if sample.verdict is not None:
                    store.add_verdict(sample.id, Verdict(Outcome.PASS, 0.1, (), "", "", "tests/none"))
    window = opened()
    window.open_database(database, root)
    wait_until(lambda: window.inspection.run is not None)
    window.label_desk.label_samples()
    wait_until(lambda: window.parts.labels._empty.accessibleName().startswith("Nothing to label. No reconstruction"))
    with open_store(database) as store:
        failed = store.reader.reconstructions(run)[0].sample_id
        store.add_verdict(failed, Verdict(Outcome.FAIL, 0.1, (), "failed", "", "tests/none"))
        store.finish_run(run, "finished", [])
    window.parts.tabs.setCurrentIndex(0)
    wait_until(lambda: window.inspection.run is not None and window.inspection.run.status == "finished")
    window.label_desk.label_samples()
    wait_until(lambda: window.parts.labels._sample is not None and window.parts.labels._sample.id == failed)


def test_a_search_and_a_dropped_region_leave_nothing_behind(opened: Callable[[], MainWindow], world: World) -> None:
    window = opened_on(opened, world, 0)
    window.searching.search_project()
    assert window.searching._dialog is not None and window.searching._dialog.isVisible()
    overview, code = window.inspection.overview, window.parts.code
    assert overview is not None
    dropped = next(item for item in overview.items if not item.admitted)
    window.browsing.choose(dropped.id)
    assert dropped.id in [block.item.id for block in code.editor.blocks] and not code.header.dropped.isChecked()
    window.browsing.choose(next(item.id for item in overview.items if item.admitted))
    assert dropped.id not in [block.item.id for block in code.editor.blocks]
    window.open_project(world.projects[1])
    assert not window.searching._dialog.isVisible()


def test_what_is_said_of_a_project_stays_with_it(opened: Callable[[], MainWindow], world: World) -> None:
    window = opened_on(opened, world, 0)
    window.parts.notices.warn("something about the first")
    window.control.adopt(replace(window.control.settings, regions=77))
    window.open_project(world.projects[1])
    wait_until(lambda: window.project.codebase is not None and window.project.codebase.root == world.projects[1])
    assert not window.parts.notices.isVisible() and window.control.settings.regions == FIRST_REGIONS
    window.open_project(world.projects[0])
    assert window.parts.notices.isVisible() and window.control.settings.regions == 77


def test_the_line_at_the_foot_tells_the_run_on_show_from_the_one_at_work(
    opened: Callable[[], MainWindow], world: World
) -> None:
    window = opened_on(opened, world, 0)
    status, run = window.parts.status, window.inspection.run
    assert run is not None and status.state.text() == "finished"
    status.show_state(RunState.RUNNING, run.id)
    assert status.state.text() == "running" and "at work" not in status.pace.text()
    status.show_state(RunState.RUNNING, run.id + 1)
    assert status.state.text() == "finished" and status.pace.text().startswith(f"run {run.id + 1} at work")
    summary = run_summary(replace(run, regions_wanted=0, items_admitted=0, items_complete=0))
    assert "tried by hand" in summary and "0/0" not in summary
