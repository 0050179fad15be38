"""The window on a benchmark file: the generated project is open, and its task is chosen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import fill_store, model_info, suite
from notebooks import notebook
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication
from stored_run import show_figure
from themes import light
from waiting import wait_until

from rtc_inspector.core.figures import Scatter
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import BenchmarkSettings, RunSettings
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.benchmark import written_benchmark
from rtc_inspector.core.types import Item, Span
from rtc_inspector.resources import path as resource
from rtc_inspector.ui.figures.view import FiguresView
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.remembered import Remembered

PATIENCE = 30.0
"""Seconds: on a busy machine figures take theirs, since they rest twice as long as they are read."""


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path) -> Iterator[MainWindow]:
    remembered = Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    made = MainWindow(light(qapp), remembered)
    made.show()
    yield made
    made.close()
    wait_until(lambda: not made.isVisible())
    made.deleteLater()


def test_a_benchmark_brings_its_task_and_another_project_leaves_it(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = str(resource("benchmark", "pocket.jsonl"))
    root = written_benchmark(BenchmarkSettings(file)).root
    window.open_project(root)
    wait_until(lambda: window.project.codebase is not None and window.project.codebase.root == root)
    wait_until(lambda: window.control.settings.task == "benchmark")
    assert window.control.settings.benchmark.file == file
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n")
    window.open_project(other)
    wait_until(lambda: window.project.codebase is not None and window.project.codebase.root == other)
    wait_until(lambda: window.control.settings.task == "synthesis")


def test_a_file_is_opened_by_its_name_and_lists_its_problems(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows the folder that is generated from it, nor the files that judging needs there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = resource("benchmark", "pocket.jsonl")
    window.open_project(file)
    files = window.parts.tree.files
    wait_until(lambda: files.rowCount() == 16)
    assert files.index(0, 0).data() == "Pocket/0" and files.index(10, 0).data() == "Pocket/10"
    assert files.headerData(0, Qt.Orientation.Horizontal) == "Problem"
    assert window.windowTitle() == "pocket.jsonl – RTC Inspector"
    assert window.remembered.projects() == [file], "it is opened by this name the next time"
    wait_until(lambda: window.parts.code.path == "problems/p_0001.py")
    assert window.parts.code.source.text.startswith("def add(a, b):")
    assert "Pocket/" in window.parts.code.header.title.toolTip(), "the path is one that nobody chose"
    codebase = window.project.codebase
    assert codebase is not None
    ours = [each.path for each in codebase.files if "candidate = " in each.text and each.path.startswith("problems")]
    assert not ours, "by that name the tests take the function; the benchmark has no such line"
    assert "candidate = add" in (codebase.root / "problems/p_0001.py").read_text(), "and the tests still find it"
    tour = resource("benchmark", "tour.ipynb")
    window.open_project(tour)
    wait_until(lambda: files.rowCount() == 8)
    assert files.index(0, 0).data().startswith("tour.ipynb:")
    assert window.remembered.projects() == [tour, file]


def test_a_folder_of_notebooks_stands_for_their_cells(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it holds no other code: else it is the project that it looks like."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.ipynb", "b.ipynb"):
        notebook(folder / name, ("code", "x = 1\nx"), ("code", "x + 1"))
    window.open_project(folder)
    wait_until(lambda: window.parts.tree.files.rowCount() == 4)
    assert window.control.settings.task == "notebook"
    assert window.control.settings.benchmark.file == str(folder)
    assert window.windowTitle() == "notes – RTC Inspector" and window.remembered.projects() == [folder]
    (folder / "tool.py").write_text("x = 1\n")
    window.open_project(folder)
    wait_until(lambda: window.project.codebase is not None and window.project.codebase.root == folder)
    assert window.control.settings.task != "notebook"


def test_runs_of_the_file_are_found_wherever_its_project_was_generated(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of this program writes another project of the same file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = resource("benchmark", "pocket.jsonl")
    now = written_benchmark(BenchmarkSettings(str(file))).root
    before = Path(shutil.copytree(now, tmp_path / "before"))
    info = model_info("m")
    settings = RunSettings(task="benchmark", benchmark=BenchmarkSettings(str(file)))
    with open_store(tmp_path / "runs.sqlite") as store:
        project = store.add_project(before, "pocket", None, dirty=False)
        run = store.start_run(
            project, settings, info, info, sandbox="s", image_digest="", app_version="1", fingerprint="f", suite=suite()
        )
        item = Item("Pocket/0", "problem", "problems/p_0001.py", Span(18, 30), 2, 2, "return a + b")
        store.add_item(run, item)
        store.finish_run(run, "finished", [])
    window.open_database(tmp_path / "runs.sqlite", file)
    window.open_project(file)
    wait_until(lambda: window.inspection.run is not None and window.project.codebase is not None)
    assert window.project.root == before and window.windowTitle().startswith("pocket")
    wait_until(lambda: window.parts.tree.files.rowCount() == 16)


def begin(store: Store, root: Path, model: str) -> int:
    info = model_info(model)
    project = store.add_project(root, "pocket", None, dirty=False)
    settings = RunSettings(task="benchmark", benchmark=BenchmarkSettings(str(root / "pocket.jsonl")))
    return store.start_run(
        project, settings, info, info, sandbox="s", image_digest="", app_version="1", fingerprint="f", suite=suite()
    )


def finish_item(store: Store, run: int, number: int, solved: float, rtc: float) -> None:
    item = Item(f"Pocket/{number}", "problem", f"problems/p_{number:04}.py", Span(18, 30), 2, 2, "return a + b")
    counts = {"judged": 3, "passes": round(3 * rtc), "baseline": 0.0}
    store.set_measures(store.add_item(run, item), {**counts, "pass@1": solved, "rtc": rtc, "lift": rtc}, True)


def places(figures: FiguresView) -> list[tuple[float | None, float | None]]:
    figure = figures.view.figure
    return [(p.x.value, p.y.value) for p in figure.points] if isinstance(figure, Scatter) else []


def test_figures_follow_runs_that_somebody_else_carries_out(window: MainWindow, tmp_path: Path) -> None:
    """On the tab of the run and on the page of several, without a click; this window runs nothing."""
    with open_store(tmp_path / "runs.sqlite") as store:
        first, second = (begin(store, tmp_path, model) for model in ("small", "large"))
        finish_item(store, first, 1, 1.0, 1.0)
        window.open_database(tmp_path / "runs.sqlite")
        wait_until(lambda: window.inspection.run is not None, PATIENCE)
        window.parts.tabs.setCurrentWidget(window.parts.run)
        tab = window.parts.run.drawings
        finish_item(store, second, 1, 0.0, 1.0)
        wait_until(lambda: "ranking" in [each.name for each in tab.figures if isinstance(each, Scatter)], PATIENCE)
        show_figure(tab, "ranking")
        assert places(tab) == [(0.0, 1.0)], "of the newest run"
        finish_item(store, second, 2, 1.0, 0.0)
        wait_until(lambda: places(tab) == [(0.5, 0.5)], PATIENCE)
        window.comparing.compare((first, second))
        window.comparing.page.show_figures()
        page = window.comparing.page.figures
        wait_until(lambda: places(page) == [(1.0, 1.0), (0.5, 0.5)], PATIENCE)
        finish_item(store, first, 2, 0.0, 0.0)
        wait_until(lambda: places(page) == [(0.5, 0.5), (0.5, 0.5)], PATIENCE)
        finish_item(store, second, 3, 1.0, 1.0)
        wait_until(lambda: places(page)[1] == (pytest.approx(2 / 3), pytest.approx(2 / 3)), PATIENCE)


def test_figures_stay_on_show_while_nothing_can_be_compared_yet(window: MainWindow, tmp_path: Path) -> None:
    """A run that began just now has no problem in common with another one; one on other problems never has."""
    with open_store(tmp_path / "runs.sqlite") as store:
        first, second = (begin(store, tmp_path, model) for model in ("small", "large"))
        finish_item(store, first, 1, 1.0, 1.0)
        window.open_database(tmp_path / "runs.sqlite")
        wait_until(lambda: window.inspection.run is not None, PATIENCE)
        window.comparing.compare((first, second))
        page = window.comparing.page
        wait_until(lambda: "being read" not in page._empty.accessibleName(), PATIENCE)
        page.show_figures()
        wait_until(lambda: places(page.figures) == [(1.0, 1.0)], PATIENCE)
        finish_item(store, second, 2, 1.0, 0.0)
        wait_until(lambda: places(page.figures) == [(1.0, 1.0), (1.0, 0.0)], PATIENCE)
        assert page.in_figures and not page.runs.isVisible()
        finish_item(store, second, 1, 0.0, 0.0)
        wait_until(lambda: places(page.figures) == [(1.0, 1.0), (0.5, 0.0)] and bool(page.comparisons), PATIENCE)
        assert page.in_figures
        window.comparing.compare((second, first))
        assert not page.in_figures, "other runs are asked for: their summary comes first"


def test_the_page_of_a_comparison_makes_room_for_a_file_that_is_opened(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the file has no run, so that no other run comes to be shown."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with open_store(tmp_path / "runs.sqlite") as store:
        for seed in (1, 2):
            fill_store(store, tmp_path / "shop", 4, seed)
    window.open_database(tmp_path / "runs.sqlite")
    wait_until(lambda: window.inspection.run is not None)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("[1]")
    for page, show in (
        (window.comparing.page, window.comparing.compare),
        (window.auditing.page, window.auditing.audit),
    ):
        show((1, 2))
        assert page.isVisible()
        window.parts.notices.problem.clear()
        window.open_project(bad)
        wait_until(lambda: "not a JSON object" in window.parts.notices.problem.text())
        assert page.isVisible(), "nothing was opened"
        window.open_project(resource("benchmark", "pocket.jsonl"))
        wait_until(lambda page=page: not page.isVisible())


def test_a_bad_file_is_told_and_what_is_open_stays(window: MainWindow, tmp_path: Path) -> None:
    for name, text, said in (
        ("bad.jsonl", "{}\n[]", "line 2: is not a JSON object"),
        ("a.ipynb", "", "a.ipynb is empty"),
        ("a.csv", "", "stands for a project"),
    ):
        (tmp_path / name).write_text(text)
        window.open_project(tmp_path / name)
        wait_until(lambda said=said: said in window.parts.notices.problem.text())
    assert window.project.root is None
