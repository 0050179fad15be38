"""The window as its own process: opens, closes, never imports the model library, and says when there is no screen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from store_cases import filled

from rtc_inspector.core.run.results import open_reader

ROOT = Path(__file__).parents[2]
OPEN = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
app = QApplication([])
app.setQuitOnLastWindowClosed(True)
def end():
    found = [each for each in QApplication.topLevelWidgets() if type(each).__name__ == "MainWindow"]
    if not found or not found[0].parts.regions.regions.all_items:
        QTimer.singleShot(100, end)
        return
    main = found[0]
    print(len(main.parts.regions.regions.all_items), "llama_cpp" in sys.modules, main.parts.notices.isVisible())
    QTimer.singleShot(0, fail)
    QTimer.singleShot(100, lambda: print(main.parts.notices.problem.text()))
    QTimer.singleShot(300, lambda: (print("Mark.", file=sys.stderr, flush=True), main.close()))
def fail():
    print("Mark.", file=sys.stderr, flush=True)
    1 / 0
QTimer.singleShot(100, end)
from rtc_inspector.app.gui import open_window
sys.exit(open_window(Path(sys.argv[1]), Path(sys.argv[2]), None))
"""


def python(
    code: str, *arguments: str, home: Path, screen: str | None = "offscreen"
) -> subprocess.CompletedProcess[str]:
    hidden = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "PYTHONPATH": str(ROOT)}
    if screen:
        environment["QT_QPA_PLATFORM"] = screen
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


def test_the_window_opens_shows_the_run_makes_a_notice_of_an_error_nobody_caught_and_closes(tmp_path: Path) -> None:
    case = filled(tmp_path, items=20)
    done = python(OPEN, str(case.root), str(case.database), home=tmp_path)
    shown, notice = done.stdout.splitlines()
    assert (done.returncode, shown.split()) == (0, ["20", "False", "False"]), done.stderr
    assert "ZeroDivisionError" in notice
    opening, _, closing = done.stderr.split("Mark.")
    assert "Traceback" not in opening + closing


def test_without_a_screen_it_says_so_and_what_to_do(tmp_path: Path) -> None:
    command = "import sys; from rtc_inspector.app.cli import main; sys.exit(main(['open', '.', '--db', 'x.sqlite']))"
    done = python(command, home=tmp_path, screen=None)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "There is no screen to open a window on."
    assert len(done.stderr.strip().splitlines()) == 2


DIALOGS = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialog
app = QApplication([])
names = ["runs", "settings", "preferences", "error-modes", "agreement"]
def step():
    main = next(each for each in QApplication.topLevelWidgets() if type(each).__name__ == "MainWindow")
    if main.inspection.run is None:
        QTimer.singleShot(50, step)
    elif names:
        QTimer.singleShot(50, lambda: QApplication.activeModalWidget().reject())
        main.commands[names.pop(0)].trigger()
        QTimer.singleShot(50, step)
    else:
        print(len(main.findChildren(QDialog)))
        main.close()
QTimer.singleShot(50, step)
from rtc_inspector.app.gui import open_window
sys.exit(open_window(Path(sys.argv[1]), Path(sys.argv[2]), None))
"""


def test_dialogs_are_gone_once_they_are_closed(tmp_path: Path) -> None:
    case = filled(tmp_path, items=5)
    done = python(DIALOGS, str(case.root), str(case.database), home=tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["0"]), done.stderr
    assert "Traceback" not in done.stderr


FILE_DIALOG = """
import os, subprocess, sys
from pathlib import Path
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
app = QApplication([])
database = Path(sys.argv[2])
visitor = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('select * from runs').fetchall()"
visits = []
def step():
    main = next(each for each in QApplication.topLevelWidgets() if type(each).__name__ == "MainWindow")
    if main.inspection.run is None:
        QTimer.singleShot(50, step)
        return
    main.label_desk.label_samples()
    dialog = QFileDialog(main, "Open", str(database.parent))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.show()
    QTimer.singleShot(1000, lambda: visit(main, dialog))
def visit(main, dialog):
    dialog.close()
    main.activateWindow()
    main.label_desk.label_samples()
    while main.parts.labels.progress.text() == "" or " of 0 " in main.parts.labels.progress.text():
        QTest.qWait(50)
    subprocess.run([sys.executable, "-c", visitor + "; db.close()", str(database)], check=True)
    for _ in range(100):
        if not main.parts.labels.progress.text().startswith("3 of "):
            QTest.keyClick(QApplication.focusWidget() or main, Qt.Key.Key_1)
            QTest.qWait(400)
    print(main.parts.labels.progress.text(), flush=True)
    os.kill(os.getpid(), 9)
QTimer.singleShot(50, step)
from rtc_inspector.app.gui import open_window
sys.exit(open_window(Path(sys.argv[1]), database, None))
"""


def test_labels_outlive_a_file_dialog_another_program_and_a_kill(tmp_path: Path) -> None:
    """Qt's file dialog opens and closes each file of a folder, by which this process loses SQLite's locks."""
    case = filled(tmp_path, items=20)
    done = python(FILE_DIALOG, str(case.root), str(case.database), home=tmp_path)
    assert "3 of " in done.stdout, done.stderr
    with open_reader(case.database) as reader:
        assert len(reader.current_labels(case.run_id)) == 3
