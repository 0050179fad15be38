"""Draws the README's pictures from a real database: `python scripts/screenshots.py DATABASE [RUN]`.

The window is opened without a screen, one region that both passed and failed is chosen, and docs/images/ (or
`--out`) gets each view in both themes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.reading.inspection import Wanted
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.appearance import Appearance
from rtc_inspector.ui.window.pages import proposed

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = (1440, 900)
MODELS = 3.0
"""Seconds until the models of this machine are named: they are looked for after the first run is shown."""
FIGURES = 3.0
"""Seconds that figures take to be read in the background and drawn."""
TABS = {"window": 0, "tests": 1, "trace": 2, "prompt": 3, "labels": 5, "run": 6}


def main() -> int:
    options = _options()
    app = QApplication(["rtc-inspector"])
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        settings = QSettings(str(Path(folder, "settings.ini")), QSettings.Format.IniFormat)
        remembered = Remembered(settings)
        remembered.annotator = "Ann"
        window = _open(app, remembered, options.database, options.run)
        for theme in ("light", "dark"):
            window.appearance.choose(theme)
            for name, tab in TABS.items():
                window.reset_layout()
                window.parts.tabs.setCurrentIndex(tab)
                if name == "labels":
                    window.parts.make_room_for_labels()
                _settle(app, FIGURES if name == "run" else 0.8)
                _save(window, options.out / f"{name}-{theme}.png")
            _compare(app, window, options.out, theme)
        window.close()
    return 0


def _save(window: MainWindow, path: Path) -> None:
    window.grab().save(str(path))
    print(path)


def _compare(app: QApplication, window: MainWindow, out: Path, theme: str) -> None:
    """Where two runs can be compared: what that comes to, and the first item on which they disagree."""
    inspection = window.inspection
    runs = proposed(inspection.overview.runs if inspection.overview else (), inspection.run, ())
    if not runs:
        return
    window.comparing.compare(runs)
    page = window.comparing.page
    _wait(app, lambda: bool(page.comparisons))
    _settle(app)
    _save(window, out / f"compare-{theme}.png")
    if page.comparisons[0].disagreements:
        page.open_pairs(page.comparisons[0].disagreements, 0)
        _settle(app)
        _save(window, out / f"traces-{theme}.png")
        page.show_summary()
    window.comparing.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", type=Path)
    parser.add_argument("run", type=int, nargs="?")
    parser.add_argument("--out", type=Path, default=IMAGES)
    return parser.parse_args()


def _open(app: QApplication, remembered: Remembered, database: Path, run: int | None) -> MainWindow:
    window = MainWindow(Appearance(app, "light"), remembered)
    window.resize(*SIZE)
    window.show()
    window.reset_layout()
    window.open_database(database)
    if run is not None:
        window.inspection.choose_run(Wanted(run))
    _wait(app, lambda: window.inspection.run is not None and bool(window.parts.code.path))
    item = _telling(window.inspection.overview.items if window.inspection.overview else ())
    if item is not None:
        window.browsing.choose(item.id)
        _wait(app, lambda: bool(window.parts.roundtrip.cards))
        _choose_failure(window)
    _settle(app, MODELS)
    return window


def _choose_failure(window: MainWindow) -> None:
    """A reconstruction that failed tells more than one that is the original again."""
    for card in window.parts.roundtrip.cards:
        verdict = card.sample.verdict
        if card.sample.role == "backward" and verdict is not None and verdict.outcome == "fail":
            window.parts.roundtrip.select(card.sample.id)
            return


def _telling(items: tuple[ItemRow, ...]) -> ItemRow | None:
    """A region with passes and failures, else one that was judged, else any."""
    mixed = [item for item in items if item.headline is not None and 0 < item.headline < 1]
    judged = [item for item in items if item.headline is not None]
    return next(iter(mixed or judged or [item for item in items if item.admitted]), None)


def _wait(app: QApplication, condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("The database shows no run within 20 s.")
        app.processEvents()
        time.sleep(0.01)


def _settle(app: QApplication, seconds: float = 0.8) -> None:
    """Let background reads arrive and everything be drawn."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        app.processEvents()
        time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main())
