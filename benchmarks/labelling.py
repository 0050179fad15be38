"""How long an annotator waits for the next sample after a key, over a large database.

usage: python benchmarks/labelling.py [--samples 100000] [--labels 200] [--folder FOLDER]
Opens the window without a screen on the database of benchmarks/window.py (made in FOLDER unless it is there) and labels
by keys alone. A label is timed from the key until the next sample is painted, its commit included; then labels are
undone, and decisions taken while adjudicating. Prints one `name=value` a line.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import window as bench

SETTLE = 0.02
"""Seconds between two keys: far faster than anybody reads."""


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        print(f"prepare_seconds={bench._prepare(folder, options.samples, options.files):.1f}", flush=True)
        bench._copy(folder)
        for name, value in _measure(folder, options.labels).items():
            print(f"{name}={value}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    return parser.parse_args()


def _measure(folder: Path, count: int) -> dict[str, float]:
    from PySide6.QtCore import QSettings, Qt
    from PySide6.QtWidgets import QApplication

    from rtc_inspector.ui.main_window import MainWindow
    from rtc_inspector.ui.shell.remembered import Remembered
    from rtc_inspector.ui.style.appearance import Appearance
    from rtc_inspector.ui.window.collector import Collector

    app = QApplication(["rtc-inspector"])
    collector = Collector(app)
    remembered = Remembered(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat))
    remembered.annotator = f"bench {time.time_ns()}"
    window = MainWindow(Appearance(app, "light"), remembered)
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    collector.settle()
    window.inspection.overview_changed.connect(collector.note_rows)
    window.open_database(folder / "runs.sqlite")
    bench._wait(app, lambda: window.inspection.overview is not None)
    bench._settle(app, 1.0)
    began = time.perf_counter()
    window.label_desk.label_samples()
    bench._wait(app, lambda: window.parts.labels._sample is not None)
    figures = {"queue_ms": _ms(time.perf_counter() - began)}
    hand = Hand(app, window)
    figures |= _told("label", [hand.label(Qt.Key.Key_1 + step % 9) for step in range(count)])
    figures |= _told("undo", [hand.press(Qt.Key.Key_U) for _ in range(10)])
    figures |= _decide(app, window, hand, folder)
    window.close()
    bench._settle(app, 0.3)
    return figures


def _decide(app, window, hand: Hand, folder: Path) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Thirty samples that nobody has labelled yet, on which two annotators now differ."""
    from PySide6.QtCore import Qt

    from rtc_inspector.core.run.results import open_store

    with open_store(folder / "runs.sqlite") as store:
        known = {label.sample_id for label in store.reader.current_labels(window.inspection.run.id)}
        fresh = [sample for sample in window.labelling._queue.samples if sample not in known]
        for sample in fresh[:30]:
            for name, mode in (("one", "other"), ("another", "ambiguous")):
                store.add_label(sample, mode, name, "")
    window.parts.queue.kind.setCurrentText("Adjudication")
    bench._wait(app, lambda: window.parts.labels.adjudicating and not window.parts.labels.held)
    window.label_desk.label_samples()
    bench._settle(app, 0.2)
    return _told("decide", [hand.label(Qt.Key.Key_J) for _ in range(25)])


class Hand:
    """Presses keys and waits until the next sample stands there."""

    def __init__(self, app, window) -> None:  # type: ignore[no-untyped-def]
        self._app, self._window = app, window

    def label(self, key) -> float:  # type: ignore[no-untyped-def]
        """Seconds from the key until another sample is painted; the key waits for its commit."""
        panel = self._window.parts.labels
        before = panel._sample
        return self._timed(key, lambda: panel._sample is not before and not panel.held)

    def press(self, key) -> float:  # type: ignore[no-untyped-def]
        return self._timed(key, lambda: not self._window.parts.labels.held)

    def _timed(self, key, there: Callable[[], bool]) -> float:  # type: ignore[no-untyped-def]
        from PySide6.QtTest import QTest
        from PySide6.QtWidgets import QApplication

        began = time.perf_counter()
        QTest.keyClick(QApplication.focusWidget(), key)
        bench._wait(self._app, there, 10)
        self._window.parts.labels.repaint()
        took = time.perf_counter() - began
        bench._settle(self._app, SETTLE)
        return took


def _told(name: str, seconds: list[float]) -> dict[str, float]:
    return {
        f"{name}_ms_median": _ms(statistics.median(seconds)),
        f"{name}_ms_95": _ms(sorted(seconds)[int(len(seconds) * 0.95)]),
        f"{name}_ms_longest": _ms(max(seconds)),
    }


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)


if __name__ == "__main__":
    sys.exit(main())
