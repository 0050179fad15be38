"""What is committed outlives other programs on the file: nobody opens it but SQLite, so its locks are never dropped."""

from __future__ import annotations

import ast
import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from factories import fill_store

from rtc_inspector.core import platform
from rtc_inspector.core.errors import StoreError, UserError
from rtc_inspector.core.oracle.cache import _content
from rtc_inspector.core.source.walk import every_file
from rtc_inspector.core.store.files import is_new, network_caution, refuse_database
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.writer import Store

ROOT = Path(__file__).parents[2]


def visit(path: Path) -> None:
    """Another program opens the database, reads and closes: as the last one it would remove the log."""
    program = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('select * from runs').fetchall()"
    subprocess.run([sys.executable, "-c", f"{program}; db.close()", str(path)], check=True)


def open_and_close(path: Path) -> None:
    Store.open(path).close()
    Reader.open(path).close()


def look_at_every_file(path: Path) -> None:
    """As a bundle, a cluster and what is known of a project do."""
    for name in every_file(path.parent):
        (path.parent / name).read_bytes()


def refuse(path: Path) -> None:
    with pytest.raises(UserError, match="is a database"):
        refuse_database(path)


@pytest.mark.parametrize("touch", [is_new, open_and_close, refuse, _content, look_at_every_file])
def test_nothing_of_ours_drops_the_locks_on_a_live_database(tmp_path: Path, touch: Callable[[Path], object]) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        store.add_project(tmp_path, "before", None, dirty=False)
        touch(path)
        visit(path)
        assert path.with_name("runs.db-wal").exists(), "another program took itself for the last one"
        store.add_project(tmp_path / "other", "after", None, dirty=False)
        db = sqlite3.connect(path)
        assert db.execute("SELECT name FROM projects").fetchall() == [("before",), ("after",)]
        db.close()


def own_files(*words: str) -> Iterator[Path]:
    """The program's files that hold any of these words: reading them all as trees takes seconds."""
    for path in (path for top in ("app", "core", "ui") for path in (ROOT / top).rglob("*.py")):
        text = path.read_text("utf-8")
        if any(word in text for word in words):
            yield path


def test_no_code_but_the_store_connects_to_a_database() -> None:
    """By name: whoever wants to reach a file by SQLite does it where the guards are."""
    allowed = {"core/store/files.py"}
    found = set()
    for file in own_files("sqlite3", "Database"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                named_file = called == "Database" and not ast.unparse(node.args[0]).startswith("open_")
                if called in ("sqlite3.connect", "sqlite3.Connection", "QSqlDatabase.addDatabase") or named_file:
                    found.add(str(file.relative_to(ROOT)))
    assert found == allowed


def test_no_process_with_a_database_open_forks() -> None:
    """SQLite's state does not survive a fork. New programs are started instead, with nothing of ours open in them."""
    found = set()
    for file in own_files("fork", "multiprocessing"):
        if file.is_relative_to(ROOT / "core/oracle/inside"):
            continue  # runs in the sandbox, in the target's Python
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.fork", "os.forkpty", "pty.fork"):
                found.add(str(file.relative_to(ROOT)))
            module = str(node.module) if isinstance(node, ast.ImportFrom) else ""
            if module.startswith("multiprocessing") and module != "multiprocessing.connection":  # that starts nothing
                found.add(str(file.relative_to(ROOT)))
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "multiprocessing":
                made = "multiprocessing.get_context('spawn')"  # new programs, not forks
                if made not in ast.unparse(ast.parse(file.read_text("utf-8"))) or node.attr != "get_context":
                    found.add(str(file.relative_to(ROOT)))
    assert found == {"core/oracle/sandbox/guardian.py"}, "the guardian is a program of its own"


@pytest.mark.parametrize("ending", ["-wal", "-shm"])
def test_no_file_of_a_database_is_written_over(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path), pytest.raises(UserError, match=r"belongs to the database .*runs\.db, which"):
        refuse_database(path.with_name(f"runs.db{ending}"))
    (tmp_path / f"notes{ending}").write_text("mine")
    (tmp_path / "notes").write_text("mine, too")
    refuse_database(tmp_path / f"notes{ending}")
    refuse_database(tmp_path / "notes")


def test_a_database_with_two_names_is_refused(tmp_path: Path) -> None:
    """SQLite looks for the log beside the name it was given, and would not find that of the other name."""
    path = tmp_path / "runs.db"
    Store.open(path).close()
    os.link(path, tmp_path / "second.db")
    for opening in (Store.open, Reader.open):
        with pytest.raises(StoreError, match="second name"):
            opening(tmp_path / "second.db")


LOST = """
import ctypes, os, subprocess, sys
from pathlib import Path
from rtc_inspector.core.store.writer import Store

path = Path(sys.argv[1])
store = Store.open(path)
store.add_project(path, "before", None, False)
c = ctypes.CDLL(None)
c.close(c.open(os.fsencode(path), os.O_RDONLY))  # by whoever does not know the rule
visitor = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('select * from runs').fetchall()"
subprocess.run([sys.executable, "-c", visitor + "; db.close()", str(path)], check=True)
try:
    store.add_project(path / "x", "after", None, False)
except Exception as error:
    print(error)
"""


def test_a_log_that_went_away_is_noticed_and_everything_is_saved_first(tmp_path: Path) -> None:
    """Nothing of ours loses the locks. Should anything do it all the same, no result is lost and no disk is blamed."""
    path = tmp_path / "runs.db"
    told = subprocess.run(
        [sys.executable, "-c", LOST, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    assert "its -wal file was removed, while it was open here" in told and "disk" not in told
    (rescued,) = tmp_path.glob("runs-rescued-*.db")
    assert str(rescued) in told
    with Reader.open(rescued) as reader:
        assert reader.runs() == []


def test_a_database_moved_away_during_a_run_is_noticed_and_saved(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        run_id = fill_store(store, tmp_path / "project", items=5, seed=1, finish=False)
        subprocess.run(["mv", str(path), str(tmp_path / "backup.db")], check=True)
        with pytest.raises(StoreError, match="was moved or replaced") as error:
            store.finish_run(run_id, "finished", [])
    with Reader.open(tmp_path / "runs-rescued-1.db") as reader:
        assert str(reader.path) in error.value.remedy
        assert len(reader.items(run_id)) == 5


def test_a_network_file_system_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.db"
    assert network_caution(path) == ""
    device = tmp_path.stat().st_dev
    line = f"36 35 {os.major(device)}:{os.minor(device)} / /home rw,noatime shared:1 - %s server:/home rw"
    elsewhere = "37 35 0:9999 / /mnt rw - nfs4 server:/other rw"
    monkeypatch.setattr(platform, "mounts", lambda: f"{elsewhere}\n{line % 'nfs4'}")
    assert "(nfs4), where SQLite cannot keep two computers apart" in network_caution(path)
    monkeypatch.setattr(platform, "mounts", lambda: f"{elsewhere}\n{line % 'ext4'}")
    assert network_caution(path) == ""


def test_databases_of_runs_do_not_change_what_is_known_of_a_project(tmp_path: Path) -> None:
    """One inside the project changes with every run: its tests would be learned anew each time."""
    path = tmp_path / "runs.db"
    with Store.open(path):
        assert [_content(Path(f"{path}{ending}")) for ending in ("", "-wal", "-shm")] == [None] * 3
    assert _content(path) is None
    with contextlib.closing(sqlite3.connect(tmp_path / "theirs.db")) as db:
        db.execute("CREATE TABLE what_tests_read (value)")
    assert _content(tmp_path / "theirs.db") is not None
