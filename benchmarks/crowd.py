"""Whether anything committed is ever lost while many programs use one database and its writers are killed.

usage: python benchmarks/crowd.py [--rounds 100] [--seed 1] [--folder FOLDER] [--datasette EXE] [--no-windows]
Each round starts a writer on the same file: a run being stored, labels being given, or a window (without a screen) in
which keys are pressed while file dialogs over the database's folder open and close. The writer says what it has
committed. At random moments other programs open and close the file: the `sqlite3` program, Python's sqlite3, a backup,
a copy by `VACUUM INTO`, the command line, Datasette where it is named. Then the writer is killed, and everything that
any writer ever said must be there. Prints one `name=value` a line; ends with status 1 when something was lost.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parents[1]
PREAMBLE = """
import os, random, sys, threading, time
from pathlib import Path
sys.path[:0] = ["tests", "."]
path = Path(sys.argv[1])

def say(table, count):
    print(table, count, flush=True)

def meddle():
    # What else a process of ours does with the file while it writes.
    from rtc_inspector.core.errors import InspectorError
    from rtc_inspector.core.oracle.cache import _content
    from rtc_inspector.core.run.results import open_reader
    from rtc_inspector.core.store.files import is_new, refuse_database
    while True:
        for deed in (is_new, refuse_database, _content, lambda path: open_reader(path).close()):
            try:
                deed(path)
            except InspectorError:
                pass
            time.sleep(random.random() / 20)
"""
RUN = """
from rtc_inspector.core.store.writer import Store
from factories import fill_store

class Telling(Store):
    def add_item(self, *args):
        return self.told("items", super().add_item(*args))
    def add_sample(self, *args):
        return self.told("samples", super().add_sample(*args))
    def add_verdict(self, *args):
        return self.told("verdicts", super().add_verdict(*args))
    def told(self, table, row_id):
        say(table, row_id)
        return row_id

threading.Thread(target=meddle, daemon=True).start()
with Telling.open(path) as store:
    fill_store(store, path.parent / "project", items=100000, seed=1)
"""
LABELS = """
from rtc_inspector.core.run.results import open_store
threading.Thread(target=meddle, daemon=True).start()
with open_store(path) as store:
    samples = [row[0] for row in store._db.execute("SELECT id FROM samples WHERE role = 'backward'")]
    while True:
        say("labels", store.add_label(random.choice(samples), "other", "Ann", ""))
        time.sleep(0.01)
"""
WINDOW = """
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
app = QApplication([])
dialogs = []
def main():
    return next(each for each in QApplication.topLevelWidgets() if type(each).__name__ == "MainWindow")
def begin():
    if main().inspection.run is None:
        QTimer.singleShot(50, begin)
        return
    threading.Thread(target=meddle, daemon=True).start()
    main().label_desk.label_samples()
    QTimer.singleShot(200, look_around)
    QTimer.singleShot(300, press)
def look_around():
    while dialogs:
        dialogs.pop().close()
    dialog = QFileDialog(main(), "Open", str(path.parent))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.show()
    dialogs.append(dialog)
    QTimer.singleShot(250, look_around)
def press():
    window = main()
    panel, scribe = window.parts.labels, window.scribe
    if panel._sample is not None and not panel.held:
        panel._choose_slot(1)
        while scribe.busy:
            time.sleep(0.001)
        store = scribe._store
        say("labels", store._db.execute("SELECT max(id) FROM labels").fetchone()[0])
    QTimer.singleShot(20, press)
QTimer.singleShot(50, begin)
from rtc_inspector.app.gui import open_window
open_window(None, path, None)
"""
WRITERS = {"run": RUN, "labels": LABELS, "window": WINDOW}
READ = "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('select count(*) from samples').fetchall()"


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        crowd = Crowd(options.folder or Path(scratch), options.seed, options.datasette, not options.no_windows)
        for number in range(options.rounds):
            crowd.round(number)
            print(f"round {number + 1}: {dict(crowd.counts)}", file=sys.stderr)
        for name, value in crowd.counts.items():
            print(f"{name}={value}")
        for problem in crowd.problems:
            print(problem, file=sys.stderr)
        return 1 if crowd.problems else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--datasette", default=shutil.which("datasette"))
    parser.add_argument("--no-windows", action="store_true")
    return parser.parse_args()


class Crowd:
    """One database, and the programs that use it at once."""

    def __init__(self, folder: Path, seed: int, datasette: str | None, windows: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "runs.sqlite"
        self._choose = random.Random(seed)
        self._kinds = ["run", "run", "labels", *(["window"] if windows else [])]
        self.counts: Counter[str] = Counter(rounds=0, visits=0, committed=0, lost=0, damaged=0)
        self.problems: list[str] = []
        self._told: defaultdict[str, set[int]] = defaultdict(set)
        own_home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        self._environment = os.environ | own_home | {"QT_QPA_PLATFORM": "offscreen"}
        own = [sys.executable, "-m", "rtc_inspector"]
        path = str(self.path)
        self._visits = [
            [sys.executable, "-c", f"{READ}; d.close()", path],
            [sys.executable, "-c", READ, path],
            [*own, "runs", "--db", path],
            [*own, "export", "--db", path, "--run", "1", "--format", "jsonl"],
        ]
        if sqlite := shutil.which("sqlite3"):
            for question in (
                "select count(*) from runs",
                ".backup COPY",
                "vacuum into 'COPY'",
                "pragma wal_checkpoint",
            ):
                self._visits += [[sqlite, path, question]] * 2
        if datasette:
            self._visits += [[datasette, path, "--get", "/runs/samples.json"]] * 2

    def round(self, number: int) -> None:
        """Start a writer and visitors, kill the writer, and look for what it has said."""
        kind = "run" if number == 0 else self._choose.choice(self._kinds)
        writer = subprocess.Popen(
            [sys.executable, "-c", PREAMBLE + WRITERS[kind], str(self.path)],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        said: queue.SimpleQueue[str] = queue.SimpleQueue()
        errors: list[str] = []
        listeners = [
            threading.Thread(target=lambda: [said.put(line) for line in writer.stdout or ()]),
            threading.Thread(target=lambda: errors.extend(writer.stderr or ())),
        ]
        for listener in listeners:
            listener.start()
        try:
            first = said.get(timeout=120)  # it is at work
        except queue.Empty:
            writer.kill()
            raise RuntimeError(f"The {kind} did not begin: {''.join(errors)[-2000:]}") from None
        visitors = threading.Thread(target=self._visit, args=(number, self._choose.randrange(1, 4)))
        visitors.start()
        time.sleep(self._choose.uniform(0.1, 1.5))
        writer.kill()
        for thread in (visitors, *listeners):
            thread.join()
        writer.wait()
        self._note(first)
        while not said.empty():
            self._note(said.get())
        self.counts["rounds"] += 1
        self.counts[f"writers_{kind}"] += 1
        self._check(number, kind, "".join(errors))

    def _visit(self, number: int, visits: int) -> None:
        choose = random.Random(f"{number}")
        for place in range(visits):
            copy = self.path.with_name(f"copy-{number}-{place}.sqlite")
            time.sleep(choose.uniform(0, 0.3))
            command = [word.replace("COPY", str(copy)) for word in choose.choice(self._visits)]
            done = subprocess.run(command, cwd=ROOT, env=self._environment, capture_output=True, text=True)
            self.counts["visits"] += 1
            if done.returncode:
                self.problems.append(f"round {number}: {command[:3]} failed: {done.stderr[-300:]}")
            if copy.exists():
                self._check_whole(copy, f"the copy of round {number}")
                copy.unlink()

    def _note(self, line: str) -> None:
        """Remember what a writer said; the last line of one that was killed may be cut."""
        words = line.split()
        if line.endswith("\n") and len(words) == 2 and words[1].isdigit():
            self._told[words[0]].add(int(words[1]))

    def _check(self, number: int, kind: str, errors: str) -> None:
        self.counts["committed"] = sum(map(len, self._told.values()))
        with closing(sqlite3.connect(self.path)) as db:
            for table, told in self._told.items():
                gone = told - {row[0] for row in db.execute(f"SELECT id FROM {table}")}
                self.counts["lost"] += len(gone)
                if gone:
                    self.problems.append(f"round {number} ({kind}): {len(gone)} rows of {table} are gone")
                    told -= gone
        self._check_whole(self.path, f"the database after round {number} ({kind})")
        if list(self.path.parent.glob("*-rescued-*")) or "Traceback" in errors or "disk" in errors:
            self.problems.append(f"round {number} ({kind}) was told: {errors[-1000:]}")

    def _check_whole(self, path: Path, what: str) -> None:
        with closing(sqlite3.connect(path)) as db:
            found = db.execute("PRAGMA integrity_check").fetchall()
        if found != [("ok",)]:
            self.counts["damaged"] += 1
            self.problems.append(f"{what} is damaged: {found[:3]}")


if __name__ == "__main__":
    sys.exit(main())
