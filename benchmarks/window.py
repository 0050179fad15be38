"""How fast the window opens a large database over a large project, and for how long its event loop ever stands still.

usage: python benchmarks/window.py [--samples 100000] [--files 5000] [--folder FOLDER]
Makes a database and a codebase (in FOLDER, which is used again where it has them), opens the window without a screen
in a process of its own, scrolls, filters, sorts, switches regions, tabs and runs, and compares two runs while a timer
beats, then lets another process write a run into the same database (a copy, so that each time is like the first).
Prints one `name=value` a line: `stall_ms` is the longest time between two beats, and `busy_ms` the longest time that
the window's own thread computed between two; of the opening, `seconds` since the process began and `cpu_seconds` of
all its threads. Where other programs keep the processors busy the first of each pair grows with them, the second
hardly.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests")]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

BEAT = 2
"""Milliseconds between two beats."""
SAMPLES_OF_ITEM = 7
ADMITTED = 0.9
STEPS = 60
"""Of scrolling, and of switching regions."""
OTHER = 5
"""A second run of the project has one in so many of the shown one's samples."""
SHOWN_RUN = 2
RUNNING = 12.0
"""Seconds of a run in another process."""


def main() -> int:
    options = _options()
    if options.measure:
        return _measure(options.folder)
    if options.write:
        return _write(options.folder)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        seconds = _prepare(folder, options.samples, options.files)
        _copy(folder)
        _compile()
        print(f"prepare_seconds={seconds:.1f}", flush=True)
        environment = {**os.environ, "RTC_STARTED": str(time.time())}
        command = [sys.executable, __file__, "--measure", "--folder", str(folder)]
        return subprocess.run(command, env=environment).returncode


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- what is measured on


def _prepare(folder: Path, samples: int, files: int) -> float:
    """Make database and project unless they are there; the seconds it took."""
    from factories import fill_store

    from rtc_inspector.core.run.results import open_store

    began, database = time.monotonic(), folder / "two_runs.sqlite"
    if database.exists():
        return 0.0
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / "partial.sqlite"
    with open_store(partial) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        items = int(samples / SAMPLES_OF_ITEM / ADMITTED) + 1
        fill_store(store, folder / "project", items // OTHER, 2, model="OtherCoder-1B-Q8_0")
        fill_store(store, folder / "project", items, 1)
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    written = sorted((folder / "project" / "shop").glob("*.py"))
    for number in range(files - len(written)):
        copy = folder / "project" / f"part_{number % 50:02}" / f"module_{number:04}.py"
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(written[number % len(written)].read_text("utf-8")[:4000].rpartition("\n\n\n")[0] + "\n")
    partial.rename(database)
    return time.monotonic() - began


def _copy(folder: Path) -> None:
    for side in ("-wal", "-shm"):  # of a measurement that was ended
        (folder / f"runs.sqlite{side}").unlink(missing_ok=True)
    shutil.copy(folder / "two_runs.sqlite", folder / "runs.sqlite")


def _compile() -> None:
    """What installing the program does."""
    for name in ("app", "core", "resources", "ui"):
        compileall.compile_dir(Path(__file__).parents[1] / name, quiet=2)


def _write(folder: Path) -> int:
    """The run that is shown goes on in another process: regions come in faster than any model writes."""
    import random

    from factories import _fill_item, _module

    from rtc_inspector.core.run.results import open_store
    from rtc_inspector.core.store.writer import Store

    def write(store: Store, number: int) -> None:
        settings, choose = store.reader.settings(SHOWN_RUN), random.Random(number)
        _, regions = _module(f"shop/new_{number:03}.py", range(8), choose)
        for region in regions:
            item_id = store.add_item(SHOWN_RUN, region.item)
            if region.item.admitted:
                _fill_item(store, item_id, region, settings, choose)

    with open_store(folder / "runs.sqlite") as store:
        store.take_up(SHOWN_RUN)
        until = time.monotonic() + RUNNING
        while time.monotonic() < until:
            write(store, time.monotonic_ns() // 1_000_000)
            time.sleep(0.3)
        store.finish_run(SHOWN_RUN, "finished", [])
    return 0


# ---- the window


class Heart:
    """Beats in the event loop; the longest pause between two beats is how long the window did not answer."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.longest, self._last = 0.0, time.perf_counter()
        self.busiest, self._computed = 0.0, time.thread_time()
        self._timer = QTimer(interval=BEAT)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now, computed = time.perf_counter(), time.thread_time()
        self.longest, self._last = max(self.longest, now - self._last), now
        self.busiest, self._computed = max(self.busiest, computed - self._computed), computed

    def watch(self, name: str, act: Callable[[], None]) -> dict[str, float]:
        """Milliseconds of the longest pause while `act` goes on, and of the longest computing."""
        self.longest, self._last = 0.0, time.perf_counter()
        self.busiest, self._computed = 0.0, time.thread_time()
        act()
        self._beat()
        print(f"done={name}", file=sys.stderr, flush=True)
        return {f"stall_ms_{name}": round(1000 * self.longest, 1), f"busy_ms_{name}": round(1000 * self.busiest, 1)}


def shown(folder: Path, width: int, height: int):  # type: ignore[no-untyped-def]
    """The application and its window, empty, with settings of its own in `folder`."""
    started = float(os.environ["RTC_STARTED"])
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    from rtc_inspector.ui.main_window import MainWindow
    from rtc_inspector.ui.shell.remembered import Remembered
    from rtc_inspector.ui.style.appearance import Appearance
    from rtc_inspector.ui.window.collector import Collector

    app = QApplication(["rtc-inspector"])
    collector = Collector(app)
    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    window = MainWindow(Appearance(app, "light"), Remembered(settings))
    window.resize(width, height)
    window.show()
    collector.settle()
    window.inspection.overview_changed.connect(collector.note_rows)
    _print_since(started, "window")
    return app, window


def _measure(folder: Path) -> int:
    started = float(os.environ["RTC_STARTED"])
    app, window = shown(folder, 1280, 800)
    heart = Heart()
    figures = heart.watch("opening", lambda: _open(app, window, folder, started))
    figures |= heart.watch("idle", lambda: _wait(app, lambda: window.opening.idle.done))
    figures |= _use(app, window, heart)
    figures |= _run_elsewhere(app, window, heart, folder)
    figures |= _diff(app)
    figures["memory_mb"] = round(_peak_memory(), 0)
    for name, value in figures.items():
        print(f"{name}={value}")
    window.close()
    _settle(app, 0.3)
    return 0


def _open(app, window, folder: Path, started: float) -> None:  # type: ignore[no-untyped-def]
    """Until regions are listed and code is shown and painted; then until every file is read."""
    window.open_database(folder / "runs.sqlite", folder / "project")
    window.open_project(folder / "project")
    parts = window.parts
    _wait(app, lambda: bool(parts.regions.regions.shown) and bool(parts.code.editor.toPlainText()))
    app.processEvents()
    _print_since(started, "first_picture")
    _wait(app, lambda: window.project.codebase is not None and window.inspection.overview.files)
    _print_since(started, "all_read")
    _settle(app, 0.5)


def _print_since(started: float, name: str) -> None:
    print(f"{name}_seconds={time.time() - started:.2f}\n{name}_cpu_seconds={time.process_time():.2f}", flush=True)


def _use(app, window, heart: Heart) -> dict[str, float]:  # type: ignore[no-untyped-def]
    from PySide6.QtCore import Qt

    parts = window.parts
    table, rows = parts.regions.table, parts.regions.regions
    bar = table.verticalScrollBar()

    def scroll() -> None:
        for step in range(STEPS):
            bar.setValue(bar.maximum() * step // STEPS)
            _settle(app, 0.01)

    def filter_words() -> None:
        for words in ("m", "mod", "module_0", "module_01", "subtotal", "subtotal disc", ""):
            parts.regions.words.setText(words)
            _settle(app, 0.3)

    def filter_states() -> None:
        for state in (1, 2, 5, 0):
            parts.regions.states.setCurrentIndex(state)
            _settle(app, 0.1)

    def sort() -> None:
        for column in (3, 4, 1):
            table.sortByColumn(column, Qt.SortOrder.DescendingOrder)
            _settle(app, 0.1)

    def switch() -> None:
        for step in range(STEPS):
            window.browsing.choose(rows.shown[step * 137 % len(rows.shown)].id)
            _settle(app, 0.08)

    def label() -> None:
        window.label_desk.label_samples()
        _wait(app, lambda: parts.labels._sample is not None)
        for _ in range(STEPS):
            parts.labels.next_requested.emit()
            _settle(app, 0.03)

    def tabs() -> None:
        for step in range(2 * parts.tabs.count()):
            parts.tabs.setCurrentIndex(step % parts.tabs.count())
            _settle(app, 0.3)

    acts = {"scrolling": scroll, "filtering": filter_words, "states": filter_states, "sorting": sort}
    acts |= {"switching": switch, "tabs": tabs, "labelling": label}
    acts |= {"runs": lambda: _switch_runs(app, window), "comparing": lambda: _compare(app, window)}
    figures: dict[str, float] = {}
    for name, act in acts.items():
        figures |= heart.watch(name, act)
    return figures


def _switch_runs(app, window) -> None:  # type: ignore[no-untyped-def]
    from rtc_inspector.ui.reading.inspection import Wanted

    for run in (1, SHOWN_RUN) * 3:
        window.inspection.choose_run(Wanted(run))
        _wait(app, lambda run=run: window.inspection.run is not None and window.inspection.run.id == run)
        _settle(app, 0.5)


def _compare(app, window) -> None:  # type: ignore[no-untyped-def]
    """The page is made at its first show; then two traces, and back."""
    comparing = window.comparing
    for _ in range(2):
        comparing.compare((1, SHOWN_RUN))
        _wait(app, lambda: comparing.page.comparisons)
        _settle(app, 0.5)
        comparing.page.open_pairs(comparing.page.comparisons[0].disagreements, 0)
        _settle(app, 0.3)
        comparing.page.show_summary()
        comparing.close()
        _settle(app, 0.2)


def _run_elsewhere(app, window, heart: Heart, folder: Path) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """The window looks on while another process writes and the user scrolls."""
    writer = subprocess.Popen([sys.executable, __file__, "--write", "--folder", str(folder)])
    bar = window.parts.regions.table.verticalScrollBar()

    def look_on() -> None:
        step = 0
        while writer.poll() is None:
            step += 1
            bar.setValue(step * 40 % max(bar.maximum(), 1))
            _settle(app, 0.05)

    return heart.watch("running", look_on)


def _diff(app) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Two files of 10,000 lines."""
    from rtc_inspector.ui.panels.sample_tabs import DiffPanel

    before = [f"    value_{n} = compute({n}, other={n % 7})" for n in range(10_000)]
    after = [line.replace("other", "another") if n % 9 == 0 else line for n, line in enumerate(before) if n % 13]
    panel = DiffPanel()
    panel.resize(1000, 500)
    panel.show()
    began, computed = time.perf_counter(), time.thread_time()
    panel.set_pair("\n".join(before), "\n".join(after), "reconstruction", "big.py")
    panel.grab()
    seconds, computed = time.perf_counter() - began, time.thread_time() - computed
    panel.close()
    return {"diff_10000_lines_seconds": round(seconds, 2), "diff_10000_lines_busy_seconds": round(computed, 2)}


def _wait(app, condition: Callable[[], object], seconds: float = 120.0) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("The window did not get there in time.")
        app.processEvents()
        time.sleep(0.001)


def _settle(app, seconds: float) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        app.processEvents()
        time.sleep(0.001)


def _peak_memory() -> float:
    """Megabytes this process ever held."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


if __name__ == "__main__":
    sys.exit(main())
